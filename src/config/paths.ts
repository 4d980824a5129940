import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { tightenFolder } from '../base/ownership.ts';
import type { Environment } from '../text/terminal.ts';

/** benchtop's folders, as absolute paths. They need not exist. */
export interface Paths {
  /** Settings that the user writes. */
  readonly config: string;
  /** State: history, pins, logs, crash reports. */
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
 * The user's home: HOME if it is an absolute path, else the home from the user database. A user without an entry there,
 * as is common in containers, gets the root folder.
 */
function homeFolder({ HOME }: Environment): string {
  if (HOME && isAbsolute(HOME)) return HOME;
  try {
    // Windows does not use HOME.
    const home = process.platform === 'win32' ? homedir() : userInfo().homedir;
    return isAbsolute(home) ? home : '/';
  } catch {
    return '/';
  }
}

/**
 * Finds the folders by the XDG Base Directory Specification 0.8 (`$XDG_CONFIG_HOME/benchtop`; relative paths are
 * ignored, as it requires). `BENCHTOP_CONFIG_DIR` and similar variables name a folder directly.
 */
export function findPaths(environment: Environment): Paths {
  const home = homeFolder(environment);
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
 * Makes existing folders with default names private (0700). A folder that a variable names keeps its mode: it may be
 * shared on purpose.
 */
export function tightenDefaultFolders(environment: Environment): void {
  const paths = findPaths(environment);
  for (const name of ['config', 'state', 'cache', 'data'] as const) {
    if (!environment[folders[name].own]) tightenFolder(paths[name]);
  }
}

/** A path from a setting: `~/` is the home folder, relative paths are resolved against `base`. */
export function settingPath(path: string, base: string): string {
  return path === '~' || path.startsWith('~/') ? join(homeFolder(process.env), path.slice(1)) : resolve(base, path);
}
