/** `benchtop choices`, with conversations that the workbench has saved. */
import { expect, it } from 'vitest';
import type { Choice } from '../../src/chat/choices.ts';
import { openRemembered } from '../../src/commands/connect.ts';
import { loadConfig } from '../../src/config/load.ts';
import { cliOn, testFolder } from './cli.ts';

const baseUrl = 'http://127.0.0.1:9';

function saveChat(home: string, id: string, choices: readonly Choice[]): void {
  const environment = { HOME: home, BENCHTOP_API_KEY: 'key', BENCHTOP_BASE_URL: baseUrl };
  const memory = openRemembered(loadConfig({}, environment));
  memory.saveChat({ id, title: 'tea?', model: 'a', isIncomplete: false, talk: { turns: [] } });
  for (const choice of choices) memory.saveChoice({ conversation: id, pair: choice.pair }, choice);
  // A choice outlives its conversation (A12).
  if (id === 'deleted') memory.forgetChat(id);
  memory.close();
}

it('counts the choices between two models over all conversations, and prints each', async () => {
  const home = testFolder();
  const models = ['acme/tutor', 'acme/base'] as const;
  const [one, other] = models;
  saveChat(home, 'one', [
    { pair: 'p1', better: 'left', models, at: 1_000 },
    { pair: 'p2', better: 'both bad', models, at: 2_000 },
  ]);
  saveChat(home, 'deleted', [{ pair: 'p3', better: 'right', models: [other, one], at: 3_000 }]);
  const cli = cliOn({ baseUrl, apiKey: 'key', home });
  expect(await cli('choices', [])).toMatchObject({
    code: 0,
    out: 'MODEL\tOTHER\tBETTER\tOTHER BETTER\tEQUAL\tBOTH BAD\tP\nacme/base\tacme/tutor\t0\t2\t0\t1\t0.5\n',
  });
  const { out } = await cli('choices', ['--json']);
  expect(JSON.parse(out)).toMatchObject({
    pairs: [{ model: 'acme/base', other_better: 2, p: 0.5 }],
    choices: [
      { better: 'right', at: '1970-01-01T00:00:03.000Z', conversation: 'deleted', title: null },
      { better: 'both bad', conversation: 'one', title: 'tea?' },
      { better: 'left', conversation: 'one', title: 'tea?' },
    ],
  });
});
