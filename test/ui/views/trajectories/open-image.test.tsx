/** Images of a message, opened with a key. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import type { ImageTerminal } from '../../../../src/ui/app/terminal-port.ts';
import { readImage, viewerOf, writeImage } from '../../../../src/ui/views/trajectories/open-image.tsx';
import { TrajectoryView } from '../../../../src/ui/views/trajectories/trajectory.tsx';
import { fakeService } from '../../../service/fake-service.ts';
import { noTerminal, openViewOnStage, type Stage } from '../../stage.tsx';
import { pngOf } from './png.ts';

const png = pngOf(640, 480, 3_000);

afterEach(() => vi.unstubAllEnvs());

it('has a viewer only on a desktop', () => {
  expect(viewerOf('darwin', {})).toBe('open');
  expect(viewerOf('darwin', { SSH_CONNECTION: '1' })).toBeUndefined();
  expect(viewerOf('linux', { WAYLAND_DISPLAY: 'wayland-0' })).toBe('xdg-open');
  expect(viewerOf('linux', {})).toBeUndefined();
});

it('writes an image recognised by its first bytes, whatever its name, for the user only', async () => {
  const path = await writeImage(readImage(png.toString('base64')));
  expect(path).toMatch(/image\.png$/);
  expect(readFileSync(path).equals(png)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  rmSync(dirname(path), { recursive: true });
  const script = Buffer.from('<svg><script>alert(1)</script></svg>').toString('base64');
  expect(() => readImage(script)).toThrow('It is not a PNG, JPEG, GIF, WebP or BMP image');
});

/** Opens a trajectory whose second message has an image, in a terminal without a desktop. */
async function opened(
  part: object,
  images?: ImageTerminal,
  more: readonly object[] = [],
  others: Partial<typeof noTerminal> = {},
): Promise<Stage> {
  for (const name of ['DISPLAY', 'WAYLAND_DISPLAY']) vi.stubEnv(name, '');
  vi.stubEnv('SSH_CONNECTION', '1');
  const messages = [
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: [{ type: 'text', text: 'Look' }, part] },
    ...more,
  ];
  const service = fakeService({
    getTrajectory: () => ({ trajectory_id: 't', status: 'completed', steps: [{ messages }] }),
  });
  const terminal = { ...noTerminal, ...(images && { images }), ...others };
  const stage = openViewOnStage(TrajectoryView, { service: async () => service, terminal, columns: 160 });
  await stage.waitFor('[image ');
  return stage;
}

const partOf = (bytes: Buffer, type = 'png') => ({
  type: 'image_url',
  image_url: { url: `data:image/${type};base64,${bytes.toString('base64')}` },
});

/** Reads the file that the screen names, and removes it. */
function named(text: string): Buffer {
  const [, path = ''] = /[Ii]mage(?: \d of \d)? is in (\S+)/.exec(text) ?? [];
  const bytes = readFileSync(path);
  rmSync(dirname(path), { recursive: true });
  return bytes;
}

it('begins with the path on a narrow terminal (out33 B8)', async () => {
  const stage = await opened(partOf(png));
  await stage.resize(80, 24);
  await stage.press('V');
  await stage.waitFor(text => /The image is in \S+\/image\.png/.test(text));
  expect(named(stage.text()).equals(png)).toBe(true);
});

it.each([
  ['OpenAI', partOf(png)],
  ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } }],
])('prints the path of the image if there is no desktop: %s', async (_, part) => {
  const stage = await opened(part);
  expect(stage.text()).toContain('[image png 2.9 KB]');
  await stage.press('V');
  await stage.waitFor('The image is in ');
  expect(named(stage.text()).equals(png)).toBe(true);
});

it.each([
  ['the same message', { role: 'user', content: [partOf(png), partOf(pngOf(8, 8, 60))] }],
  ['the result of a tool', { role: 'tool', tool_call_id: 'c', content: [partOf(png), partOf(pngOf(8, 8, 60))] }],
  [
    'a result within a message',
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c', content: [partOf(png), partOf(pngOf(8, 8, 60))] }],
    },
  ],
])('opens the next image with the same key: in %s (out33 B1, B2)', async (_, message) => {
  const stage = await opened({ type: 'text', text: '[image below]' }, undefined, [message]);
  for (const [number, image] of [png, pngOf(8, 8, 60), png].entries()) {
    await stage.press('V');
    const words = `Image ${(number % 2) + 1} of 2 is in`;
    await stage.waitFor(text => text.includes(words) && /is in \S+\/image\.png/.test(text));
    expect(named(stage.text()).equals(image)).toBe(true);
  }
});

it('shows the image on a terminal that can, until a key is pressed', async () => {
  const events: string[] = [];
  const cover: ImageTerminal['cover'] = (bytes, removal) => {
    events.push(bytes);
    return () => events.push(removal);
  };
  const stage = await opened(partOf(png), { display: 'kitty', cover });
  await stage.press('V');
  await stage.waitFor('any key returns');
  expect(events).toHaveLength(1);
  expect(events[0]).toMatch(/^\u001b_Ga=T,.*\u001b\\\u001b\[30;1Himage png 2\.9 KB in message 2; any key returns$/s);
  // A new size takes a new image.
  await stage.resize(120, 40);
  await stage.waitFor(() => events.length === 3);
  expect(events[2]).toContain('\u001b[40;1Himage');
  // q does not leave the program, nor the view.
  await stage.press('q');
  await stage.waitFor(text => !text.includes('any key returns'));
  expect(events.slice(3)).toEqual([expect.stringMatching(/\u001b_Ga=d,/)]);
  expect(stage.text()).toContain('[image png 2.9 KB]');
});

it.each([
  ['The terminal shows only PNG images.', Buffer.from('ffd8ffe000', 'hex'), 'jpeg'],
  ['The image is incomplete.', png.subarray(0, 1_000), 'png'],
])('prints the path of the image if the terminal cannot show it: %s', async (problem, bytes, type) => {
  const stage = await opened(partOf(bytes, type), { display: 'kitty', cover: () => expect.unreachable() });
  await stage.press('V');
  await stage.waitFor(problem);
  expect(named(stage.text()).equals(bytes)).toBe(true);
});

const addressed = { type: 'image_url', image_url: { url: 'https://img.example/a.png?from=model' } };

it('only asks about an image that is an address, which may be copied (issue 18)', async () => {
  const written: string[] = [];
  const stage = await opened(addressed, { display: 'kitty', cover: () => expect.unreachable() }, [], {
    writeRaw: text => written.push(text),
  });
  await stage.resize(60, 15);
  await stage.press('V');
  await stage.waitFor('The image is only an address');
  expect(stage.text()).toContain('https://img.example/a.png?from=model');
  // There is no desktop here.
  expect(stage.text()).not.toContain('Open the address');
  await stage.press('enter');
  await stage.waitFor(text => !text.includes('only an address'));
  expect(written).toEqual([]);
  await stage.press('V');
  await stage.waitFor('only an address');
  await stage.press('down', 'enter');
  await stage.waitFor('Sent to the clipboard: the address');
  expect(Buffer.from(/;c;(.*?)[\u0007\u001b]/.exec(written[0] ?? '')?.[1] ?? '', 'base64').toString()).toBe(
    'https://img.example/a.png?from=model',
  );
});

it('opens a web address with the viewer of the desktop if the user says so, and no other address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'viewer-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const viewer = viewerOf(process.platform, { DISPLAY: ':0' }) ?? '';
  writeFileSync(join(folder, viewer), '#!/bin/sh\nprintf %s "$*" > "$0.said"\n', { mode: 0o755 });
  const file = { type: 'image', source: { type: 'url', url: 'file:///etc/hosts' } };
  const stage = await opened(addressed, undefined, [{ role: 'user', content: [file] }]);
  vi.stubEnv('DISPLAY', ':0');
  vi.stubEnv('SSH_CONNECTION', '');
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
  await stage.press('V');
  await stage.waitFor(`Open the address with ${viewer}`);
  await stage.press('down', 'down', 'enter');
  await stage.waitFor('Opened image 1 of 2 with');
  await stage.waitFor(() => existsSync(join(folder, `${viewer}.said`)));
  await stage.press('V');
  await stage.waitFor('Image 2 of 2 is only an address');
  expect(stage.text()).toContain('file:///etc/hosts');
  expect(stage.text()).not.toContain('Open the address');
});
