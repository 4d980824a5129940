/** A worker thread: loads models, samples from them, grades the answers, and trains. */

import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { errorCode, errorMessage } from '../../base/errors.ts';
import type { FromWorker, ToWorker } from './messages.ts';
import { loadModel } from './worker-models.ts';
import { answerAll, gradeAnswer } from './worker-rollouts.ts';
import { train } from './worker-training.ts';

/** How many tokens of a chat answer to generate between two checks for messages. */
const tokensPerTurn = 8;
const niceness = 10;

const cancelledIds = new Set<number>();
const openIds = new Set<number>();

const emit = (message: FromWorker): void => parentPort?.postMessage(message);
const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

async function chat({ id, model, turns, sampling }: ToWorker & { kind: 'chat' }): Promise<void> {
  // An empty chat answer is useless.
  const words = loadModel(model).generate(turns, { ...sampling, min_tokens: 1 });
  for (let count = 1; ; count += 1) {
    const word = words.next();
    if (word.done) {
      emit({ kind: 'answer', id, answer: word.value });
      return;
    }
    emit({ kind: 'token', id, ...word.value });
    if (count % tokensPerTurn === 0) await nextTurn();
    if (cancelledIds.has(id)) return;
  }
}

/** Generates one answer with a model. Checks the weights first, because NaN would fail silently. */
function probe({ id, model }: ToWorker & { kind: 'probe' }): void {
  const loaded = loadModel(model);
  if (!loaded.network.weights.every(Number.isFinite)) throw new Error('Some of the weights are not numbers.');
  const answer = loaded.answer([{ role: 'user', content: 'hello' }], {
    temperature: 1,
    top_p: 1,
    max_tokens: 8,
    seed: 1,
  });
  emit({ kind: 'answer', id, answer });
}

async function handle(message: ToWorker): Promise<void> {
  const { id } = message;
  if (message.kind === 'cancel') {
    if (openIds.has(id)) cancelledIds.add(id);
    return;
  }
  openIds.add(id);
  const shallStop = async (): Promise<boolean> => {
    await nextTurn();
    return cancelledIds.has(id);
  };
  try {
    switch (message.kind) {
      case 'rollouts':
        emit({ kind: 'answers', id, answers: await answerAll(loadModel(message.model), message.rollouts, shallStop) });
        break;
      case 'chat':
        await chat(message);
        break;
      case 'probe':
        probe(message);
        break;
      case 'grade':
        emit({ kind: 'graded', id, result: gradeAnswer(message.answered) });
        break;
      case 'train': {
        const finished = await train(message.order, news => emit({ kind: 'news', id, news }), shallStop);
        emit({ kind: 'trained', id, finished });
      }
    }
  } catch (error) {
    const code = errorCode(error);
    emit({
      kind: 'failed',
      id,
      message: errorMessage(error),
      ...(code && { code }),
    });
  } finally {
    openIds.delete(id);
    cancelledIds.delete(id);
  }
}

// On Linux each thread has its own priority; elsewhere this would slow down the server too.
if ((workerData as { lowPriority?: boolean } | null)?.lowPriority && process.platform === 'linux')
  setPriority(niceness);
parentPort?.on('message', (message: ToWorker) => void handle(message));
