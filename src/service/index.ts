/**
 * The service client: calls every operation in the contract by name, and keeps this session's findings about the
 * service.
 */

import { originOf } from '../config/address.ts';
import type { Endpoint } from '../contract/common.ts';
import { endpoints, type Operation } from '../contract/endpoints.ts';
import type { Call, UntypedCall } from './call.ts';
import type { Capabilities } from './capabilities.ts';
import { Chat } from './chat.ts';
import { Client } from './client.ts';
import type { GateMonitor } from './gate.ts';
import type { ServiceGeneration } from './generation.ts';
import { callOperation } from './operation.ts';
import type { CallOptions, ServiceOptions } from './options.ts';
import { rawSender, type SendRaw } from './raw.ts';
import { type CallInput, describeRequest, type RequestPreview, withAgent } from './request.ts';
import { type PutUpload, uploader } from './uploads.ts';

export interface Service {
  /** The service's address, without credentials. */
  readonly baseUrl: string;
  /** The same service for polls: they are not retried, and queue behind the user's requests. */
  readonly background: Service;
  /** Whether the host currently limits the request rate. */
  readonly gate: GateMonitor;
  readonly chat: Chat;
  readonly putUpload: PutUpload;
  /** Sends any operation in the contract by name. For streaming responses, use `chat`. @throws ServiceError */
  readonly call: Call;
  readonly sendRaw: SendRaw;
  /**
   * For work that is slow to reach its first write: fails early. Each write is also refused before anything is sent.
   *
   * @throws ReadOnlyError if the service is read-only
   */
  readonly requireWrites: () => void;
  /** The request that an operation would send with this input, which may be incomplete; without credentials. */
  readonly preview: (operation: Operation, input: CallInput<unknown, unknown>) => RequestPreview;
  /**
   * The first requests that `work` would send. It runs on a service that records calls, sends nothing and never
   * responds, so the preview comes from the same code that later sends the request. Not for chat.
   */
  readonly describe: (work: (service: Service) => unknown) => readonly RequestPreview[];
  /** The agent that uploads belong to, from the profile: its id, or `name:` and its name. */
  readonly agent: string | undefined;
  /** The service's generation and its source. */
  readonly generation: ServiceGeneration;
  /** Whether the service is known to honour idempotency keys. */
  readonly honoursKeys: boolean;
  /**
   * Whether the service is known to skip trajectories that the dataset already has. @param areTraced whether each has a
   * `trace_id`
   */
  readonly skipsStored: (areTraced: boolean) => boolean;
  /** Remembers whether the service has skipped a trajectory with the `trace_id` of a stored one. */
  readonly learnSkipping: (skips: boolean) => void;
  /**
   * The organization that the API key belongs to, as a hash of the key with this secret; empty if there is only one.
   *
   * @throws RequestError if the key cannot be read
   */
  readonly accountOf: (secret: string, signal: AbortSignal) => Promise<string>;
  /** The host and port of an upload address, if the service does not store the file itself. */
  readonly storageOf: (address: string) => string | undefined;
  /** The optional endpoints that this service lacks. */
  readonly capabilities: Capabilities;
  /**
   * Closes every connection. Requests in flight fail, or are repeated if that is harmless. The service stays usable:
   * the next call connects again.
   */
  readonly close: () => Promise<void>;
}

/**
 * Creates a service from options. Sends nothing yet.
 *
 * @throws RequestError if an address or an assumption is invalid
 */
export function createService(options: ServiceOptions): Service {
  const client = new Client(options);
  const endpointOf = (operation: Operation): Endpoint => endpoints[operation] as Endpoint;
  const send =
    (defaults: CallOptions): UntypedCall =>
    async (operation, input = {}, own = {}) => {
      const answer = await callOperation(client, endpointOf(operation), input, { ...defaults, ...own });
      options.onSuccess?.(operation, input, answer);
      return answer;
    };
  const preview: Service['preview'] = (operation, input) =>
    describeRequest(
      endpointOf(operation),
      withAgent(endpointOf(operation), input, options.agent),
      client.assumptions,
      client.connection.base,
    );
  const shared = {
    baseUrl: client.connection.base.href,
    gate: client.gates.monitor(() => client.connection.host),
    chat: new Chat(client),
    sendRaw: rawSender(client),
    requireWrites: () => client.requireWrites(),
    preview,
    describe: work => {
      const requests: RequestPreview[] = [];
      const recorder = serviceOf((operation, input = {}) => {
        requests.push(preview(operation, input));
        return noAnswer();
      }, noAnswer);
      runForRequests(() => work(recorder));
      return requests;
    },
    agent: options.agent,
    storageOf: address => storageOf(client, address),
    generation: client.generation,
    capabilities: client.capabilities,
    skipsStored: client.skipsStored,
    learnSkipping: client.learnSkipping,
    accountOf: client.accountOf,
    close: () => client.close(),
  } satisfies Partial<Service>;
  const serviceOf = (call: UntypedCall, putUpload: PutUpload, background?: Service): Service => {
    const service: Service = {
      ...shared,
      call: call as Call,
      putUpload,
      get honoursKeys() {
        return client.honoursKeys;
      },
      get background() {
        return background ?? service;
      },
    };
    return service;
  };
  const putUpload = uploader(client);
  return serviceOf(send({}), putUpload, serviceOf(send({ background: true }), putUpload));
}

const noAnswer = (): Promise<never> => new Promise(() => {});

function storageOf({ connection }: Client, address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  return connection.isOwn(url) || originOf(url) === originOf(connection.base) ? undefined : url.host;
}

/** Runs work until it fails, as it may with incomplete input. */
function runForRequests(work: () => unknown): void {
  try {
    Promise.resolve(work()).catch(() => {});
  } catch {
    // The requests before the failure are recorded.
  }
}
