/**
 * Decides which addresses from a service may be used: none that lead further into the user's network than the service
 * itself.
 */
import dns, { type LookupAddress, type LookupAllOptions } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { hostOf, isLoopback } from '../config/address.ts';
import type { Agent } from '../net/agents.ts';

/** Where a host is, from the outside in: anywhere, in a private network, or on this machine. */
const reaches = ['public', 'a private network', 'this machine'] as const;
type Reach = (typeof reaches)[number];

/** Addresses that are not public: RFC 6890 and later additions, RFC 3879 and RFC 5771. */
const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
  ['192.0.0.0', 24],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  privateNetworks.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['64:ff9b:1::', 48],
  ['ff00::', 8],
] as const) {
  privateNetworks.addSubnet(network, prefix, 'ipv6');
}

/** Looks up a name's addresses. Rejects if there are none. */
export type Lookup = (name: string, options?: LookupAllOptions) => Promise<readonly LookupAddress[]>;

const lookupAll: Lookup = (name, options) =>
  new Promise((resolve, reject) => {
    dns.lookup(name, { ...options, all: true }, (error, found) => (error ? reject(error) : resolve(found)));
  });

/** The eight groups of an IPv6 address, as `URL` writes it in full. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text = ''): number[] => (text === '' ? [] : text.split(':').map(group => Number.parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail)];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

/**
 * The IPv4 address embedded in an IPv6 address: NAT64 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380), translated (RFC
 * 2765), and compatible (RFC 4291). `BlockList` recognises mapped addresses.
 */
function embedded(address: string): string | undefined {
  const groups = groupsOf(address);
  const [first, second, third = 0, , fifth, sixth, seventh = 0, eighth = 0] = groups;
  const isZero = (from: number, to: number): boolean => groups.slice(from, to).every(group => group === 0);
  const ipv4 = (high: number, low: number): string => [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  if (first === 0x2002) return ipv4(second ?? 0, third);
  if (first === 0x2001 && second === 0) return ipv4(seventh ^ 0xffff, eighth ^ 0xffff);
  const isNat64 = first === 0x64 && second === 0xff9b && isZero(2, 6);
  const isTranslated = isZero(0, 4) && fifth === 0xffff && sixth === 0;
  // ISATAP (RFC 5214), under any prefix.
  const isIsatap = ((fifth ?? 0) & 0xfdff) === 0 && sixth === 0x5efe;
  return isNat64 || isTranslated || isIsatap || isZero(0, 6) ? ipv4(seventh, eighth) : undefined;
}

function reachOfAddress(text: string): Reach {
  // The zone of a link-local address names an interface.
  const address = text.replace(/%.*/s, '');
  const isIPv6 = isIP(address) === 6;
  if (isLoopback(address)) return 'this machine';
  if (privateNetworks.check(address, isIPv6 ? 'ipv6' : 'ipv4')) return 'a private network';
  const inner = isIPv6 ? embedded(address) : undefined;
  return inner === undefined ? 'public' : reachOfAddress(inner);
}

/** The innermost reach of several addresses. */
function innermost(addresses: readonly string[]): Reach {
  const found = addresses.map(reachOfAddress);
  return reaches.findLast(reach => found.includes(reach)) ?? 'public';
}

/** The reach of a host by its spelling. A name other than localhost counts as public. */
function writtenReach({ hostname }: URL): Reach {
  if (isLoopback(hostname)) return 'this machine';
  const host = hostname.replace(/^\[|\]$/g, '');
  return innermost(isIP(host) === 0 ? [] : [host]);
}

/**
 * The reach of a host by its addresses. A name that cannot be resolved counts as public, so that it allows no address
 * further inside.
 */
async function reachOf(url: URL, find: Lookup): Promise<Reach> {
  const written = writtenReach(url);
  if (written !== 'public' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return written;
  return innermost((await find(url.hostname).catch(() => [])).map(({ address }) => address));
}

const isFurther = (one: Reach, other: Reach): boolean => reaches.indexOf(one) > reaches.indexOf(other);

/**
 * Guards an address from a service: a service on the internet must not make this machine write to the user's own
 * network. Checks the lookup that the connection itself uses: a second one may return other addresses.
 */
export class ReachGuard {
  readonly #address: URL;
  readonly #service: URL;
  readonly #find: Lookup;
  /** The reach of a connection that was refused. */
  refused: Reach | undefined;

  constructor(address: URL, service: URL, find: Lookup = lookupAll) {
    this.#address = address;
    this.#service = service;
    this.#find = find;
  }

  /** The reach of the address by its spelling, if it is further inside than the service. */
  async written(): Promise<Reach | undefined> {
    return this.#tooFar(writtenReach(this.#address));
  }

  /** The connection's lookup: resolves the name, and fails if one of its addresses is further inside. */
  readonly lookup: LookupFunction = (name, options, done) => {
    const { all = false, ...rest } = options;
    this.#judged(name, rest).then(
      found => {
        const [first] = found;
        if (all) done(null, [...found]);
        else done(null, first?.address ?? '', first?.family);
      },
      (error: NodeJS.ErrnoException) => done(error, all ? [] : ''),
    );
  };

  async #judged(name: string, options: Omit<LookupAllOptions, 'all'>): Promise<readonly LookupAddress[]> {
    const found = await this.#find(name, { ...options, all: true });
    this.refused = await this.#tooFar(innermost(found.map(({ address }) => address)));
    if (this.refused) throw new Error(`leads to ${this.refused}`);
    return found;
  }

  async #tooFar(reach: Reach): Promise<Reach | undefined> {
    if (reach === 'public' || hostOf(this.#address) === hostOf(this.#service)) return undefined;
    return isFurther(reach, await reachOf(this.#service, this.#find)) ? reach : undefined;
  }
}

/**
 * The guard for an address from a service; undefined if a proxy resolves its name.
 *
 * @param refused creates the error for an address that leads further into the user's network than the service is
 * @throws that error if the spelling already shows this
 */
export async function guardOf(
  address: URL,
  service: URL,
  { proxy }: Agent,
  refused: (reach: string) => Error,
): Promise<ReachGuard | undefined> {
  const guard = new ReachGuard(address, service, proxy ? async () => [] : undefined);
  const reach = await guard.written();
  if (reach) throw refused(reach);
  return proxy ? undefined : guard;
}
