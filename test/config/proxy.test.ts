import { describe, expect, it } from 'vitest';
import { proxyFor } from '../../src/config/proxy.ts';

const hostOf = (address: string, environment: Record<string, string>) => {
  const proxy = proxyFor(new URL(address), environment);
  return proxy && 'host' in proxy ? `${proxy.variable} ${proxy.host}` : proxy?.refusal;
};

describe('the proxy of an address', () => {
  it.each([
    [{}, undefined],
    [{ HTTPS_PROXY: 'http://p.example:3128' }, 'HTTPS_PROXY p.example:3128'],
    [{ HTTPS_PROXY: 'http://upper.example', https_proxy: 'http://lower.example' }, 'https_proxy lower.example:80'],
    [{ HTTPS_PROXY: ' ', ALL_PROXY: 'https://all.example' }, 'ALL_PROXY all.example:443'],
    [{ HTTPS_PROXY: 'p.example:3128' }, 'HTTPS_PROXY p.example:3128'],
    [{ HTTPS_PROXY: '10.1.2.3' }, 'HTTPS_PROXY 10.1.2.3:80'],
    [{ HTTPS_PROXY: 'localhost' }, 'HTTPS_PROXY localhost:80'],
    [{ HTTP_PROXY: 'http://p.example' }, undefined],
    [{ HTTPS_PROXY: 'foo' }, 'is not a proxy address'],
    [{ HTTPS_PROXY: 'http://' }, 'is not a proxy address'],
    [{ ALL_PROXY: 'socks5://p.example:1080' }, 'names a socks5 proxy'],
  ])('with %o is %s', (environment, expected) => {
    expect(hostOf('https://service.example/api', environment)).toBe(expected);
  });

  it('comes from HTTP_PROXY for plain http', () => {
    const environment = { HTTP_PROXY: 'http://plain.example', HTTPS_PROXY: 'http://secure.example' };
    expect(hostOf('http://service.example', environment)).toBe('HTTP_PROXY plain.example:80');
  });

  it('is none for this machine', () => {
    for (const host of ['localhost:1', '127.0.0.1', '[::1]']) {
      expect(hostOf(`https://${host}`, { ALL_PROXY: 'http://p.example' })).toBeUndefined();
    }
  });

  it.each([
    ['https://service.example', '*', true],
    ['https://service.example', 'other.example, service.example', true],
    ['https://service.example', 'other.example SERVICE.example', true],
    ['https://eu.service.example', 'service.example', true],
    ['https://eu.service.example', '.service.example', true],
    ['https://eu.service.example', '*.service.example', true],
    ['https://myservice.example', 'service.example', false],
    ['https://service.example', 'service.example:443', true],
    ['https://service.example', 'service.example:8443', false],
    ['https://service.example:8443', 'service.example:8443', true],
    ['https://10.1.2.3', '10.0.0.0/8', true],
    ['https://11.1.2.3', '10.0.0.0/8', false],
    ['https://10.1.2.3', '10.0.0.0/99', false],
    ['https://10.1.2.3', '10.1.2.3', true],
    ['https://10.1.2.3', '2.3', false],
    ['https://[fd00::1]:8443', '[fd00::1]:8443', true],
    ['https://[fd00::1]', 'fd00::/8', true],
    ['https://service.example', '.', false],
  ])('in %s is bypassed with NO_PROXY %s: %s', (address, list, passed) => {
    const proxy = hostOf(address, { ALL_PROXY: 'http://p.example', NO_PROXY: list });
    expect(proxy === undefined).toBe(passed);
    if (passed) expect(hostOf(address, { ALL_PROXY: 'socks5://p.example', no_proxy: list })).toBeUndefined();
  });
});
