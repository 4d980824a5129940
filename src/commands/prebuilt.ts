/**
 * Prints prebuilt help, or the version. Imports little, because parsing a command line would take longer than all of
 * this.
 */
import { fstatSync, readFileSync } from 'node:fs';
import { own } from '../base/own-property.ts';
import { defaultColumns, isAsciiOnly } from '../text/terminal.ts';
import { writeOutput } from './standard-output.ts';

/** The file with the prebuilt help, next to the program. */
export const prebuiltFile = 'help.json';

/** The key of the prebuilt text for these words: `help list` and `list -h` mean `list --help`. */
export function prebuiltName(words: readonly string[]): string {
  const line = words[0] === 'help' ? [...words.slice(1), '--help'] : [...words];
  const last = line.pop() ?? '';
  return [...line, last === '-h' ? '--help' : last === '-V' ? '--version' : last].join('\n');
}

/** The text for these words, if they ask for help or the version and nothing else. */
function textOrJson(words: readonly string[], folder: URL): string | undefined {
  const name = prebuiltName(words);
  if (!/^(.*\n)?--(help|version)$/s.test(name)) return undefined;
  try {
    const texts = JSON.parse(readFileSync(new URL(prebuiltFile, folder), 'utf8')) as Record<string, string>;
    return own(texts, name);
  } catch {
    return undefined;
  }
}

/** Whether text at the default width fits this terminal. */
function fitsTerminal(): boolean {
  // Opening a stream takes longer than everything else here, so do it only for a possible terminal.
  if (!fstatSync(1).isCharacterDevice() || !process.stdout.isTTY) return true;
  return (process.stdout.columns || defaultColumns) >= defaultColumns && !isAsciiOnly(process.env);
}

/**
 * Prints help or the version, if the words ask for nothing else.
 *
 * @param folder the program's folder
 * @returns false if there is no such text, as when running from source, or if it does not fit the terminal
 */
export function printPrebuilt(words: readonly string[], folder: URL): boolean {
  const text = textOrJson(words, folder);
  if (text === undefined || !fitsTerminal()) return false;
  const fail = (error: Error): void => void import('./io.ts').then(({ stopWriting }) => stopWriting(error));
  void writeOutput(text, fail, true);
  return true;
}
