/**
 * Types secrets that must not be found anywhere afterwards: a secret's value in its form, and a key in the connect
 * window. Each is typed only once its field is on the screen.
 */
import { bytesOf } from '../rig/keys.ts';
import type { Random } from './random.ts';

/** The value of a secret, as typed. */
const value = 'typed-value-51ab7e9d03c24f68';
/** A key, as typed. */
const key = 'typed-key-8d40f6b2917ec35a';

/** Parts of the typed secrets, to find truncated ones as well. */
export const typedTraces: readonly string[] = [value, key].flatMap(text => [text.slice(0, 16), text.slice(-12)]);

export interface Desk {
  readonly text: () => string;
  /** Sends bytes to the program, and waits until they are shown. */
  readonly give: (bytes: string) => Promise<void>;
  readonly resize: (columns: number, rows: number) => Promise<void>;
  /** An address to connect to. */
  readonly address: string;
}

/** How often to check the screen before giving up. */
const looks = 60;

async function shows(desk: Desk, wanted: RegExp): Promise<boolean> {
  for (let look = 0; look < looks; look += 1) {
    if (wanted.test(desk.text())) return true;
    await desk.give('');
  }
  return false;
}

/** In one write, as a marked paste, or letter by letter. */
async function type(desk: Desk, text: string, random: Random): Promise<void> {
  const how = random.pick(['at once', 'pasted', 'by letter']);
  if (how === 'by letter') for (const letter of text) await desk.give(letter);
  else await desk.give(how === 'pasted' ? `\u001b[200~${text}\u001b[201~` : text);
}

async function clear(desk: Desk): Promise<void> {
  for (const press of ['esc', 'esc', 'esc']) await desk.give(bytesOf(press));
}

/** Submits it, previews its request first, leaves it, or keeps it open for the next input. */
function finish(random: Random): string {
  return random.pick(['\r', '\r', `${bytesOf('ctrl-p')}\r`, bytesOf('esc'), '']);
}

async function typeSecret(desk: Desk, random: Random): Promise<boolean> {
  await desk.give(':secrets\r');
  await desk.give('n');
  if (!(await shows(desk, /Create a secret/))) return false;
  await desk.give(`NAME_${random.between(1, 9)}\t`);
  if (!(await shows(desk, /Sent once/))) return false;
  await type(desk, value, random);
  await desk.give(finish(random));
  return true;
}

async function typeKey(desk: Desk, random: Random): Promise<boolean> {
  await desk.give(bytesOf('ctrl-k'));
  if (!(await shows(desk, /Connect to a service/))) return false;
  const again = bytesOf('ctrl-u');
  const address = random.pick([desk.address, 'http://127.0.0.1:9', 'nowhere']);
  // Also with the wrong source selected for a key.
  const source = bytesOf('right').repeat(random.between(0, 3));
  await desk.give(`${again}lab\t`);
  await desk.give(`${again}${address}\t${source}\t`);
  if (!(await shows(desk, /Shown as dots/))) return false;
  await type(desk, key, random);
  await desk.give(finish(random));
  return true;
}

/** Types one of them, the other if its form does not appear. False if nothing was typed. */
export async function typeOne(desk: Desk, random: Random): Promise<boolean> {
  await desk.resize(120, 40);
  await clear(desk);
  const kinds = [typeSecret, typeKey];
  if (random.chance(0.5)) kinds.reverse();
  for (const typeIt of kinds) {
    if (await typeIt(desk, random)) return true;
    await clear(desk);
  }
  return false;
}
