/**
 * The effective profile: the service, its credentials and restrictions. Each setting comes from the command line, else
 * the environment, else the profile's entry in `config.json`, else the default. Naming a profile with `--profile`
 * selects its entry, which then overrides the environment, whose addresses are ignored. A credential is only sent to
 * the address it was set for: the API key to `baseUrl`, the chat token to `inferenceUrl`, and the API key there too
 * where no token is set. The environment's credentials are for the address or the profile that the environment names;
 * if it names neither, for any, but not for a profile that `--profile` chooses.
 */
import type { Generation } from '../contract/generation.ts';
import { own } from '../text/own.ts';
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
  /** Http beyond this machine is explicitly allowed. */
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
  readonly readOnly: Sourced<boolean>;
  /** Names that the service uses where the contract is silent, keyed by assumption. */
  readonly assumptions: Readonly<Record<string, string>>;
  /** The generation of the service that the profile states. */
  readonly generation: Generation | undefined;
  /** The agent that uploads belong to: its id, or `name:` and its name. */
  readonly agent: string | undefined;
  /** Whole sentences about settings that were set and not used. */
  readonly warnings: readonly string[];
  /**
   * Set if the settings ask for another service and give no address for it: why, as whole sentences. A script must not
   * get the results of the local service instead.
   */
  readonly missingAddress?: ConfigError | undefined;
}

export interface ProfileInput extends CredentialContext {
  readonly flags: ProfileFlags;
  readonly settings: Settings;
  readonly settingsPath: string;
  /** Folder of the settings file; relative paths in it are resolved against this. */
  readonly settingsFolder: string;
}

/** @throws ConfigError naming the invalid setting */
export function resolveProfile(input: ProfileInput): Profile {
  const entry = chooseEntry(input);
  const flag = flagLayer(input.flags);
  const file = fileLayer(input.settingsPath, input.settingsFolder, entry.name, entry.settings);
  const environment = environmentLayer(input.environment);
  const places = entry.byFlag ? [flag, file, withoutAddresses(environment)] : [flag, environment, file];

  const allowInsecureHttp = first(places, 'allowInsecureHttp')?.value ?? false;
  const base = first(places, 'baseUrl');
  const shared = {
    readOnly: first(places, 'readOnly') ?? byDefault(false),
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
  // For a separate inference address, any token is preferred to a key.
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
    caFile: pathOf(places, 'caFile'),
  };
  const name = base.origin.kind === 'file' ? entry.name : new URL(baseUrl.value).host;
  return { name, service, ...shared, warnings: search.warnings };
}

/**
 * Reports credentials set for a service whose address is missing. The local service has to be asked for by name then.
 */
function missingAddressProblem(
  { flags, environment }: ProfileInput,
  { origin }: Entry,
  search: CredentialSearch,
): ConfigError | undefined {
  const toUse = 'To use another service set BENCHTOP_BASE_URL or name a profile; for the local one add --profile local';
  const isLocalByName = origin.kind === 'flag' || origin.kind === 'environment';
  const key = search.find('chat', ['apiKey', 'inferenceToken'], undefined);
  if (key && (key.origin.kind === 'flag' || !isLocalByName)) {
    const what = `${describeOrigin(key.origin)} is set but no address is: the local service takes no such key`;
    return new ConfigError(`${what}. ${toUse}.`, key.origin);
  }
  if (isLocalByName || flags.baseUrl !== undefined) return undefined;
  const name = ['BENCHTOP_BASE_URL', 'BENCHTOP_PROFILE'].find(each => own(environment, each)?.trim() === '');
  if (name === undefined) return undefined;
  return new ConfigError(`${name} is set but empty. ${toUse}, or unset ${name}.`, { kind: 'environment', name });
}

interface Entry {
  readonly name: string;
  readonly settings: ProfileSettings;
  readonly byFlag: boolean;
  /** The setting that names it. */
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
  const choice = choices.find(candidate => candidate !== undefined) ?? byDefault('local');
  const { value: name, origin } = choice;
  const byFlag = origin.kind === 'flag';
  const found = own(profiles, name);
  if (found) return { name, settings: found, byFlag, origin };
  if (name === 'local') return { name, settings: {}, byFlag, origin };
  const known = ['local', ...Object.keys(profiles).filter(other => other !== 'local')].join(', ');
  throw new ConfigError(
    `There is no profile ${JSON.stringify(name)}, which ${describeOrigin(choice.origin)} names. Known are: ${known}. Profiles are written in ${settingsPath}.`,
    choice.origin,
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

function pathOf(places: readonly CredentialPlace[], key: 'caFile'): Sourced<string> | undefined {
  const place = places.find(({ settings }) => settings[key] !== undefined);
  const path = place?.settings[key];
  return place && path !== undefined
    ? { value: settingPath(path, place.base), origin: place.originOf(key) }
    : undefined;
}

function withoutAddresses(place: CredentialPlace): CredentialPlace {
  const { baseUrl: _base, inferenceUrl: _inference, upstream: _upstream, ...settings } = place.settings;
  return { ...place, settings };
}

/** The calls that a credential is for. */
type Use = 'service' | 'chat' | 'upstream';

/** Finds the credential for an address in the first place that sets one for it. */
class CredentialSearch {
  readonly warnings: string[] = [];
  readonly #places: readonly CredentialPlace[];
  /** The variables that say which service the environment's credentials are for, even if its addresses are not used. */
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

  /** In each place the first name that is set counts. Without an address any credential will do. */
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

  /** Why a credential is not for the address, if it is not. */
  #objection(
    place: CredentialPlace,
    origin: Origin,
    use: Use,
    name: CredentialName,
    address: string,
  ): string | undefined {
    if (origin.kind === 'flag') return undefined;
    const isOfEnvironment = origin.kind === 'environment';
    const meant = addressesOf(isOfEnvironment ? this.#environment.named : place.settings, use, name);
    if (meant.length > 0) {
      if (meant.some(other => sameOrigin(other, address))) return undefined;
      return 'it is set for another address. Set a key in the same place as that address.';
    }
    if (!isOfEnvironment || this.#environment.forAny) return undefined;
    return '--profile names a profile that the environment does not. Set BENCHTOP_PROFILE instead, or name the variable by a flag.';
  }

  #warn(warning: string): void {
    if (!this.warnings.includes(warning)) this.warnings.push(warning);
  }
}

/** The addresses that the credentials next to them are for; none means any. */
function addressesOf({ baseUrl, inferenceUrl, upstream }: ProfileSettings, use: Use, name: CredentialName): string[] {
  const byUse = {
    service: [baseUrl ?? inferenceUrl],
    chat: name === 'inferenceToken' ? [inferenceUrl ?? baseUrl] : [baseUrl, inferenceUrl],
    upstream: [upstream],
  };
  return byUse[use].filter(address => address !== undefined);
}
