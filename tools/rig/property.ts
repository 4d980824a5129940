/**
 * fast-check with one seed, so that a test fails because of a change, not by chance. `FC_SEED` sets another one:
 * `FC_SEED=$RANDOM npx vitest run FILE` tries new cases.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['FC_SEED'] ?? 1) });

export default fc;
