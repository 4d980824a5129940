/** Failed connections, in words. */
import { expect, it } from 'vitest';
import { WireFailure } from '../../src/net/failure.ts';
import { errorOfFailure, inSeconds, outcomeOfFailure } from '../../src/service/wire-error.ts';
import { callFacts } from './call-facts.ts';

const limits = { connectMs: 1, silenceMs: 1, deadlineMs: 1 };

it.each(['ERR_INVALID_CHAR', 'ERR_INVALID_HTTP_TOKEN', 'ERR_HTTP_INVALID_HEADER_VALUE'])(
  '%s is reported as a header, and not retried',
  code => {
    const failure = new WireFailure('network', code, false);
    expect(errorOfFailure(failure, callFacts, limits)).toMatchObject({
      kind: 'request',
      message: 'A header contains characters that cannot be sent. Nothing was sent.',
    });
    expect(outcomeOfFailure(failure)).toMatchObject({ kind: 'network', final: true });
  },
);

it('a host that is unreachable is named, with the code', () => {
  expect(errorOfFailure(new WireFailure('network', 'EADDRNOTAVAIL', false), callFacts, limits).message).toMatch(
    /^service\.example cannot be reached \(EADDRNOTAVAIL\)\. Nothing was sent\. Check /,
  );
});

it.each([
  [999, '999 ms'],
  [1_001, '2 s'],
  [120_000, '120 s'],
  [120_001, '3 min'],
  [7_200_000, '120 min'],
  [7_200_001, '3 h'],
  [172_800_000, '48 h'],
  [172_800_001, 'more than two days'],
  [Number.MAX_SAFE_INTEGER, 'more than two days'],
])('%i ms are a wait of %s', (ms, words) => {
  expect(inSeconds(ms)).toBe(words);
});
