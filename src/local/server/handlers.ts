/** A handler carries out an operation: a function from the service and the validated request to the response body. */
import type { Endpoint, Page } from '../../contract/common.ts';
import type { AnswerOf, Operation, QueryRead } from '../../contract/endpoints.ts';
import type { Catalog } from '../engine/catalog.ts';
import type { Engine } from '../engine/engine.ts';
import type { LocalModel } from '../engine/messages.ts';
import type { ChatTurn, Generated, SampledToken, SamplingOptions } from '../model/policy.ts';
import type { Stores } from '../store/stores.ts';
import type { BodyOf } from './requests.ts';
import type { SignedUploads } from './signed-uploads.ts';
import type { TrajectoryTokens } from './trajectory-tokens.ts';

/** Samples an answer in a worker thread, so that the server stays responsive. */
type ChatSampler = (
  model: LocalModel,
  turns: readonly ChatTurn[],
  options: SamplingOptions,
  signal: AbortSignal,
) => AsyncGenerator<SampledToken, Generated>;

export interface ServiceContext extends Stores {
  readonly catalog: Catalog;
  readonly engine: Engine;
  readonly signedUploads: SignedUploads;
  readonly tokens: TrajectoryTokens;
  readonly sampleChat: ChatSampler;
  /** The user's e-mail address, for `created_by`. */
  readonly user: string;
}

/** A request without its query and body, which depend on the operation. */
export interface BaseCall {
  readonly organizationId: string;
  readonly params: Readonly<Record<string, string>>;
  /** Body fields that have no effect here. */
  readonly ignored: readonly string[];
  readonly idempotencyKey: string | undefined;
  /** Returns one of the request's headers. */
  readonly header: (name: string) => string | undefined;
  /** The scheme, host and port that the caller used. */
  readonly origin: string;
}

/** An operation's request, as its handler gets it. */
export interface Call<Name extends Operation = Operation> extends BaseCall {
  readonly query: QueryRead<Name>;
  readonly body: BodyOf<Name>;
}

/** A response body. Pages lack the count of unreadable rows, which only the client adds. */
type Sent<Answer> =
  Answer extends Page<infer Row>
    ? Omit<Page<Row>, 'dropped'>
    : Answer extends readonly (infer Row)[]
      ? readonly Row[] | { readonly items: readonly Row[] }
      : Answer;

/** Carries out an operation; a large response is a stream of its JSON. */
type Handler<Name extends Operation = Operation> = (
  service: ServiceContext,
  call: Call<Name>,
) => Sent<AnswerOf<Name>> | Promise<Sent<AnswerOf<Name>>> | ReadableStream<Uint8Array>;

/** Streams a response whose JSON is generated in pieces as the client reads it. */
export const jsonStream = (pieces: Iterable<string>): ReadableStream<Uint8Array> =>
  ReadableStream.from(pieces).pipeThrough(new TextEncoderStream());

/** The properties of an endpoint that the router needs. */
export type Route = Pick<Endpoint, 'operation' | 'method' | 'path' | 'auth' | 'query'>;

/** The handlers for an area of the contract, by operation. */
type Handlers = { readonly [Name in Operation]?: Handler<Name> };

/** An area of the contract: its handlers and its tables. */
export interface Area {
  /** A stable name, under which its migrations are counted. */
  readonly name: string;
  readonly routes: Handlers;
  /** Its tables' migrations. Once released, a migration is never changed. */
  readonly migrations?: readonly string[];
}

/** Operations that only other services have. */
export const foreignOperations: ReadonlySet<string> = new Set<Operation>(['deleteBenchmark', 'listAgents']);
