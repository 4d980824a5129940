import { describe, expect, it } from 'vitest';
import { checkAddress, serviceOf } from '../../src/config/address.ts';

const origin = { kind: 'environment', name: 'BENCHTOP_BASE_URL' } as const;
const check = (value: string, insecure: boolean = false) => checkAddress({ value, origin }, insecure).value;

describe('checkAddress', () => {
  it('takes https, and http on this machine', () => {
    expect(check('https://Host.example/v1//')).toBe('https://host.example/v1');
    expect(check('https://host.example')).toBe('https://host.example');
    for (const end of ['?', '#', '/?#']) expect(check(`https://host.example/v1${end}`)).toBe('https://host.example/v1');
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]']) {
      expect(check(`http://${host}:8080/`)).toBe(`http://${host}:8080`);
    }
  });

  it('refuses http to other machines unless allowed', () => {
    for (const host of ['host.example', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1']) {
      expect(() => check(`http://${host}`)).toThrow(/BENCHTOP_BASE_URL cannot be used: http would send the key/);
      expect(check(`http://${host}`, true)).toBe(`http://${host}`);
    }
  });

  it('refuses an invalid address, and never repeats a password', () => {
    expect(() => check('host.example')).toThrow('not a URL');
    expect(() => check('file:///etc/passwd')).toThrow('https://');
    expect(() => check('https://h/?key=1')).toThrow('query');
    let message = '';
    try {
      check('https://user:hunter22@host');
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('user name or a password');
    expect(message).not.toContain('hunter22');
  });
});

it('identifies a service by its address, in any spelling (attack33)', () => {
  const spellings = [
    'http://host.example/v1',
    'HTTP://Host.Example:80/v1/',
    'http://host.example./v1?',
    'http://host.example/./v1#',
  ];
  expect(new Set(spellings.map(each => serviceOf(check(each, true))))).toEqual(new Set(['http://host.example/v1']));
});
