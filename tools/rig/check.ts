/** Plays plans of fast-check, and shrinks those that fail. */
import fc from 'fast-check';

/** Real time for shrinking a plan, because a simulation has its own clock. */
const shrinkSeconds = Number(process.env['SHRINK_SECONDS'] ?? 120);
const now = (): number => process.hrtime()[0];

/**
 * Plays the plan of this seed. If it fails, prints the failure and the shortest failing plan found, as JSON.
 *
 * @param play returns the failures; `isFirst` is false while shrinking
 * @returns whether it has failed
 */
export async function fails<Plan>(
  name: string,
  seed: number,
  plans: fc.Arbitrary<Plan>,
  play: (plan: Plan, isFirst: boolean) => Promise<readonly string[]>,
): Promise<boolean> {
  let until = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(plans, async plan => {
    if (now() > until) return;
    const failures = await play(plan, until === Number.POSITIVE_INFINITY);
    if (failures.length === 0) return;
    until = Math.min(until, now() + shrinkSeconds);
    throw new Error(failures.join('\n'));
  });
  const result = await fc.check(property, { seed, numRuns: 1 });
  const { failed, counterexample, errorInstance, numShrinks } = result;
  const plan = JSON.stringify(counterexample?.[0]);
  if (failed)
    process.stdout.write(
      `\nfailure, ${name}, seed ${seed}, made shorter ${numShrinks} times: ${errorInstance}\n${plan}\n`,
    );
  return failed;
}
