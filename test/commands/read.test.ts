/** Files that `benchtop read` opens on screen: what the service in its process has of them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CommandIo } from '../../src/commands/io.ts';
import { serveFile } from '../../src/commands/read.ts';
import { testFolder } from './cli.ts';

/** The tasks in the order of the screen, and what is said of the others. */
async function readOf(lines: readonly object[]) {
  const path = join(testFolder(), 'file.jsonl');
  writeFileSync(path, lines.map(line => `${JSON.stringify(line)}\n`).join(''));
  const notes: string[] = [];
  const io = { note: (words: string) => notes.push(words), signal: new AbortController().signal };
  const served = await serveFile(path, 'file.jsonl', io as unknown as CommandIo);
  onTestFinished(() => served.stop());
  const url = `${served.baseUrl}/api/v1/trajectories?limit=100&sort=created_at&order=asc`;
  const answer = await fetch(url, { headers: { 'X-API-Key': served.apiKey } });
  const { items } = (await answer.json()) as { items: { task_id: string }[] };
  return { tasks: items.map(({ task_id }) => task_id), lost: served.lost, notes };
}

const saying = (content: string) => ({ messages: [{ role: 'user', content }] });

it('shows the trajectories in the order of the file', async () => {
  const tasks = Array.from({ length: 60 }, (_, index) => `task ${index}`);
  expect(await readOf(tasks.map(task_id => ({ task_id, ...saying('hi') })))).toEqual({ tasks, lost: 0, notes: [] });
});

it('shows a trajectory that is larger than a service takes', async () => {
  const large = 'a line of a log\n'.repeat((33 * 1024 * 1024) / 16);
  expect(await readOf([{ task_id: 'large', ...saying(large) }])).toEqual({ tasks: ['large'], lost: 0, notes: [] });
});

it('says which trajectories are missing, and counts them', async () => {
  const first = { task_id: 'first', trace_id: 'a', ...saying('one') };
  expect(await readOf([first, { ...first, ...saying('two') }, first, { task_id: 'last', ...saying('hi') }])).toEqual({
    tasks: ['first', 'last'],
    lost: 2,
    notes: [
      'trajectory 2 is not shown: The dataset has another trajectory with the trace a.',
      'trajectory 3 is not shown: it has the trace_id of an equal one',
    ],
  });
});
