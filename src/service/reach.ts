/** Where an address that a service gave may lead: to the service's own network, not further into the user's. */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { isLoopback } from '../config/address.ts';

/** A host on this machine, in a private network, or anywhere. Ordered from the outside in. */
const reaches = ['public', 'a private network', 'this machine'] as const;
type Reach = (typeof reaches)[number];

/** RFC 1918, RFC 6598, RFC 3927, RFC 4193 and RFC 4291. */
const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
] as const) {
  privateNetworks.addSubnet(network, prefix, 'ipv4');
}
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');

/** The addresses of a name; none if it has none, or cannot be looked up. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export const lookupAll: Lookup = async name => {
  const found = await lookup(name, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
};

/** Nothing is known of names, as behind a proxy, which looks them up itself. */
export const noLookup: Lookup = async () => [];

function reachOfAddress(address: string): Reach {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (isLoopback(family === 'ipv6' ? `[${address}]` : address)) return 'this machine';
  return privateNetworks.check(address, family) ? 'a private network' : 'public';
}

/** Of several addresses the innermost counts. */
function innermost(addresses: readonly string[]): Reach {
  const found = addresses.map(reachOfAddress);
  return reaches.findLast(reach => found.includes(reach)) ?? 'public';
}

/** The reach of a host as it is written: a name other than localhost counts as public. */
function writtenReach({ hostname }: URL): Reach {
  if (isLoopback(hostname)) return 'this machine';
  const host = hostname.replace(/^\[|\]$/g, '');
  return innermost(isIP(host) === 0 ? [] : [host]);
}

async function reachOf(url: URL, find: Lookup): Promise<Reach> {
  const written = writtenReach(url);
  return written === 'public' && isIP(url.hostname) === 0 ? innermost(await find(url.hostname)) : written;
}

const isFurther = (one: Reach, other: Reach): boolean => reaches.indexOf(one) > reaches.indexOf(other);

/**
 * The place that an address leads to, if it is further inside than the service that gave it: a service on the internet
 * must not have this machine write to the user's own network.
 */
export async function tooFarInside(address: URL, service: URL, find: Lookup): Promise<Reach | undefined> {
  if (address.hostname === service.hostname) return undefined;
  const reach = await reachOf(address, find);
  return reach !== 'public' && isFurther(reach, await reachOf(service, find)) ? reach : undefined;
}

/** The same without looking up names. */
export function writtenTooFarInside(address: URL, service: URL): Reach | undefined {
  const reach = writtenReach(address);
  return isFurther(reach, writtenReach(service)) ? reach : undefined;
}

/** The host of an address if it is another one than the service's, for words. */
export function otherHost(address: string, service: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const [{ host, hostname }, own] = [new URL(address), new URL(service)];
  if (hostname === own.hostname || (isLoopback(hostname) && isLoopback(own.hostname))) return undefined;
  return host;
}
