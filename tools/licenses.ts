/** Collects the licences of the bundled packages, which must be distributed with copies. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The folder of the package that a module belongs to; undefined for our own. */
function packageFolder(module: string): string | undefined {
  if (!module.includes('/node_modules/')) return undefined;
  for (let folder = dirname(module); folder.includes('/node_modules/'); folder = dirname(folder)) {
    const path = join(folder, 'package.json');
    // Some packages have a nested package.json without a name, which only states the module format.
    if (existsSync(path) && (JSON.parse(readFileSync(path, 'utf8')) as Partial<Package>).name) return folder;
  }
  return undefined;
}

/**
 * The text of THIRD_PARTY_LICENSES for these modules.
 *
 * @param modules - absolute paths of everything in the bundle
 * @throws Error naming a package without a licence
 */
export function thirdPartyLicenses(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap(module => packageFolder(module) ?? []));
  const entries = [...folders].map(folder => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;
    const file = readdirSync(folder).find(each => /^(licen[cs]e|copying)/i.test(each));
    if (!file && !license) throw new Error(`${name} ${version} ships no licence and names none`);
    const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `Licence: ${license}`;
    const isNotice = (line: string): boolean => /^\s*Copyright (?!\[)/.test(line);
    const lines = text.split('\n');
    const notices = lines.filter(isNotice).map(line => `${line.trim()}\n`);
    return {
      head: `${name} ${version} (${license ?? 'see below'})\n${notices.join('')}`,
      terms: lines
        .filter(line => !isNotice(line))
        .join('\n')
        .trim(),
    };
  });
  entries.sort((left, right) => left.head.localeCompare(right.head));
  // Most have the same terms, wrapped in different ways.
  const sections = [...Map.groupBy(entries, ({ terms }) => terms.replaceAll(/\s+/g, ' ')).values()].map(
    alike => `${alike.map(({ head }) => head).join('\n')}\n${alike[0]?.terms}\n`,
  );
  const rule = `\n${'-'.repeat(80)}\n\n`;
  return `benchtop contains parts of these packages.\n${rule}${sections.join(rule)}`;
}
