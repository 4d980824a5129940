import { describe, expect, it } from 'vitest';
import { noLookup, otherHost, tooFarInside, writtenTooFarInside } from '../../src/service/reach.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  'rebound.example': ['203.0.113.7', '127.0.0.1'],
  'inside.example': ['10.0.0.7'],
  'service.example': ['203.0.113.1'],
  'corp.example': ['10.0.0.1'],
};
const find = async (name: string) => new Map(Object.entries(names)).get(name) ?? [];

describe('an address that a service gave (X4)', () => {
  it.each([
    ['https://storage.example/a', 'https://service.example', undefined],
    ['https://rebound.example/a', 'https://service.example', 'this machine'],
    ['https://inside.example/a', 'https://service.example', 'a private network'],
    ['https://inside.example/a', 'https://corp.example', undefined],
    ['https://inside.example/a', 'https://10.9.9.9', undefined],
    ['https://192.168.1.1/a', 'https://corp.example', undefined],
    ['http://localhost:1/a', 'https://corp.example', 'this machine'],
    ['http://localhost:1/a', 'http://127.0.0.1:2', undefined],
    ['https://10.0.0.1/a', 'http://127.0.0.1:2', undefined],
    ['https://unknown.example/a', 'https://service.example', undefined],
  ])('%s from %s leads to %s', async (address, service, expected) => {
    expect(await tooFarInside(new URL(address), new URL(service), find)).toBe(expected);
  });

  it('is judged as written where a proxy looks up names', async () => {
    const service = new URL('https://service.example');
    expect(await tooFarInside(new URL('https://inside.example'), service, noLookup)).toBeUndefined();
    expect(await tooFarInside(new URL('https://10.0.0.1'), service, noLookup)).toBe('a private network');
    expect(writtenTooFarInside(new URL('http://127.1'), service)).toBe('this machine');
    expect(writtenTooFarInside(new URL('https://inside.example'), service)).toBeUndefined();
  });

  it('has a host to name unless it is the service’s own', () => {
    expect(otherHost('https://storage.example/a?s', 'https://service.example')).toBe('storage.example');
    expect(otherHost('https://service.example:8443/a', 'https://service.example')).toBeUndefined();
    expect(otherHost('http://127.0.0.1:4000/a', 'http://127.0.0.1')).toBeUndefined();
    expect(otherHost('nonsense', 'http://127.0.0.1')).toBeUndefined();
  });
});
