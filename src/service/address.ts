/** Addresses: where a service is, which connections may go in the clear, and how a path is filled in. */

import { isLoopback } from '../config/address.ts';
import { own } from '../text/own.ts';
import { RequestError } from './errors.ts';

/**
 * Checks the base address of a service and takes the slash from its end.
 *
 * @param setting name of the setting, for the message
 * @throws RequestError where it is no address, carries a user name, or would send credentials in the clear
 */
export function parseBase(text: string, setting: string, allowInsecureHttp: boolean): URL {
  const refuse = (code: string, message: string) => new RequestError(message, { code, param: setting });
  // The text itself is not repeated: it may hold a password.
  if (!URL.canParse(text)) {
    throw refuse('address_invalid', `${setting} is not an address such as https://service.example: check the profile.`);
  }
  const url = new URL(text);
  if (url.username || url.password) {
    throw refuse(
      'address_with_credentials',
      `${setting} holds a user name or password: take it out and give the key as the profile's credential instead.`,
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refuse('address_invalid', `${setting} must begin with https:// (or http:// for this machine's own address).`);
  }
  requireTls(url, setting, allowInsecureHttp);
  if (url.search || url.hash) {
    throw refuse('address_invalid', `${setting} must end before any ? or #: check the profile.`);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** @throws RequestError where the address would send in the clear over a network and the profile does not allow it */
export function requireTls(url: URL, what: string, allowInsecureHttp: boolean): void {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && (isLoopback(url.hostname) || allowInsecureHttp)))
    return;
  throw new RequestError(
    `${what} (${url.host}) is not https, so anyone on the way could read it. Nothing was sent. Use https, or allow insecure http in the profile if this network is trusted.`,
    { code: 'address_insecure', param: what },
  );
}

/**
 * Fills `{name}` parts of a path with percent-encoded ids; ids may hold `/` and `:`.
 *
 * @throws RequestError where an id is empty, or is one that an address would swallow (`.` and `..`)
 */
export function fillPath(path: string, params: Readonly<Record<string, string | number>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = String(own(params, name) ?? '');
    if (id === '' || id === '.' || id === '..') {
      throw new RequestError(id === '' ? `${name} is missing. Nothing was sent.` : `“${id}” cannot be a ${name}.`, {
        code: 'invalid_request',
        param: name,
      });
    }
    return encodeURIComponent(id.toWellFormed());
  });
}

/** The whole address of an endpoint under a base; null and undefined query values are left out. */
export function endpointUrl(
  base: URL,
  path: string,
  query: Readonly<Record<string, string | number | boolean | null | undefined>> = {},
): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, '')}${path}`;
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}
