/** Faults of answers in JSON, HTTP or TCP, as data. Each ends the answer, or leaves it open for a while. */
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { anyChanges, type Change, orNone } from './answers.ts';
import { controls, deceivers, names } from './texts.ts';

/** A fault: the answer is changed or broken, or the request does not reach the service. */
export type Fault = {
  /** A regular expression for the addresses to which the fault applies. */
  readonly only?: string;
} & (
  | { readonly json: readonly Change[] }
  /** A way to break the answer, and its variant. */
  | { readonly answer: string; readonly choice: number }
  | { readonly request: string; readonly choice: number }
);

/** The intended answer. */
export interface Meant {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

interface Surroundings {
  /** Another origin, the target of redirects. */
  readonly elsewhere: string;
  /** Credentials of the request: a careless service repeats them in errors. */
  readonly credentials: readonly string[];
  /** Maximum time for which an answer hangs, in milliseconds. */
  readonly stallMs: number;
}

interface Delivery {
  readonly response: ServerResponse;
  readonly meant: Meant;
  readonly around: Surroundings;
  readonly choice: number;
  readonly pick: <Item>(items: readonly Item[]) => Item;
}

type Deliver = (delivery: Delivery) => void | Promise<void>;

const json = 'application/json';
const statuses = [
  100, 199, 201, 206, 226, 299, 304, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 415, 418, 422,
];
const laterStatuses = [423, 425, 428, 431, 451, 500, 501, 502, 503, 504, 507, 511, 520, 522, 599, 600, 999];
const waits = [
  '0',
  '1',
  '-1',
  '0.001',
  '1e9',
  '99999999999999',
  'soon',
  '',
  'Wed, 21 Oct 2099 07:28:00 GMT',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  '1, 2',
];

function answer({ response }: Delivery, status: number, headers: Record<string, string>, body: string | Buffer): void {
  response.writeHead(status, headers);
  response.end(status === 204 || status === 304 ? undefined : body);
}

/** The bytes of an HTTP answer, written without Node's validation. */
function raw({ response }: Delivery, head: readonly string[], body: string | Buffer = ''): Promise<void> {
  return new Promise(resolve => {
    const { socket } = response;
    if (!socket) return resolve();
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.write(body, () => resolve());
  });
}

/** The same, and then the end of the connection: closed, or reset. */
async function torn(delivery: Delivery, head: readonly string[], body?: string | Buffer, isReset = false) {
  await raw(delivery, head, body);
  const { socket } = delivery.response;
  if (isReset) socket?.resetAndDestroy();
  else socket?.destroySoon();
}

/** The head of an answer in JSON, as the service meant it. */
const headOf = ({ meant }: Delivery, ...more: readonly string[]): string[] => [
  `HTTP/1.1 ${meant.status} Meant`,
  `content-type: ${json}`,
  ...more,
];

function page(status: number): string {
  return `<!doctype html><html><head><title>${status} Bad Gateway</title></head><body><h1>${status}</h1>\u001b[31m${'<p>nginx</p>'.repeat(40)}</body></html>`;
}

/** Texts that a careless service repeats in an error. */
const hostile = [...controls, ...deceivers, ...names];

function refusal({ pick, around }: Delivery): unknown {
  const secret = pick(['none', ...around.credentials]);
  const message = `refused for key ${secret}: ${pick(hostile)}`;
  const context = { [secret]: secret };
  return pick<unknown>([
    { error: { type: 'rate_limit_error', code: 'rate_limited', message, param: null } },
    { error: { type: '__proto__', code: 'constructor', message, param: pick(hostile), context } },
    { error: message },
    { error: { message: { nested: message } } },
    { error: null },
    { detail: message },
    { detail: [{ loc: ['body', 'x', 1], msg: message, type: 'missing' }] },
    { message },
    [message],
    message,
  ]);
}

const httpFaults: Readonly<Record<string, Deliver>> = {
  'other status': d => {
    const status = d.pick([...statuses, ...laterStatuses]);
    if (status >= 200) return answer(d, status, { 'content-type': d.meant.contentType }, d.meant.body);
    return torn(d, [`HTTP/1.1 ${status} Early`]);
  },
  refusal: d => {
    const status = d.pick([400, 401, 403, 404, 409, 422, 429, 500, 502, 503]);
    const hint = d.choice % 2 === 0 ? { 'retry-after': d.pick(waits) } : {};
    return answer(d, status, { 'content-type': json, ...hint }, JSON.stringify(refusal(d)));
  },
  'retry later': d => answer(d, d.pick([429, 503]), { 'content-type': json, 'retry-after': d.pick(waits) }, '{}'),
  'page of a gateway': d => {
    const status = d.pick([200, 403, 502, 503, 504]);
    return answer(d, status, { 'content-type': 'text/html' }, page(status));
  },
  'other content type': d => {
    const type = d.pick(['text/plain', 'image/png', '', 'a;b;c', 'text/event-stream']);
    return answer(d, d.meant.status, { 'content-type': type }, d.meant.body);
  },
  'strange headers': d =>
    torn(
      d,
      headOf(
        d,
        'connection: close',
        ...d.pick([
          [`x-request-id: ${'r'.repeat(6_000)}`],
          [`x-request-id: \u009b31m${'\u0001'}`],
          [`x-long: ${'h'.repeat(30_000)}`],
          Array.from({ length: 1_500 }, (_, index) => `x-${index}: 1`),
          ['content-length: 5', 'content-length: 7'],
          ['set-cookie: a=1', 'set-cookie: b=2', '__proto__: x', 'x-request-id: one', 'x-request-id: two'],
          ['no colon here'],
        ]),
      ),
      d.meant.body,
    ),
  redirect: d => {
    const status = d.pick([301, 302, 303, 307, 308]);
    const location = d.pick([`${d.around.elsewhere}/taken`, '//', 'http://[', '/', 'javascript:alert(1)', '']);
    return answer(d, status, { location }, 'moved');
  },
  empty: d => answer(d, d.pick([200, 204]), { 'content-type': json }, ''),
  'early hints': async d => {
    await raw(d, ['HTTP/1.1 103 Early Hints', 'link: </style.css>; rel=preload']);
    await torn(d, headOf(d, 'connection: close'), d.meant.body);
  },
  compressed: d =>
    answer(d, d.meant.status, { 'content-type': json, 'content-encoding': 'gzip' }, gzipSync(d.meant.body)),
  'compressed garbage': d => {
    const packed = gzipSync(d.meant.body);
    const body = d.pick([d.meant.body, packed.subarray(0, packed.length >> 1), Buffer.from('\u001f\u008bxx')]);
    const coding = d.pick(['gzip', 'br', 'zstd', 'x']);
    return answer(d, d.meant.status, { 'content-type': json, 'content-encoding': coding }, body);
  },
  'not UTF-8': d => {
    const parts = [d.meant.body.subarray(0, 20), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), d.meant.body.subarray(20)];
    return answer(d, d.meant.status, { 'content-type': json }, Buffer.concat(parts));
  },
  'longer than it says': d => torn(d, headOf(d, `content-length: ${d.meant.body.length >> 1}`), d.meant.body),
  'shorter than it says': d => torn(d, headOf(d, `content-length: ${d.meant.body.length * 2 + 9}`), d.meant.body),
  'broken chunks': d => {
    const size = d.pick(['zz', '-1', 'fffffffff', '']);
    return torn(d, headOf(d, 'transfer-encoding: chunked'), `5\r\n{"ite\r\n${size}\r\nms":\r\n`);
  },
  'slow drip': async d => {
    d.response.writeHead(d.meant.status, { 'content-type': d.meant.contentType });
    const part = Math.max(1, Math.ceil(d.meant.body.length / 20));
    for (let at = 0; at < d.meant.body.length && !d.response.destroyed; at += part) {
      d.response.write(d.meant.body.subarray(at, at + part));
      await wait(d.around.stallMs / 40);
    }
    d.response.end();
  },
};

const tcpFaults: Readonly<Record<string, Deliver>> = {
  'reset before': d => void d.response.socket?.resetAndDestroy(),
  'closed before': d => void d.response.socket?.end(),
  'reset within the head': d => torn(d, [`HTTP/1.1 ${d.meant.status} Meant\r\ncontent-ty`], '', true),
  'reset within': d => torn(d, headOf(d, 'content-length: 99999'), d.meant.body.subarray(0, 30), true),
  'reset after': d => torn(d, headOf(d, `content-length: ${d.meant.body.length}`), d.meant.body, true),
  'half closed': d => torn(d, headOf(d), d.meant.body.subarray(0, 10)),
  'garbage before': d => torn(d, [`\u0000\u0001${d.pick(hostile)}`, ...headOf(d)], d.meant.body),
  'another protocol': d => torn(d, ['SSH-2.0-OpenSSH_9.6', '']),
  'stalls before': async d => {
    await wait(d.around.stallMs);
    d.response.socket?.destroy();
  },
  'stalls within': async d => {
    await raw(d, headOf(d, 'content-length: 99999'), d.meant.body.subarray(0, 30));
    await wait(d.around.stallMs);
    d.response.socket?.destroy();
  },
};

const gateway = (d: Delivery, statuses: readonly number[]): void =>
  answer(d, d.pick(statuses), { 'content-type': 'text/html' }, page(502));

const answerFaults: Readonly<Record<string, Deliver>> = {
  ...httpFaults,
  ...tcpFaults,
  'gateway gives up': d => gateway(d, [502, 504]),
};

/** Faults of requests, before they reach the service. */
const requestFaults: Readonly<Record<string, Deliver>> = {
  'request reset': d => void d.response.socket?.resetAndDestroy(),
  'request refused': d =>
    answer(d, d.pick([429, 503]), { 'content-type': json, 'retry-after': d.pick(['0', '1', '7']) }, '{}'),
  'no way to the service': d => gateway(d, [502, 503]),
};

/** Picks by a number, so that each choice is another combination. */
function picks(choice: number): <Item>(items: readonly Item[]) => Item {
  let left = choice;
  return items => {
    const item = items[left % items.length];
    left = Math.floor(left / items.length);
    return item as (typeof items)[number];
  };
}

/** Answers with the fault instead of the intended answer. */
export function deliver(
  fault: Exclude<Fault, { readonly json: unknown }>,
  response: ServerResponse,
  meant: Meant,
  around: Surroundings,
): void | Promise<void> {
  const { choice } = fault;
  const fail = 'answer' in fault ? answerFaults[fault.answer] : requestFaults[fault.request];
  return fail?.({ response, meant, around, choice, pick: picks(choice) });
}

/** Breaks an event of a stream of them; `event` is complete, with its blank line. */
export function brokenEvent(event: string, choice: number): string {
  const pick = picks(choice);
  const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
  return pick([
    event.replace(/^data: ?\{/m, 'data: {{'),
    event.slice(0, -1),
    `${event}${event}`,
    event.replaceAll('\n', '\r'),
    `: a comment\nretry: -1\nid: \u0000\n${event}`,
    event.replace('data:', 'date:'),
    data({ choices: [{ delta: { content: pick(hostile) } }] }),
    data({ choices: pick<unknown>([null, [], {}, [null], [{}], [{ delta: null }]]) }),
    data({ usage: { completion_tokens: pick<unknown>([-1, 1e308, 'x', null]) } }),
    data({ error: { message: pick(hostile) } }),
    `event: error\ndata: ${pick(hostile)}\n\n`,
    'data: [DONE]\n\n',
    data('x'.repeat(100_000)),
  ]);
}

const choice = fc.nat(999_999);
const broken = (names: readonly string[]): fc.Arbitrary<Fault> =>
  fc.record({ answer: fc.constantFrom(...names), choice });
const lost = fc.record({ request: fc.constantFrom(...Object.keys(requestFaults)), choice });
/** Network faults of an intended answer: it is lost, comes in parts, or comes late. */
const byNetwork = broken(
  Object.keys(answerFaults).filter(name => /^(reset|closed|half|stalls|slow|gateway)/.test(name)),
);
const wrong: fc.Arbitrary<Fault> = anyChanges.map(json => ({ json }));

/** Faults, or none, in fixed slots. The kind of a request and its repetition select the slot. */
export type Faults = readonly (Fault | null)[];
const slots = 24;
const faultsOf = (fault: fc.Arbitrary<Fault>, goodPerBad: number): fc.Arbitrary<Faults> =>
  fc.tuple(...Array.from({ length: slots }, () => orNone(fault, goodPerBad)));
const mixed = (json: number, http: number, tcp: number): fc.Arbitrary<Fault> =>
  fc.oneof(
    { weight: json, arbitrary: wrong },
    { weight: http, arbitrary: broken(Object.keys(httpFaults)) },
    { weight: tcp, arbitrary: broken(Object.keys(tcpFaults)) },
  );

/** Faults of a network to a sound service; mostly none. */
export const networkFaults: fc.Arbitrary<Faults> = fc.oneof(
  fc.constant([]),
  faultsOf(fc.oneof(lost, byNetwork), 15),
  faultsOf(fc.oneof(lost, byNetwork), 2),
);

/**
 * All kinds of faults in four mixtures: mostly wrong JSON, only wrong JSON, many HTTP and TCP faults, or few faults.
 */
export const anyFaults: fc.Arbitrary<Faults> = fc.oneof(
  faultsOf(mixed(12, 2, 1), 1),
  faultsOf(wrong, 1),
  faultsOf(mixed(5, 6, 3), 1),
  faultsOf(mixed(10, 2, 1), 7),
);
