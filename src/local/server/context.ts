/** What the routes work with. */
import type { Catalog } from '../engine/catalog.ts';
import type { Engine } from '../engine/engine.ts';
import type { LocalModel } from '../engine/messages.ts';
import type { ChatTurn, Generated, SampledToken, SamplingOptions } from '../model/policy.ts';
import type { Stores } from '../store/stores.ts';
import type { SignedUploads } from './signed-uploads.ts';
import type { TrajectoryTokens } from './trajectory-tokens.ts';

/** Samples an answer away from the server's own thread, so that others are answered meanwhile. */
export type Talk = (
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
  readonly talk: Talk;
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
