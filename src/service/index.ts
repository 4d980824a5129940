/** The service: every endpoint of the contract as a function, and what this session has learnt about it. */
import type { Endpoint } from '../contract/common.ts';
import { endpoints, type Operation } from '../contract/endpoints.ts';
import { type CallExtras, Caller, type Calls } from './caller.ts';
import type { Capabilities } from './capabilities.ts';
import { Chat } from './chat.ts';
import type { GateMonitor } from './gate.ts';
import type { ServiceOptions } from './options.ts';
import { type CallInput, describeRequest, type RequestPreview } from './request.ts';
import { benchmarkResource } from './resources/benchmarks.ts';
import { datasetResource } from './resources/datasets.ts';
import { deploymentResource } from './resources/deployments.ts';
import { evaluationResource } from './resources/evaluations.ts';
import { modelResource } from './resources/models.ts';
import { secretResource } from './resources/secrets.ts';
import { trainingResource } from './resources/training.ts';
import { trajectoryResource } from './resources/trajectories.ts';
import { type PutUpload, uploader } from './uploads.ts';

/** Every endpoint of the contract as a function. */
export type Resources = ReturnType<typeof resourcesOf>;

function resourcesOf(caller: Calls) {
  return {
    benchmarks: benchmarkResource(caller),
    evaluations: evaluationResource(caller),
    trajectories: trajectoryResource(caller),
    datasets: datasetResource(caller),
    training: trainingResource(caller),
    models: modelResource(caller),
    deployments: deploymentResource(caller),
    secrets: secretResource(caller),
  };
}

export interface Service extends Resources {
  /** Where the service is; holds no credential. */
  readonly baseUrl: string;
  /** The same service for polls: they are not retried, and go behind what the user asks for. */
  readonly background: Service;
  /** Whether its host takes requests, or limits them at the moment. */
  readonly gate: GateMonitor;
  readonly chat: Chat;
  readonly putUpload: PutUpload;
  /**
   * Any operation of the contract by its name, checked like the others. Answers that stream are not for this.
   *
   * @throws ServiceError
   */
  readonly call: (operation: Operation, input: CallInput<unknown, unknown>, options?: CallExtras) => Promise<unknown>;
  /**
   * For work that does much before it writes. Every single write is refused as well, before anything is sent.
   *
   * @throws ReadOnlyError where the service may only be read
   */
  readonly requireWrites: () => void;
  /** The request that an operation would send with this input, which may be incomplete: without credentials. */
  readonly preview: (operation: Operation, input: CallInput<unknown, unknown>) => RequestPreview;
  /**
   * The requests that some work would send first: it is given a service that notes what is called, sends nothing and
   * never answers. What is shown to the user before it is sent comes from the call that sends it. Not for chat.
   */
  readonly describe: (work: (service: Service) => unknown) => readonly RequestPreview[];
  /** Which endpoints beyond the document this service has shown to lack. */
  readonly capabilities: Capabilities;
  /**
   * Closes every connection and makes none. What is under way fails, or is sent again where that is harmless. The
   * service stays usable: the next call connects again.
   */
  readonly close: () => Promise<void>;
}

/**
 * Makes a service of a profile. Nothing is sent yet.
 *
 * @throws RequestError where an address or an assumption of the profile is wrong
 */
export function createService(options: ServiceOptions): Service {
  const caller = new Caller(options);
  const preview = (endpoint: Endpoint, input: CallInput<unknown, unknown>): RequestPreview =>
    describeRequest(endpoint, input, caller.assumptions, caller.connection.base);
  const own = {
    baseUrl: caller.connection.base.href,
    gate: caller.gates.monitor(() => caller.connection.host),
    chat: new Chat(caller),
    putUpload: uploader(caller, options),
    requireWrites: () => caller.requireWrites(),
    preview: (operation, input) => preview(endpoints[operation] as Endpoint, input),
    describe: work => {
      const requests: RequestPreview[] = [];
      const notes: Calls = {
        call: (endpoint, input) => {
          requests.push(preview(endpoint as Endpoint, input));
          return noAnswer();
        },
      };
      const noting: Service = {
        ...serviceOf(notes),
        putUpload: noAnswer,
        get background() {
          return noting;
        },
      };
      runForRequests(() => work(noting));
      return requests;
    },
    capabilities: caller.capabilities,
    close: () => caller.close(),
  } satisfies Partial<Service>;
  const serviceOf = ({ call }: Calls): Omit<Service, 'background'> => ({
    ...own,
    ...resourcesOf({ call }),
    call: (operation, input, extras) => call(endpoints[operation] as Endpoint, input, extras),
  });
  const polls: Calls = {
    call: (endpoint, input, extras) => caller.call(endpoint, input, { background: true, ...extras }),
  };
  const background: Service = {
    ...serviceOf(polls),
    get background() {
      return background;
    },
  };
  return { ...serviceOf({ call: caller.call.bind(caller) }), background };
}

const noAnswer = (): Promise<never> => new Promise(() => {});

/** Work on input that is not complete yet may fail: then it would send nothing more. */
function runForRequests(work: () => unknown): void {
  try {
    Promise.resolve(work()).catch(() => {});
  } catch {
    // What it would have sent until then is noted.
  }
}
