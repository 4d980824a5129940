/** At a start, files of checkpoints and deployments without a row are removed, and no others. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { WeightFolder } from '../../../src/local/store/weight-folder.ts';

let folder: string;
let weights: WeightFolder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-weight-folder-'));
  weights = new WeightFolder(folder);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const put = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
};
const left = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => relative(folder, join(folder, name)))
    .toSorted();

it('keeps the weights and the state of every checkpoint, and nothing else of its run', () => {
  for (const step of [1, 2]) {
    put(weights.checkpoint('trn_1', step));
    put(weights.trainerState('trn_1', step));
  }
  put(`${weights.checkpoint('trn_1', 2)}.part`);
  weights.sweep([{ training_run_id: 'trn_1', step_index: 1 }], []);
  expect(left()).toEqual([
    'checkpoints',
    'checkpoints/trn_1',
    'checkpoints/trn_1/1.state',
    'checkpoints/trn_1/1.weights',
  ]);
});

it('removes the folder of a run without a checkpoint, and of a deployment that is gone', () => {
  put(weights.checkpoint('trn_1', 1));
  put(weights.checkpoint('trn_2', 1));
  put(weights.serving('dep_1'));
  put(join(dirname(weights.serving('dep_1')), 'serving.weights.part'));
  put(weights.serving('dep_2'));
  weights.sweep([{ training_run_id: 'trn_2', step_index: 1 }], ['dep_1']);
  expect(left()).toEqual([
    'checkpoints',
    'checkpoints/trn_2',
    'checkpoints/trn_2/1.weights',
    'deployments',
    'deployments/dep_1',
    'deployments/dep_1/serving.weights',
  ]);
});

it('removes the files of one run or deployment, even if there are none', () => {
  put(weights.checkpoint('trn_1', 1));
  put(weights.serving('dep_1'));
  for (let time = 0; time < 2; time += 1) {
    weights.removeRun('trn_1');
    weights.removeDeployment('dep_1');
  }
  expect(left()).toEqual(['checkpoints', 'deployments']);
});

it('finds nothing to remove if nothing was written', () => {
  weights.sweep([{ training_run_id: 'trn_1', step_index: 1 }], ['dep_1']);
  expect(left()).toEqual([]);
});
