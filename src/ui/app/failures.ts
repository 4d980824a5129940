/**
 * The program's own failures: each one gets a report on disk and a sentence on screen, and the program keeps running.
 */

import { createContext, useContext } from 'react';
import { errorMessage } from '../../base/errors.ts';
import { Listeners } from '../../base/listeners.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { truncate } from '../../text/width.ts';

export interface Failure {
  /** One sanitised line about the failure, without source code. */
  readonly words: string;
  /** Path of the report; undefined if none could be written. */
  readonly report: string | undefined;
}

interface FailuresOptions {
  /** Writes a report and returns its path. `details` are lines that are not in the stack. */
  readonly write: (error: unknown, details: string) => string | undefined;
  readonly redact: (text: string) => string;
}

/** V8 puts the failing expression into these messages, which is minified source in the built program. */
const programErrors = [TypeError, ReferenceError, SyntaxError, RangeError] as const;
const maxFailureLength = 200;

/** An error's message in one line without source code. */
export function formatFailure(error: unknown): string {
  if (programErrors.some(kind => error instanceof kind)) return `internal error (${(error as Error).name})`;
  const message = errorMessage(error);
  const [first = ''] = message.trim().split('\n');
  return truncate(sanitiseLine(first), maxFailureLength) || 'internal error';
}

/** The top frames of a stack identify the place; lower ones only show how React or a key got there. */
const framesOfPlace = 2;

/** A key that is the same for all failures at the same place. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const frames = (error.stack ?? '').split('\n').filter(line => /^\s+at /.test(line));
  return [error.name, error.message, ...frames.slice(0, framesOfPlace)].join('\n');
}

/** More failures than this in a second mean that rendering itself fails and cannot show them. */
const maxPerSecond = 50;

export class Failures {
  readonly #options: FailuresOptions;
  readonly #listeners = new Listeners<Failure>();
  /** Keyed by place: a repeated failure is reported once. */
  readonly #known = new Map<string, Failure>();
  #times: number[] = [];

  constructor(options: FailuresOptions) {
    this.#options = options;
  }

  /** Writes a report, once for each place. */
  record(error: unknown, details = ''): Failure {
    const place = placeOf(error);
    const known = this.#known.get(place);
    if (known) return known;
    const failure = {
      words: this.#options.redact(formatFailure(error)),
      report: this.#options.write(error, details),
    };
    this.#known.set(place, failure);
    return failure;
  }

  /**
   * Reports a failure outside rendering: in a handler, a timer, a promise. Returns false if there is no screen, or
   * failures arrive faster than it draws: the program should then exit.
   */
  readonly announce = (error: unknown): boolean => {
    const now = performance.now();
    this.#times = [...this.#times.filter(time => now - time < 1_000), now];
    if (this.#listeners.size === 0 || this.#times.length > maxPerSecond) return false;
    const failure = this.record(error);
    this.#listeners.notify(failure);
    return true;
  };

  readonly subscribe = this.#listeners.subscribe;
}

const FailuresContext = createContext(new Failures({ write: () => undefined, redact: text => text }));
export const FailuresProvider = FailuresContext;

export function useFailures(): Failures {
  return useContext(FailuresContext);
}
