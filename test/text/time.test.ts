import { describe, expect, it } from 'vitest';
import {
  age,
  clock,
  clockOrDay,
  duration,
  endInstant,
  noteClock,
  parseTime,
  roughly,
  setClockBehind,
} from '../../src/text/time.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('age', () => {
  it('is one whole unit, rounded down', () => {
    const ages = [0, 999, 2_000, 59_999, 60_000, hour - 1, 4 * hour, day - 1, 5 * day, 729 * day, 730 * day].map(age);
    expect(ages).toEqual(['0s', '0s', '2s', '59s', '1m', '59m', '4h', '23h', '5d', '729d', '2y']);
  });

  it('handles a clock that runs ahead, and invalid times', () => {
    expect(age(-5_000)).toBe('0s');
    expect(age(Number.NaN)).toBe('?');
  });
});

it('rounds to one whole unit', () => {
  const times = [0, 59_600, 171_000, hour - 20_000, 1.4 * hour, 47 * hour].map(roughly);
  expect(times).toEqual(['0s', '1m', '3m', '1h', '1h', '2d']);
});

describe('duration', () => {
  it('has two leading units, and never sixty of one', () => {
    const texts = [0, 350, 999.6, 1_200, 9_960, 42_000, 59_700, 60_000, 80_000, 2 * hour + 300_000, 76 * hour].map(
      duration,
    );
    expect(texts).toEqual(['0ms', '350ms', '1s', '1.2s', '10s', '42s', '1m', '1m', '1m 20s', '2h 5m', '3d 4h']);
    expect([2_000, 9_000, 10_000, 10_040].map(duration)).toEqual(['2s', '9s', '10s', '10s']);
    expect(duration(hour - 400)).toBe('1h');
    expect(duration(day - 1_000)).toBe('1d');
    expect(duration(-1_500)).toBe('-1.5s');
    expect(duration(Number.POSITIVE_INFINITY)).toBe('?');
  });
});

describe('clockOrDay', () => {
  const noon = new Date(2026, 2, 4, 12, 0, 0).getTime();

  it('is the time of day today, with the date on other days', () => {
    expect(clockOrDay(new Date(2026, 2, 4, 0, 0, 0).getTime(), noon)).toBe('00:00:00');
    expect(clockOrDay(new Date(2026, 2, 4, 23, 59, 58).getTime(), noon)).toBe('23:59:58');
    expect(clockOrDay(new Date(2026, 2, 3, 23, 59, 58).getTime(), noon)).toBe('2026-03-03 23:59');
    expect(clockOrDay(new Date(2025, 11, 4, 9, 8, 7).getTime(), noon)).toBe('2025-12-04 09:08');
    expect(clockOrDay(Date.now())).toHaveLength('HH:MM:SS'.length);
  });
});

describe('parseTime', () => {
  const noon = Date.UTC(2026, 0, 2, 12, 0, 0, 123);

  it('uses the clock of this machine', () => {
    const parsedAt = (date: string | undefined) => {
      noteClock(date);
      return parseTime(text);
    };
    const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toUTCString();
    const text = '2026-01-02T12:00:00.123Z';
    expect(['', 'gone', undefined, secondsAgo(50), secondsAgo(-50)].map(parsedAt)).toEqual(Array(5).fill(noon));
    const behind = parsedAt(secondsAgo(600)) ?? 0;
    expect(Math.round((behind - noon) / 10_000)).toBe(60);
    // The time of an answer changes nothing.
    expect(parsedAt(secondsAgo(640))).toBe(behind);
    setClockBehind(0);
  });

  it('reads times of services', () => {
    for (const text of [
      '2026-01-02T12:00:00.123Z',
      '2026-01-02T12:00:00.123456+00:00',
      '2026-01-02 12:00:00.123',
      '2026-01-02t13:00:00.123+01',
      '2026-01-02T06:30:00.123-0530',
      ' 2026-01-02 12:00:00,123 Z ',
    ]) {
      expect(parseTime(text), text).toBe(noon);
    }
    expect(parseTime('2026-01-02')).toBe(Date.UTC(2026, 0, 2));
    expect(parseTime('2026-01-02 17:30:00+05:30')).toBe(Date.UTC(2026, 0, 2, 12));
    expect(parseTime('2026-01-02T12:00Z')).toBe(Date.UTC(2026, 0, 2, 12));
  });

  it('reads an offset and any number of digits', () => {
    const at = Date.UTC(2026, 0, 2, 12);
    for (const zone of ['Z', '+00:00', '-00:00']) {
      for (const [digits, ms] of [
        ['', 0],
        ['.1', 100],
        ['.123', 123],
        ['.123999999', 123],
      ] as const) {
        expect(parseTime(`2026-01-02T12:00:00${digits}${zone}`)).toBe(at + ms);
      }
    }
    expect(parseTime('2026-01-02T17:30:00+05:30')).toBe(at);
  });

  it('returns undefined for anything else', () => {
    for (const text of ['', 'soon', '2026', '2026-13-01', '2026-01-02T25:00:00Z', '12:00', undefined, null, 5, {}]) {
      expect(parseTime(text), String(text)).toBeUndefined();
    }
  });
});

describe('local times', () => {
  it('use the clock of the machine', () => {
    const ms = new Date(2026, 0, 2, 3, 4, 5).getTime();
    expect(clock(ms)).toBe('03:04:05');
    expect(clock(Number.NaN)).toBe('?');
  });
});

it('takes no impossible end time: unset, before the start, or in the future', () => {
  const [startedAt, now] = ['2026-01-01T00:00:00Z', Date.parse('2026-01-02T00:00:00Z')];
  const end = (endTime: string | null, from: string | undefined = startedAt) =>
    endInstant({ startedAt: from, endTime }, now);
  expect(end('2026-01-01T12:00:00Z')).toBe(Date.parse('2026-01-01T12:00:00Z'));
  // Clocks differ a little.
  expect(end('2025-12-31T23:59:00Z')).toBe(Date.parse('2025-12-31T23:59:00Z'));
  expect(end('2026-01-02T00:01:00Z')).toBe(Date.parse('2026-01-02T00:01:00Z'));
  for (const wrong of ['1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '2031-01-01T00:00:00Z', 'soon', null]) {
    expect([end(wrong), end(wrong, '')]).toEqual([undefined, undefined]);
  }
  expect(end('2025-06-01T00:00:00Z')).toBeUndefined();
});
