/** The state that all calls to a service share. */
import { Agents } from '../net/agents.ts';
import { Assumptions } from './assumptions.ts';
import { Capabilities } from './capabilities.ts';
import { type Clock, systemClock } from './clock.ts';
import { Connection, Credentials } from './connection.ts';
import { ReadOnlyError } from './errors.ts';
import { Gates } from './gate.ts';
import { ServiceGeneration } from './generation.ts';
import type { ServiceOptions } from './options.ts';

const skippingSetting = 'skipsTracedTrajectories';

export class Client {
  readonly options: ServiceOptions;
  readonly connection: Connection;
  readonly credentials: Credentials;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly assumptions: Assumptions;
  readonly capabilities: Capabilities;
  readonly generation: ServiceGeneration;
  /** Whether the service has replayed a response for an idempotency key. */
  hasReplayed = false;
  #skipsTraced: boolean | undefined;
  /** How many times the connections have been closed. */
  closeCount = 0;

  /** @throws RequestError if an address or an assumption in the profile is wrong */
  constructor(options: ServiceOptions) {
    this.options = options;
    this.credentials = new Credentials(options);
    this.agents = new Agents(options.caFile);
    this.clock = options.clock ?? systemClock;
    this.generation = new ServiceGeneration(options.generation, options.memory, this.clock.now);
    this.assumptions = new Assumptions(options.assumptions, this.generation);
    this.capabilities = new Capabilities(this.clock);
    this.connection = new Connection(options, () => this.capabilities.forget());
    this.gates = options.gates ?? new Gates(this.clock);
  }

  /** @throws ReadOnlyError if the service is read-only */
  requireWrites(operation?: string): void {
    if (this.options.readOnly) throw new ReadOnlyError(operation);
  }

  /** Whether the service is known to honour idempotency keys. */
  get honoursKeys(): boolean {
    return this.connection.isSupervised || this.assumptions.is('honoursIdempotencyKey') || this.hasReplayed;
  }

  /** Whether the service is known to skip trajectories that a dataset already has, as the local service does. */
  readonly skipsStored = (areTraced: boolean): boolean =>
    this.connection.isSupervised ||
    (areTraced && (this.#skipsTraced ?? this.options.memory?.().setting(skippingSetting)) === true);

  /** Remembers whether the service has skipped a trajectory with the `trace_id` of a stored one. */
  readonly learnSkipping = (skips: boolean): void => {
    this.#skipsTraced = skips;
    this.options.memory?.().setSetting(skippingSetting, skips);
  };

  /** Identifies the organization by its API key; empty for a supervised service, which has only one. */
  readonly accountOf = async (secret: string, signal: AbortSignal): Promise<string> =>
    this.connection.isSupervised ? '' : this.credentials.apiKeyHash(secret, signal);

  /** Closes every connection; never opens one just to close it. */
  async close(): Promise<void> {
    this.closeCount += 1;
    await this.agents.close();
  }
}
