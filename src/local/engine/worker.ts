/** A worker thread: holds models in memory, samples from them and grades what they said. */
import { parentPort } from 'node:worker_threads';
import { grade } from '../grading/graders.ts';
import { buildBaseModel } from '../model/base-models.ts';
import type { Generated, PolicyModel, SampledToken } from '../model/policy.ts';
import type { FromWorker, RolloutOrder, RolloutResult, ToWorker } from './messages.ts';

/** Rollouts under way at once; a token of each in turn. */
const concurrentRollouts = 4;
/** Words of a chat answer between two looks at the messages that came meanwhile. */
const wordsPerTurn = 8;

const models = new Map<string, PolicyModel>();
const cancelled = new Set<number>();

function modelOf(slug: string): PolicyModel {
  const known = models.get(slug);
  if (known) return known;
  const built = buildBaseModel(slug);
  models.set(slug, built);
  return built;
}

const tell = (message: FromWorker): void => parentPort?.postMessage(message);
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

interface OpenRollout {
  readonly order: RolloutOrder;
  readonly started: number;
  readonly words: Generator<SampledToken, Generated>;
}

function finish({ order, started }: OpenRollout, answer: Generated): RolloutResult {
  const latency_ms = performance.now() - started;
  const ended = { task_id: order.task_id, answer, latency_ms };
  try {
    const { reward, explanation } = grade(order.grader, answer.text);
    return { ...ended, reward, explanation, error: null };
  } catch (error) {
    // The model answered and nobody could grade it: that is no reward, and no reward of 0.
    return { ...ended, reward: null, explanation: '', error: error instanceof Error ? error.message : String(error) };
  }
}

function runRollouts(model: PolicyModel, orders: readonly RolloutOrder[]): RolloutResult[] {
  const results: RolloutResult[] = [];
  const waiting = [...orders];
  const open: OpenRollout[] = [];
  while (waiting.length > 0 || open.length > 0) {
    while (open.length < concurrentRollouts) {
      const order = waiting.shift();
      if (!order) break;
      open.push({ order, started: performance.now(), words: model.generate(order.turns, order.sampling) });
    }
    for (const rollout of [...open]) {
      const word = rollout.words.next();
      if (!word.done) continue;
      results.push(finish(rollout, word.value));
      open.splice(open.indexOf(rollout), 1);
    }
  }
  return results;
}

async function chat(order: ToWorker & { kind: 'chat' }): Promise<void> {
  const words = modelOf(order.model).generate(order.turns, order.sampling);
  for (let said = 1; ; said += 1) {
    const word = words.next();
    if (word.done) {
      tell({ kind: 'answer', id: order.id, answer: word.value });
      return;
    }
    tell({ kind: 'token', id: order.id, ...word.value });
    if (said % wordsPerTurn === 0) await turn();
    if (cancelled.delete(order.id)) return;
  }
}

async function handle(message: ToWorker): Promise<void> {
  try {
    if (message.kind === 'rollouts') {
      tell({ kind: 'rollouts', id: message.id, results: runRollouts(modelOf(message.model), message.rollouts) });
    } else if (message.kind === 'chat') await chat(message);
    else cancelled.add(message.id);
  } catch (error) {
    tell({ kind: 'failed', id: message.id, message: error instanceof Error ? error.message : String(error) });
  }
}

parentPort?.on('message', (message: ToWorker) => void handle(message));
