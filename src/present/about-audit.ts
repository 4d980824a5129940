/** Help about the audit of a training run, with its measured accuracy. Imports nothing. */

/** Results of `npm run bench -- audit`, on seeded runs of the local service. */
export const auditMeasured = { faulty: 70, named: 69, steps: 5, sound: 200, wrong: 9 } as const;

export const aboutAudit = `The audit reports signs of a problem with the reward, and the rollouts to read: the trainer's reward rises but the held-out reward does
not, or the held-out reward has fallen from its best; the reward correlates with the length of the answer; many questions get the same answer; answers that were cut off at the token limit
pass, or most answers are cut off and get no reward; answers repeat themselves; tasks share a question; rollouts get no reward, or hardly any. It reads at most 60 steps, the newest 12
and others at equal intervals, and the transcripts of up to 48 rollouts from the newest three. A finding is a hint, not a proof. Measured on seeded local runs of three sample benchmarks, the audit
reported ${auditMeasured.named} of ${auditMeasured.faulty} planted faults within ${auditMeasured.steps} steps of their onset, and something in ${auditMeasured.wrong} of ${auditMeasured.sound} sound runs.`;
