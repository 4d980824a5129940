/**
 * Descriptions of every setting and environment variable. README's tables, the JSON Schema of `config.json` and the
 * manual are generated from it; the types require an entry for every setting.
 */
import type { AssumptionName } from '../contract/assumptions.ts';
import type { ProfileSettings, Settings } from './schema.ts';

/** A sentence, or a few words, about each setting. */
type Words<Of> = { readonly [Key in keyof Required<Of>]: string };

export const profileReference: Words<ProfileSettings> = {
  baseUrl: 'Address of the service. Without one, the local service is used.',
  inferenceUrl: 'Address of chat completions, if it is not that of the service.',
  apiKey: 'The API key itself. The file must have mode 0600 then.',
  apiKeyEnv: 'Name of the environment variable that holds the API key.',
  apiKeyFile: 'File that holds the API key, mode 0600.',
  apiKeyCommand:
    'Program and arguments that print the API key, as a list. It runs without a shell and without a terminal.',
  inferenceToken: 'Token for chat completions, if it is not the API key. The file must have mode 0600 then.',
  inferenceTokenEnv: 'Name of the environment variable that holds the token.',
  inferenceTokenFile: 'File that holds the token, mode 0600.',
  inferenceTokenCommand: 'Program and arguments that print the token.',
  caFile: 'File with certificates (PEM) to trust, in addition to those of Node and the system.',
  allowInsecureHttp: 'Allows plain http to other machines. The key is sent unencrypted then.',
  readOnly: 'Disables everything that changes data on the service.',
  assumptions: 'Names and paths that this service uses where the contract leaves them open, by assumption.',
  generation: 'Generation of the service, `document` or `newest`. Without it, benchtop finds out from the answers.',
  agent:
    'Agent that uploads belong to, which newer services ask for: its id, its name where the service lists agents, or `name:` and its name.',
  upstream:
    'For the local service: a server that speaks OpenAI’s chat completions and answers for models that are not local.',
  upstreamKey: 'Key of that server. The file must have mode 0600 then.',
  upstreamKeyEnv: 'Name of the environment variable that holds the key of that server.',
  upstreamKeyFile: 'File that holds the key of that server, mode 0600.',
  upstreamKeyCommand: 'Program and arguments that print the key of that server.',
};

export const settingsReference: Words<Omit<Settings, 'poll' | 'triage' | 'search' | 'compare' | 'alarms'>> & {
  readonly poll: Words<NonNullable<Settings['poll']>>;
  readonly triage: Words<NonNullable<Settings['triage']>>;
  readonly search: Words<NonNullable<Settings['search']>>;
  readonly compare: Words<NonNullable<Settings['compare']>>;
  readonly alarms: Words<NonNullable<Settings['alarms']>>;
} = {
  $schema: 'The JSON Schema of this file, for editors. benchtop does not read it.',
  defaultProfile: 'The profile to use when no flag and no variable names one.',
  profiles: 'Services, by the names you give them. `local` is always there.',
  theme:
    'Colours: `terminal` (the 16 of your terminal, the default), `dark`, `light`, `high-contrast`, or `plain` for none.',
  mouse: 'Enables the mouse: wheel, click, double click. Off by default, because the terminal cannot select text then.',
  notices: 'How the end of a run is announced: `off`, `bell` (the default) or `desktop`.',
  home: 'The section that benchtop opens, such as `watch`, `training` or `chat`. Without it, that is Watch once something runs or has ended unseen, and Benchmarks until then.',
  chatHistory: 'Set to false to keep no conversation on disk.',
  keys: 'Keys by command id, for example `{"list.down": ["j", "ctrl-n"]}`. Help (`?`) shows the ids. An empty list removes the keys.',
  poll: {
    focusedSeconds: 'Seconds between two requests for what runs and has the focus: 1 to 3600, 2 by default.',
    visibleSeconds: 'Seconds between two requests for what is only visible: 1 to 3600, 10 by default.',
  },
  triage: {
    flags:
      'Flags of trajectories and runs, by the digits 1 to 9: `["good", "bad", "gamed", "grader broken", "look again"]` by default.',
    author: 'Who writes notes: the name of the user on this machine by default.',
  },
  search: {
    indexMegabytes:
      'Disk space for texts of trajectories that were searched, so that the next search reads none from the service: 512 by default. 0 keeps none, and deletes those that are kept.',
  },
  compare: {
    equalWithin:
      'Two runs are equal where their difference is certain to be no larger than this: 0.05 by default, 0 for never.',
    rewardRange:
      'The lowest and the highest reward that the graders give: `0..1` by default. Intervals and verdicts rest on it.',
  },
  alarms: {
    silentPaces:
      'Alarm: no new step for this many times the run’s own time per step, and for 5 minutes: 10 by default, because no evaluation or checkpoint in between takes so long. 0 switches an alarm off.',
    silentMinutes:
      'Alarm: no new step for so many minutes, at any pace. Off by default, because a step may take hours.',
    belowBest:
      'Alarm: so many held-out rewards in a row whose 95% intervals lie wholly below that of the best one: 4 by default, which the noise of 200 rewards of one level reaches in 1 of 20 runs.',
    failedPercent:
      'Alarm: more than this percentage of the rollouts failed, once 20 or all have ended: 20 by default, because a mean of the rest says little.',
    heldOut:
      'Alarm: the newest held-out reward is outside of this range, such as `0.2..1`, or `off`, the default: what is low depends on the task.',
    trainer: 'The same for the newest trainer reward.',
    evaluation: 'The same for the mean of an evaluation, once 20 or all of its rollouts have a reward.',
    benchmarks:
      'Other limits for some benchmarks, by a pattern on their name or id: `{"kernel-*": {"silentMinutes": 60}}`. Later ones win.',
  },
};

export const assumptionReference: Readonly<Record<AssumptionName | 'path.OPERATION', string>> = {
  'query.cursor': 'Parameter of lists: the cursor of the next page.',
  'query.limit': 'Parameter of lists: the size of a page.',
  'query.sort': 'Parameter of lists: the field to sort by.',
  'query.order': 'Parameter of lists: the direction, `asc` or `desc`.',
  'query.search': 'Parameter of lists: the text to search for.',
  'query.include_steps': 'Parameter that asks for the steps of a trajectory.',
  'startEval.model_slug': 'Field of the model where an evaluation starts.',
  'startEval.checkpoint_id': 'Field of the checkpoint where an evaluation starts.',
  'startEval.options': 'Field of the options where an evaluation starts.',
  'startTraining.base_model_slug': 'Field of the model where a training run starts.',
  'startTraining.parent_checkpoint_id': 'Field of the checkpoint where a training run starts.',
  idempotencyHeader: 'Header that makes it harmless to repeat a start.',
  honoursIdempotencyKey:
    '`yes` or `no`: whether the service honours that header, so that a start whose answer was lost is sent again.',
  streamChat: '`yes` or `no`: whether chat asks for a stream.',
  streamUsage: '`yes` or `no`: whether chat asks for token counts with a stream, in `stream_options`.',
  rewardsWithApiKey: '`yes` or `no`: whether a reward without a token of its trajectory is logged with the API key.',
  'path.OPERATION':
    'Path of an operation, with its placeholders, for example `path.ingestBenchmark` as `/api/v1/ingest/{bench_id}`. `benchtop api` lists the operations with their paths.',
};

export interface Variable {
  /** Variables with one meaning are listed together. */
  readonly names: readonly string[];
  readonly words: string;
  /** The flag or the setting with the same meaning. */
  readonly like?: string;
}

/** Every environment variable that is read, in display order. */
export const variables: readonly Variable[] = [
  { names: ['BENCHTOP_PROFILE'], words: 'The profile to use.', like: '--profile' },
  { names: ['BENCHTOP_BASE_URL'], words: profileReference.baseUrl, like: '--base-url' },
  { names: ['BENCHTOP_API_KEY'], words: 'The API key.', like: 'apiKey' },
  { names: ['BENCHTOP_API_KEY_FILE'], words: profileReference.apiKeyFile, like: '--api-key-file' },
  { names: ['BENCHTOP_INFERENCE_URL'], words: profileReference.inferenceUrl, like: '--inference-url' },
  {
    names: ['BENCHTOP_INFERENCE_TOKEN'],
    words: 'Token for chat completions, if it is not the API key.',
    like: 'inferenceToken',
  },
  {
    names: ['BENCHTOP_INFERENCE_TOKEN_FILE'],
    words: profileReference.inferenceTokenFile,
    like: '--inference-token-file',
  },
  { names: ['BENCHTOP_CA_FILE'], words: profileReference.caFile, like: '--ca-file' },
  { names: ['BENCHTOP_AGENT'], words: profileReference.agent, like: 'agent' },
  { names: ['BENCHTOP_ALLOW_INSECURE_HTTP'], words: profileReference.allowInsecureHttp, like: '--allow-insecure-http' },
  { names: ['BENCHTOP_READ_ONLY'], words: profileReference.readOnly, like: '--read-only' },
  { names: ['BENCHTOP_UPSTREAM'], words: profileReference.upstream, like: '--upstream' },
  { names: ['BENCHTOP_UPSTREAM_KEY'], words: 'Key of that server.', like: 'upstreamKey' },
  { names: ['BENCHTOP_UPSTREAM_KEY_FILE'], words: profileReference.upstreamKeyFile, like: '--upstream-key-file' },
  { names: ['BENCHTOP_THEME'], words: settingsReference.theme, like: '--theme' },
  { names: ['BENCHTOP_MOUSE'], words: settingsReference.mouse, like: '--mouse' },
  { names: ['BENCHTOP_NOTICES'], words: settingsReference.notices, like: '--notices' },
  {
    names: ['BENCHTOP_DEBUG'],
    words: 'Set to 1 to show the requests and answers of commands on standard error.',
    like: '--debug',
  },
  { names: ['BENCHTOP_ASCII'], words: 'Set to 1 to draw with ASCII characters only.' },
  {
    names: ['BENCHTOP_CONFIG_DIR', 'XDG_CONFIG_HOME'],
    words: 'Where `config.json` is: `~/.config/benchtop` by default.',
  },
  {
    names: ['BENCHTOP_STATE_DIR', 'XDG_STATE_HOME'],
    words: 'What benchtop remembers: `~/.local/state/benchtop` by default.',
  },
  { names: ['BENCHTOP_CACHE_DIR', 'XDG_CACHE_HOME'], words: 'Compiled code: `~/.cache/benchtop` by default.' },
  {
    names: ['BENCHTOP_DATA_DIR', 'XDG_DATA_HOME'],
    words: 'The data of the local service: `~/.local/share/benchtop` by default.',
  },
  {
    names: ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'],
    words: 'The proxy: `http://host:port`, with `user:password@` if it needs them. Also in lower case.',
  },
  { names: ['NO_PROXY'], words: 'Hosts, domains and networks to reach directly. Also in lower case.' },
  {
    names: ['SSL_CERT_FILE', 'SSL_CERT_DIR'],
    words: 'Linux: certificates to trust in place of the system’s, in addition to those of Node.',
  },
  { names: ['NODE_EXTRA_CA_CERTS'], words: 'A file with more certificates to trust.' },
  { names: ['NO_COLOR'], words: 'Disables colours, unless `--theme` or `BENCHTOP_THEME` is set.' },
  {
    names: ['FORCE_COLOR'],
    words: 'Forces colours if the output is not a terminal; 0 disables them. Takes precedence over `NO_COLOR`.',
  },
  { names: ['TERM'], words: 'The terminal. Where it is `dumb`, or cannot move its cursor, `benchtop --lines` works.' },
  {
    names: ['LC_ALL', 'LC_CTYPE', 'LANG'],
    words: 'With a locale other than UTF-8, benchtop draws with ASCII characters only.',
  },
  { names: ['PAGER'], words: 'The pager that `o` opens: `less` by default, none if it is empty.' },
  { names: ['VISUAL', 'EDITOR'], words: 'The editor that `O` opens: `vi` by default.' },
  {
    names: ['DISPLAY', 'WAYLAND_DISPLAY'],
    words:
      'Where one of them is set, `V` opens an image in the viewer of the desktop (`xdg-open`); otherwise it says where the file is.',
  },
  { names: ['SSH_CONNECTION'], words: 'Where it is set, on macOS, `V` says where the file is.' },
  { names: ['TMUX', 'STY'], words: 'Set by tmux and screen: copied text is wrapped so that it gets through.' },
];
