import { readFile, rename } from 'node:fs/promises';
import { errorCode } from '../text/errors.ts';
import { writeAtomically } from './atomic-file.ts';

export interface JsonRead<T> {
  /** Undefined where there is no file, or none that can be read. */
  readonly value: T | undefined;
  /** Set when a file was there and could not be used: what happened to it. */
  readonly notice?: string;
}

/** A small file of remembered state. */
export interface JsonFile<T> {
  readonly path: string;
  /** Never fails: a torn or foreign file is moved aside (`….corrupt`) and the notice says so. */
  read(): Promise<JsonRead<T>>;
  /** Writes of one JsonFile happen in the order of the calls. @throws FileError */
  write(value: T): Promise<void>;
}

/** `check` turns the parsed JSON into a value, or gives undefined where it is invalid. */
export function jsonFile<T>(path: string, check: (json: unknown) => T | undefined): JsonFile<T> {
  let lastWrite: Promise<void> = Promise.resolve();
  return {
    path,
    read: () => readJson(path, check),
    write(value) {
      const text = `${JSON.stringify(value)}\n`;
      lastWrite = lastWrite.catch(() => {}).then(() => writeAtomically(path, text));
      return lastWrite;
    },
  };
}

async function readJson<T>(path: string, check: (json: unknown) => T | undefined): Promise<JsonRead<T>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { value: undefined };
    return { value: undefined, notice: `${path} could not be read (${code}); going on without what it remembers.` };
  }
  const value = parse(text, check);
  if (value !== undefined) return { value };
  const aside = `${path}.corrupt`;
  const kept = await rename(path, aside).then(
    () => `It was moved to ${aside}`,
    () => 'It will be overwritten',
  );
  return { value: undefined, notice: `${path} is damaged or from another program. ${kept}; starting afresh.` };
}

function parse<T>(text: string, check: (json: unknown) => T | undefined): T | undefined {
  try {
    return check(JSON.parse(text));
  } catch {
    return undefined;
  }
}
