/** The command line of a tool. */
import { parseArgs } from 'node:util';

type Widened<Value> = Value extends number ? number : Value extends boolean ? boolean : string;

interface Options<Defaults> {
  readonly values: { readonly [Name in keyof Defaults]: Widened<Defaults[Name]> };
  readonly positionals: readonly string[];
}

/** Prints this, and exits with this code. */
export function exitWith(text: string, code: number): never {
  process[code === 0 ? 'stdout' : 'stderr'].write(text);
  process.exit(code);
}

/** Reads the options. Prints `usage` and exits for `--help`, and for an option that has no default. */
export function optionsOf<Defaults extends Readonly<Record<string, string | number | boolean>>>(
  usage: string,
  defaults: Defaults,
): Options<Defaults> {
  const types = Object.entries({ ...defaults, help: false }).map(
    ([name, value]) => [name, { type: typeof value === 'boolean' ? 'boolean' : 'string' }] as const,
  );
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: Object.fromEntries(types) });
    if (values['help']) exitWith(usage, 0);
    const read = Object.entries(defaults).map(([name, otherwise]) => {
      const value = values[name] ?? otherwise;
      return [name, typeof otherwise === 'number' ? Number(value) : value];
    });
    return { values: Object.fromEntries(read), positionals };
  } catch (error) {
    exitWith(`${error instanceof Error ? error.message : error}\n\n${usage}`, 2);
  }
}
