/** Images of a message, opened with a key. */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { viewerOf, writeImage } from '../../../../src/ui/views/trajectories/open-image.ts';
import { TrajectoryView } from '../../../../src/ui/views/trajectories/trajectory.tsx';
import { fakeService } from '../../../service/fake-service.ts';
import { openViewOnStage } from '../../stage.tsx';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(3_000, 'x')]);

afterEach(() => vi.unstubAllEnvs());

it('has a viewer only on a desktop', () => {
  expect(viewerOf('darwin', {})).toBe('open');
  expect(viewerOf('darwin', { SSH_CONNECTION: '1' })).toBeUndefined();
  expect(viewerOf('linux', { WAYLAND_DISPLAY: 'wayland-0' })).toBe('xdg-open');
  expect(viewerOf('linux', {})).toBeUndefined();
});

it('writes what is an image by its first bytes, whatever it is called, for the user alone', async () => {
  const path = await writeImage(png.toString('base64'));
  expect(path).toMatch(/image\.png$/);
  expect(readFileSync(path).equals(png)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  rmSync(dirname(path), { recursive: true });
  const script = Buffer.from('<svg><script>alert(1)</script></svg>').toString('base64');
  await expect(writeImage(script)).rejects.toThrow('It is not a PNG, JPEG, GIF, WebP or BMP image');
});

it.each([
  ['OpenAI', { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } }],
  ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } }],
])('says where the image is if there is no desktop: %s', async (_, part) => {
  for (const name of ['DISPLAY', 'WAYLAND_DISPLAY']) vi.stubEnv(name, '');
  vi.stubEnv('SSH_CONNECTION', '1');
  const steps = [{ messages: [{ role: 'user', content: [{ type: 'text', text: 'Look' }, part] }] }];
  const service = fakeService({ getTrajectory: () => ({ trajectory_id: 't', status: 'completed', steps }) });
  const stage = openViewOnStage(TrajectoryView, { service: async () => service, columns: 160 });
  await stage.waitFor('[image png 2.9 KB]');
  await stage.press('V');
  await stage.waitFor('the image is in ');
  const [, path = ''] = /image is in (\S+)/.exec(stage.text()) ?? [];
  expect(readFileSync(path).equals(png)).toBe(true);
  rmSync(dirname(path), { recursive: true });
});
