/** Commands as a script calls them: words in; output, notes and an exit code out. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { describeFailure, exitCodeOf } from '../../src/commands/failure.ts';
import type { CommandIo } from '../../src/commands/io.ts';

type Command = (args: readonly string[], io: CommandIo) => Promise<number>;

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
}

export interface CliOptions {
  readonly input?: string;
  /** Of a terminal; a pipe where it is missing. */
  readonly columns?: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Hears each piece of output. */
  readonly onPrint?: (text: string) => void;
}

/** A folder that is gone when the test ends. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Place {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The user's home; one that is gone with the test where it is not given. */
  readonly home?: string;
}

/** Commands on the service at an address. */
export function cliOn({ baseUrl, apiKey, home = testFolder() }: Place) {
  return async (command: Command, args: readonly string[], options: CliOptions = {}): Promise<Outcome> => {
    const { input = '', columns, environment = {}, signal, onPrint } = options;
    let out = '';
    const notes: string[] = [];
    const io: CommandIo = {
      environment: {
        HOME: home,
        BENCHTOP_BASE_URL: baseUrl,
        BENCHTOP_API_KEY: apiKey,
        ...environment,
      },
      input: Readable.from([input]),
      print: async text => {
        out += text;
        onPrint?.(text);
      },
      note: text => notes.push(text),
      columns,
      signal: signal ?? new AbortController().signal,
    };
    try {
      const code = await command(args, io);
      return { code, out, notes: notes.join('\n') };
    } catch (error) {
      notes.push(describeFailure(error, args.includes('--json')));
      return { code: exitCodeOf(error), out, notes: notes.join('\n') };
    }
  };
}
