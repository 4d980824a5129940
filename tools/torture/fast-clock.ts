/**
 * Loaded before a program (`--import`): its clock runs `TORTURE_RATE` times as fast. Times of day, timers and durations
 * agree with each other; sockets keep real time.
 */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import { promisify } from 'node:util';

const rate = Number(process.env['TORTURE_RATE'] ?? 1);
const RealDate = Date;
const began = RealDate.now();
const now = (): number => began + (RealDate.now() - began) * rate;

class FastDate extends RealDate {
  constructor(...parts: []) {
    // Without an argument it is the current time, otherwise an ordinary date.
    super(...(parts.length === 0 ? ([now()] as unknown as []) : parts));
  }

  static override now(): number {
    return Math.round(now());
  }
}

const measure = performance.now.bind(performance);
performance.now = () => measure() * rate;

const { setTimeout: later, setInterval: every } = globalThis;
const soon = ((callback: () => void, ms: number = 0, ...values: []) =>
  later(callback, ms / rate, ...values)) as typeof later;
const again = ((callback: () => void, ms: number = 0, ...values: []) =>
  every(callback, ms / rate, ...values)) as typeof every;
const wait = promises.setTimeout;
const waitSooner = ((ms: number = 0, ...values: []) => wait(ms / rate, ...values)) as typeof wait;
Object.defineProperty(soon, promisify.custom, { value: waitSooner });

Object.assign(globalThis, { Date: FastDate, setTimeout: soon, setInterval: again });
Object.assign(timers, { setTimeout: soon, setInterval: again });
Object.assign(promises, { setTimeout: waitSooner });
syncBuiltinESMExports();
