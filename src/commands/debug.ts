/** `--debug`: prints every request and answer to standard error. */
import { readSwitch } from '../config/layers.ts';
import type { LogLine, ServiceOptions } from '../service/options.ts';
import type { TraceEvent } from '../service/trace.ts';
import { counted } from '../text/numbers.ts';
import type { CommandIo } from './io.ts';
import type { ServiceFlags } from './table/flags.ts';

/** The tracer of a command, if --debug is given. */
export function debugTracer(
  { debug }: ServiceFlags,
  { environment, note }: Pick<CommandIo, 'environment' | 'note'>,
): Pick<ServiceOptions, 'logger' | 'tracer'> {
  if (!debug && !readSwitch('BENCHTOP_DEBUG', environment['BENCHTOP_DEBUG'])) return {};
  const show = (lines: readonly string[]): void => note(lines.map(line => `debug: ${line}`).join('\n'));
  return { tracer: event => show(linesOf(event)), logger: line => show([summary(line)]) };
}

/** `>` marks what was sent, `<` what was received. */
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

/** How an attempt ended. */
function summary({ method, path, operation, status, error, ms, attempt, requestId, retryInMs }: LogLine): string {
  const answer = [status, error].filter(word => word !== undefined).join(' ');
  const more = [
    `${Math.round(ms)} ms`,
    attempt > 1 ? `attempt ${attempt}` : '',
    requestId ?? '',
    retryInMs === undefined ? '' : `again in ${Math.round(retryInMs)} ms`,
  ];
  return `${method} ${path} (${operation}): ${answer}, ${more.filter(Boolean).join(', ')}`;
}
