/** The facts about a call in its errors. */
import type { CallFacts } from '../../src/service/wire-error.ts';

export const callFacts: CallFacts = {
  method: 'GET',
  isWrite: false,
  path: '/api/v1/x',
  host: 'service.example',
  auth: 'apiKey',
  redact: text => text,
  mayHaveHappened: false,
  details: { operation: 'op', attempts: 1 },
};
