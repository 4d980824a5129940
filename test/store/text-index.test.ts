import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forgetTexts, TextIndex } from '../../src/store/text-index.ts';
import { foldCase, parseLineSearch } from '../../src/text/line-search.ts';
import fc from '../../tools/rig/property.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'texts-'));
  path = join(folder, 'texts.db');
});
const options = { service: 'one', mostBytes: 100 * 1024 * 1024 };
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const text = (trajectoryId: string, steps: number, ...bodies: readonly string[]) => ({
  ...{ trajectoryId, steps, record: undefined },
  parts: bodies.map(body => ({ body, origins: '[]' })),
});

/** Whether a line has a term: capitals count if the term has one. */
const has = (line: string, term: string): boolean =>
  /\p{Lu}/u.test(term) ? line.includes(term) : foldCase(line).includes(foldCase(term));

/** Damages the file in its index of words, as a torn write does. */
function damageTexts(file: string): void {
  // The types do not know it yet.
  const writable = { timeout: 1_000, defensive: false };
  const database = new DatabaseSync(file, writable);
  database.exec("update grams_data set block = x'0011' where id > 10");
  database.close();
}

/** The ids of the trajectories that match, through the index. */
function found(index: TextIndex, query: string): string[] {
  const search = parseLineSearch(query);
  if (!search.ok) throw new Error(search.error);
  const texts = new Map([...index.known()].map(([trajectoryId, { id }]) => [id, trajectoryId]));
  const ids = [...index.parts(texts, search.words)]
    .filter(({ body }) => search.matchesIn([{ body }]).some(({ length }) => length > 0))
    .map(({ trajectoryId }) => trajectoryId);
  return [...new Set(ids)].sort();
}

describe('the index of texts', () => {
  it('finds what a scan of every line finds', () => {
    // Few letters, so that words recur, with characters that fold, separate and quote.
    const letter = fc.constantFrom(...'aabbcc AB \n\t"\'*-ΣσςİıſßK𝒳\u00a0é', '\ud800');
    const body = fc.string({ unit: letter, maxLength: 60 });
    const word = fc.string({ unit: letter, minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(body, { maxLength: 8 }), fc.array(word, { minLength: 1, maxLength: 3 }), (texts, words) => {
        const terms = words.map(each => each.toWellFormed().replace(/["\n]/g, ' ').trim()).filter(Boolean);
        fc.pre(terms.length > 0);
        const index = TextIndex.inMemory(options);
        for (const [at, body] of texts.entries()) index.keep(text(`t${at}`, 1, body.toWellFormed()));
        const scanned = texts.flatMap((body, at) =>
          body
            .toWellFormed()
            .split('\n')
            .some(line => terms.every(term => has(line, term)))
            ? [`t${at}`]
            : [],
        );
        const query = terms.map(each => `"${each}"`).join(' ');
        expect(found(index, query)).toEqual(scanned.sort());
        index.close();
      }),
      { numRuns: 300 },
    );
  });

  it('finds with an expression what a scan of every line finds', () => {
    // Characters that fold to an ASCII letter under the flags of an expression, and parts that it may repeat, omit or
    // negate.
    const bodies = fc
      .array(fc.constantFrom(...['abc', 'ABC', 'bcaab', 'aſk', 'ask', 'cabK', 'ß', 'İ', 'b', ' ', '\n']), {
        maxLength: 9,
      })
      .map(words => words.join(''));
    const piece = fc.constantFrom(
      ...[
        'abc',
        'ask',
        'cabk',
        'bcaab',
        'ABC',
        'b',
        ' ',
        '^',
        '.',
        '|',
        'abcz?',
        'abcz*',
        'abcz{0,2}',
        'abcb+',
        'bca+b',
      ],
      ...['(?:abcd)?', '(?!abcd)', '(?<=abc)', '(?<abc>b)', '(abc|cab)', '[abc]', '[^()abcd]', 'abc$'],
      ...[String.raw`\w`, String.raw`\p{L}`, String.raw`\u{61}bc`, String.raw`\x61bc`, String.raw`\(?`],
    );
    fc.assert(
      fc.property(
        fc.array(bodies, { maxLength: 8 }),
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        (texts, pieces) => {
          const source = pieces.join('').trim();
          const search = parseLineSearch(`/${source}/`);
          fc.pre(search.ok);
          fc.pre(source !== '');
          const expression = new RegExp(source, source.includes('A') ? 'u' : 'iu');
          const index = TextIndex.inMemory(options);
          for (const [at, body] of texts.entries()) index.keep(text(`t${at}`, 1, body));
          const counts = texts.map(body => body.split('\n').filter(line => expression.test(line)).length);
          const scanned = texts.flatMap((_, at) => ((counts[at] ?? 0) > 0 ? [`t${at}`] : []));
          expect(search.matchesIn(texts.map(body => ({ body }))).map(({ length }) => length)).toEqual(counts);
          expect(found(index, `/${source}/`)).toEqual(scanned.sort());
          index.close();
        },
      ),
      { numRuns: 500 },
    );
  });

  it('reads the parts of a text together and in order, and none of another service', () => {
    const other = TextIndex.open(path, { ...options, service: 'two' });
    const index = TextIndex.open(path, options);
    const names = Array.from({ length: 30 }, (_, at) => `t${at}`);
    for (const name of [...names, 't3', 't29']) {
      index.keep(text(name, 1, `first of ${name}`, `second of ${name}`, `third of ${name}`));
      other.keep(text(`of two ${name}`, 1, `first of ${name}`));
    }
    const texts = new Map([...index.known()].map(([trajectoryId, { id }]) => [id, trajectoryId]));
    for (const words of [['of'], ['first'], []]) {
      const read = [...index.parts(texts, words)].map(({ trajectoryId, body }) => [trajectoryId, body]);
      const kept = [...names.filter(name => name !== 't3' && name !== 't29'), 't3', 't29'];
      const places = words[0] === 'first' ? ['first'] : ['first', 'second', 'third'];
      expect(read).toEqual(kept.flatMap(name => places.map(place => [name, `${place} of ${name}`])));
    }
    index.close();
    other.close();
  });

  it('is private, and kept across starts and per service', () => {
    const first = TextIndex.open(path, options);
    first.keep(text('t1', 4, 'the quick fox', 'jumps'));
    first.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const second = TextIndex.open(path, options);
    expect(second.problem).toBeUndefined();
    expect([...second.known()].map(([id, { steps }]) => [id, steps])).toEqual([['t1', 4]]);
    expect(found(second, 'QUICK')).toEqual([]);
    expect(found(second, 'quick')).toEqual(['t1']);
    second.close();
    const other = TextIndex.open(path, { ...options, service: 'two' });
    expect(other.known().size).toBe(0);
    other.close();
  });

  it('replaces the text of a trajectory', () => {
    const index = TextIndex.inMemory(options);
    index.keep(text('t1', 1, 'before'));
    index.keep(text('t1', 2, 'afterwards'));
    expect(found(index, 'before')).toEqual([]);
    expect(found(index, 'afterwards')).toEqual(['t1']);
    index.close();
  });

  it('stays within its size by dropping the least recently used', () => {
    const index = TextIndex.open(path, { service: 'one', mostBytes: 2_000_000 });
    const body = (at: number) => Array.from({ length: 400 }, (_, word) => `word${at * 7919 + word * 31}`).join(' ');
    for (let at = 0; at < 700; at += 1) index.keep(text(`t${at}`, 1, body(at)), at);
    const known = index.known();
    index.close();
    expect(known.has('t699')).toBe(true);
    expect(known.has('t0')).toBe(false);
    expect(known.size).toBeGreaterThan(100);
    expect(statSync(path).size).toBeLessThan(4_000_000);
  });

  it('deletes a text with all its parts or not at all', () => {
    const small = { service: 'one', mostBytes: 1 };
    const index = TextIndex.open(path, options);
    for (let at = 0; at < 30; at += 1) index.keep(text(`t${at}`, 1, `word of t${at}`));
    const database = new DatabaseSync(path);
    database.exec("create trigger no_more before delete on texts begin select raise(abort, 'the program ends'); end");
    const parts = () => database.prepare('select count(*) as count from parts').get();
    const full = TextIndex.open(path, small);
    full.keep(text('t30', 1, 'one more'));
    expect([full.problem, parts()]).toEqual([expect.stringContaining('the program ends'), { count: 30 }]);
    for (const each of [index, full, database]) each.close();
  });

  it('starts again if the file is damaged, and can be deleted', () => {
    writeFileSync(path, 'not a database, and long enough to be read as one'.repeat(40));
    const index = TextIndex.open(path, options);
    expect(index.problem).toBeUndefined();
    index.keep(text('t1', 1, 'something'));
    expect(index.known().size).toBe(1);
    index.close();
    forgetTexts(path);
    expect(existsSync(path)).toBe(false);
  });

  it('never mixes up texts, even one replaced while it is read', () => {
    const [index, other] = [TextIndex.open(path, options), TextIndex.open(path, options)];
    for (let at = 0; at < 40; at += 1) index.keep(text(`t${at}`, 1, `word of t${at}`));
    const texts = new Map([...index.known()].map(([trajectoryId, { id }]) => [id, trajectoryId]));
    const parts = index.parts(texts, ['word']);
    const read = [parts.next().value];
    other.keep(text('t39', 1, 'another word of t39'));
    read.push(...parts);
    expect(read.map(part => `${part?.trajectoryId}: ${part?.body}`)).toEqual(
      Array.from({ length: 39 }, (_, at) => `t${at}: word of t${at}`),
    );
    index.close();
    other.close();
  });

  it('starts again if it turns out to be damaged, and tells its reader', () => {
    const index = TextIndex.open(path, options);
    for (let at = 0; at < 40; at += 1) index.keep(text(`t${at}`, 1, `word of t${at}`));
    damageTexts(path);
    const texts = new Map([...index.known()].map(([trajectoryId, { id }]) => [id, trajectoryId]));
    expect(texts.size).toBe(40);
    expect(() => [...index.parts(texts, ['word'])]).toThrow();
    expect(index.problem).toContain('were damaged');
    expect(index.known().size).toBe(0);
    index.keep(text('t1', 1, 'something'));
    index.close();
    expect(found(TextIndex.open(path, options), 'something')).toEqual(['t1']);
  });

  // The records of version 7 had a question or an answer cut within the data of an image.
  it.each([1, 7, 8])('drops texts of version %i', version => {
    const old = new DatabaseSync(path);
    const columns = 'trajectory_id text, steps integer, record text, used_at integer, unique (service, trajectory_id)';
    old.exec(`create table texts (id integer primary key, service text, ${columns});
      insert into texts (service, trajectory_id) values ('${options.service}', 'old'); pragma user_version = ${version}`);
    old.close();
    const index = TextIndex.open(path, options);
    index.keep(text('t1', 1, 'something'));
    expect([index.problem, index.known().size]).toEqual([undefined, 1]);
    index.close();
  });

  it('deletes the texts of a run, on disk too, and no others (attack31 B3)', () => {
    const index = TextIndex.open(path, options);
    const other = TextIndex.open(path, { ...options, service: 'two' });
    const of = (field: string, id: string, body: string) => ({
      ...text(`${field} ${id}`, 1, body.repeat(100)),
      record: JSON.stringify({ [field]: id }),
    });
    index.keep(of('eval_run_id', 'one', 'secretly'));
    index.keep(of('training_run_id', 'one', 'trained'));
    index.keep(of('eval_run_id', 'two', 'openly'));
    other.keep(of('eval_run_id', 'one', 'elsewhere'));
    index.keep(text('of no run', 1, 'unknown'));
    index.forget('run', 'one');
    index.forget('deployment', 'two');
    expect([...index.known().keys()].sort()).toEqual(['eval_run_id two', 'of no run', 'training_run_id one']);
    index.forget('training', 'one');
    expect([found(index, 'openly'), found(index, 'secretly'), found(other, 'elsewhere')]).toEqual([
      ['eval_run_id two'],
      [],
      ['eval_run_id one'],
    ]);
    const onDisk = ['', '-wal'].map(end => readFileSync(`${path}${end}`, 'latin1')).join('');
    expect(['openly', 'secretly', 'trained'].map(word => onDisk.includes(word))).toEqual([true, false, false]);
    expect(index.problem).toBe(undefined);
    for (const end of ['', '-wal', '-shm']) expect(statSync(`${path}${end}`).mode & 0o777).toBe(0o600);
    index.close();
    other.close();
  });
});
