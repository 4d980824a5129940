/** Which service addresses are allowed. */
import { BlockList, isIP } from 'node:net';
import { trimEnd } from '../base/trim.ts';
import { ConfigError, describeOrigin, type Sourced } from './origin.ts';

/** This machine's addresses, including the unspecified one. An IPv4-mapped IPv6 address counts as its IPv4 address. */
function makeLoopback(): BlockList {
  const made = new BlockList();
  made.addSubnet('127.0.0.0', 8, 'ipv4');
  made.addAddress('0.0.0.0', 'ipv4');
  made.addAddress('::1', 'ipv6');
  made.addAddress('::', 'ipv6');
  return made;
}

let loopback: BlockList | undefined;

/** Whether a URL's host is this machine. `URL` has already normalised other spellings, such as 127.1. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const family = isIP(host);
  if (family === 0) return host === 'localhost';
  loopback ??= makeLoopback();
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** The host as `URL` normalises it, without the trailing dot of a fully qualified name. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '');

/** Scheme, host and port: the same for every spelling of an address. */
export const originOf = (url: URL): string => `${url.protocol}//${hostOf(url)}:${url.port}`;

/** Whether two addresses have the same scheme, host and port; false if the first is not a URL. */
export function sameOrigin(one: string, other: string): boolean {
  return URL.canParse(one) && originOf(new URL(one)) === originOf(new URL(other));
}

interface AddressProblem {
  readonly code: 'address_invalid' | 'address_with_credentials' | 'address_insecure';
  /** A sentence about the problem and its fix. It does not repeat the address, which may hold a password. */
  readonly reason: string;
}

/** Checks an address: https, or http if it stays on this machine or is explicitly allowed. */
export function addressProblem(text: string, allowInsecureHttp: boolean): AddressProblem | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) {
    return { code: 'address_invalid', reason: 'it is not a URL. It should look like https://host/path.' };
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { code: 'address_invalid', reason: 'it does not begin with https://.' };
  }
  if (url.username !== '' || url.password !== '') {
    const reason =
      'it contains a user name or a password. Remove it; give the key as apiKey, apiKeyFile or apiKeyCommand.';
    return { code: 'address_with_credentials', reason };
  }
  if (url.search !== '' || url.hash !== '') {
    return { code: 'address_invalid', reason: 'it has a query or a fragment. Remove the part after ? or #.' };
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowInsecureHttp) {
    const reason = `http would send the key to ${url.host} in the clear. Use https, or set allowInsecureHttp if this network is safe.`;
    return { code: 'address_insecure', reason };
  }
  return undefined;
}

/**
 * Validates a service's address and removes its final slashes and an empty query or fragment.
 *
 * @throws ConfigError that names the setting
 */
export function checkAddress({ value, origin }: Sourced<string>, allowInsecureHttp: boolean): Sourced<string> {
  const problem = addressProblem(value, allowInsecureHttp);
  if (problem) {
    throw new ConfigError(`The address in ${describeOrigin(origin)} cannot be used: ${problem.reason}`);
  }
  const { origin: site, pathname } = new URL(value);
  return { value: trimEnd(site + pathname, '/'), origin };
}

/** Identifies a service in the data that is kept of it: the same for every spelling of a valid address. */
export function serviceOf(address: string): string {
  const url = new URL(address);
  url.hostname = hostOf(url);
  return url.href;
}
