/** How an operation is answered: a function from the checked request to the body of the answer. */
import type { Endpoint } from '../../contract/common.ts';
import type { Operation } from '../../contract/endpoints.ts';
import type { Catalog } from '../engine/catalog.ts';
import type { Engine } from '../engine/engine.ts';
import type { LocalModel } from '../engine/messages.ts';
import type { ChatTurn, Generated, SampledToken, SamplingOptions } from '../model/policy.ts';
import type { Stores } from '../store/stores.ts';
import type { SignedUploads } from './signed-uploads.ts';
import type { TrajectoryTokens } from './trajectory-tokens.ts';

/** Samples an answer away from the server's own thread, so that others are answered meanwhile. */
export type ChatSampler = (
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
  /** E-mail address of the user, as what they start is signed with. */
  readonly user: string;
}

/** What a handler gets of a request. */
export interface Call<Query = unknown, Body = unknown> {
  readonly organizationId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Fields of the body that have no effect here. */
  readonly ignored: readonly string[];
  readonly idempotencyKey: string | undefined;
  /** Scheme, host and port by which the service was called. */
  readonly origin: string;
}

export type Handler = (call: Call) => unknown;

/** Where an operation is called, and by whom. */
export type Route = Pick<Endpoint, 'operation' | 'method' | 'path' | 'auth' | 'query'>;

/** Handlers by operation, of an area of the contract. */
export type Handlers = Partial<Readonly<Record<Operation, Handler>>>;

/** An area of the contract: what answers its operations, and the tables that are its own. */
export interface Area {
  /** Stable: the forms of its tables are counted under it. */
  readonly name: string;
  readonly routes: (service: ServiceContext) => Handlers;
  /** The forms of its tables, each a step from the one before. A step that has been released is never changed. */
  readonly migrations?: readonly string[];
}

/** What only other services have. */
export const foreignOperations: ReadonlySet<string> = new Set<Operation>([
  'deleteBenchmark',
  'getIngestion',
  'listTrajectoryEvents',
  'listTrajectorySteps',
  'listTrajectoryArtifacts',
  'listModelSlugs',
  'listAgents',
]);
