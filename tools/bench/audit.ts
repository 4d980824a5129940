/**
 * Measures how often the audit detects a fault of a training run within a few steps, and how often it reports a
 * finding for a sound run. The runs are seeded, with the trainer and the models of the local service.
 */
import { auditMeasured } from '../../src/present/about.ts';
import type { BenchOptions } from '../bench.ts';
import { auditedRun, faultNames, faults, isNamed, namedWithin } from './audit-runs.ts';
import { printTable } from './table.ts';

const goals = { named: 0.9, wrong: 0.05 } as const;
/** Sound runs for each run with one fault. */
const soundShare = 20;

/** Returns the exit code: 1 if a goal was missed or the help is out of date, which `smoke` ignores. */
export async function benchAudit({ smoke }: BenchOptions): Promise<number> {
  const sound = smoke ? 1 : auditMeasured.sound;
  const names = smoke ? faultNames.slice(0, 1) : faultNames;
  const steps = smoke ? 1 : undefined;
  const each = Math.max(1, Math.round(sound / soundShare));
  const rows = [['RUNS', 'OF', 'NAMED', 'BY']];
  let named = 0;
  for (const fault of names) {
    const runs = Array.from({ length: each }, (_, index) => auditedRun(index + 1, fault, steps));
    const found = runs.filter(isNamed);
    named += found.length;
    rows.push([fault, String(each), String(found.length), faults[fault].join(' or ')]);
  }
  let wrong = 0;
  const falseAlarms: string[] = [];
  for (let seed = 1; seed <= sound; seed += 1) {
    const { benchmark, findings } = auditedRun(seed, undefined, steps);
    const kinds = new Set(findings.flat());
    if (kinds.size === 0) continue;
    wrong += 1;
    falseAlarms.push(`  sound run ${seed}, ${benchmark}: ${[...kinds].join(', ')}`);
  }
  rows.push(['sound', String(sound), String(wrong), 'any finding at any step']);
  printTable(rows);
  const all = each * names.length;
  const words = [
    ...falseAlarms,
    `detected within ${namedWithin} steps of the onset: ${named} of ${all}; goal: ${goals.named * 100}%`,
    `sound runs with a finding: ${wrong} of ${sound}; goal: at most ${goals.wrong * 100}%`,
  ];
  process.stdout.write(`${words.join('\n')}\n`);
  const isOld = all !== auditMeasured.faulty || named !== auditMeasured.named || wrong !== auditMeasured.wrong;
  if (isOld && !smoke)
    process.stdout.write(
      `The help is out of date (${auditMeasured.named} and ${auditMeasured.wrong}): update src/present/about.ts\n`,
    );
  const isMissed = named < all * goals.named || wrong > sound * goals.wrong || isOld;
  return isMissed && !smoke ? 1 : 0;
}
