/** Help on the audit of a training run, with what it was measured to find. Imports nothing. */

/** What `npm run bench -- audit` measures, on runs of the local service from seeds. */
export const auditMeasured = { faulty: 50, named: 48, steps: 5, sound: 200, wrong: 2 } as const;

export const aboutAudit = `The audit names what may be wrong with the reward, and the rollouts to read: the trainer's reward rises and the held-out reward does not
follow; the reward can be told from the length of the answer; one answer to many questions; answers that repeat themselves; tasks that
ask the same; no reward at all, or hardly any. It reads at most 60 steps, the newest 12 and others at equal distances, and the texts of
up to 48 rollouts of the newest three. It looks back and proves nothing. Measured on local runs of three sample benchmarks, from seeds: it
named ${auditMeasured.named} of ${auditMeasured.faulty} planted faults within ${auditMeasured.steps} steps of their onset, and found something in ${auditMeasured.wrong} of ${auditMeasured.sound} sound runs.`;
