/** Flags shared by several commands. */
import type { ConfigFlags } from '../../config/load.ts';
import type { NoticeKind, Theme } from '../../config/preferences.ts';
import type { FlagSpec, FlagValues } from './spec.ts';

/** Select the service and its credentials. Accepted before or after the command. */
export const serviceFlags = {
  profile: {
    value: 'NAME',
    of: 'profile',
    description: 'use this profile from the settings file',
    variable: 'BENCHTOP_PROFILE',
    group: 'service',
  },
  baseUrl: { value: 'URL', description: 'address of the service', variable: 'BENCHTOP_BASE_URL', group: 'service' },
  inferenceUrl: {
    value: 'URL',
    description: 'address for chat completions, if it differs',
    variable: 'BENCHTOP_INFERENCE_URL',
    group: 'service',
  },
  apiKeyEnv: {
    value: 'NAME',
    description: 'variable that holds the API key (default: BENCHTOP_API_KEY)',
    group: 'service',
  },
  apiKeyFile: {
    value: 'PATH',
    description: 'file that holds the API key, mode 0600',
    variable: 'BENCHTOP_API_KEY_FILE',
    group: 'service',
  },
  inferenceTokenEnv: {
    value: 'NAME',
    description: 'variable that holds the chat token (default: BENCHTOP_INFERENCE_TOKEN)',
    group: 'service',
  },
  inferenceTokenFile: {
    value: 'PATH',
    description: 'file that holds the chat token',
    variable: 'BENCHTOP_INFERENCE_TOKEN_FILE',
    group: 'service',
  },
  caFile: {
    value: 'PATH',
    description: 'trust these certificates (PEM) too',
    variable: 'BENCHTOP_CA_FILE',
    group: 'service',
  },
  allowInsecureHttp: {
    description: 'allow plain http to other machines',
    variable: 'BENCHTOP_ALLOW_INSECURE_HTTP',
    group: 'service',
  },
  readOnly: { description: 'refuse everything that writes', variable: 'BENCHTOP_READ_ONLY', group: 'service' },
  debug: {
    description: 'show requests and responses with their bodies on standard error, without secrets',
    variable: 'BENCHTOP_DEBUG',
    group: 'service',
  },
  upstream: {
    value: 'URL',
    description: 'OpenAI-compatible server behind the local service',
    variable: 'BENCHTOP_UPSTREAM',
    group: 'service',
  },
  upstreamKeyEnv: {
    value: 'NAME',
    description: 'variable that holds its key (default: BENCHTOP_UPSTREAM_KEY)',
    group: 'service',
  },
  upstreamKeyFile: {
    value: 'PATH',
    description: 'file that holds its key',
    variable: 'BENCHTOP_UPSTREAM_KEY_FILE',
    group: 'service',
  },
} as const satisfies Readonly<Record<string, FlagSpec>>;

const themes = ['terminal', 'dark', 'light', 'high-contrast', 'plain'] as const satisfies readonly Theme[];
const noticeKinds = ['off', 'bell', 'desktop'] as const satisfies readonly NoticeKind[];

export const screenFlags = {
  theme: { value: 'NAME', choices: themes, description: 'colours of the screen', variable: 'BENCHTOP_THEME' },
  mouse: { description: 'use the mouse: wheel, click, double click', variable: 'BENCHTOP_MOUSE' },
  notices: {
    value: 'HOW',
    choices: noticeKinds,
    description: 'how the end of a run is announced',
    variable: 'BENCHTOP_NOTICES',
  },
} as const satisfies Readonly<Record<string, FlagSpec>>;

export const agentFlag = {
  agent: {
    value: 'ID|NAME',
    description: 'the agent that owns it (newer services)',
    variable: 'BENCHTOP_AGENT',
  },
} as const satisfies Readonly<Record<string, FlagSpec>>;

export const scoreFlag = {
  score: { value: 'NAME', description: "the score in an Inspect log that is the reward (default: the first scorer's)" },
} as const satisfies Readonly<Record<string, FlagSpec>>;

export const jsonFlag = {
  json: { description: 'print JSON; notes and errors on standard error are JSON too' },
} as const satisfies Readonly<Record<string, FlagSpec>>;

export const recordFlags = {
  ...jsonFlag,
  field: { value: 'NAME', of: 'field', description: 'print only this field, e.g. id, status or failure.code' },
  jq: { value: 'FILTER', short: 'q', description: 'filter the JSON with the program jq, which must be installed' },
} as const satisfies Readonly<Record<string, FlagSpec>>;

export const dryRunFlag = {
  dryRun: { short: 'n', description: 'print the request instead of sending it' },
} as const satisfies Readonly<Record<string, FlagSpec>>;

/** A previewed request is not a record: it prints as text or as JSON. */
export const exclusiveDryRunFlags = ['dryRun', 'field', 'jq'] as const;

export const waitFlags = {
  wait: { short: 'w', description: 'wait until it has ended; progress goes to standard error' },
  timeout: {
    value: 'SECONDS',
    short: 't',
    number: 'positive',
    needs: 'wait',
    description: 'stop waiting after this long; the work continues',
  },
} as const satisfies Readonly<Record<string, FlagSpec>>;

/** Ends the wait for an evaluation whose status the service does not report. */
export const untilFlag = {
  value: 'rewards=N|quiet=60s',
  description: 'treat an evaluation as ended after N rewards, or once it has rewards and gets no new one for this long',
} as const satisfies FlagSpec;

export const idempotencyKeyFlag = {
  idempotencyKey: {
    value: 'KEY',
    description: 'a repeat with the same key starts nothing new, if the service honours it (default: a new key)',
  },
} as const satisfies Readonly<Record<string, FlagSpec>>;

export const yesFlag = {
  yes: { short: 'y', description: 'do not ask for confirmation' },
} as const satisfies Readonly<Record<string, FlagSpec>>;

export type ScoreFlag = FlagValues<typeof scoreFlag>;
export type ServiceFlags = FlagValues<typeof serviceFlags> & FlagValues<typeof agentFlag>;

/** The flags that select the service or affect how the program looks. */
export function configFlags(flags: ServiceFlags & FlagValues<typeof screenFlags>): ConfigFlags {
  const known = { ...serviceFlags, ...screenFlags, ...agentFlag };
  return Object.fromEntries(
    Object.entries(flags).filter(([name]) => name !== 'debug' && Object.hasOwn(known, name)),
  ) as ConfigFlags;
}
