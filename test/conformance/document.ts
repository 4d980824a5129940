/** The service document as data: the rows of its tables, its endpoints, and the gaps that it states. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const documentText = readFileSync(fileURLToPath(new URL('./service-api.md', import.meta.url)), 'utf8');

export interface TableRow {
  /** The headings above it, and the statement just before its table if there are several. */
  readonly section: string;
  /** Cells by the name of their column. */
  readonly cells: Readonly<Record<string, string>>;
  /** The first cell. */
  readonly name: string;
}

export interface DocumentedEndpoint {
  readonly method: string;
  /** With its placeholders, without the base address. */
  readonly path: string;
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim());

const endpointPattern = /^\*\*(GET|POST|PUT|DELETE) `\{base_url\}([^`]+)`\*\*/;

/** Every row of every table. */
export function tableRows(text: string = documentText): TableRow[] {
  const rows: TableRow[] = [];
  let section = '';
  let columns: string[] = [];
  for (const line of text.split('\n')) {
    const heading = /^#{2,4} (.*)$/.exec(line)?.[1];
    const endpoint = endpointPattern.exec(line);
    if (heading) section = heading;
    else if (endpoint) section = `${endpoint[1]} ${endpoint[2]}`;
    if (!line.startsWith('|')) columns = [];
    else if (columns.length === 0) columns = cellsOf(line);
    else if (!/^\|[-| ]+\|$/.test(line)) {
      const cells = cellsOf(line);
      const named = Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']));
      rows.push({ section, cells: named, name: cells[0] ?? '' });
    }
  }
  return rows;
}

export function documentedEndpoints(text: string = documentText): DocumentedEndpoint[] {
  return text.split('\n').flatMap(line => {
    const [, method, path] = endpointPattern.exec(line) ?? [];
    return method && path ? [{ method, path }] : [];
  });
}

/** Every sentence or cell that says that something is not shown. */
export function notShown(text: string = documentText): string[] {
  return text
    .split('\n')
    .flatMap(line => (line.startsWith('|') ? cellsOf(line) : line.split(/(?<=\.)\s/)))
    .filter(statement => /not shown/.test(statement));
}
