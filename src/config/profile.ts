/**
 * The effective profile: the service, its credentials and restrictions. Each setting comes from the command line, else
 * the environment, else the profile's entry in `config.json`, else the default. Naming a profile with `--profile`
 * selects its entry, which then overrides the environment; the environment's addresses are ignored. A credential is
 * sent only to the address it was set for: the API key to `baseUrl`, the chat token to `inferenceUrl`, and the API key
 * there too if no token is set. The environment's credentials belong to the address or the profile that the environment
 * names. If it names neither, they may go to any address except that of a profile chosen with `--profile`.
 */

import { own } from '../base/own-property.ts';
import type { Generation } from '../contract/generation.ts';
import { checkAddress, sameOrigin } from './address.ts';
import {
  type CredentialContext,
  type CredentialName,
  type CredentialPlace,
  type CredentialSource,
  credentialAt,
} from './credentials.ts';
import { environmentLayer, fileLayer, flagLayer, type ProfileFlags } from './layers.ts';
import { byDefault, ConfigError, describeOrigin, type Origin, type Sourced } from './origin.ts';
import { settingPath } from './paths.ts';
import type { ProfileSettings, Settings } from './schema.ts';

export interface RemoteService {
  readonly kind: 'remote';
  /** Without a final slash. */
  readonly baseUrl: Sourced<string>;
  /** Address of `/v1/chat/completions`; the base address unless set. */
  readonly inferenceUrl: Sourced<string>;
  /** Missing if none is set for this address; the service decides which calls need one. */
  readonly apiKey: CredentialSource | undefined;
  /** The API key unless set. */
  readonly inferenceToken: CredentialSource | undefined;
  /** Whether plain http to other machines is allowed. */
  readonly allowInsecureHttp: boolean;
  /** Path of certificates (PEM) to trust in addition to the system's. */
  readonly caFile: Sourced<string> | undefined;
}

export interface LocalService {
  readonly kind: 'local';
  /** An OpenAI-compatible server that answers instead of the local models. */
  readonly upstream: { readonly url: Sourced<string>; readonly key: CredentialSource | undefined } | undefined;
}

export interface Profile {
  /** Shown in the frame: the entry's name, `local`, or the host if the address is not the entry's. */
  readonly name: string;
  readonly service: RemoteService | LocalService;
  readonly readOnly: boolean;
  /** Names that the service uses where the contract is silent, keyed by assumption. */
  readonly assumptions: Readonly<Record<string, string>>;
  /** The service's generation, if the profile sets it. */
  readonly generation: Generation | undefined;
  /** The agent that uploads belong to: its id, or `name:` and its name. */
  readonly agent: string | undefined;
  /** Whole sentences about settings that are ignored. */
  readonly warnings: readonly string[];
  /**
   * Set if the settings ask for a remote service without an address. A script must not get the local service's results
   * instead.
   */
  readonly missingAddress?: ConfigError | undefined;
}

interface ProfileInput extends CredentialContext {
  readonly flags: ProfileFlags;
  readonly settings: Settings;
  readonly settingsPath: string;
  /** Folder of the settings file; relative paths in it are resolved against this. */
  readonly settingsFolder: string;
}

/** @throws ConfigError that names the invalid setting */
export function resolveProfile(input: ProfileInput): Profile {
  const entry = chooseEntry(input);
  const flag = flagLayer(input.flags);
  const file = fileLayer(input.settingsPath, input.settingsFolder, entry.name, entry.settings);
  const environment = environmentLayer(input.environment);
  const places = entry.byFlag ? [flag, file, withoutAddresses(environment)] : [flag, environment, file];

  const allowInsecureHttp = first(places, 'allowInsecureHttp')?.value ?? false;
  const base = first(places, 'baseUrl');
  const shared = {
    readOnly: first(places, 'readOnly')?.value ?? false,
    assumptions: first(places, 'assumptions')?.value ?? {},
    generation: first(places, 'generation')?.value,
    agent: first(places, 'agent')?.value,
  };
  const search = new CredentialSearch(places, environment, entry, input);
  if (base === undefined) {
    const problem = missingAddressProblem(input, entry, search);
    if (problem) search.warnings.push(problem.message);
    const upstream = first(places, 'upstream');
    const url = upstream && checkAddress(upstream, allowInsecureHttp);
    const service: LocalService = {
      kind: 'local',
      upstream: url && { url, key: search.find('upstream', ['upstreamKey'], url.value) },
    };
    return { name: 'local', service, ...shared, warnings: search.warnings, missingAddress: problem };
  }

  const baseUrl = checkAddress(base, allowInsecureHttp);
  const inference = first(places, 'inferenceUrl');
  const inferenceUrl = inference ? checkAddress(inference, allowInsecureHttp) : baseUrl;
  const apiKey = search.find('service', ['apiKey'], baseUrl.value);
  // A separate inference address gets a token in preference to a key.
  const inferenceToken = sameOrigin(baseUrl.value, inferenceUrl.value)
    ? search.find('chat', ['inferenceToken', 'apiKey'], inferenceUrl.value)
    : (search.find('chat', ['inferenceToken'], inferenceUrl.value) ??
      search.find('chat', ['apiKey'], inferenceUrl.value));
  const service: RemoteService = {
    kind: 'remote',
    baseUrl,
    inferenceUrl,
    apiKey,
    inferenceToken,
    allowInsecureHttp,
    caFile: caFileOf(places),
  };
  const isPlain = [baseUrl, inferenceUrl].every(({ value }) => new URL(value).protocol === 'http:');
  if (isPlain && service.caFile?.origin.kind === 'flag')
    search.warnings.push(`--ca-file is not used: ${baseUrl.value} is not an https address.`);
  const name = base.origin.kind === 'file' ? entry.name : new URL(baseUrl.value).host;
  return { name, service, ...shared, warnings: search.warnings };
}

/**
 * Reports credentials for a service whose address is missing. To use the local service anyway, the user must name it.
 */
function missingAddressProblem(
  { flags, environment }: ProfileInput,
  { origin }: Entry,
  search: CredentialSearch,
): ConfigError | undefined {
  const toUse =
    'To use another service, set BENCHTOP_BASE_URL or name a profile; for the local one, add --profile local';
  const isLocalByName = origin.kind === 'flag' || origin.kind === 'environment';
  const key = search.find('chat', ['apiKey', 'inferenceToken'], undefined);
  if (key && (key.origin.kind === 'flag' || !isLocalByName)) {
    const what = `${describeOrigin(key.origin)} is set, but no address is, and the local service does not take this key`;
    return new ConfigError(`${what}. ${toUse}.`);
  }
  if (isLocalByName || flags.baseUrl !== undefined) return undefined;
  const name = ['BENCHTOP_BASE_URL', 'BENCHTOP_PROFILE'].find(each => own(environment, each)?.trim() === '');
  if (name === undefined) return undefined;
  return new ConfigError(`${name} is set but empty. ${toUse}, or unset ${name}.`);
}

interface Entry {
  readonly name: string;
  readonly settings: ProfileSettings;
  readonly byFlag: boolean;
  /** The setting that names the profile. */
  readonly origin: Origin;
}

/** `local` needs no entry: it is the service on this machine. */
function chooseEntry({ flags, environment, settings, settingsPath }: ProfileInput): Entry {
  const profiles = settings.profiles ?? {};
  const choices: (Sourced<string> | undefined)[] = [
    flags.profile ? { value: flags.profile, origin: { kind: 'flag', name: '--profile' } } : undefined,
    environment['BENCHTOP_PROFILE']
      ? { value: environment['BENCHTOP_PROFILE'], origin: { kind: 'environment', name: 'BENCHTOP_PROFILE' } }
      : undefined,
    settings.defaultProfile
      ? { value: settings.defaultProfile, origin: { kind: 'file', path: settingsPath, place: 'defaultProfile' } }
      : undefined,
  ];
  const { value: name, origin } = choices.find(candidate => candidate !== undefined) ?? byDefault('local');
  const byFlag = origin.kind === 'flag';
  const found = own(profiles, name);
  if (found) return { name, settings: found, byFlag, origin };
  if (name === 'local') return { name, settings: {}, byFlag, origin };
  const names = ['local', ...Object.keys(profiles).filter(other => other !== 'local')].join(', ');
  // A profile named by flag may have been chosen on screen.
  const named = byFlag ? '' : `, which ${describeOrigin(origin)} names`;
  throw new ConfigError(
    `There is no profile ${JSON.stringify(name)}${named}. The profiles are: ${names}. They are defined in ${settingsPath}.`,
  );
}

function first<Key extends keyof ProfileSettings>(
  places: readonly CredentialPlace[],
  key: Key,
): Sourced<NonNullable<ProfileSettings[Key]>> | undefined {
  for (const { settings, originOf } of places) {
    const value = settings[key];
    if (value !== undefined && value !== null) return { value, origin: originOf(key) };
  }
  return undefined;
}

function caFileOf(places: readonly CredentialPlace[]): Sourced<string> | undefined {
  const place = places.find(({ settings }) => settings.caFile !== undefined);
  const path = place?.settings.caFile;
  return place && path !== undefined
    ? { value: settingPath(path, place.base), origin: place.originOf('caFile') }
    : undefined;
}

function withoutAddresses(place: CredentialPlace): CredentialPlace {
  const { baseUrl: _base, inferenceUrl: _inference, upstream: _upstream, ...settings } = place.settings;
  return { ...place, settings };
}

/** Which calls use a credential. */
type Use = 'service' | 'chat' | 'upstream';

/** Searches the sources of settings in order for an address's credential. */
class CredentialSearch {
  readonly warnings: string[] = [];
  readonly #places: readonly CredentialPlace[];
  /** The service that the environment's credentials are for, even if another source overrides its addresses. */
  readonly #environment: { readonly named: ProfileSettings; readonly forAny: boolean };
  readonly #context: CredentialContext;

  constructor(places: readonly CredentialPlace[], environment: CredentialPlace, entry: Entry, input: ProfileInput) {
    this.#places = places;
    this.#context = input;
    const { baseUrl, inferenceUrl, upstream } = environment.settings;
    const profile = input.environment['BENCHTOP_PROFILE'];
    const named = profile ? own(input.settings.profiles ?? {}, profile) : undefined;
    this.#environment = {
      named: baseUrl || inferenceUrl || upstream ? environment.settings : (named ?? {}),
      forAny: !entry.byFlag || profile === entry.name,
    };
  }

  /** Within a source, the first name that is set wins. Without an address, any credential matches. */
  find(use: Use, names: readonly CredentialName[], address: string | undefined): CredentialSource | undefined {
    for (const place of this.#places) {
      for (const name of names) {
        const source = credentialAt(place, name, this.#context);
        if (source === undefined) continue;
        const objection = address && this.#objection(place, source.origin, use, name, address);
        if (!objection) return source;
        this.#warn(`${describeOrigin(source.origin)} is not sent to ${new URL(address).host}: ${objection}`);
      }
    }
    return undefined;
  }

  /** Why a credential must not be sent to the address; undefined if it may. */
  #objection(
    place: CredentialPlace,
    origin: Origin,
    use: Use,
    name: CredentialName,
    address: string,
  ): string | undefined {
    if (origin.kind === 'flag') return undefined;
    const isOfEnvironment = origin.kind === 'environment';
    const addresses = addressesOf(isOfEnvironment ? this.#environment.named : place.settings, use, name);
    if (addresses.length > 0) {
      if (addresses.some(other => sameOrigin(other, address))) return undefined;
      return 'it is set for another address. Set a key in the same place as that address.';
    }
    if (!isOfEnvironment || this.#environment.forAny) return undefined;
    return '--profile names a profile that the environment does not. Set BENCHTOP_PROFILE instead, or name the variable with a flag.';
  }

  #warn(warning: string): void {
    if (!this.warnings.includes(warning)) this.warnings.push(warning);
  }
}

/** The addresses that may get a source's credentials; empty means any. */
function addressesOf({ baseUrl, inferenceUrl, upstream }: ProfileSettings, use: Use, name: CredentialName): string[] {
  const byUse = {
    service: [baseUrl ?? inferenceUrl],
    chat: name === 'inferenceToken' ? [inferenceUrl ?? baseUrl] : [baseUrl, inferenceUrl],
    upstream: [upstream],
  };
  return byUse[use].filter(address => address !== undefined);
}
