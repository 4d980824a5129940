/** Requests that are not sent because a repeat of them could not be recognised. */

/** The request cannot be recorded, or the record of earlier ones cannot be read. */
export class UnrecordedError extends Error {
  override readonly name = 'UnrecordedError';

  constructor(why: string, hasSent = false) {
    super(`${hasSent ? 'No more was sent' : 'Nothing was sent'}: ${why}`);
  }
}

/**
 * @param what the request and the effect of a repeat, e.g. `the upload cannot be recorded, and …`
 * @param anyway how to send it regardless, e.g. `benchtop upload --new sends the whole file`
 */
export const describeUnrecorded = (what: string, why: string, anyway: string): string =>
  `${what}. ${why}. Repeat it once that is fixed; ${anyway} without a record.`;
