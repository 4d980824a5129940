import { ConfigError, describeOrigin, type Sourced } from './origin.ts';

/** Whether the host of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/**
 * Checks the address of a service: https, or http where it stays on this machine or is allowed; no user, password,
 * query or fragment. Gives it without a slash at the end.
 * @throws ConfigError naming the setting. The address is not repeated, for it may hold a password.
 */
export function checkAddress(address: Sourced<string>, allowInsecureHttp: boolean): Sourced<string> {
  const { value, origin } = address;
  const refuse = (why: string): never => {
    throw new ConfigError(`The address in ${describeOrigin(origin)} cannot be used: ${why}`, origin);
  };
  const url = URL.canParse(value) ? new URL(value) : refuse('it is not a URL. It should look like https://host/path.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') refuse('it does not begin with https://.');
  if (url.username !== '' || url.password !== '') {
    refuse('it holds a user name or a password. Take it out; give the key as apiKey, apiKeyFile or apiKeyCommand.');
  }
  if (url.search !== '' || url.hash !== '') refuse('it has a query or a fragment. Leave out what follows ? or #.');
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowInsecureHttp) {
    refuse(
      `http would send the key to ${url.host} in the clear. Use https, or set allowInsecureHttp if this network is safe.`,
    );
  }
  return { value: url.href.replace(/\/+$/, ''), origin };
}
