/** Lets the screen show where the settings come from, switch to another profile, and add one. */
import { createContext, useContext } from 'react';

/** The source of a service's key; never a plain argument. */
export const keySources = ['environment', 'file', 'command', 'settings'] as const;
export type KeySource = (typeof keySources)[number];

/** A service as entered by the user. */
export interface NewProfile {
  readonly name: string;
  readonly baseUrl: string;
  readonly keySource: KeySource;
  /** A variable name, a file path, a command line, or the key itself. */
  readonly key: string;
}

export interface Connection {
  /** Names of the existing profiles. */
  readonly profiles: readonly string[];
  readonly current: string;
  /** True if the local service is shown because no other is configured. */
  readonly isLocal: boolean;
  readonly baseUrl: string | undefined;
  /** Full sentences: where the address and the key come from. */
  readonly origins: readonly string[];
  /**
   * Full sentences: whether the current profile is in the settings file, and that the user's input will be saved there.
   */
  readonly keeping: string;
  /** The service's generation and the evidence for it; undefined before the first request. */
  readonly generation: () => string | undefined;
  /** Sentences about ignored settings. */
  readonly warnings: readonly string[];
  /** @throws Error worded for the user, if the profile cannot be used */
  readonly switchTo: (name: string) => void;
  /**
   * Tests the service and saves it as the default profile once it has responded.
   *
   * @throws Error worded for the user, if it does not respond or cannot be saved, and the signal's reason if that
   * aborts; in both cases nothing is saved
   */
  readonly setUp: (profile: NewProfile, signal: AbortSignal) => Promise<void>;
}

/** For a program that shows only one service. */
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
