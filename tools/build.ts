/**
 * Builds `dist/`: the program, the licences of its packages, the JSON Schema of its settings, the man page and help.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import manifest from '../package.json' with { type: 'json' };
import { prebuiltFile } from '../src/commands/prebuilt.ts';
import { settingsSchema } from '../src/config/json-schema.ts';
import { bundle } from './bundle.ts';
import { thirdPartyLicenses } from './licenses.ts';
import { manPage } from './man.ts';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

const files = await bundle(dist);
await writeFile(`${dist}THIRD_PARTY_LICENSES`, thirdPartyLicenses(files.flatMap(({ modules }) => modules)));
await writeFile(`${dist}config.schema.json`, `${JSON.stringify(settingsSchema(), undefined, 2)}\n`);
// Through tsx: Node alone reads no .tsx file, and some resources import one.
const { namedResources, prebuiltTexts } = (await tsImport(
  '../src/commands/help.ts',
  import.meta.url,
)) as typeof import('../src/commands/help.ts');
await writeFile(`${dist}benchtop.1`, manPage(manifest.version, await namedResources()));
await writeFile(`${dist}${prebuiltFile}`, `${JSON.stringify(await prebuiltTexts())}\n`);
