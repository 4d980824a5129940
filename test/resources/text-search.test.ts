import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../../src/contract/trajectories.ts';
import { fitColumns } from '../../src/present/column.ts';
import { referenceFact } from '../../src/present/fact.ts';
import { createArrange } from '../../src/present/rows.ts';
import { countHits, describeTally } from '../../src/present/tallies.ts';
import { transcriptOf } from '../../src/present/transcript.ts';
import { storedLengths } from '../../src/resources/stored-text.ts';
import { describeSearch, formatOrigin, hitColumns, hitFacts } from '../../src/resources/text-hits.ts';
import { type TextHit, TextSearch, type TextSearchPorts } from '../../src/resources/text-search.ts';
import { trajectories } from '../../src/resources/trajectories.ts';
import { ApiError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import { TextIndex } from '../../src/store/text-index.ts';
import { parseLineSearch } from '../../src/text/line-search.ts';
import fc from '../../tools/rig/property.ts';
import { eventually } from '../eventually.ts';

const trajectory = (id: string, text: string, more: Partial<Trajectory> = {}): Trajectory => ({
  trajectory_id: id,
  status: 'completed',
  reward: 1,
  num_steps: 1,
  steps: [
    {
      step_index: 7,
      messages: [
        { role: 'user', content: 'the question' },
        { role: 'assistant', reasoning: 'thinking of apples', content: text },
      ],
    },
  ],
  ...more,
});

/** Answers with these trajectories, and counts the reads. */
function serviceOf(all: readonly Trajectory[]) {
  const read: string[] = [];
  const call = async (_: string, { params }: { params: { trajectory_id: string } }) => {
    read.push(params.trajectory_id);
    const found = all.find(({ trajectory_id }) => trajectory_id === params.trajectory_id);
    if (found) return found;
    throw new ApiError('gone', { status: 404, code: 'resource_not_found' });
  };
  return { service: { call } as unknown as Service, read };
}

const index = () => TextIndex.inMemory({ service: 'test', mostBytes: 1e9 });

/** The index, with other texts read from it. */
const reading = (whole: TextIndex, parts: TextIndex['parts'], problem?: string): TextIndex =>
  new Proxy(whole, {
    get: (target, name) => {
      if (name === 'parts') return parts;
      if (name === 'problem') return problem;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

function searchFor(
  query: string,
  rows: readonly Trajectory[],
  { index, service, role, most }: Pick<TextSearchPorts, 'index' | 'role' | 'most'> & { service: Service },
) {
  const search = parseLineSearch(query);
  if (!search.ok) throw new Error(search.error);
  const { signal } = new AbortController();
  async function* pages() {
    yield { rows: rows.map(({ steps: _, ...row }) => row) };
  }
  return new TextSearch({
    ...{ search, role, pages: pages(), index, context: { service, signal } },
    ...(most !== undefined && { most }),
  });
}

describe('a text search', () => {
  it('shows the place of the first line, and the number of lines', async () => {
    const all = [trajectory('t1', 'no\nApple pie\nan apple'), trajectory('t2', 'nothing', { reward: 0 })];
    const { service } = serviceOf(all);
    const search = searchFor('apple', all, { index: index(), service });
    const { hits, phase, searched } = await search.run();
    expect([phase, searched]).toEqual(['done', 2]);
    expect(hits.map(({ trajectory_id, lines, excerpt }) => [trajectory_id, lines, excerpt])).toEqual([
      ['t1', 3, 'thinking of apples'],
      ['t2', 1, 'thinking of apples'],
    ]);
    expect(hits[0]?.at).toMatchObject({ step: 7, message: 2, line: 1, role: 'assistant reasoning' });
    const pie = await searchFor('Apple', all, { index: index(), service }).run();
    expect(pie.hits.map(({ excerpt, at }) => [excerpt, at.role, at.line])).toEqual([['Apple pie', 'assistant', 3]]);
    expect(countHits(search.searched, pie.hits).by_reward).toEqual([
      { name: '0', found: 0, of: 1 },
      { name: '1.00', found: 1, of: 1 },
    ]);
  });

  it('sums up in words the kinds without a match (out24 C24)', () => {
    const tally = (name: string, found: number) => ({ name, found, of: 3 });
    const all = ['0', '0.2', '0.4', '0.5', '0.6', '1.00'].map(name => tally(name, name === '1.00' ? 2 : 0));
    expect(describeTally(all)).toBe('0: 0 of 3, 0.2: 0 of 3, 0.4: 0 of 3, 0.5: 0 of 3, 1.00: 2 of 3, 1 other: 0 of 3');
  });

  it('counts lines in messages apart from those in rewards and other fields, read or indexed', async () => {
    const grader = { type: 'exact', value: 'eleven' };
    const all = [
      trajectory('said', 'eleven', { grader, num_steps: 1 } as Partial<Trajectory>),
      trajectory('expected', 'twelve', { grader } as Partial<Trajectory>),
    ];
    const { service } = serviceOf(all);
    const ports = { index: index(), service };
    for (const stored of [0, 2]) {
      const state = await searchFor('eleven', all, ports).run();
      expect(state.stored).toBe(stored);
      expect(state.hits.map(hit => [hit.trajectory_id, hit.lines, hit.other_lines, hit.at.role])).toEqual([
        ['said', 1, 1, 'assistant'],
        ['expected', 0, 1, 'details'],
      ]);
      expect(describeSearch(state, 'A searches on')).toContain(
        '1 line in 1 trajectory · outside messages 2 lines in 2 trajectories · ',
      );
    }
  });

  it('knows the matching lines of every role, for a filter and for a search in one role (A10)', async () => {
    const asked = (content: string) => ({ role: 'user', content });
    const said = (content: string) => ({ role: 'assistant', content, reasoning: 'after "ten"}, {"from":0' });
    const of = (id: string, ...messages: object[]) =>
      trajectory(id, '', { steps: [{ step_index: 0, messages }], grader: 'eleven' } as Partial<Trajectory>);
    const all = [
      of('both', asked('ten or eleven?'), said('no\neleven it is\neleven'), asked('eleven?')),
      of('asked', asked('eleven?'), said('twelve')),
      of('neither', asked('ten?'), said('twelve')),
    ];
    const { service } = serviceOf(all);
    const ports = { index: index(), service };
    const wholes = [];
    for (const stored of [0, 3]) {
      const { hits, ...state } = await searchFor('eleven', all, ports).run();
      expect(state.stored).toBe(stored);
      wholes.push(hits);
    }
    const [hits = [], fromIndex] = wholes;
    expect(fromIndex).toEqual(hits);
    const shown = (rows: readonly TextHit[]) =>
      rows.map(({ trajectory_id, lines, other_lines, at, excerpt }) =>
        [trajectory_id, at.role, lines, other_lines, excerpt].join(' '),
      );
    expect(shown(hits)).toEqual([
      'both user 4 1 ten or eleven?',
      'asked user 1 1 eleven?',
      'neither details 0 1 grader  eleven',
    ]);
    const filtered = (filter: string) =>
      shown(createArrange(hitColumns, row => row.trajectory_id)(hits, { filter, sort: undefined }).rows);
    expect(filtered('role:assistant')).toEqual(['both assistant 2 0 eleven it is']);
    expect(filtered('role=user')).toEqual(['both user 2 0 ten or eleven?', 'asked user 1 0 eleven?']);
    expect(filtered('role:user text:ten')).toEqual(['both user 2 0 ten or eleven?']);
    expect(filtered('role!=user')).toEqual([
      'both assistant 2 0 eleven it is',
      'asked details 0 1 grader  eleven',
      'neither details 0 1 grader  eleven',
    ]);
    expect(filtered('role:tool')).toEqual([]);
    // Other conditions are on the hit with all its lines.
    for (const filter of ['lines:4', 'lines>=4', 'lines>3 other:1', 'task:both'])
      expect([filter, ...filtered(filter)]).toEqual([filter, 'both user 4 1 ten or eleven?']);
    expect(filtered('lines:2')).toEqual([]);
    expect(filtered('role:assistant lines:2')).toEqual(['both assistant 2 0 eleven it is']);
    // Words are in the line that is shown.
    expect(filtered('role:assistant "it is"')).toEqual(['both assistant 2 0 eleven it is']);
    expect(filtered('role:assistant user')).toEqual([]);
    expect(filtered('role!=user grader')).toEqual([
      'both details 0 1 grader  eleven',
      'asked details 0 1 grader  eleven',
      'neither details 0 1 grader  eleven',
    ]);
    expect(filtered('text:eleven "it is"')).toEqual(['both assistant 2 0 eleven it is']);
    const ofRole = (role: string) => searchFor('/ELEVEN|"ten"/i', all, { ...ports, role }).run();
    expect(shown((await ofRole('assistant')).hits)).toEqual([
      'both assistant reasoning 3 0 after "ten"}, {"from":0',
      'asked assistant reasoning 1 0 after "ten"}, {"from":0',
      'neither assistant reasoning 1 0 after "ten"}, {"from":0',
    ]);
    expect(shown((await ofRole('user')).hits)).toEqual(['both user 2 0 ten or eleven?', 'asked user 1 0 eleven?']);
  });

  it('finds the text itself, even what the reader does not draw, and says so (attack31 A10)', async () => {
    const messages = [
      {
        role: 'tool',
        content:
          'first\r\nERROR: disk quota exceeded\rDone with all of it now.  \u001b[31mred\u001b[0m\ncol1\tcol2\n\tindented, one',
      },
      { role: 'assistant', content: 'a\u2028zero\u200bwidth and so\u00adft\n\u001b]0;I\ncheat\u0007Looks good\nend' },
      { role: 'assistant', reasoning: '\u{e0041}\u{e0042}', content: 'x\u0000y' },
      { role: 'assistant', tool_calls: JSON.stringify([{ id: 'c1', name: 'run\u200bme', arguments: { a: 'b' } }]) },
    ];
    const all = [trajectory('t1', '', { steps: [{ step_index: 3, messages }] })];
    const { service } = serviceOf(all);
    const ports = { index: index(), service };
    const found = async (query: string, role?: string) => {
      const once = await searchFor(query, all, { ...ports, role }).run();
      const again = await searchFor(query, all, { ...ports, role }).run();
      expect([again.stored, again.hits]).toEqual([1, once.hits]);
      const [hit] = once.hits;
      if (!hit) return undefined;
      const { at, lines, excerpt, range } = hit;
      return [at.role, at.message, at.line, lines, excerpt, excerpt.slice(...range)].join('|');
    };
    expect(await found('quota Disk')).toBe(undefined);
    expect(await found('quota disk')).toBe(
      'tool hidden|1|2|1|ERROR: disk quota exceeded␍Done with all of it now.  ␛[31mred␛[0m|quota',
    );
    expect(await found('exceeded', 'tool')).toContain('tool hidden|1|2|1|');
    expect(await found('exceeded', 'assistant')).toBe(undefined);
    expect(await found('/^ERROR.*\\rDone/')).toContain('ERROR: disk quota exceeded␍Done');
    expect(await found('/one$/')).toBe('tool|1|4|1|\u0020indented, one|one');
    expect(await found('/^Done.*red$/')).toBe('tool|1|2|1|Done with all of it now.  red|Done with all of it now.  red');
    expect(await found('/Done.*ERROR/')).toBe(undefined);
    expect(await found('/col1\\tcol2/')).toBe('tool|1|3|1|col1 col2|col1 col2');
    // The same with the spaces that the reader shows.
    expect(await found('/^ {4}inden/')).toBe('tool|1|4|1| indented, one| inden');
    expect(await found('"COL1    col2"')).toBe(undefined);
    expect(await found('"col1    col2"')).toBe('tool|1|3|1|col1 col2|col1 col2');
    expect(await found('/^\\tindented/')).toBe('tool|1|4|1| indented, one| indented');
    expect(await found('zero\u200bwidth')).toContain(
      'assistant hidden|2|2|1|zero<U+200B>width and so<U+00AD>ft|zero<U+200B>w',
    );
    expect(await found('zerowidth soft')).toBe('assistant|2|2|1|zerowidth and soft|zerowidth');
    expect(await found('/\\u00ad/')).toContain('assistant hidden|2|2|1|');
    expect(await found('"i cheat"')).toContain('assistant hidden|2|3|1|');
    expect(await found('/[\\u{e0000}-\\u{e007f}]{2}/')).toContain('assistant reasoning hidden|3|1|1|');
    expect(await found('/x\\0y/')).toContain('assistant hidden|3|2|1|x␀y|');
    expect(await found('run\u200bme')).toContain('assistant call hidden|4|1|1|call run<U+200B>me (c1)|');
    expect(await found('runme')).toContain('assistant call|4|1|1|call runme (c1)|');
    expect(await found('end')).toBe('assistant|2|4|1|end|end');
    // A position in the transcript is where the reader shows the line.
    const { blocks } = transcriptOf(all[0] as Trajectory, { showHidden: false, details: true });
    const text = blocks.map(block => block.text).join('\n');
    for (const [query, shown] of [
      ['indented', 'indented'],
      ['exceeded', 'Done with'],
      ['end', 'end'],
    ] as const) {
      const { hits } = await searchFor(query, all, ports).run();
      expect(text.slice(hits[0]?.place).startsWith(shown)).toBe(true);
    }
  });

  it('finds every part of a line as received, and as the reader shows it (attack31 A10)', async () => {
    const piece = fc.constantFrom(
      ...'aab',
      ' ',
      '\r',
      '\t',
      '\u200b',
      '\u00ad',
      '\u001b[31m',
      '\u001b]0;',
      '\u0007',
      '\n',
    );
    const partOf = (lines: readonly string[], [line, from, length]: readonly number[]): string => {
      const own = lines[(line ?? 0) % lines.length] ?? '';
      return own.slice((from ?? 0) % (own.length + 1)).slice(0, length);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('tool', 'assistant'),
        fc.array(piece, { minLength: 1, maxLength: 24 }),
        fc.tuple(fc.nat(99), fc.nat(99), fc.integer({ min: 1, max: 9 })),
        async (role, pieces, place) => {
          const content = pieces.join('');
          const one = trajectory('t1', '', { steps: [{ step_index: 0, messages: [{ role, content }] }] });
          const { blocks } = transcriptOf(one, { showHidden: false });
          const shown = blocks.filter(({ kind }) => kind === 'text' || kind === 'response').map(({ text }) => text);
          const { service } = serviceOf([one]);
          const ports = { index: index(), service };
          for (const text of [content, shown.join('\n')]) {
            const words = partOf(text.split(/[\r\n]+/), place).trim();
            if (words === '') continue;
            for (const stored of [0, 1]) {
              const state = await searchFor(`"${words}"`, [one], ports).run();
              expect([words, state.hits.length]).toEqual([words, 1]);
              if (stored === 1) expect(state.stored).toBe(1);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('finds a word anywhere in a long line, once, and continues at the next line (attack31 A10)', async () => {
    const long = 512 * 1024;
    for (const before of [long - 3, 2 * long - 3, long - 1004]) {
      const line = `${'z'.repeat(before)}SPLITWORD${'z'.repeat(long)}`;
      const all = [trajectory('t1', `${line}\nlast line`), trajectory('t2', `${line}\r\n\u200b${line}\nlast line`)];
      const { service } = serviceOf(all);
      const hitsOf = async (query: string) => {
        const { hits } = await searchFor(query, all, { index: index(), service }).run();
        return hits.toSorted((left, right) => left.trajectory_id.localeCompare(right.trajectory_id));
      };
      const hits = await hitsOf('SPLITWORD');
      expect(hits.map(({ at, lines, excerpt }) => [at.line, lines, excerpt.includes('SPLITWORD')])).toEqual([
        [2, 1, true],
        [2, 2, true],
      ]);
      const start = hits[0]?.place ?? 0;
      const last = await hitsOf('last');
      expect(last.map(({ at }) => at.line)).toEqual([3, 4]);
      expect((last[0]?.place ?? 0) - start).toBe('SPLITWORD'.length + long + 1);
    }
  });

  it('does not take a cut of a long line as the start or end of a line or word (attack33 C)', async () => {
    const long = 512 * 1024;
    const line = `start${' z'.repeat(long)}x end`;
    const at = (text: string, place: number) => line.slice(0, place) + text + line.slice(place + text.length);
    const cut = at('ab', long - 2);
    // The next chunk starts with a b.
    const next = at('abc', long - 1_000 - 1);
    const linesOf = async (query: string, content: string) => {
      const all = [trajectory('t1', content)];
      const { hits } = await searchFor(query, all, { index: index(), service: serviceOf(all).service }).run();
      return hits.map(({ lines }) => lines);
    };
    for (const query of ['/ab$/', '/ab\\b/', '/^abz/', '/ab(?:$)/']) {
      expect([query, await linesOf(query, cut.replace('ab z', 'abzz'))]).toEqual([query, []]);
    }
    for (const query of ['/^bc/', '/\\bbc/', '/b\\B$/'])
      expect([query, await linesOf(query, next)]).toEqual([query, []]);
    for (const query of ['/^start/', '/end$/', '/\\bend$/', '/^.* z/', '/[$^]|zabcz/', '/z+(?<$a>x)/'])
      expect([query, await linesOf(query, next)]).toEqual([query, [1]]);
    // The hidden form may be longer than the shown one.
    const hidden = `${'z'.repeat(long)}ab\u200b${'c'.repeat(9)}`;
    expect([await linesOf('/zab$/', hidden), await linesOf('/abc+$/', hidden)]).toEqual([[], [1]]);
  });

  it('finds indexed text at the same place as read text', async () => {
    const role = 'tool"},{"from":0,"line":7';
    const messages = Array.from({ length: 60 }, (_, at) => ({
      role,
      content: `word${at}\nlast`,
      reasoning: 'why',
    }));
    const all = [trajectory('t1', '', { steps: [{ step_index: 3, messages }] })];
    const { service } = serviceOf(all);
    const ports = { index: index(), service };
    const read = [];
    for (let at = 0; at < messages.length; at += 1) {
      const fresh = await searchFor(`word${at}`, all, { index: index(), service }).run();
      const { hits, stored } = await searchFor(`word${at}`, all, ports).run();
      expect([stored, hits]).toEqual([at === 0 ? 0 : 1, fresh.hits]);
      read.push(hits[0]?.at);
    }
    expect(read.map(at => at?.message)).toEqual(messages.map((_, at) => at + 1));
    expect(new Set(read.map(at => `${at?.role} ${at?.line}`))).toEqual(new Set([`${role} 2`]));
  });

  it('reads a completed trajectory once, and one that has changed or continues again', async () => {
    const all = [trajectory('ended', 'apple'), trajectory('open', 'apple', { status: 'running' })];
    const { service, read } = serviceOf(all);
    const ports = { index: index(), service };
    await searchFor('apple', all, ports).run();
    const second = await searchFor('pie', all, ports).run();
    expect([second.searched, second.stored]).toEqual([2, 1]);
    expect(read).toEqual(['ended', 'open', 'open']);
    const [ended] = all;
    await searchFor('apple', ended ? [{ ...ended, num_steps: 2 }] : [], ports).run();
    expect(read.at(-1)).toBe('ended');
    // It has as many steps as before, which may go on.
    await searchFor('apple', ended ? [{ ...ended, status: 'running' }] : [], ports).run();
    expect(read).toEqual(['ended', 'open', 'open', 'ended', 'ended']);
  });

  it('reads a trajectory whose text another program replaces during the search', async () => {
    const old = trajectory('t1', 'apple');
    const whole = index();
    await searchFor('apple', [old], { index: whole, service: serviceOf([old]).service }).run();
    const all = [trajectory('t1', 'pear')];
    const { service, read } = serviceOf(all);
    const parts = function* (...given: Parameters<TextIndex['parts']>) {
      yield* whole.parts(...given);
      whole.keep({ trajectoryId: 't1', steps: 1, record: undefined, parts: [] });
    };
    const state = await searchFor('pear', all, { index: reading(whole, parts), service }).run();
    expect([state.hits.length, state.searched, state.stored, read]).toEqual([1, 1, 0, ['t1']]);
  });

  it('counts what cannot be read, and continues', async () => {
    const all = [trajectory('gone', ''), trajectory('t1', 'apple'), trajectory('empty', '', { steps: undefined })];
    const { service } = serviceOf(all.slice(1));
    const { hits, unread, searched, phase } = await searchFor('apple', all, { index: index(), service }).run();
    expect([phase, searched, hits.length]).toEqual(['done', 1, 1]);
    expect(unread.map(({ trajectory_id }) => trajectory_id)).toEqual(['gone', 'empty']);
  });

  it('does not count a trajectory with missing steps as searched, or store its text', async () => {
    const all = [trajectory('part', 'apple', { num_steps: 5 }), trajectory('whole', 'apple')];
    const { service, read } = serviceOf(all);
    const ports = { index: index(), service };
    for (const asked of [
      ['part', 'whole'],
      ['part', 'whole', 'part'],
    ]) {
      const search = searchFor('apple', all, ports);
      const { hits, unread, searched, known } = await search.run();
      expect([searched, known, hits.length]).toEqual([1, 2, 2]);
      expect(unread).toEqual([{ trajectory_id: 'part', reason: 'The service sent 1 of its 5 steps.' }]);
      expect(search.searched.map(({ trajectory_id }) => trajectory_id)).toEqual(['whole']);
      expect(read).toEqual(asked);
    }
  });

  it('knows from the index how a trajectory ended, and its reward, if the list does not say', async () => {
    const failed = { status: 'failed', error: 'OOM: no memory', reward: 0.5, task_id: 'a', eval_run_id: 'evr_1' };
    const all = [trajectory('t1', 'apple', failed)];
    const { service } = serviceOf(all);
    const ports = { index: index(), service };
    const bare = { trajectory_id: 't1' } as Trajectory;
    const [first, second] = [searchFor('apple', [bare], ports), searchFor('apple', [bare], ports)];
    const [read, stored] = [await first.run(), await second.run()];
    expect([read.stored, stored.stored]).toEqual([0, 1]);
    expect(stored.hits).toEqual(read.hits);
    expect(stored.hits[0]).toMatchObject({ status: 'failed', error: failed.error, reward: 0.5, eval_run_id: 'evr_1' });
    expect(stored.hits.flatMap(hitFacts)).toContainEqual(referenceFact('run', 'runs', 'evr_1'));
    expect(countHits(second.searched, stored.hits)).toEqual(countHits(first.searched, read.hits));
    const regraded = await searchFor('apple', [{ ...bare, reward: 1 }], ports).run();
    expect(regraded.hits[0]?.reward).toBe(1);
  });

  it('reads from the service what a damaged index lacks, and reports nothing twice', async () => {
    const all = ['t1', 't2', 't3'].map(id => trajectory(id, 'apple'));
    const { service, read } = serviceOf(all);
    const whole = index();
    await searchFor('apple', all, { index: whole, service }).run();
    const parts = function* (...given: Parameters<TextIndex['parts']>) {
      const [first, second] = whole.parts(...given);
      if (first && second) yield* [first, second];
      throw new Error('damaged');
    };
    const broken = reading(whole, parts, 'The saved texts were damaged.');
    const state = await searchFor('apple', all, { index: broken, service }).run();
    expect(describeSearch(state, 'A searches on')).toContain(' · The saved texts were damaged.');
    const { hits, searched, stored } = state;
    expect([searched, stored]).toEqual([3, 1]);
    expect(hits.map(({ trajectory_id, lines }) => [trajectory_id, lines])).toEqual(
      all.map(each => [each.trajectory_id, 2]),
    );
    expect(read).toEqual(['t1', 't2', 't3', 't2', 't3']);
  });

  it('ends with what was found if the service fails', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => trajectory(`t${at}`, ''));
    const call = () => Promise.reject(new ApiError('broken', { status: 500 }));
    const service = { call } as unknown as Service;
    const { phase, error, unread } = await searchFor('apple', rows, { index: index(), service }).run();
    expect([phase, error?.message]).toEqual(['failed', 'broken']);
    expect(unread.length).toBeLessThan(20);
  });

  it('keeps no text of a trajectory with its hit', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const usedMegabytes = (): number => {
      collect();
      return process.memoryUsage().heapUsed / 1e6;
    };
    const count = 100;
    const call = async (_: string, { params }: { params: { trajectory_id: string } }) =>
      trajectory(params.trajectory_id, `${'some words '.repeat(20_000)}\nanother line`);
    const rows = Array.from({ length: count }, (_, at) => ({ ...trajectory(`t${at}`, ''), steps: undefined }));
    const ports = { index: index(), service: { call } as unknown as Service };
    const before = usedMegabytes();
    const read = await searchFor('another', rows, ports).run();
    const stored = await searchFor('some words', rows, ports).run();
    // All texts together have 22 megabytes.
    expect(usedMegabytes() - before).toBeLessThan(10);
    expect([read.hits.length, stored.hits.length, stored.stored]).toEqual([count, count, count]);
    expect(read.hits[0]?.excerpt).toBe('another line');
  });

  it('stops an expression that takes too long', async () => {
    const all = [trajectory('t1', `${'a'.repeat(40)}!`)];
    const { service } = serviceOf(all);
    const { phase, error } = await searchFor('/^(a+)+$/', all, { index: index(), service }).run();
    expect([phase, error?.message]).toEqual(['failed', 'This expression takes too long']);
  });
});

it('finds the names in the headings of messages, but not roles and numbers (issue 19)', async () => {
  const messages = [
    { role: 'user', name: 'alice', content: 'hello' },
    { role: 'tool', name: 'bash_tool', content: 'ok' },
    { role: 'assistant', name: 'planner', content: 'done' },
  ];
  const all = [trajectory('t1', '', { steps: [{ step_index: 3, messages }] })];
  const ports = { index: index(), service: serviceOf(all).service };
  const found = async (query: string) => {
    const { hits } = await searchFor(query, all, ports).run();
    return hits.map(({ excerpt, at }) => `${excerpt} at ${formatOrigin(at)}`);
  };
  expect(await found('alice')).toEqual(['alice at step 3, message 1']);
  expect(await found('bash_tool')).toEqual(['result of bash_tool at step 3, message 2']);
  // From the index.
  expect(await found('planner')).toEqual(['planner at step 3, message 3']);
  expect(await found('done')).toEqual(['done at step 3, message 3, line 1']);
  for (const query of ['user', 'assistant', '#1']) expect(await found(query)).toEqual([]);
});

it('knows the lengths and the end of a hit, read or indexed, and shows them like other lists', async () => {
  const messages = [{ role: 'assistant', content: 'apple', completion_tokens: 30, finish_reason: 'length' }];
  const known = { execution_metrics: { latency_ms: 2_500 }, rollout: { termination_reason: 'MAX_STEPS' } };
  const all = [trajectory('t1', '', { ...known, num_steps: undefined, steps: [{ step_index: 0, messages }] })];
  const ports = { index: index(), service: serviceOf(all).service };
  const cells = { steps: 1, ended: 'MAX_STEPS', finish: 'length', tokens: 30, seconds: 2.5 };
  for (const stored of [0, 1]) {
    const state = await searchFor('apple', [{ trajectory_id: 't1' }], ports).run();
    expect(state.stored).toBe(stored);
    const cellOf = (wanted: string) =>
      state.hits.map(hit => hitColumns.find(({ id }) => id === wanted)?.value(hit)).join();
    expect(Object.keys(cells).map(id => [id, cellOf(id)])).toEqual(
      Object.entries(cells).map(([id, value]) => [id, String(value)]),
    );
  }
  expect(hitColumns.map(({ id }) => id)).toEqual(expect.arrayContaining(trajectories.columns.map(({ id }) => id)));
  expect([...storedLengths([{ trajectory_id: 't1' }], 'seconds', ports.index)]).toEqual([
    ['t1', { execution_metrics: { duration_s: 2.5 } }],
  ]);
});

it('takes the run of a text from the list, if its record does not name it, so that it can be deleted (attack31 B3)', async () => {
  const rows = [trajectory('t1', 'apple', { eval_run_id: 'evr_1' })];
  const { service } = serviceOf(rows.map(({ eval_run_id: _, ...row }) => row));
  const kept = index();
  await searchFor('apple', rows, { index: kept, service }).run();
  kept.forget('run', 'evr_1');
  expect(kept.known().size).toBe(0);
});

it('keeps the token counts of what it read', async () => {
  const spoken = (completion_tokens: number) => [
    { step_index: 0, messages: [{ role: 'assistant', completion_tokens }] },
  ];
  const all = [
    trajectory('a', '', { steps: spoken(10) }),
    trajectory('b', '', { steps: spoken(20) }),
    trajectory('c', ''),
  ];
  const { service } = serviceOf(all);
  const texts = index();
  await searchFor('hay', all, { service, index: texts }).run();
  const tokens = [
    ['a', { completion_tokens: 10 }],
    ['b', { completion_tokens: 20 }],
  ];
  expect([...storedLengths(all, 'tokens', texts)]).toEqual(tokens);
  const [changed, ...same] = all.map((row, at) => (at === 0 ? { ...row, num_steps: 2 } : row));
  expect([...storedLengths(changed ? [changed, ...same] : [], 'tokens', texts)]).toEqual(tokens.slice(1));
});

it('finds indexed texts before the whole list is read, and forgets what the list no longer has (B5)', async () => {
  const all = ['a', 'b', 'c', 'd', 'e'].map(id => trajectory(id, 'a needle'));
  const { service, read } = serviceOf(all);
  const texts = index();
  await searchFor('needle', all, { service, index: texts }).run();
  read.length = 0;
  const found: string[] = [];
  const rest = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  const rows = all.map(({ steps: _, ...row }) => row);
  async function* pages() {
    yield { rows: rows.slice(0, 2) };
    await rest.promise;
    yield { rows, gone: ['a'] };
  }
  const search = parseLineSearch('needle');
  if (!search.ok) throw new Error(search.error);
  const { signal } = new AbortController();
  const onHit = ({ trajectory_id }: { trajectory_id: string }): void => {
    found.push(trajectory_id);
    if (found.length === 2) first.resolve();
  };
  const work = new TextSearch({ search, pages: pages(), index: texts, context: { service, signal }, onHit });
  const done = work.run();
  // The list has one more page to read.
  await first.promise;
  await eventually(() => expect(work.state()).toMatchObject({ phase: 'listing', known: 2 }));
  rest.resolve();
  const { hits, known, searched, stored, phase } = await done;
  expect({ known, searched, stored, phase }).toEqual({ known: 4, searched: 4, stored: 4, phase: 'done' });
  // The index has them in the order in which they were read, several at a time.
  expect(hits.map(({ trajectory_id }) => trajectory_id).toSorted()).toEqual(['b', 'c', 'd', 'e']);
  expect(read).toEqual([]);
});

it('leaves room for the length of a rollout beside long excerpts', async () => {
  const long = trajectory('a', `${'a long line '.repeat(20)}apple`, { completion_tokens: 1_234 });
  const { hits } = await searchFor('apple', [long], { ...serviceOf([long]), index: index() }).run();
  const widest = new Map(hitColumns.map(({ id }) => [id, 0]));
  const ids = fitColumns(hitColumns, 112, {}, hits, widest).map(({ column }) => column.id);
  expect(ids.slice(0, 7)).toEqual(['task', 'reward', 'role', 'text', 'lines', 'steps', 'tokens']);
});

it('says how to continue in a longer list, and keeps what it has read (B12)', async () => {
  const all = ['a', 'b', 'c'].map(id => trajectory(id, 'a needle'));
  const { service, read } = serviceOf(all);
  const ports = { index: index(), service };
  const first = await searchFor('needle', all, { ...ports, most: 2 }).run();
  expect([first.hits.length, first.known, first.beyond]).toEqual([2, 2, 1]);
  expect(describeSearch(first, 'A searches 2 more')).toContain(
    'the list is longer: these are its first 2; A searches 2 more',
  );
  const more = await searchFor('needle', all, { ...ports, most: 4 }).run();
  expect([more.hits.length, more.known, more.beyond, more.stored]).toEqual([3, 3, 0, 2]);
  expect(read).toHaveLength(3);
});
