/** Provides the configured service for the duration of one command. */

import { own } from '../base/own-property.ts';
import { type Config, loadConfig } from '../config/load.ts';
import { describeOrigin } from '../config/origin.ts';
import type { CompareSettings } from '../config/preferences.ts';
import type { Profile, RemoteService } from '../config/profile.ts';
import type { Endpoint } from '../contract/common.ts';
import { endpoints } from '../contract/endpoints.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { isUnanswered, isUnreachable, ServiceError } from '../service/errors.ts';
import type { GateState } from '../service/gate.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from '../store/store.ts';
import { counted } from '../text/numbers.ts';
import { clock } from '../text/time.ts';
import { connectTo, openRemembered } from './connect.ts';
import { requestNotes } from './debug.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { checkJq, type RecordFlags } from './output.ts';
import { configFlags, type ServiceFlags } from './table/flags.ts';

export interface CommandContext {
  readonly config: Config;
  readonly service: Service;
  /** Resources seen on this service; the screen uses the same store. */
  readonly memory: RememberedStore;
  /** The settings for comparing runs. */
  readonly compare: CompareSettings;
  readonly io: CommandIo;
  /** Notes why the command takes long: once is enough. */
  readonly noteWait: (text: string) => void;
  /** Aborts when the user interrupts, at the end of --timeout, and when the work has ended. */
  readonly signal: AbortSignal;
  /** See {@link QueryContext.shared}. */
  readonly shared?: QueryContext['shared'];
}

/** The flags that limit a command's time. */
interface LimitFlags {
  /** In seconds. */
  readonly timeout?: number | undefined;
  /** Whether the command starts or changes something and waits for its end. */
  readonly wait?: boolean | undefined;
}

/** Reading that takes longer than this is announced; in milliseconds. */
export const announcedMs = 3_000;

/** The longest delay that a Node timer takes, in milliseconds. */
const longestMs = 2 ** 31 - 1;

/** Aborts after `seconds`; never if undefined. */
function limitOf(seconds: number | undefined): AbortSignal {
  return seconds === undefined
    ? new AbortController().signal
    : AbortSignal.timeout(Math.min(Math.ceil(seconds * 1_000), longestMs));
}

/** Whether the service refused the request before the time limit, which is more specific than a timeout. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.kind === 'timeout' || error.kind === 'cancelled') return false;
  return error.status !== undefined && error.status >= 400 && error.status < 500 && error.kind !== 'rate_limit';
}

/** Until when the service is rate limiting requests, in words; undefined if it is not. */
export function describeRateLimit(gate: GateState): string | undefined {
  if (gate.kind !== 'limited' || gate.reason !== 'rate_limit') return undefined;
  return `The service is rate limiting requests until ${clock(gate.requestedUntil ?? gate.until)}`;
}

/**
 * How to repeat a start request after its response was lost.
 *
 * @param alone the flags that start only this one, if the command starts several
 */
export function repeatAdvice(key: string, alone?: string): string {
  const which = alone === undefined ? '' : ` for ${alone} alone`;
  return `If the service honours idempotency keys, the same command${which} with --idempotency-key ${key} cannot start a second one.`;
}

/** The error after --timeout, with its effect on the request, e.g. that nothing was `started`. */
function lateError(
  error: unknown,
  seconds: number,
  { wait }: LimitFlags,
  participle: string,
  gate: GateState,
): CommandError {
  const isUnknown = isUnanswered(error);
  const repeat = isUnknown && error.idempotencyKey !== undefined ? ` ${repeatAdvice(error.idempotencyKey)}` : '';
  const outcome = isUnknown
    ? `It is not known whether it was ${participle}: check before you repeat it.${repeat}`
    : `Nothing was ${participle}.`;
  const limited = describeRateLimit(gate);
  const within = `within ${counted(seconds, 'second')}`;
  const why = limited ? `${limited}: there was no response ${within}.` : `The service did not respond ${within}.`;
  const words = [why, wait ? outcome : ''];
  return new CommandError(words.filter(Boolean).join(' '), exitCodes.timeout);
}

/** Where the failing address or the refused key was set. */
function describeSetting(error: ServiceError, service: RemoteService): string {
  const isChat = error.operation === 'createChatCompletion';
  const { caFile } = service;
  if (error.code === 'ca_file_unreadable' && caFile) return `${describeOrigin(caFile.origin)} names the file.`;
  if (isUnreachable(error)) {
    if (error.namedOrigin !== undefined) return `The service named the address ${error.namedOrigin}.`;
    const { value, origin } = isChat ? service.inferenceUrl : service.baseUrl;
    return `The address ${value} comes from ${describeOrigin(origin)}.`;
  }
  const name = isChat ? 'inference token' : 'API key';
  const credential = isChat ? service.inferenceToken : service.apiKey;
  if (credential) return `The ${name} comes from ${describeOrigin(credential.origin)}.`;
  const variable = isChat ? 'BENCHTOP_INFERENCE_TOKEN' : 'BENCHTOP_API_KEY';
  return `No ${name} is set for this address: set ${variable}, or name one in the profile.`;
}

/** Adds the origin of the setting that may have caused an error to its message. */
function namingSettings(error: unknown, { service }: Profile): unknown {
  if (!(error instanceof ServiceError) || service.kind === 'local') return error;
  const isOfKey = error.kind === 'authentication' || error.kind === 'permission';
  const operation = error.operation === undefined ? undefined : own<Endpoint>(endpoints, error.operation);
  if (isOfKey && operation?.auth === 'trajectoryToken') {
    // The token is not a setting; each call names it.
    return error.withAdvice('--token-env NAME takes it from a variable.');
  }
  // None of the profile's keys was sent there.
  if (isOfKey && error.namedOrigin !== undefined) return error;
  if (!isOfKey && !isUnreachable(error) && error.code !== 'ca_file_unreadable') return error;
  return error.withAdvice(describeSetting(error, service));
}

/** Notes problems with the certificate files that variables name. Node's own certificates may be enough. */
async function noteCertificates({ service }: Profile, { environment, note }: CommandIo): Promise<void> {
  const named = environment['SSL_CERT_FILE'] || environment['SSL_CERT_DIR'];
  if (!named || service.kind === 'local' || !service.baseUrl.value.startsWith('https:')) return;
  const { certificateProblems } = await import('../net/agents.ts');
  for (const problem of certificateProblems(environment)) note(problem);
}

/**
 * Connects, runs the work, and closes everything. --timeout counts from here.
 *
 * @param participle the past participle of the work's verb, for an error with --wait
 * @throws ConfigError, ServiceError, and any error from the work; CommandError for an invalid --jq, or with exit code
 * 124 after --timeout
 */
export async function withService<Result>(
  flags: ServiceFlags & LimitFlags & RecordFlags,
  io: CommandIo,
  work: (context: CommandContext) => Promise<Result>,
  participle = 'started',
): Promise<Result> {
  await checkJq(flags, io);
  const config = loadConfig(configFlags(flags), io.environment);
  if (config.profile.missingAddress) throw config.profile.missingAddress;
  for (const warning of config.warnings) io.note(warning);
  await noteCertificates(config.profile, io);
  const memory = openRemembered(config);
  const limit = limitOf(flags.timeout);
  // Do not retry requests that the work no longer waits for.
  const ended = new AbortController();
  const signal = AbortSignal.any([io.signal, limit, ended.signal]);
  let isWaitNoted = false;
  const noteWait = (text: string): void => {
    if (!isWaitNoted) io.note(text);
    isWaitNoted = true;
  };
  const debug = requestNotes(flags, io, noteWait);
  const connection = connectTo(config, 'command', { remembered: () => memory, debug });
  try {
    const { compare } = config.preferences;
    const service = await connection.service();
    return await work({ config, service, memory, signal, compare, io, noteWait });
  } catch (error) {
    if (limit.aborted && !io.signal.aborted && flags.timeout !== undefined && !isRefusal(error))
      throw lateError(error, flags.timeout, flags, participle, connection.gate.state());
    throw namingSettings(error, config.profile);
  } finally {
    ended.abort();
    memory.close();
    await connection.close();
  }
}
