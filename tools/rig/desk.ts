/**
 * A user at a simulated or real screen, who checks that it still answers, and types secrets that must not be found
 * anywhere afterwards. A secret is typed only when its field is on the screen.
 */
import fc from 'fast-check';
import type { Input } from './inputs.ts';
import { showsHelp } from './judge.ts';
import { bytesOf } from './keys.ts';

/** The value of a secret, as typed. */
const value = 'typed-value-51ab7e9d03c24f68';
/** A key, as typed. */
const key = 'typed-key-8d40f6b2917ec35a';

/** Parts of the typed secrets, to find truncated ones as well. */
export const typedTraces: readonly string[] = [value, key].flatMap(text => [text.slice(0, 16), text.slice(-12)]);

export interface Desk {
  readonly text: () => string;
  readonly hasEnded: () => boolean;
  readonly send: (input: Input) => void;
  /** Waits until the screen shows the result of the input. */
  readonly rest: () => Promise<void>;
  /** An address to connect to. */
  readonly address: string;
}

async function give(desk: Desk, bytes: string): Promise<void> {
  desk.send({ kind: 'bytes', bytes, keys: 1 });
  await desk.rest();
}

async function resize(desk: Desk): Promise<void> {
  desk.send({ kind: 'resize', columns: 120, rows: 40 });
  await desk.rest();
}

/** A program that answers no key for this long counts as hanging. */
export const hangMs = 20_000;

/** Whether esc closes everything open and then `?` opens help, which must work in every state. */
export async function answersKeys(desk: Desk): Promise<boolean> {
  const until = performance.now() + hangMs;
  await resize(desk);
  do {
    for (const key of ['\u001b', '\u001b', '\u001b', '?']) await give(desk, key);
    for (let look = 0; look < 20; look += 1) {
      if (desk.hasEnded() || showsHelp(desk.text())) return true;
      await desk.rest();
    }
  } while (performance.now() < until);
  return false;
}

/** How often to check the screen before giving up. */
const looks = 60;

async function shows(desk: Desk, wanted: RegExp): Promise<boolean> {
  for (let look = 0; look < looks; look += 1) {
    if (wanted.test(desk.text())) return true;
    await give(desk, '');
  }
  return false;
}

/** How a secret is typed, and the input after it. */
export interface Typing {
  readonly form: 'secret' | 'key';
  readonly how: 'at once' | 'pasted' | 'by letter';
  /** Submits the form, previews its request first, leaves it, or keeps it open for the next input. */
  readonly end: string;
  /** The address for which a key is typed. */
  readonly address: 'here' | 'http://127.0.0.1:9' | 'nowhere';
  /** Presses of the right key, which selects the source of a key, right or wrong. */
  readonly source: number;
}

export const typings: fc.Arbitrary<Typing> = fc.record({
  form: fc.constantFrom('secret', 'key'),
  how: fc.constantFrom('at once', 'pasted', 'by letter'),
  end: fc.constantFrom('\r', '\r', `${bytesOf('ctrl-p')}\r`, bytesOf('esc'), ''),
  address: fc.constantFrom('here', 'http://127.0.0.1:9', 'nowhere'),
  source: fc.nat(3),
});

async function type(desk: Desk, text: string, how: Typing['how']): Promise<void> {
  if (how === 'by letter') for (const letter of text) await give(desk, letter);
  else await give(desk, how === 'pasted' ? `\u001b[200~${text}\u001b[201~` : text);
}

/** Fills the form up to the field of the secret. False if it does not appear. */
async function reachField(desk: Desk, { form, address, source }: Typing): Promise<boolean> {
  if (form === 'secret') {
    await give(desk, ':secrets\r');
    await give(desk, 'n');
    if (!(await shows(desk, /Create a secret/))) return false;
    await give(desk, `NAME_${source}\t`);
    return shows(desk, /Sent once/);
  }
  await give(desk, bytesOf('ctrl-k'));
  if (!(await shows(desk, /Connect to a service/))) return false;
  const again = bytesOf('ctrl-u');
  await give(desk, `${again}lab\t`);
  await give(desk, `${again}${address === 'here' ? desk.address : address}\t${bytesOf('right').repeat(source)}\t`);
  return shows(desk, /Shown as dots/);
}

/** Types a secret, into the other form if its own does not appear. False if nothing was typed. */
export async function typeSecret(desk: Desk, typing: Typing): Promise<boolean> {
  await resize(desk);
  const other = typing.form === 'key' ? 'secret' : 'key';
  for (const form of [typing.form, other] as const) {
    for (let turn = 0; turn < 3; turn += 1) await give(desk, bytesOf('esc'));
    if (!(await reachField(desk, { ...typing, form }))) continue;
    await type(desk, form === 'key' ? key : value, typing.how);
    await give(desk, typing.end);
    return true;
  }
  return false;
}
