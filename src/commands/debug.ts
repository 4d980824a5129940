/** Reports requests on standard error: each retry and, with `--debug`, every request and response. */

import { maxRetries } from '../base/retry-waits.ts';
import { readSwitch } from '../config/layers.ts';
import type { LogLine, ServiceOptions } from '../service/options.ts';
import type { TraceEvent } from '../service/trace.ts';
import { bytes, counted } from '../text/numbers.ts';
import type { CommandIo } from './io.ts';
import type { ServiceFlags } from './table/flags.ts';

/** Reports a command's requests: all of them with --debug, otherwise only retries and slow responses. */
export function requestNotes(
  { debug }: ServiceFlags,
  { environment, note, columns }: Pick<CommandIo, 'environment' | 'note' | 'columns'>,
  noteWait: (text: string) => void,
): Pick<ServiceOptions, 'logger' | 'tracer' | 'onSlow'> {
  const onSlow = (operation: string, received: number): void => {
    if (received > 0) note(`Reading the response to ${operation}, ${bytes(received)} so far.`);
    // A terminal may show nothing else meanwhile.
    else if (columns !== undefined) noteWait(`Waiting for the response to ${operation}: the service is slow.`);
  };
  if (!debug && !readSwitch('BENCHTOP_DEBUG', environment['BENCHTOP_DEBUG'])) {
    return { onSlow, logger: line => noteRetry(line, note) };
  }
  const show = (lines: readonly string[]): void => {
    for (const line of lines) note(`debug: ${line}`);
  };
  return { onSlow, tracer: event => show(linesOf(event)), logger: line => show([summary(line)]) };
}

/** `>` marks sent lines, `<` received ones. */
function linesOf(event: TraceEvent): string[] {
  const headers = 'headers' in event ? Object.entries(event.headers).map(([name, value]) => `${name}: ${value}`) : [];
  switch (event.kind) {
    case 'request':
      return [`${event.method} ${event.path} (${event.operation})`, ...headers].map(line => `> ${line}`);
    case 'answer':
      return [`${event.status} (${event.operation})`, ...headers].map(line => `< ${line}`);
    case 'body':
      return event.text.split(/\r?\n/).map(line => `${signs[event.of]} ${line}`);
    case 'left out':
      return [`${signs[event.of]} … ${counted(event.bytes, 'byte')} not shown`];
  }
}

const signs = { request: '>', answer: '<' } as const;

/** E.g. `No response in 30 s. Retry 1 of 2.` */
function noteRetry({ operation, retry, retryInMs = 0, error, status, ms }: LogLine, note: CommandIo['note']): void {
  if (retry === undefined) return;
  const what =
    error === 'timeout'
      ? `No response in ${seconds(ms)}.`
      : status === undefined
        ? 'The connection failed.'
        : error === 'network'
          ? 'The connection was lost in the middle of the response.'
          : status === 429
            ? 'The service is rate limiting requests.'
            : `The service answered with status ${status}.`;
  const when = retryInMs < 1_000 ? '' : ` in ${seconds(retryInMs)}`;
  const fields = { operation, error, status, retry, retries: maxRetries, retry_in_ms: retryInMs };
  note(`${what} Retry ${retry} of ${maxRetries}${when}.`, fields);
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

/** How an attempt ended. */
function summary({ method, path, operation, status, error, ms, attempt, requestId, retryInMs }: LogLine): string {
  const answer = [status, error].filter(word => word !== undefined).join(' ');
  const more = [
    `${Math.round(ms)} ms`,
    attempt > 1 ? `attempt ${attempt}` : '',
    requestId ?? '',
    retryInMs === undefined ? '' : `retry in ${Math.round(retryInMs)} ms`,
  ];
  return `${method} ${path} (${operation}): ${answer}, ${more.filter(Boolean).join(', ')}`;
}
