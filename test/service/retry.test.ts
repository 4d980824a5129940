import { describe, expect, it } from 'vitest';
import {
  decideRetry,
  mayHaveTakenEffect,
  RetryBudget,
  type RetrySituation,
  retryAfter,
} from '../../src/service/retry.ts';

const now = Date.parse('2026-03-04T05:06:07Z');

function decide(situation: Partial<RetrySituation>) {
  return decideRetry({
    attempt: 1,
    method: 'GET',
    repeatable: false,
    outcome: { kind: 'answer', status: 503 },
    headers: {},
    random: 1,
    now,
    ...situation,
  });
}

const answered = (status: number) => ({ kind: 'answer', status }) as const;
const unsent = { kind: 'network', sent: false } as const;
const lost = { kind: 'network', sent: true } as const;

describe('which outcomes are tried again', () => {
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
    expect(decide({ outcome: answered(status) }).retry).toBe(retry);
  });

  it.each([
    ['lost connection', lost, true],
    ['no connection', unsent, true],
    ['time-out', { kind: 'timeout', sent: true } as const, true],
    ['a certificate that stays wrong', { kind: 'network', sent: false, final: true } as const, false],
    ['an answer that was not understood', { kind: 'not_understood' } as const, false],
  ])('%s', (_, outcome, retry) => {
    expect(decide({ outcome }).retry).toBe(retry);
  });
});

describe('which requests are tried again', () => {
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
    expect(decide({ method, repeatable, outcome }).retry).toBe(retry);
  });
});

describe('the word of the service', () => {
  it.each(['service-should-retry', 'x-should-retry', 'acme-should-retry'])('%s decides above everything', name => {
    expect(decide({ headers: { [name]: 'false' } })).toEqual({ retry: false, reason: 'service_says_no' });
    expect(decide({ headers: { [name]: ' True ' }, method: 'POST', outcome: answered(400) }).retry).toBe(true);
  });

  it('is careful if it contradicts itself, and deaf to what is no word', () => {
    expect(decide({ headers: { 'a-should-retry': 'true', 'b-should-retry': 'false' } }).retry).toBe(false);
    expect(decide({ headers: { 'a-should-retry': 'perhaps' } }).retry).toBe(true);
    expect(decide({ headers: { 'should-retry-never': 'false' } }).retry).toBe(true);
  });

  it('does not lift the number of attempts', () => {
    expect(decide({ attempt: 3, headers: { 'x-should-retry': 'true' } })).toEqual({ retry: false, reason: 'attempts' });
  });
});

describe('how long it waits', () => {
  it.each([
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': ' 0.25 ' }, 250],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Wed, 04 Mar 2026 05:06:17 GMT' }, 10_000],
    [{ 'retry-after': 'Wed, 04 Mar 2026 05:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '120' }, 120],
    [{ 'retry-after-ms': '120', 'retry-after': '9' }, 120],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9_000],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '1e3' }, undefined],
    [{ 'retry-after': 'tomorrow' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
  ])('%o asks for %s ms', (headers, expected) => {
    expect(retryAfter(headers as Record<string, string>, now)).toBe(expected);
  });

  it('backs off all the same if it is asked not to wait at all (V12)', () => {
    expect(decide({ headers: { 'retry-after': '0' } })).toEqual(decide({}));
    expect(decide({ headers: { 'retry-after': 'Wed, 04 Mar 2026 05:00:00 GMT' } })).toEqual(decide({}));
  });

  it('waits as long as it is asked to, up to a minute, and gives up beyond', () => {
    expect(decide({ headers: { 'retry-after': '60' } })).toEqual({ retry: true, delayMs: 60_000 });
    expect(decide({ headers: { 'retry-after': '61' } })).toEqual({ retry: false, reason: 'wait_too_long' });
    expect(decide({ headers: { 'retry-after': '3600', 'x-should-retry': 'true' } }).retry).toBe(false);
  });

  it('doubles from half a second, less a random share', () => {
    expect(decide({ attempt: 1, random: 1 })).toEqual({ retry: true, delayMs: 500 });
    expect(decide({ attempt: 1, random: 0 })).toEqual({ retry: true, delayMs: 375 });
    expect(decide({ attempt: 2, random: 1 })).toEqual({ retry: true, delayMs: 1_000 });
    expect(decide({ attempt: 3 })).toEqual({ retry: false, reason: 'attempts' });
  });
});

describe('the retry budget', () => {
  it('runs out, returns with successes, and never grows beyond its size', () => {
    const budget = new RetryBudget({ capacity: 2, refund: 0.5 });
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
    budget.succeeded();
    expect(budget.take()).toBe(false);
    budget.succeeded();
    expect(budget.take()).toBe(true);
    for (let count = 0; count < 20; count += 1) budget.succeeded();
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
  });
});

it('knows when a write may have happened without a good answer', () => {
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
