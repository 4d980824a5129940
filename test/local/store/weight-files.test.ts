/** Weight files: a read returns the written weights, or the reason why they are unusable. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { CorruptFileError } from '../../../src/local/model/container.ts';
import { readVerified, readVerifiedAs, WeightFileError, writeDurably } from '../../../src/local/store/weight-files.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-weights-'));
  path = join(folder, 'trn_1', '1.weights');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function errorOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

it('is written into its own folder, for its user only, and read back', () => {
  const hash = writeDurably(path, Buffer.from('weights'));
  expect(readFileSync(path, 'utf8')).toBe('weights');
  expect(statSync(join(folder, 'trn_1')).mode & 0o777).toBe(0o700);
  expect(String(readVerified({ path, hash }))).toBe('weights');
  expect(readVerifiedAs({ path, hash }, String)).toBe('weights');
});

it('is missing if it cannot be read', () => {
  const error = errorOf(() => readVerified({ path, hash: '' }));
  expect(error).toBeInstanceOf(WeightFileError);
  expect(error).toMatchObject({
    name: 'WeightFileError',
    code: 'weights_missing',
    message: expect.stringMatching(/^The weight file cannot be read: .*ENOENT.*\.$/),
  });
});

it('is corrupt if it has changed, or is something else', () => {
  const hash = writeDurably(path, Buffer.from('weights'));
  const another = errorOf(() =>
    readVerifiedAs({ path, hash }, () => {
      throw new CorruptFileError('It holds a poem.');
    }),
  );
  expect(another).toMatchObject({ name: 'WeightFileError', code: 'weights_corrupt', message: 'It holds a poem.' });
  const failing = () => readVerifiedAs({ path, hash }, () => JSON.parse('{'));
  expect(errorOf(failing)).toBeInstanceOf(SyntaxError);
  writeFileSync(path, 'weight');
  expect(errorOf(() => readVerified({ path, hash }))).toMatchObject({
    code: 'weights_corrupt',
    message: 'The weight file has been changed or cut off since it was written.',
  });
});
