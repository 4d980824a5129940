/** Builds `dist/`: the program, the licences of what is in it, the form of its settings and the man page. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { settingsSchema } from '../src/config/json-schema.ts';
import { bundle } from './bundle.ts';
import { thirdPartyLicenses } from './licenses.ts';
import { manPage } from './man.ts';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

const files = await bundle(dist);
await writeFile(`${dist}THIRD_PARTY_LICENSES`, thirdPartyLicenses(files.flatMap(({ modules }) => modules)));
await writeFile(`${dist}config.schema.json`, `${JSON.stringify(settingsSchema(), undefined, 2)}\n`);
await writeFile(`${dist}benchtop.1`, manPage(manifest.version));
if (process.argv.includes('--meta')) await writeFile(`${dist}meta.json`, JSON.stringify(files, undefined, 2));
