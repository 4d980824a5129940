/** The tables that the benches print. */

/** Prints lines of cells, padded to a common width. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
}

export interface Measured {
  readonly what: string;
  readonly value: number;
  /** The goal: at most this much. */
  readonly limit?: number | undefined;
  readonly unit: string;
  readonly digits?: number;
}

/** Prints measurements with their goals. Returns the exit code: 1 if a goal was missed, which `smoke` ignores. */
export function printMeasured(measured: readonly Measured[], smoke: boolean): number {
  const isMissed = ({ value, limit }: Measured): boolean => limit !== undefined && !(value <= limit);
  const shownOf = ({ value, unit, digits = 0 }: Measured): string => `${value.toFixed(digits)} ${unit}`;
  const width = Math.max(...measured.map(each => shownOf(each).length));
  printTable(
    measured.map(each => {
      const { what, limit, unit } = each;
      const shown = shownOf(each).padStart(width);
      return limit === undefined
        ? [what, shown, '', '']
        : [what, shown, `at most ${limit} ${unit}`, isMissed(each) ? 'over' : 'ok'];
    }),
  );
  return !smoke && measured.some(isMissed) ? 1 : 0;
}
