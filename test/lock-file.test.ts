/** `npm ci` installs only reviewed packages: exact versions, each with a checksum. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

describe('the lock file', () => {
  it('has a checksum for every package', () => {
    const { packages } = read('package-lock.json') as { packages: Record<string, { integrity?: string }> };
    const unchecked = Object.entries(packages).filter(
      ([path, { integrity }]) => path !== '' && !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''),
    );
    expect(unchecked).toEqual([]);
    expect(Object.keys(packages).length).toBeGreaterThan(100);
  });

  it('matches the manifest, which names exact versions', () => {
    const { devDependencies, engines } = read('package.json');
    const [root] = Object.values(read('package-lock.json').packages) as [{ devDependencies: object; engines: object }];
    expect(root).toMatchObject({ devDependencies, engines });
    expect(Object.values(devDependencies as Record<string, string>).filter(range => !/^\d/.test(range))).toEqual([]);
  });
});
