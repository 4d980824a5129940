/** What a user does in a session, and what goes wrong meanwhile: a list of steps, of which any may be left out. */
import { type Input, Inputs } from '../torture/inputs.ts';
import type { Random } from '../torture/random.ts';
import type { Weather } from './virtual-network.ts';

export type Step =
  | { readonly do: 'wait'; readonly ms: number }
  /** Starts something with a name of its own, in this many tasks. */
  | { readonly do: 'evaluate'; readonly name: string; readonly tasks: number }
  | { readonly do: 'keep secret' | 'record'; readonly name: string }
  /** Acts on one of those that are known; which, is a share of their number. */
  | { readonly do: 'cancel' | 'delete' | 'forget secret' | 'reward' | 'compare'; readonly which: number }
  | { readonly do: 'list'; readonly what: Listed; readonly limit: number }
  | { readonly do: 'write read-only'; readonly name: string }
  /** At the screen, which opens with the first of these; a signal ends it. */
  | { readonly do: 'open'; readonly readOnly: boolean }
  | { readonly do: 'input'; readonly input: Input }
  | { readonly do: 'signal'; readonly name: 'SIGTERM' | 'SIGHUP' | 'SIGINT' | 'SIGTSTP' | 'SIGCONT' }
  /** Faults: of the network for a while, of the answers from now on, of the disk for a while. */
  | { readonly do: 'network'; readonly weather: Exclude<Weather, 'up'>; readonly ms: number }
  | { readonly do: 'answers'; readonly network: number; readonly lost: number }
  | { readonly do: 'disk full'; readonly ms: number }
  /** Kills the local service at one of its next writes, or after a while if it writes nothing; starts it again. */
  | { readonly do: 'crash'; readonly writes: number; readonly downMs: number };

export const listed = ['benchmarks', 'runs', 'trajectories', 'secrets'] as const;
export type Listed = (typeof listed)[number];

const minute = 60_000;

function stepOf(random: Random, index: number): Step {
  const kind = random.weighted([
    [30, 'wait'],
    [8, 'evaluate'],
    [6, 'keep secret'],
    [6, 'record'],
    [3, 'cancel'],
    [3, 'delete'],
    [4, 'forget secret'],
    [4, 'reward'],
    [10, 'compare'],
    [18, 'list'],
    [2, 'write read-only'],
    [4, 'network'],
    [3, 'answers'],
    [2, 'disk full'],
    [4, 'crash'],
  ] as const);
  switch (kind) {
    case 'wait':
      return { do: kind, ms: random.pick([50, 1_000, 10_000, minute, 10 * minute]) };
    case 'evaluate':
      return { do: kind, name: `run ${index}`, tasks: random.between(1, 5) };
    case 'keep secret':
      return { do: kind, name: `SECRET_${random.between(1, 40)}` };
    case 'record':
      return { do: kind, name: `trace ${index}` };
    case 'write read-only':
      return { do: kind, name: `READER_${index}` };
    case 'list':
      return { do: kind, what: random.pick(listed), limit: random.pick([1, 2, 7, 200]) };
    case 'network':
      return { do: kind, weather: random.pick(['refused', 'lost']), ms: random.pick([500, 5_000, 40_000, 5 * minute]) };
    case 'answers':
      return { do: kind, network: random.pick([0, 0, 0.05, 0.3]), lost: random.pick([0, 0.05, 0.3]) };
    case 'disk full':
      return { do: kind, ms: random.pick([100, 10_000, minute]) };
    case 'crash':
      return { do: kind, writes: random.between(1, 60), downMs: random.pick([10, 2_000, minute]) };
    default:
      return { do: kind, which: random.next() };
  }
}

/** What a user does at the screen between two other steps. */
function atScreen(random: Random, inputs: Inputs): Step[] {
  if (random.chance(0.02))
    return [{ do: 'signal', name: random.pick(['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGTSTP', 'SIGCONT'] as const) }];
  const typed = Array.from({ length: random.between(1, 8) }, () => ({ do: 'input', input: inputs.next() }) as const);
  return [...typed, { do: 'wait', ms: random.pick([0, 20, 300, 3_000]) }];
}

/** Every other session has a screen, unless that is said. */
export function planOf(random: Random, steps: number, hasScreen = random.chance(0.5)): Step[] {
  const inputs = new Inputs(random.fork('inputs'), { without: [], mouse: true, unfinishedPastes: true });
  const open: Step = { do: 'open', readOnly: random.chance(0.2) };
  const own = Array.from({ length: steps }, (_, index) => [
    stepOf(random, index),
    ...(hasScreen ? atScreen(random, inputs) : []),
  ]);
  return [...(hasScreen ? [open] : []), ...own.flat()];
}

/**
 * A shorter plan that fails as well: leaves out ever smaller parts of it, as long as that is so (Zeller and
 * Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002). Ends early once `isOver`.
 */
export async function shrink<Item>(
  plan: readonly Item[],
  fails: (plan: readonly Item[]) => Promise<boolean>,
  isOver: () => boolean,
): Promise<readonly Item[]> {
  let shortest = plan;
  for (let size = Math.ceil(plan.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length && !isOver(); ) {
      const shorter = [...shortest.slice(0, at), ...shortest.slice(at + size)];
      if (await fails(shorter)) shortest = shorter;
      else at += size;
    }
  }
  return shortest;
}
