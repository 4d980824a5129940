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
    return { name, section: `${name} ${version} (${license ?? 'see below'})\n\n${text}\n` };
  });
  entries.sort((left, right) => left.name.localeCompare(right.name));
  const rule = `\n${'-'.repeat(80)}\n\n`;
  return `benchtop contains parts of these packages.\n${rule}${entries.map(entry => entry.section).join(rule)}`;
}
