/** The notes of `benchtop chat` on an answer. */
import { expect, it } from 'vitest';
import { hostileServer, json, refusal, stream } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const chatStream = (...choices: readonly object[]) =>
  stream([
    ...choices.map(choice => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`),
    'data: [DONE]\n\n',
  ]);

const answerOf = (model: string) =>
  json({ model, choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }] });

it.each([[[]], [['--json']]])('names the model that answered, if it is not the one asked for: %j', async flags => {
  const asked = async (model: string) => {
    const server = await hostileServer(answerOf(model));
    const cli = cliOn({ baseUrl: server.url, apiKey: 'sk-test-sk-test' });
    return cli('chat', ['vendor/base', 'hello', ...flags]);
  };
  expect(await asked('vendor/other')).toMatchObject({
    code: 0,
    notes: expect.stringMatching(/nswered by vendor\/other/),
  });
  expect(await asked('vendor/base')).toMatchObject({ code: 0, notes: '' });
});

it('names the address of a deployment that does not answer, not a setting', async () => {
  const record = { deployment_id: 'dep_1', model_slug: 'tutor', is_active: false };
  const failed = async (host: string) => {
    const server = await hostileServer(json({ ...record, playground_endpoint_url: `${host}/p/dep_1` }));
    return (await cliOn({ baseUrl: server.url, apiKey: 'sk-test-sk-test' })('chat', ['dep_1', 'hello'])).notes;
  };
  const dead = await failed('http://127.0.0.1:9');
  expect(dead).toContain('The service named the address http://127.0.0.1:9.');
  expect(dead).not.toMatch(/BENCHTOP_BASE_URL|base URL/);
  const locked = await hostileServer(refusal(401, 'authentication_error', 'authentication_required'));
  expect(await failed(locked.url)).toMatch(/None was sent.*with a token\.( \(request \S+\))?$/);
});

it('lists the deployments of a slug that none of them serves', async () => {
  const items = [{ deployment_id: 'dep_1', model_slug: 'tutor', is_active: false, status: 'DEPLOYED' }];
  const server = await hostileServer((response, incoming) => {
    const answer =
      incoming.method === 'GET'
        ? json({ items, has_more: false })
        : refusal(404, 'invalid_request_error', 'model_not_found');
    return answer(response, incoming);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey: 'sk-test-sk-test' });
  await cli('list', ['deployments']);
  const words = 'dep_1 has the slug tutor but does not serve it: chat with its id.';
  expect(await cli('chat', ['tutor', 'hello'])).toMatchObject({ notes: expect.stringContaining(words) });
  expect((await cli('chat', ['other', 'hello'])).notes).not.toContain('slug');
});

it.each([[[]], [['--no-stream']]])('names an image instead of printing its bytes: %j', async flags => {
  const data = 'iVBORw0KGgo'.repeat(400);
  const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }];
  const server = await hostileServer(
    flags.length > 0
      ? json({ choices: [{ index: 0, message: { role: 'assistant', content: 'A cat: ', images } }] })
      : chatStream({ delta: { content: 'A cat: ' } }, { delta: { images } }, { delta: {}, finish_reason: 'stop' }),
  );
  const { out, code } = await cliOn({ baseUrl: server.url, apiKey: 'sk-test-sk-test' })('chat', ['m', 'hi', ...flags]);
  expect(code).toBe(0);
  expect(out).toContain('A cat: ');
  expect(out).toContain('[image png 3.2 KB]');
  expect(out).not.toContain('iVBOR');
});
