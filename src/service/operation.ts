/** Calls operations in the contract and reads their responses, whole or as streams. */
import type * as z from 'zod/mini';
import { parseJson } from '../base/json-depth.ts';
import { AllRows, JsonRows } from '../base/json-rows.ts';
import { isRecord, own } from '../base/own-property.ts';
import { type Endpoint, readWith, spelledId } from '../contract/common.ts';
import { endpoints } from '../contract/endpoints.ts';
import { type BodyReader, BodyTooLarge, readBody, reporting } from '../net/body.ts';
import type { WireFailure } from '../net/failure.ts';
import type { WireAnswer } from '../net/wire.ts';
import { requestIdOf, tooLarge, unusableAnswer, type WrongId, wrongRecord } from './answer-error.ts';
import type { Client } from './client.ts';
import { affectsAllRequests, ServiceError } from './errors.ts';
import { idsIn, OperationCall } from './operation-call.ts';
import { type CallOptions, defaultMaxBytes } from './options.ts';
import { type CallInput, explainMissingPath } from './request.ts';
import { send } from './send.ts';
import { type CallFacts, errorOfFailure } from './wire-error.ts';

/** A successful response with an unread body. */
export interface OpenAnswer {
  readonly answer: WireAnswer;
  /** The facts for an error in the body. */
  readonly facts: CallFacts;
  /** Creates the error for a connection lost while reading the body. */
  readonly failed: (failure: WireFailure, facts: CallFacts) => ServiceError;
  /** Closes the connection and releases the caller's signal. */
  readonly end: () => void;
}

/** Sends an operation and reads the response. @throws ServiceError */
export async function callOperation<Response extends z.ZodMiniType>(
  client: Client,
  declared: Endpoint<z.ZodMiniType, z.ZodMiniType, Response>,
  input: CallInput<unknown, unknown>,
  options: CallOptions,
): Promise<z.output<Response>> {
  const { assumptions, capabilities, generation } = client;
  const { newest: _, ...rest } = declared;
  const endpoint = options.otherPath ? { ...rest, path: client.assumptions.otherPath(declared) } : declared;
  const { maxBytes = defaultMaxBytes, longList } = options;
  const read = async (answer: WireAnswer, facts: CallFacts): Promise<z.output<Response>> => {
    const all = new AllRows();
    const name = longList?.name ?? endpoint.longList;
    const rows = name === undefined ? undefined : new JsonRows(name, longList?.begin() ?? all, maxBytes);
    const { clock, options: own } = client;
    const reports = {
      onSlow: (received: number): void => own.onSlow?.(endpoint.operation, received),
      onLarge: (): void => own.onLarge?.(),
    };
    const text = await readText(reporting(answer, clock.monotonic, reports), facts, maxBytes, rows);
    // An empty body with a success status other than 200, such as 204, confirms the ids in the request. A 200 without a
    // body confirms nothing.
    const isConfirmed = answer.status !== 200 && text.trim() === '';
    const rest = isConfirmed ? (input.params ?? {}) : parseJson(text);
    const body = name !== undefined && all.rows.length > 0 && isRecord(rest) ? { ...rest, [name]: all.rows } : rest;
    const { success, data, error } = readWith(endpoint.response, body);
    if (!success) throw unusableAnswer({ ...answer, text, body }, facts, error.issues);
    const wrong = endpoint.method === 'GET' ? otherId(input, data) : undefined;
    if (wrong) throw wrongRecord(answer, facts, wrong);
    generation.learnFrom(endpoint.operation, body);
    capabilities.hasWorked(endpoint, data, idsIn(input));
    return data;
  };
  const call = new OperationCall(client, endpoint, input, options, read);
  try {
    if (endpoint.newest && !assumptions.settingOf(endpoint)) {
      await findGeneration(client, call.time.signal);
      call.prepare();
    }
    return await send(call, client);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (capabilities.isInDoubt(endpoint, error) && (await isAccepted(client, call.time.signal)))
      return await callOperation(client, endpoint, input, options);
    // The error names the path that was used, so forget the generation only then.
    const explained = explainMissingPath(error, endpoint, assumptions);
    if (endpoint.newest && error.noSuchPath) generation.forget();
    throw explained;
  } finally {
    call.time.end();
  }
}

/** The requested and the received id, if they differ. */
function otherId({ params = {} }: CallInput<unknown, unknown>, data: unknown): WrongId | undefined {
  if (!isRecord(data)) return undefined;
  return Object.entries(params)
    .map(([name, requested]) => ({ requested: String(requested), received: String(own(data, name) ?? requested) }))
    .find(({ requested, received }) => spelledId(requested) !== spelledId(received));
}

/** Operations whose responses reveal the generation. */
const revealingOperations = ['listSupportedTrainingModels', 'listBenchmarks'] as const;

/** Detects the generation before a call that depends on it, so that no call is sent to both paths. @throws ServiceError */
async function findGeneration(client: Client, signal: AbortSignal): Promise<void> {
  for (const operation of revealingOperations) {
    const { connection, generation } = client;
    if (connection.isSupervised || generation.known !== undefined) return;
    try {
      await callOperation(client, endpoints[operation] as Endpoint, {}, { signal });
    } catch (error) {
      // Other refusals do not matter: the call gets its own response.
      if (affectsAllRequests(error) || signal.aborted) throw error;
    }
  }
}

/** Whether the service accepts the credential. Calls a documented endpoint without parameters. */
async function isAccepted(client: Client, signal: AbortSignal): Promise<boolean> {
  const endpoint = endpoints.listSupportedTrainingModels as Endpoint;
  return callOperation(client, endpoint, {}, { signal, background: true }).then(
    () => true,
    () => false,
  );
}

/**
 * Opens a streaming response. Retries like any other call until the headers arrive; the deadline ends there too.
 * The caller must call `end`.
 *
 * @throws ServiceError
 */
export async function openOperation(
  client: Client,
  endpoint: Endpoint,
  input: CallInput<unknown, unknown>,
  options: CallOptions,
): Promise<OpenAnswer> {
  const read = async (answer: WireAnswer, facts: CallFacts): Promise<OpenAnswer> => {
    const { time, timeouts } = call;
    time.lift();
    const head = { status: answer.status, requestId: requestIdOf(answer.headers, facts.redact) };
    return {
      answer,
      facts,
      failed: (failure, now) => errorOfFailure(failure, now, timeouts, head),
      end: () => {
        answer.close();
        time.end();
      },
    };
  };
  const call: OperationCall<OpenAnswer> = new OperationCall(client, endpoint, input, options, read, true);
  try {
    return await send(call, client);
  } catch (error) {
    call.time.end();
    throw error;
  }
}

/** The body as text. @throws ResponseError if it is too large, WireFailure */
export async function readText(
  answer: WireAnswer,
  facts: CallFacts,
  maxBytes: number,
  reader?: BodyReader,
): Promise<string> {
  try {
    return await readBody(answer, maxBytes, reader);
  } catch (error) {
    throw error instanceof BodyTooLarge ? tooLarge(answer, facts, maxBytes) : error;
  }
}
