/** What `benchtop chat` says about an answer besides its text. */
import { expect, it } from 'vitest';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const answerOf = (model: string) =>
  json({ model, choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }] });

it.each([[[]], [['--json']]])(
  'names the model that answered, where it is another than the one asked: %j',
  async flags => {
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
  },
);
