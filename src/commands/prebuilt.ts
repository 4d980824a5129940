/** Help and version as the build has written them. Loads nothing: what reads a command line takes longer than all the rest. */
import { own } from '../text/own.ts';
import { defaultColumns, isAsciiOnly } from '../text/terminal.ts';

/** An import would run all the getters of the module. */
const fs = process.getBuiltinModule('node:fs');

/** The file of what the build has written, next to the program. */
export const prebuiltFile = 'help.json';

/** Under which name the text that these words ask for is written: `help list` and `list -h` are `list --help`. */
export function prebuiltName(words: readonly string[]): string {
  const line = words[0] === 'help' ? [...words.slice(1), '--help'] : [...words];
  const last = line.pop() ?? '';
  return [...line, last === '-h' ? '--help' : last === '-V' ? '--version' : last].join('\n');
}

/** The text for these words, where they ask for help or the version and nothing else. */
function textOrJson(words: readonly string[], folder: URL): string | undefined {
  const name = prebuiltName(words);
  if (!/^(.*\n)?--(help|version)$/s.test(name)) return undefined;
  try {
    const texts = JSON.parse(fs.readFileSync(new URL(prebuiltFile, folder), 'utf8')) as Record<string, string>;
    return own(texts, name);
  } catch {
    return undefined;
  }
}

/** Whether a text of the usual width can be shown as it is. */
function fitsTerminal(): boolean {
  // Opening a stream takes longer than all the rest: only for what may be a terminal.
  if (!fs.fstatSync(1).isCharacterDevice() || !process.stdout.isTTY) return true;
  return (process.stdout.columns || defaultColumns) >= defaultColumns && !isAsciiOnly(process.env);
}

/**
 * Prints help or the version, if the words ask for nothing else.
 *
 * @param folder of the program
 * @returns false if there is no such text, as in a program that was not built, or it does not fit the terminal
 */
export function printPrebuilt(words: readonly string[], folder: URL): boolean {
  const text = textOrJson(words, folder);
  if (text === undefined || !fitsTerminal()) return false;
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(fs.writeSync(1, rest));
  } catch {
    // A pipe that is full for now, or a reason to report: the stream waits for the one and emits the other.
    process.stdout.once('error', error => void import('./io.ts').then(({ stopWriting }) => stopWriting(error)));
    process.stdout.write(rest);
  }
  return true;
}
