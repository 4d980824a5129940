/** Selects the proxy for an address from the variables that curl and most programs read. */
import { BlockList, isIP } from 'node:net';
import { own } from '../base/own-property.ts';
import type { Environment } from '../text/terminal.ts';
import { isLoopback } from './address.ts';

export type NamedProxy = {
  readonly variable: string;
} & (
  | {
      /** With the proxy's user and password, if any: never show it. */
      readonly url: string;
      /** Host and port. */
      readonly host: string;
    }
  /** Why it cannot be used, e.g. `names a socks5 proxy`. */
  | { readonly refusal: string }
);

/**
 * The proxy for an address; undefined for a direct connection, which this machine always gets. The lower-case variable
 * takes precedence. `NO_PROXY` lists hosts including their subdomains (`example.com`), hosts with a port, networks
 * (`10.0.0.0/8`), or `*` for all.
 */
export function proxyFor(url: URL, environment: Environment): NamedProxy | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const scheme = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const named = read(environment, scheme) ?? read(environment, 'all_proxy');
  if (!named || isExcepted(url, read(environment, 'no_proxy')?.value ?? '')) return undefined;
  const { variable, value } = named;
  const address = value.includes('://') ? value : `http://${value}`;
  const proxy = URL.canParse(address) ? new URL(address) : undefined;
  // A word without a dot or a port is more likely a mistake than a proxy's name.
  const isWord = !value.includes('://') && !/[.:\]]/.test(value) && value !== 'localhost';
  if (!proxy?.hostname || isWord) return { variable, refusal: 'is not a proxy address' };
  if (proxy.protocol === 'http:' || proxy.protocol === 'https:') {
    return { variable, url: proxy.href, host: proxy.port ? proxy.host : `${proxy.host}:${portOf(proxy)}` };
  }
  return { variable, refusal: `names a ${proxy.protocol.slice(0, -1)} proxy` };
}

function read(environment: Environment, name: string): { variable: string; value: string } | undefined {
  for (const variable of [name, name.toUpperCase()]) {
    const value = own(environment, variable)?.trim();
    if (value) return { variable, value };
  }
  return undefined;
}

function portOf(url: URL): string {
  return url.port || (url.protocol === 'https:' ? '443' : '80');
}

function isExcepted(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some(entry => entry === '*' || isInNetwork(host, entry) || isNamed(host, portOf(url), entry));
}

function isInNetwork(host: string, entry: string): boolean {
  const [network = '', prefix = '', more] = entry.split('/');
  const family = isIP(host) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(host) === 0 || isIP(network) !== isIP(host) || more !== undefined) return false;
  const bits = Number(prefix || Number.NaN);
  if (!Number.isInteger(bits) || bits > (family === 'ipv6' ? 128 : 32)) return false;
  const networks = new BlockList();
  networks.addSubnet(network, bits, family);
  return networks.check(host, family);
}

function isNamed(host: string, port: string, entry: string): boolean {
  const withPort = isIP(entry) === 0 ? /^(.+):(\d+)$/.exec(entry) : null;
  if (withPort && withPort[2] !== port) return false;
  const name = (withPort?.[1] ?? entry).replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
  return host === name || (name !== '' && isIP(host) === 0 && host.endsWith(`.${name}`));
}
