import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { tightenFolder } from '../text/ownership.ts';
import type { Environment } from '../text/terminal.ts';

/** The folders of benchtop, as absolute paths. They need not exist. */
export interface Paths {
  /** Settings that the user writes. */
  readonly config: string;
  /** What benchtop remembers: history, pins, logs, crash reports. */
  readonly state: string;
  /** Data that can be regenerated. */
  readonly cache: string;
  /** The local service's data. */
  readonly data: string;
}

const folders = {
  config: { own: 'BENCHTOP_CONFIG_DIR', xdg: 'XDG_CONFIG_HOME', fallback: '.config' },
  state: { own: 'BENCHTOP_STATE_DIR', xdg: 'XDG_STATE_HOME', fallback: '.local/state' },
  cache: { own: 'BENCHTOP_CACHE_DIR', xdg: 'XDG_CACHE_HOME', fallback: '.cache' },
  data: { own: 'BENCHTOP_DATA_DIR', xdg: 'XDG_DATA_HOME', fallback: '.local/share' },
} as const;

/**
 * The user's home: HOME, or what the system knows if that is not an absolute path. A user that the system does not know
 * has the root folder, as in most containers.
 */
function homeFolder({ HOME }: Environment = process.env): string {
  if (HOME && isAbsolute(HOME)) return HOME;
  try {
    // On Windows HOME is not what names it.
    const home = process.platform === 'win32' ? homedir() : userInfo().homedir;
    return isAbsolute(home) ? home : '/';
  } catch {
    return '/';
  }
}

/**
 * Folders by the XDG Base Directory Specification 0.8 (`$XDG_CONFIG_HOME/benchtop`; relative paths are ignored, as it
 * demands). `BENCHTOP_CONFIG_DIR` and similar variables name a folder directly.
 */
export function findPaths(environment: Environment, home: string = homeFolder(environment)): Paths {
  const find = ({ own, xdg, fallback }: (typeof folders)[keyof typeof folders]): string => {
    const named = environment[own];
    if (named) return resolve(named);
    const base = environment[xdg];
    return join(base && isAbsolute(base) ? base : join(home, fallback), 'benchtop');
  };
  return {
    config: find(folders.config),
    state: find(folders.state),
    cache: find(folders.cache),
    data: find(folders.data),
  };
}

/**
 * Makes the folders private (0700) that have their default names and exist. One that a variable names keeps its mode: it
 * may be anything.
 */
export function tightenDefaultFolders(environment: Environment): void {
  const paths = findPaths(environment);
  for (const name of ['config', 'state', 'cache', 'data'] as const) {
    if (!environment[folders[name].own]) tightenFolder(paths[name]);
  }
}

/** A path from a setting: `~/` is the home folder, relative paths are resolved against `base`. */
export function settingPath(path: string, base: string, home: string = homeFolder()): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(base, path);
}
