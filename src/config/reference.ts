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
  inferenceUrl: 'Address for chat completions, if it differs from the service’s.',
  apiKey: 'The API key itself. The file must then have mode 0600.',
  apiKeyEnv: 'Name of the environment variable that holds the API key.',
  apiKeyFile: 'File that holds the API key, mode 0600.',
  apiKeyCommand:
    'Program and arguments that print the API key, as a list. It runs without a shell and without a terminal.',
  inferenceToken: 'Token for chat completions, if it differs from the API key. The file must then have mode 0600.',
  inferenceTokenEnv: 'Name of the environment variable that holds the token.',
  inferenceTokenFile: 'File that holds the token, mode 0600.',
  inferenceTokenCommand: 'Program and arguments that print the token.',
  caFile: 'File with certificates (PEM) to trust, in addition to Node’s and the system’s.',
  allowInsecureHttp: 'Allows plain http to other machines, which sends the key unencrypted.',
  readOnly: 'Disables everything that changes data on the service.',
  assumptions: 'Names and paths that this service uses where the contract leaves them open, by assumption.',
  generation: 'Generation of the service, `document` or `newest`. By default, benchtop detects it from the responses.',
  agent:
    'Agent that owns uploads, which newer services require: its id, its name if the service lists agents, or `name:` and its name.',
  upstream:
    'For the local service: a server that speaks OpenAI’s chat completions and answers for models that are not local.',
  upstreamKey: 'API key for the upstream server. The file must then have mode 0600.',
  upstreamKeyEnv: 'Name of the environment variable that holds the upstream server’s key.',
  upstreamKeyFile: 'File that holds the upstream server’s key, mode 0600.',
  upstreamKeyCommand: 'Program and arguments that print the upstream server’s key.',
};

/** The settings that are groups of settings. */
type Area = 'poll' | 'triage' | 'search' | 'compare' | 'alarms';

export const settingsReference: Words<Omit<Settings, Area>> & {
  readonly [Name in Area]: Words<NonNullable<Settings[Name]>>;
} = {
  $schema: 'The JSON Schema of this file, for editors. benchtop does not read it.',
  defaultProfile: 'The profile to use if no flag or variable names one.',
  profiles: 'Services, by the names you give them. `local` is always there.',
  theme:
    'Colours: `terminal` (the 16 of your terminal, the default), `dark`, `light`, `high-contrast`, or `plain` for none.',
  mouse:
    'Enables the mouse: wheel, click, double click. Off by default, because it disables the terminal’s own text selection.',
  notices: 'How the end of a run is announced: `off`, `bell` (the default) or `desktop`.',
  images:
    'How `V` shows an image: with the protocol of `kitty` (also Ghostty; PNG only), `iterm2` or `wezterm`, or in the system’s `viewer`. `auto`, the default, recognizes these terminals, except WezTerm over SSH.',
  home: 'The section that opens at startup, such as `watch`, `training` or `chat`. By default, Watch if something is running or has ended since you last looked, otherwise Benchmarks.',
  chatHistory: 'Whether conversations are saved to disk: true by default.',
  keys: 'Keys by command id, for example `{"list.down": ["j", "ctrl-n"]}`. Help (`?`) shows the ids. An empty list removes the keys.',
  poll: {
    focusedSeconds: 'Poll interval in seconds for running work that has the focus: 1 to 3600, 2 by default.',
    visibleSeconds: 'Poll interval in seconds for everything else on screen: 1 to 3600, 10 by default.',
  },
  triage: {
    flags:
      'Flags for trajectories and evaluation runs, on the digits 1 to 9, in lists and while reading: `["good", "bad", "gamed", "grader broken", "look again"]` by default.',
    author: 'Author of your notes: by default, your user name and the name of this machine (ann@host).',
  },
  search: {
    indexMegabytes:
      'Disk space in megabytes for the texts of searched trajectories, so that the next search need not read them from the service: 512 by default. 0 deletes them and keeps none.',
  },
  priceUnit:
    'The unit of model prices, for example `USD per 1M tokens`: no service states it. Forms and `--dry-run` then estimate the cost of evaluations and training runs.',
  compare: {
    equalWithin:
      'Two runs count as equal if the confidence interval of their difference lies within this: 0.05 by default, 0 for never.',
    rewardRange:
      'The lowest and the highest reward that the graders give: `0..1` by default. Intervals and verdicts depend on it.',
  },
  alarms: {
    silentPaces:
      'Alarm: no new step for this many times the run’s usual time per step, and for at least 5 minutes. 10 by default, which exceeds the time for an evaluation or a checkpoint. 0 switches an alarm off.',
    silentMinutes:
      'Alarm: no new step for this many minutes, at any pace. Off by default, because a step may take hours.',
    belowBest:
      'Alarm: this many held-out rewards in a row with 95% intervals entirely below the best one’s: 4 by default, which noise alone reaches in 1 of 20 runs with 200 held-out rewards at a constant level. Fewer are enough if they are so far below that noise is as unlikely to explain them. The alarm ends with the drop; another drop within as many rounds does not ring again.',
    failedPercent:
      'Alarm: more than this percentage of the rollouts failed, once 20 or all have ended: 20 by default, because the mean of the rest then says little.',
    heldOut:
      'Alarm: the held-out reward of the newest complete round is outside this range, such as `0.2..1`. `off` by default, because a sound range depends on the task.',
    trainer: 'The same for the newest trainer reward.',
    evaluation: 'The same for an evaluation’s mean, once 20 or all of its rollouts have a reward.',
    benchmarks:
      'Limits for individual benchmarks, by a pattern for their name or id: `{"kernel-*": {"silentMinutes": 60}}`. Later ones win.',
  },
};

export const assumptionReference: Readonly<Record<AssumptionName | 'path.OPERATION', string>> = {
  'query.cursor': 'List parameter: the cursor of the next page.',
  'query.limit': 'List parameter: the size of a page.',
  'query.sort': 'List parameter: the field to sort by.',
  'query.order': 'List parameter: the direction, `asc` or `desc`.',
  'query.search': 'List parameter: the text to search for.',
  'query.include_steps': 'Parameter that asks for a trajectory’s steps.',
  'startEval.model_slug': 'Field for the model when an evaluation is started.',
  'startEval.checkpoint_id': 'Field for the checkpoint when an evaluation is started.',
  'startEval.options': 'Field for the options when an evaluation is started.',
  'startTraining.base_model_slug': 'Field for the model when a training run is started.',
  'startTraining.parent_checkpoint_id': 'Field for the checkpoint when a training run is started.',
  idempotencyHeader: 'Header that makes it safe to repeat a start request.',
  honoursIdempotencyKey:
    '`yes` or `no`: whether the service honours that header. If so, a start request is retried after a lost response.',
  streamChat: '`yes` or `no`: whether chat requests a stream.',
  streamUsage: '`yes` or `no`: whether chat requests token counts with a stream, in `stream_options`.',
  rewardsWithApiKey:
    '`yes` or `no`: whether a reward is logged with the API key if there is no token for its trajectory.',
  'path.OPERATION':
    'An operation’s path, with its placeholders, for example `path.ingestBenchmark` as `/api/v1/ingest/{bench_id}`. `benchtop api` lists the operations with their paths.',
};

export interface Variable {
  /** Variables with the same meaning are listed together. */
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
    words: 'Token for chat completions, if it differs from the API key.',
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
  { names: ['BENCHTOP_UPSTREAM_KEY'], words: 'API key for the upstream server.', like: 'upstreamKey' },
  { names: ['BENCHTOP_UPSTREAM_KEY_FILE'], words: profileReference.upstreamKeyFile, like: '--upstream-key-file' },
  { names: ['BENCHTOP_THEME'], words: settingsReference.theme, like: '--theme' },
  { names: ['BENCHTOP_MOUSE'], words: settingsReference.mouse, like: '--mouse' },
  { names: ['BENCHTOP_NOTICES'], words: settingsReference.notices, like: '--notices' },
  { names: ['BENCHTOP_IMAGES'], words: settingsReference.images, like: 'images' },
  {
    names: ['BENCHTOP_DEBUG'],
    words: 'Set to 1 to show commands’ requests and responses on standard error.',
    like: '--debug',
  },
  { names: ['BENCHTOP_ASCII'], words: 'Set to 1 to draw with ASCII characters only.' },
  {
    names: ['BENCHTOP_CONFIG_DIR', 'XDG_CONFIG_HOME'],
    words: 'Folder for `config.json`: `~/.config/benchtop` by default.',
  },
  {
    names: ['BENCHTOP_STATE_DIR', 'XDG_STATE_HOME'],
    words: 'Folder for pins, conversations, seen resources and crash reports: `~/.local/state/benchtop` by default.',
  },
  {
    names: ['BENCHTOP_CACHE_DIR', 'XDG_CACHE_HOME'],
    words: 'Folder for compiled code and the texts of searched trajectories: `~/.cache/benchtop` by default.',
  },
  {
    names: ['BENCHTOP_DATA_DIR', 'XDG_DATA_HOME'],
    words: 'Folder for the local service’s data: `~/.local/share/benchtop` by default.',
  },
  {
    names: ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'],
    words: 'The proxy: `http://host:port`, with `user:password@` if it needs them. Also in lower case.',
  },
  { names: ['NO_PROXY'], words: 'Hosts, domains and networks to reach directly. Also in lower case.' },
  {
    names: ['SSL_CERT_FILE', 'SSL_CERT_DIR'],
    words: 'Linux: certificates to trust in place of the system’s, in addition to Node’s.',
  },
  { names: ['NODE_EXTRA_CA_CERTS'], words: 'A file with more certificates to trust.' },
  { names: ['NO_COLOR'], words: 'Disables colours, unless `--theme` or `BENCHTOP_THEME` is set.' },
  {
    names: ['FORCE_COLOR'],
    words: 'Forces colours if the output is not a terminal; 0 disables them. Takes precedence over `NO_COLOR`.',
  },
  { names: ['TERM'], words: 'The terminal type. If it is `dumb` or cannot move its cursor, use `benchtop --lines`.' },
  {
    names: ['LC_ALL', 'LC_CTYPE', 'LANG'],
    words: 'With a locale other than UTF-8, benchtop draws with ASCII characters only.',
  },
  {
    names: ['TERM_PROGRAM', 'LC_TERMINAL', 'KITTY_WINDOW_ID'],
    words: 'Set by some terminals: with `TERM`, they decide how `V` shows an image.',
    like: 'images',
  },
  { names: ['PAGER'], words: 'The pager for `o`: `less` by default, none if it is empty.' },
  { names: ['VISUAL', 'EDITOR'], words: 'The editor for `O`: `vi` by default.' },
  {
    names: ['DISPLAY', 'WAYLAND_DISPLAY'],
    words:
      'For a terminal that shows no images: if one of them is set, `V` opens an image in the desktop’s viewer (`xdg-open`); otherwise it shows the file’s path.',
  },
  { names: ['SSH_CONNECTION'], words: 'If it is set on macOS, `V` shows an image’s path instead of opening it.' },
  {
    names: ['TMUX', 'STY', 'ZELLIJ'],
    words:
      'Set by tmux, screen and Zellij: in tmux and screen, copied text is wrapped so that it reaches the outer terminal; in all three, `V` opens the viewer.',
  },
];
