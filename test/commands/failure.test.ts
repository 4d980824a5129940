/** The exit code tells whether anything may have changed. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { exitCodeAfterChange, exitCodeOf } from '../../src/commands/failure.ts';
import { ResponseError, ServerError, ValidationError } from '../../src/service/errors.ts';

it('does not call a change refused if its answer is unclear', () => {
  expect(exitCodeOf(new ResponseError('The answer has no id.', { status: 200 }))).toBe(exitCodes.failed);
  expect(exitCodeOf(new ResponseError('The answer has no id.', { status: 200, outcomeUnknown: true }))).toBe(
    exitCodes.endUnseen,
  );
});

it('does not say that nothing changed if a refusal follows a lost answer', () => {
  const refused = { type: 'invalid_request_error', code: 'name_taken', status: 422 };
  expect(exitCodeOf(new ValidationError('The name is taken.', refused))).toBe(exitCodes.usage);
  expect(exitCodeOf(new ValidationError('The name is taken.', { ...refused, outcomeUnknown: true }))).toBe(
    exitCodes.endUnseen,
  );
});

it('reports an unknown outcome for a lost write, and a possible retry for a lost read', () => {
  expect(exitCodeOf(new ServerError('Out of luck.', { status: 503 }))).toBe(exitCodes.unreachable);
  expect(exitCodeOf(new ServerError('Out of luck.', { status: 503, outcomeUnknown: true }))).toBe(exitCodes.endUnseen);
});

it('uses no exit code that says nothing changed after a change (attack30 B5)', () => {
  const unreached = new ServerError('Out of luck.', { status: 503 });
  expect(exitCodeAfterChange(unreached)).toBe(exitCodes.endUnseen);
  expect(exitCodeAfterChange(new ValidationError('The name is taken.', { status: 422 }))).toBe(exitCodes.failed);
  // Without room, the rest was surely not stored (attack34 C).
  expect(exitCodeAfterChange(new ServerError('The disk is full.', { status: 507 }))).toBe(exitCodes.failed);
});
