/**
 * Commands on a service with the endpoints of the document alone, which refuses unknown paths in every legal way: what
 * the document lists is the last word.
 */
import { describe, expect, it } from 'vitest';
import { cliOn, testFolder } from '../commands/cli.ts';
import { apiKey, json } from '../service/hostile-server.ts';
import { refusals, startedRun, unknownId } from './documented.ts';
import { standIn } from './stand-in.ts';

async function worldOf(refusal: string) {
  const service = await standIn('documented', { unknown: refusals.get(refusal) ?? json({}, 404) });
  return { ...service, cli: cliOn({ baseUrl: service.url, apiKey, home: testFolder() }) };
}

const model = ['--model', 'acme/small'];

describe.each([...refusals.keys()])('where an unknown path gets %s (C1)', refusal => {
  it.each<[string, readonly string[], number, string]>([
    ['evaluate', ['t-words', ...model], 0, startedRun],
    ['evaluate', ['{bench}', ...model], 0, startedRun],
    ['build', ['t-words'], 0, '{bench}'],
    ['get', ['benchmark', '{bench}'], 0, 'secrets missing +TOKEN'],
    ['get', ['t-words'], 0, 't-words'],
    ['get', ['run', '{run}'], 0, '0\\.500 of 4 rewards'],
    ['get', ['{run}'], 0, '0\\.500 of 4 rewards'],
    ['get', ['training', '{training}'], 0, '4 of 4'],
    ['get', ['{training}'], 0, '4 of 4'],
    ['get', ['trajectory', '{trajectory}'], 0, 'hello'],
    ['get', ['deployment', '{production}'], 0, 'talker'],
    ['get', ['{gone}'], 0, 'it broke'],
    ['get', ['runtime', 'an/image'], 0, 'an/image'],
    ['get', ['dataset', 'recorded'], 0, 'recorded'],
    ['get', ['model', 'acme/small'], 0, 'Small'],
    ['list', ['benchmarks'], 0, 't-words'],
    ['list', ['runs', '--json'], 0, '^\\[\\]$'],
    ['list', ['runs', '--benchmark', 't-words', '--json'], 0, '^\\[\\]$'],
    ['list', ['training', '--json'], 0, '^\\[\\]$'],
    ['list', ['trajectories', '--run', '{run}', '--ids'], 0, '{trajectory}'],
    ['list', ['deployments', '--json'], 0, '^\\[\\]$'],
    ['watch', ['training', '{training}'], 0, '4 of 4'],
    ['watch', ['{training}'], 0, '4 of 4'],
    ['watch', ['deployment', '{production}'], 0, 'deployed'],
    ['compare', ['{run}', '{oldRun}'], 0, '4'],
    ['export', ['trajectory', '{trajectory}'], 0, 'hello'],
    ['undeploy', ['{test}', '--yes'], 0, '{test}'],
    // What only the document can answer, and what it does not know.
    ['get', ['benchmark', unknownId], 5, 'There is no benchmark'],
    ['get', ['run', unknownId], 5, 'There is none|There is no'],
    ['get', ['training', unknownId], 5, 'There is none|There is no'],
    ['get', ['trajectory', unknownId], 5, 'There is none|There is no'],
    ['get', ['deployment', unknownId], 5, 'There is none|There is no'],
    ['get', [unknownId], 5, 'There is no'],
    ['watch', ['training', unknownId], 5, 'There is none|There is no'],
    ['list', ['secrets'], 1, 'does not list secrets'],
    ['train', ['t-words', ...model], 1, 'does not start training runs|This is no id'],
    ['cancel', ['{training}', '--yes'], 1, 'does not cancel training runs|ended'],
  ])('%s %j', async (command, args, wanted, words) => {
    const { cli, ids, refused } = await worldOf(refusal);
    const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name]);
    const { code, out, notes } = await cli(command, args.map(fill));
    expect([code, `${out}\n${notes}`]).toEqual([wanted, expect.stringMatching(new RegExp(fill(words), 'm'))]);
    expect(refused).toEqual([]);
  });
});
