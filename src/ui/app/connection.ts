/** What the screen may do about the service that it shows: see where its settings come from, take another, set one up. */
import { createContext, useContext } from 'react';

/** How the key of a service is given; never as a plain argument. */
export const keySources = ['environment', 'file', 'command', 'settings'] as const;
export type KeySource = (typeof keySources)[number];

/** A service as it is set up in the program. */
export interface NewProfile {
  readonly name: string;
  readonly baseUrl: string;
  readonly keySource: KeySource;
  /** Name of a variable, path of a file, a command line, or the key itself. */
  readonly key: string;
}

export interface Connection {
  /** Names of the profiles that there are. */
  readonly profiles: readonly string[];
  readonly current: string;
  /** True if the program shows the service on this machine because no other was named. */
  readonly isLocal: boolean;
  readonly baseUrl: string | undefined;
  /** Whole sentences: where the address and the key come from. */
  readonly origins: readonly string[];
  /** Whole sentences: whether the profile that is shown is in the settings file, and that what is entered is kept there. */
  readonly keeping: string;
  /** Which generation of the service it is taken to be, and why; undefined before it is first asked. */
  readonly generation: () => string | undefined;
  /** Sentences about settings that were not used. */
  readonly warnings: readonly string[];
  /** @throws Error in words, if the profile cannot be used */
  readonly switchTo: (name: string) => void;
  /**
   * Asks the service that is described, and keeps it as the profile to start with once it has answered.
   *
   * @throws Error in words, if it does not answer or cannot be kept, and the reason of the signal once that aborts;
   * nothing is kept then
   */
  readonly setUp: (profile: NewProfile, signal: AbortSignal) => Promise<void>;
}

/** Of a program that shows one service and knows no other. */
export const noConnection: Connection = {
  profiles: [],
  current: '',
  isLocal: false,
  baseUrl: undefined,
  origins: [],
  keeping: '',
  generation: () => undefined,
  warnings: [],
  switchTo: () => {},
  setUp: async () => {},
};

const ConnectionContext = createContext<Connection>(noConnection);
export const ConnectionProvider = ConnectionContext;

export function useConnection(): Connection {
  return useContext(ConnectionContext);
}
