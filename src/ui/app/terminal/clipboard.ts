import { sanitise } from '../../../text/sanitise.ts';

/** Terminals drop longer sequences, some of them silently; 100,000 is the limit of the strictest (hterm). */
const maximumPayload = 100_000;

type CopyResult = { readonly ok: true; readonly sequence: string } | { readonly ok: false; readonly message: string };

/**
 * The escape sequence that asks the terminal to put `text` on the clipboard (OSC 52, xterm control sequences), which
 * also works over SSH. tmux gets the sequence plain (for its `set-clipboard on`) and in its passthrough (for
 * `allow-passthrough on`); screen gets it plain (TERM may name a tmux at the other end) and as a chain of short control
 * strings. The text is sanitised, because it may be pasted into a shell.
 */
export function copySequence(text: string, environment: Readonly<Record<string, string | undefined>>): CopyResult {
  const payload = Buffer.from(sanitise(text, { multiline: true, tabs: 'keep' }), 'utf8').toString('base64');
  if (payload.length > maximumPayload) {
    const most = Math.floor((maximumPayload * 3) / 4 / 1_000);
    return {
      ok: false,
      message: `Not copied: terminals accept at most ${most} kB. The clipboard is unchanged; export to a file instead.`,
    };
  }
  const sequence = `\x1b]52;c;${payload}\x07`;
  return { ok: true, sequence: sequence + forMultiplexer(sequence, environment) };
}

function forMultiplexer(sequence: string, environment: Readonly<Record<string, string | undefined>>): string {
  if (environment['TMUX']) return `\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\`;
  if (!environment['STY'] && !environment['TERM']?.startsWith('screen')) return '';
  // screen passes through only the body of short DCS strings.
  const parts = sequence.match(/.{1,76}/gs) ?? [];
  return parts.map(part => `\x1bP${part}\x1b\\`).join('');
}
