const sequences: Readonly<Record<string, string>> = {
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  pageup: '\u001b[5~',
  pagedown: '\u001b[6~',
  home: '\u001b[H',
  end: '\u001b[F',
  enter: '\r',
  esc: '\u001b',
  tab: '\t',
  'shift-tab': '\u001b[Z',
  space: ' ',
  backspace: '\u007f',
};

/** The bytes that a terminal sends for a key. */
export function bytesOf(key: string): string {
  const named = sequences[key];
  if (named !== undefined) return named;
  const control = /^ctrl-([a-z])$/.exec(key)?.[1];
  if (control) return String.fromCharCode(control.charCodeAt(0) - 96);
  const alt = /^alt-(.)$/.exec(key)?.[1];
  return alt ? `\u001b${alt}` : key;
}
