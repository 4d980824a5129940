import { describe, expect, it } from 'vitest';
import { retryAfter } from '../../src/base/retry-waits.ts';
import {
  type Attempts,
  decide as decideOn,
  mayHaveTakenEffect,
  noAttempts,
  RetryBudget,
  remedyFor,
  type Situation,
} from '../../src/service/retry.ts';

const now = Date.parse('2026-03-04T05:06:07Z');

type Given = Partial<Omit<Situation, 'call' | 'tries'> & Situation['call'] & Attempts>;

function decide({
  method = 'GET',
  isWrite = method !== 'GET',
  repeatable = false,
  keyed = false,
  background = false,
  ...given
}: Given) {
  const {
    attempts = 1,
    retries = 0,
    recoveries = 0,
    renewed = false,
    redirected = false,
    mayHaveHappened = false,
    ...situation
  } = given;
  return decideOn({
    call: { method, isWrite, repeatable, keyed, background },
    tries: { attempts, retries, recoveries, renewed, redirected, mayHaveHappened },
    outcome: { kind: 'answer', status: 503 },
    headers: {},
    remedied: false,
    gateMs: 0,
    leftMs: Number.POSITIVE_INFINITY,
    random: 1,
    now,
    ...situation,
  });
}

const waits = (waitMs: number) => expect.objectContaining({ again: true, by: 'retry', waitMs });

const answered = (status: number) => ({ kind: 'answer', status }) as const;
const unsent = { kind: 'network', sent: false } as const;
const lost = { kind: 'network', sent: true } as const;

describe('retried outcomes', () => {
  it.each([
    [408, true],
    [429, true],
    [500, true],
    [502, true],
    [503, true],
    [504, true],
    [529, true],
    [501, false],
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [409, false],
    [422, false],
    [302, false],
  ])('status %i: %s', (status, retry) => {
    expect(decide({ outcome: answered(status) }).again).toBe(retry);
  });

  it.each([
    ['lost connection', lost, true],
    ['no connection', unsent, true],
    ['time-out', { kind: 'timeout', sent: true } as const, true],
    ['a certificate that stays wrong', { kind: 'network', sent: false, final: true } as const, false],
    ['an answer that was not understood', { kind: 'not_understood' } as const, false],
  ])('%s', (_, outcome, retry) => {
    expect(decide({ outcome }).again).toBe(retry);
  });
});

describe('retried requests', () => {
  it.each([
    ['GET', false, lost, true],
    ['PUT', false, lost, true],
    ['DELETE', false, lost, true],
    ['POST', false, lost, false],
    ['POST', true, lost, true],
    ['POST', false, unsent, true],
    ['POST', false, { kind: 'timeout', sent: false } as const, true],
    ['POST', false, { kind: 'timeout', sent: true } as const, false],
    ['POST', false, answered(503), false],
    ['POST', false, answered(429), false],
    ['POST', true, answered(503), true],
    ['POST', true, answered(400), false],
  ] as const)('%s, repeatable %s, %o: %s', (method, repeatable, outcome, retry) => {
    expect(decide({ method, repeatable, outcome }).again).toBe(retry);
  });
});

describe('retry headers of the service', () => {
  it.each(['service-should-retry', 'x-should-retry', 'acme-should-retry'])('with %s count before the status', name => {
    expect(decide({ headers: { [name]: 'false' } })).toEqual({ again: false, reason: 'service_says_no' });
    expect(decide({ headers: { [name]: ' True ' }, outcome: answered(400) }).again).toBe(true);
  });

  it.each<[string, Given, boolean]>([
    ['a write that a key makes harmless', { repeatable: true, outcome: answered(400) }, true],
    ['a POST that writes nothing', { isWrite: false }, true],
    ['a write that was refused for the rate', { outcome: answered(429) }, true],
    ['a write that may have happened', { outcome: answered(500) }, false],
    ['one with a key that may not be honoured', { keyed: true, outcome: answered(409) }, false],
    ['one that was refused', { outcome: answered(400) }, false],
  ])('cannot cause a duplicate: %s', (_, given, again) => {
    expect(decide({ method: 'POST', headers: { 'x-should-retry': 'true' }, ...given }).again).toBe(again);
  });

  it('are treated with care if contradictory, and ignored if invalid', () => {
    expect(decide({ headers: { 'a-should-retry': 'true', 'b-should-retry': 'false' } }).again).toBe(false);
    expect(decide({ headers: { 'a-should-retry': 'perhaps' } }).again).toBe(true);
    expect(decide({ headers: { 'should-retry-never': 'false' } }).again).toBe(true);
  });

  it('do not raise the number of attempts', () => {
    expect(decide({ retries: 2, headers: { 'x-should-retry': 'true' } })).toEqual({ again: false, reason: 'attempts' });
  });
});

describe('the wait before a retry', () => {
  it.each([
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': ' 0.25 ' }, 250],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Wed, 04 Mar 2026 05:06:17 GMT' }, 10_000],
    [{ 'retry-after': 'Wed, 04 Mar 2026 05:00:00 GMT' }, 0],
    [{ 'retry-after': 'Wed, 04 Mar 2026 09:06:17 GMT', date: 'Wed, 04 Mar 2026 09:06:07 GMT' }, 10_000],
    [{ 'retry-after': 'Wed, 04 Mar 2026 01:06:17 GMT', date: 'Wed, 04 Mar 2026 01:06:07 GMT' }, 10_000],
    [{ 'retry-after': 'Wed, 04 Mar 2026 05:06:17 GMT', date: 'today' }, 10_000],
    [{ 'retry-after-ms': '120' }, 120],
    [{ 'retry-after-ms': '120', 'retry-after': '9' }, 120],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9_000],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '1e3' }, undefined],
    [{ 'retry-after': 'tomorrow' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
  ])('for %o is %s ms', (headers, expected) => {
    expect(retryAfter(headers as Record<string, string>, now)).toBe(expected);
  });

  it('backs off even if the service asks for no wait (V12)', () => {
    expect(decide({ headers: { 'retry-after': '0' } })).toEqual(decide({}));
    expect(decide({ headers: { 'retry-after': 'Wed, 04 Mar 2026 05:00:00 GMT' } })).toEqual(decide({}));
  });

  it('follows the service up to a minute, and gives up beyond', () => {
    expect(decide({ headers: { 'retry-after': '60' } })).toEqual(waits(60_000));
    expect(decide({ headers: { 'retry-after': '61' } })).toEqual({ again: false, reason: 'wait_too_long' });
    expect(decide({ headers: { 'retry-after': '3600', 'x-should-retry': 'true' } }).again).toBe(false);
  });

  it('doubles from half a second, less a random share', () => {
    expect(decide({ retries: 0, random: 1 })).toEqual(waits(500));
    expect(decide({ retries: 0, random: 0 })).toEqual(waits(375));
    expect(decide({ retries: 1, random: 1 })).toEqual(waits(1_000));
    expect(decide({ retries: 2 })).toEqual({ again: false, reason: 'attempts' });
  });
});

describe('the state of the attempts', () => {
  const refused = answered(401);
  const timeout = (sent: boolean) => ({ kind: 'timeout', sent }) as const;
  const final = { kind: 'network', sent: false, final: true } as const;

  it.each<[string, Partial<Attempts>, Situation['outcome'], ReturnType<typeof remedyFor>]>([
    ['a refused credential', {}, refused, 'renew'],
    ['one that is refused again', { renewed: true }, refused, undefined],
    ['a refusal for another reason', {}, answered(403), undefined],
    ['a redirect', {}, answered(307), 'follow'],
    ['a second redirect', { redirected: true }, answered(307), undefined],
    ['a connection that was lost', {}, lost, 'recover'],
    ['one that was not made', {}, unsent, 'recover'],
    ['one that was not made in time', {}, timeout(false), 'recover'],
    ['a service that is slow', {}, timeout(true), undefined],
    ['a certificate that stays wrong', {}, final, undefined],
    ['a service that was found once', { recoveries: 1 }, lost, 'recover'],
    ['a service that was found twice', { recoveries: 2 }, lost, undefined],
    ['a caller who stopped the call', {}, undefined, undefined],
  ])('%s suggests the remedy that can help', (_, tries, outcome, remedy) => {
    expect(remedyFor({ ...noAttempts, ...tries }, outcome)).toBe(remedy);
  });

  it.each<[string, Given, object]>([
    [
      'a renewed credential is used at once, by a write too',
      { method: 'POST', outcome: refused, remedied: true },
      { again: true, by: 'renewal', waitMs: 0, tries: { ...noAttempts, attempts: 1, renewed: true } },
    ],
    ['one that was not renewed ends the call', { outcome: refused }, { again: false, reason: 'final' }],
    [
      'but the service may want it again, and is not asked for a third',
      { outcome: refused, headers: { 'x-should-retry': 'true' } },
      { again: true, by: 'retry', waitMs: 500, tries: { ...noAttempts, attempts: 1, retries: 1, renewed: true } },
    ],
    [
      'a found service is asked at once, and that is no retry',
      { outcome: lost, remedied: true, retries: 2 },
      { again: true, by: 'recovery', waitMs: 0, tries: { ...noAttempts, attempts: 1, retries: 2, recoveries: 1 } },
    ],
    [
      'by a poll too',
      { outcome: lost, remedied: true, background: true },
      { again: true, by: 'recovery', waitMs: 0, tries: { ...noAttempts, attempts: 1, recoveries: 1 } },
    ],
    [
      'by a write that did not leave',
      { method: 'POST', outcome: unsent, remedied: true },
      { again: true, by: 'recovery', waitMs: 0, tries: { ...noAttempts, attempts: 1, recoveries: 1 } },
    ],
    [
      'by a POST that writes nothing',
      { method: 'POST', isWrite: false, outcome: lost, remedied: true },
      { again: true, by: 'recovery', waitMs: 0, tries: { ...noAttempts, attempts: 1, recoveries: 1 } },
    ],
    [
      'not by a write that may have happened',
      { method: 'POST', outcome: lost, remedied: true },
      { again: false, reason: 'not_repeatable' },
    ],
    ['a poll is not retried', { background: true }, { again: false, reason: 'poll' }],
    [
      'nor is what was stopped',
      { outcome: undefined, headers: { 'x-should-retry': 'true' } },
      { again: false, reason: 'stopped' },
    ],
    [
      'a keyed write is, where it was refused for the rate',
      { method: 'POST', keyed: true, outcome: answered(429) },
      { again: true, by: 'retry', waitMs: 500, tries: { ...noAttempts, attempts: 1, retries: 1 } },
    ],
    [
      'not where it was not',
      { method: 'POST', keyed: true, outcome: answered(503) },
      { again: false, reason: 'not_repeatable' },
    ],
    [
      'a closed gate waits in place of the call',
      { gateMs: 70_000, headers: { 'retry-after': '9' } },
      { again: true, by: 'retry', waitMs: 0, tries: { ...noAttempts, attempts: 1, retries: 1 } },
    ],
    ['the deadline leaves no time', { leftMs: 500 }, { again: false, reason: 'deadline' }],
    ['or just enough', { leftMs: 501 }, waits(500)],
    ['not even for the gate', { gateMs: 700, leftMs: 700 }, { again: false, reason: 'deadline' }],
    [
      'what may have happened is kept',
      { mayHaveHappened: true },
      {
        again: true,
        by: 'retry',
        waitMs: 500,
        tries: { ...noAttempts, attempts: 1, retries: 1, mayHaveHappened: true },
      },
    ],
  ])('%s', (_, given, decision) => {
    expect(decide(given)).toEqual(decision);
  });
});

describe('the retry budget', () => {
  it('runs out, returns with successes, and never exceeds its size', () => {
    const budget = new RetryBudget();
    const takeAll = () => Array.from({ length: 11 }, () => budget.take()).filter(Boolean).length;
    const succeed = (times: number) => {
      for (let count = 0; count < times; count += 1) budget.succeeded();
    };
    expect(takeAll()).toBe(10);
    succeed(4);
    expect(budget.take()).toBe(false);
    succeed(1);
    expect(budget.take()).toBe(true);
    succeed(200);
    expect(takeAll()).toBe(10);
  });
});

it('knows when a write may have happened without a success', () => {
  expect(mayHaveTakenEffect(lost)).toBe(true);
  expect(mayHaveTakenEffect({ kind: 'not_understood' })).toBe(true);
  expect(mayHaveTakenEffect(answered(502))).toBe(true);
  expect(mayHaveTakenEffect(unsent)).toBe(false);
  expect(mayHaveTakenEffect(answered(408))).toBe(true);
  expect(mayHaveTakenEffect(answered(429))).toBe(false);
  expect(mayHaveTakenEffect(answered(501))).toBe(false);
  expect(mayHaveTakenEffect(answered(507))).toBe(false);
  expect(mayHaveTakenEffect(undefined)).toBe(false);
});
