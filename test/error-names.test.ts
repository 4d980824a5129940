/** Errors appear in reports by the name of their class. */
import { expect, it } from 'vitest';
import { ExpressionError } from '../src/base/expression.ts';
import { NewFileError } from '../src/base/new-file.ts';
import { SharedError } from '../src/base/ownership.ts';
import { UnclosedQuoteError } from '../src/base/shell-words.ts';
import { CorruptFileError } from '../src/local/model/container.ts';
import { TrainingDiverged } from '../src/local/model/trainer.ts';
import { RewardIdTaken, TrajectoryTerminal } from '../src/local/store/reward-logs.ts';
import { UnknownUpload, UploadClosed, UploadMismatch } from '../src/local/store/upload-folder.ts';
import { WeightFileError } from '../src/local/store/weight-files.ts';
import { StoppedError } from '../src/queries/action.ts';
import { OrderRefusedError } from '../src/queries/lists/server-sort.ts';
import { FolderError } from '../src/uploads/benchmark-plan.ts';
import { BuildsNotStarted, ForgottenUpload, IngestedDifferently } from '../src/uploads/ingest.ts';

it.each([
  new BuildsNotStarted('bench_1'),
  new CorruptFileError(),
  new ExpressionError(''),
  new FolderError(),
  new ForgottenUpload(),
  new IngestedDifferently('bench_1'),
  new NewFileError(),
  new OrderRefusedError('reward'),
  new RewardIdTaken(),
  new SharedError('/d', { words: '', fix: '' }),
  new StoppedError(),
  new TrainingDiverged(),
  new TrajectoryTerminal(),
  new UnclosedQuoteError(),
  new UnknownUpload(),
  new UploadClosed(),
  new UploadMismatch(),
  new WeightFileError('weights_missing', ''),
])('%o has the name of its class', error => {
  expect(error.name).toBe(error.constructor.name);
});

it('say what they are about in their messages', () => {
  expect(new SharedError('/d', { words: 'is shared', fix: 'Run: chmod' }).message).toBe('/d is shared. Run: chmod');
  expect(new OrderRefusedError('reward').message).toBe('The service does not sort by reward.');
  expect(new StoppedError().message).toBe('Stopped. Nothing was sent.');
  expect(new UploadClosed().message).toContain('This benchmark takes no more files');
  expect(new IngestedDifferently('bench_1').message).toContain('bench_1 was already ingested with different content');
  expect(new WeightFileError('weights_missing', 'gone')).toMatchObject({ code: 'weights_missing', message: 'gone' });
  expect(new TrainingDiverged('too far')).toMatchObject({ code: 'training_diverged', message: 'too far' });
  expect([new ExpressionError('no').isTooSlow, new ExpressionError('slow', true).isTooSlow]).toEqual([false, true]);
});
