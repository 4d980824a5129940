/** Which credential a call carries, and in which header. */
import type { Auth } from '../contract/common.ts';
import { RequestError } from './errors.ts';
import type { ServiceOptions } from './options.ts';

export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** The value itself, to be kept out of every error. */
  readonly values: readonly string[];
}

type Sources = Pick<ServiceOptions, 'apiKey' | 'inferenceToken'>;

/**
 * Reads the credential at call time, so that a changed one counts at once. An empty one is not sent: the service then
 * says what it thinks of that.
 *
 * @param token access token of one trajectory
 * @throws RequestError where the credential cannot be read or sent
 */
export async function credentialFor(auth: Auth, sources: Sources, token: string | undefined): Promise<Credential> {
  switch (auth) {
    case 'inferenceToken':
      return bearer(await read('the inference token', sources.inferenceToken));
    case 'trajectoryToken':
      return token === undefined ? apiKey(sources) : bearer(checked('the trajectory token', token));
    case 'apiKey':
    case 'shownWithout':
      return apiKey(sources);
  }
}

async function apiKey(sources: Sources): Promise<Credential> {
  const key = await read('the API key', sources.apiKey);
  return key === '' ? { headers: {}, values: [] } : { headers: { 'x-api-key': key }, values: [key] };
}

function bearer(token: string): Credential {
  return token === ''
    ? { headers: {}, values: [] }
    : { headers: { authorization: `Bearer ${token}` }, values: [token] };
}

async function read(what: string, source: () => Promise<string>): Promise<string> {
  let value: string;
  try {
    value = await source();
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it could not be read';
    throw new RequestError(`Nothing was sent, because ${what} could not be read: ${why}`, {
      code: 'credential_unavailable',
    });
  }
  return checked(what, value);
}

function checked(what: string, value: string): string {
  const trimmed = value.trim();
  if (/^[\x21-\x7e]*$/.test(trimmed)) return trimmed;
  throw new RequestError(`Nothing was sent: ${what} holds characters that a header cannot carry. Enter it again.`, {
    code: 'credential_invalid',
  });
}
