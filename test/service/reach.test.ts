import { describe, expect, it } from 'vitest';
import { ReachGuard } from '../../src/service/reach.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  'rebound.example': ['203.0.113.7', '127.0.0.1'],
  'rebound6.example': ['2001:db8::7', '::1'],
  'inside.example': ['10.0.0.7'],
  'service.example': ['203.0.113.1'],
  'corp.example': ['10.0.0.1'],
};
const find = async (name: string) => {
  const found = new Map(Object.entries(names)).get(name);
  if (!found) throw new Error(`${name} was not found`);
  return found.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));
};

/** Where a connection would lead that is refused; undefined if it is made, or the name is not found. */
async function tooFarInside(address: string, service: string, lookup = find): Promise<string | undefined> {
  const guard = new ReachGuard(new URL(address), new URL(service), lookup);
  const written = await guard.written();
  if (written !== undefined) return written;
  await new Promise<void>(resolve => guard.lookup(new URL(address).hostname, { all: true }, () => resolve()));
  return guard.refused;
}

describe('an address from a service (X4)', () => {
  it.each([
    ['https://storage.example/a', 'https://service.example', undefined],
    ['https://rebound.example/a', 'https://service.example', 'this machine'],
    ['https://rebound6.example/a', 'https://service.example', 'this machine'],
    ['https://inside.example/a', 'https://service.example', 'a private network'],
    ['https://inside.example/a', 'https://corp.example', undefined],
    ['https://localhost./a', 'https://service.example', 'this machine'],
    ['https://inside.example/a', 'https://10.9.9.9', undefined],
    ['https://192.168.1.1/a', 'https://corp.example', undefined],
    ['http://localhost:1/a', 'https://corp.example', 'this machine'],
    ['http://localhost:1/a', 'http://127.0.0.1:2', undefined],
    ['https://10.0.0.1/a', 'http://127.0.0.1:2', undefined],
    ['https://unknown.example/a', 'https://service.example', undefined],
  ])('%s from %s leads to %s', async (address, service, expected) => {
    expect(await tooFarInside(address, service)).toBe(expected);
  });

  it.each([
    ['[64:ff9b::a00:1]', 'a private network'],
    ['[64:ff9b::7f00:1]', 'this machine'],
    ['[64:ff9b:1::1]', 'a private network'],
    ['[64:ff9b::cb00:7107]', undefined],
    ['[::127.0.0.1]', 'this machine'],
    ['[::ffff:10.0.0.1]', 'a private network'],
    ['[::ffff:0:10.0.0.1]', 'a private network'],
    ['[2002:7f00:1::]', 'this machine'],
    ['[2002:cb00:7107::1]', undefined],
    ['[2001:0:cb00:7107::80ff:fffe]', 'this machine'],
    ['[fec0::1]', 'a private network'],
    ['[fe80::1]', 'a private network'],
    ['[2001:db8::1]', undefined],
    ['[2001:db8::5efe:10.0.0.1]', 'a private network'],
    ['[ff02::1]', 'a private network'],
    ['192.0.0.192', 'a private network'],
    ['0.1.2.3', 'a private network'],
    ['198.19.0.1', 'a private network'],
    ['239.1.1.1', 'a private network'],
    ['255.255.255.255', 'a private network'],
    ['203.0.113.7', undefined],
  ])('%s leads to %s', async (host, expected) => {
    expect(await tooFarInside(`https://${host}`, 'https://service.example')).toBe(expected);
  });

  it('with a link zone is in a private network', async () => {
    const zoned = async (name: string) => (name === 'zone.example' ? [{ address: 'fe80::1%eth0', family: 6 }] : []);
    expect(await tooFarInside('https://zone.example', 'https://service.example', zoned)).toBe('a private network');
  });

  it('is resolved completely, as the connection does it', async () => {
    const asked: unknown[] = [];
    const guard = new ReachGuard(
      new URL('https://storage.example'),
      new URL('https://service.example'),
      (name, options) => {
        asked.push(options);
        return find(name);
      },
    );
    await new Promise<void>(resolve => guard.lookup('corp.example', { family: 4 }, () => resolve()));
    expect(asked[0]).toEqual({ family: 4, all: true });
  });

  it('is judged as written if a proxy resolves names', async () => {
    const service = new URL('https://service.example');
    const written = (address: string) => new ReachGuard(new URL(address), service, async () => []).written();
    expect(await written('https://inside.example')).toBeUndefined();
    expect(await written('https://10.0.0.1')).toBe('a private network');
    expect(await written('http://127.1')).toBe('this machine');
  });
});
