/**
 * Candidates for completing a value: names and ids on the service, fields, settings. Offers only values that the
 * command accepts.
 */

import { isRecord, own } from '../base/own-property.ts';
import { loadConfig } from '../config/load.ts';
import { findPaths } from '../config/paths.ts';
import { triageDefaults } from '../config/preferences.ts';
import type { Settings } from '../config/schema.ts';
import type { Endpoint } from '../contract/common.ts';
import type { Operation } from '../contract/endpoints.ts';
import { fieldNames } from '../contract/fields.ts';
import { hasEnded } from '../contract/status.ts';
import { describedOptions } from '../present/described-options.ts';
import { completeFilter } from '../present/filter-completion.ts';
import { namedSteps } from '../queries/checkpoint-names.ts';
import { rememberRows } from '../queries/remembered-fallback.ts';
import { benchmarkActions } from '../resources/benchmarks.ts';
import { changedBy, resourceNamed, resourceOfId, resources, sentBy } from '../resources/catalogue.ts';
import { isFoundByLabel, isReadAlone, type Resource, statusColumnOf } from '../resources/define.ts';
import type { CommandIo } from './io.ts';
import { rowSchema } from './list.ts';
import type { ArgumentSpec, CommandSpec, ValueOf } from './table/spec.ts';
import type { CommandContext } from './with-service.ts';

export type Candidate = readonly [value: string, description: string];

/** The command line before the value. */
export interface Line {
  readonly name: string;
  readonly spec: CommandSpec;
  /** The arguments so far. */
  readonly args: readonly string[];
  /** The values of the flags that select the service, by flag key. */
  readonly service: Readonly<Record<string, string>>;
  /** The part of the value typed so far. */
  readonly partial: string;
  readonly io: CommandIo;
}

/** How long to wait for a list that has never been read, in milliseconds. */
const quickMs = 1_500;
/** How long to wait if some rows are remembered: those are offered even if the list arrives too late. */
const briefMs = 400;

/** Completes from remembered rows and, if requests are allowed, from the service. Offers nothing after an error. */
async function onService(
  { service: flags, io }: Line,
  work: (context: CommandContext, mayAsk: boolean) => Promise<Candidate[]>,
): Promise<Candidate[]> {
  const { connectTo, openRemembered } = await import('./connect.ts');
  const config = loadConfig(flags, io.environment);
  const { service } = config.profile;
  const key = service.kind === 'remote' ? service.apiKey?.origin : undefined;
  // The tab key must not start the local service, nor run a command that may ask for a password.
  const mayAsk =
    service.kind === 'local'
      ? (await (await import('../local/daemon/client.ts')).findService(config.paths.data)) !== undefined
      : !(key?.kind === 'file' && key.place.endsWith('Command'));
  const memory = openRemembered(config);
  const connection = connectTo(config, 'command');
  try {
    const service = await connection.service();
    const { compare } = config.preferences;
    // Notes, e.g. about an incomplete list, must not appear below the line that the user is typing.
    const note = (): void => {};
    const silent: CommandIo = Object.create(io, { note: { value: note } });
    const signal = AbortSignal.timeout(quickMs);
    const context = { config, service, memory, compare, io: silent, noteWait: note, signal };
    return await work(context, mayAsk);
  } finally {
    memory.close();
    await connection.close();
  }
}

interface Row {
  readonly id: string;
  readonly label: string | undefined;
  readonly status: string | undefined;
}

/** The rows on a list's first page, and the remembered rows. */
async function rowsOf(resource: Resource, context: CommandContext, mayAsk: boolean): Promise<readonly Row[]> {
  const { kind } = resource;
  const seen: readonly Row[] = kind === undefined ? [] : context.memory.seen.list(kind);
  if (!mayAsk || resource.needs) return seen;
  const listed = await firstPage(resource, context, seen.length > 0 ? briefMs : quickMs).catch(() => []);
  const ids = new Set(listed.map(({ id }) => id));
  return [...listed, ...seen.filter(({ id }) => !ids.has(id))];
}

async function firstPage(resource: Resource, context: CommandContext, waitMs: number): Promise<readonly Row[]> {
  const source = resource.list({});
  const { service, memory } = context;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(waitMs)]);
  const page = await source.readPage({ service: service.background, query: { limit: 100 }, signal, memory });
  rememberRows(memory, source, page.items);
  return page.items.map(row => ({
    id: source.id(row),
    label: resource.findsLabel === 'never' ? undefined : (resource.label?.(row) ?? undefined),
    status: source.observes?.(row).status ?? undefined,
  }));
}

/** The candidates for a row: its name, unless another row has the same name, and its id. */
function nameCandidates(rows: readonly Row[], single: string): Candidate[] {
  const counts = new Map<string, number>();
  for (const { label } of rows) if (label) counts.set(label, (counts.get(label) ?? 0) + 1);
  return rows.flatMap(({ id, label }): Candidate[] => {
    const byName: Candidate[] = label && label !== id && counts.get(label) === 1 ? [[label, single]] : [];
    return [...byName, [id, `${single} ${label ?? ''}`.trim()]];
  });
}

/** The slugs of models and deployments. Several deployments may share one, and chats reach the active one by it. */
const slugCandidates: typeof nameCandidates = (rows, single) =>
  [...new Set(rows.map(({ id, label }) => label || id))]
    .filter(slug => !resourceOfId(slug))
    .map(slug => [slug, single]);

/** Names and ids of resources; for `cancel`, only those of running ones. */
function rowCandidates(
  among: readonly Resource[],
  line: Line,
  candidatesOf: typeof nameCandidates = nameCandidates,
): Promise<Candidate[]> {
  return onService(line, async (context, mayAsk) => {
    const all = await Promise.all(
      among.map(async resource => {
        const rows = await rowsOf(resource, context, mayAsk).catch(() => []);
        const fitting = line.name === 'cancel' ? rows.filter(({ status }) => !hasEnded(status)) : rows;
        return candidatesOf(fitting, resource.names[1]);
      }),
    );
    return all.flat();
  });
}

const resourcesOf = (kinds: readonly string[]): Resource[] =>
  resources.filter(({ kind, names }) => kinds.includes(kind ?? names[1]));

/** The resources whose rows an argument or a flag of the command may name. */
export function acceptedResources(
  { of, kinds }: Pick<ArgumentSpec, 'of' | 'kinds'>,
  command: string,
): readonly Resource[] {
  switch (of) {
    case 'seen':
      return kinds ? resourcesOf(kinds) : changedBy(command);
    case 'resource or seen':
    case 'of resource':
      return kinds ? resourcesOf(kinds) : resources.filter(isReadAlone);
    case 'watched':
      return resources.filter(({ watch }) => watch);
    case 'checkpoint':
      return resourcesOf(['training', 'checkpoint']);
    case 'chat model':
      return resourcesOf(['model', 'deployment']);
    default:
      return [];
  }
}

/** The fields in a command's output. */
async function fieldCandidates(line: Line): Promise<Candidate[]> {
  const { endpoints } = await import('../contract/endpoints.ts');
  const { name, args } = line;
  if (name === 'list' || name === 'get') {
    const resource = resourceNamed(args[0] ?? '') ?? resourceOfId(args[0] ?? '');
    return resource ? onService(line, async context => fieldsOfRows(resource, context)) : [];
  }
  const prints = name === 'api' ? args.slice(0, 1) : (sentBy(name)?.prints ?? printedOperations.get(name));
  const fixed = changedBy(name).length > 0 ? ['id', 'kind', 'done'] : localFields.get(name);
  if (!prints && fixed) return fixed.map(field => [field, 'field']);
  const fields = (prints ?? []).flatMap(operation => {
    const endpoint = own<Endpoint>(endpoints, operation ?? '');
    return endpoint ? fieldNames(endpoint.response) : [];
  });
  return [...new Set([...(name === 'api' ? [] : ['id']), ...fields])].map(field => [field, 'field']);
}

/** The operations whose responses a command prints, if no action declares them. */
const printedOperations: ReadonlyMap<string, readonly Operation[]> = new Map<string, Operation[]>([
  ['reward', ['logReward']],
  ['secret set', ['createSecret']],
  ['chat', ['createChatCompletion']],
]);

/** The fields of output that is not a response from the service. */
const localFields: ReadonlyMap<string, readonly string[]> = new Map<string, string[]>([
  ['profile list', ['name', 'address', 'key', 'default']],
  ['upload', ['bench_id', 'name', 'dataset', 'phase', 'status', 'stored', 'skipped', 'failed', 'notes']],
  ['watch', ['at', 'kind', 'id', 'label', 'status', 'done', 'total', 'mean', 'graded', 'held_out', 'failure']],
  ['doctor', ['ok', 'findings']],
  ['version', ['version', 'node']],
]);

async function fieldsOfRows(resource: Resource, context: CommandContext): Promise<Candidate[]> {
  const schema = await rowSchema(resource, context);
  return ['id', ...(schema ? fieldNames(schema) : [])].map(field => [field, 'field']);
}

/** Columns and fields of a list; `--columns` takes several, separated by commas. */
function columnCandidates(line: Line, isList: boolean): Promise<Candidate[]> {
  const resource = resourceNamed(line.args[0] ?? '');
  if (!resource) return Promise.resolve([]);
  const chosen = isList ? line.partial.slice(0, line.partial.lastIndexOf(',') + 1) : '';
  const taken = new Set(chosen.split(','));
  return onService(line, async context => {
    const columns = resource.columns.map(({ id, title }): Candidate => [id, `column ${title}`]);
    const known = new Set(columns.map(([id]) => id));
    const fields = (await fieldsOfRows(resource, context)).filter(([field]) => !known.has(field));
    const all = [...columns, ...fields].filter(([field]) => !taken.has(field));
    return all.map(([field, words]) => [`${chosen}${field}`, words]);
  });
}

/** A list's columns, and their values in the remembered rows. */
function filterCandidates(line: Line): Promise<Candidate[]> {
  const resource = resourceNamed(line.args[0] ?? '');
  if (!resource) return Promise.resolve([]);
  const { partial } = line;
  return onService(line, async ({ compare, memory }) => {
    const { kind } = resource;
    const rows = kind === undefined ? [] : memory.seen.list(kind).map(({ record }) => record);
    const columns = resource.measures?.columns(rows, compare.rewardRange) ?? resource.columns;
    const { from, words } = completeFilter(partial, columns, rows);
    return words.map(word => [`${partial.slice(0, from)}${word}`, 'column or value']);
  });
}

/** Run options as the service describes them, or else the default ones. */
async function optionCandidates(line: Line): Promise<Candidate[]> {
  const operation = sentBy(line.name)?.options ?? 'getEvalOptions';
  const known = line.name === 'train' ? benchmarkActions.train.sends.defaultOptions : defaultEvalOptions;
  const described = await onService(line, async ({ service, signal }, mayAsk) => {
    const answer: Readonly<Record<string, unknown>> = mayAsk ? await service.call(operation, {}, { signal }) : {};
    return [...describedOptions(answer).keys()].map((name): Candidate => [name, '']);
  }).catch(() => []);
  const names: readonly Candidate[] = described.length > 0 ? described : known.map(name => [name, '']);
  return names.map(([name]) => [`${name}=`, `option for the ${line.name === 'train' ? 'training' : 'evaluation'}`]);
}

const defaultEvalOptions = ['evaluation_max_samples', 'evaluation_samples_per_task', 'seed'];

async function profileCandidates({ io }: Line): Promise<Candidate[]> {
  const profiles = Object.entries((await storedSettings(io)).profiles ?? {}).filter(([name]) => name !== 'local');
  return [
    ['local', 'the local service'],
    ...profiles.map(([name, { baseUrl }]): Candidate => [name, baseUrl ?? 'the local service']),
  ];
}

async function storedSettings({ environment }: CommandIo): Promise<Settings> {
  const { readSettings, settingsPath } = await import('../config/settings-file.ts');
  return readSettings(settingsPath(findPaths(environment))).settings;
}

/** The settings of keys, one for each command of the workbench. */
async function keyCandidates(): Promise<Candidate[]> {
  const [{ keyLayers }, { registry }] = await Promise.all([
    import('../ui/app/registry.ts'),
    import('../ui/views/registry.ts'),
  ]);
  const commands = keyLayers(registry).flat();
  return [...new Map(commands.map(({ id, title }): Candidate => [`keys.${id}`, title]))];
}

/** The settings that can be set one at a time. */
async function settingCandidates({ partial, io }: Line): Promise<Candidate[]> {
  if (partial.startsWith('k')) return keyCandidates();
  const { assumptionReference, profileReference, settingsReference } = await import('../config/reference.ts');
  const { profiles = {} } = await storedSettings(io);
  const own = Object.entries(settingsReference).flatMap(([name, words]): Candidate[] => {
    if (name === '$schema' || name === 'profiles' || name === 'keys') return [];
    if (typeof words === 'string') return [[name, words]];
    return Object.entries(words).map(([inner, text]) => [`${name}.${inner}`, text]);
  });
  const { 'path.OPERATION': _, ...assumptions } = assumptionReference;
  const ofProfiles = Object.keys(profiles).flatMap(profile => [
    ...Object.entries(profileReference).map(([name, words]): Candidate => [`profiles.${profile}.${name}`, words]),
    ...Object.entries(assumptions).map(
      ([name, words]): Candidate => [`profiles.${profile}.assumptions.${name}`, words],
    ),
  ]);
  return [...own, ...ofProfiles];
}

/** The settings that have a value, and their parent objects. */
async function setCandidates({ io }: Line): Promise<Candidate[]> {
  const within = (value: unknown, path: string): string[] =>
    isRecord(value)
      ? Object.entries(value).flatMap(([name, inner]) => {
          const key = path === '' ? name : `${path}.${name}`;
          return [key, ...within(inner, key)];
        })
      : [];
  return within(await storedSettings(io), '').map(key => [key, 'setting']);
}

async function settingValueCandidates(line: Line): Promise<Candidate[]> {
  const [key = ''] = line.args;
  if (key === 'defaultProfile') return profileCandidates(line);
  const { settingChoices } = await import('./settings.ts');
  return settingChoices(key).map(choice => [choice, key]);
}

/** The value to complete, and what it may name. */
interface Completion extends Line {
  readonly kinds: readonly string[];
  readonly taken: readonly Resource[];
}

const singular = (among: readonly Resource[]): Candidate[] => among.map(({ names }) => [names[1], '']);

const sources: { readonly [Of in ValueOf]: (completed: Completion) => Candidate[] | Promise<Candidate[]> } = {
  profile: profileCandidates,
  operation: async () => {
    const { endpoints } = await import('../contract/endpoints.ts');
    return Object.values(endpoints).map(({ operation, method, path }) => [operation, `${method} ${path}`]);
  },
  resource: () => resources.map(({ names: [plural] }) => [plural, '']),
  'resource or seen': async ({ kinds, ...line }) => {
    const isRead = line.name === 'open' ? ({ get }: Resource) => get !== undefined : isReadAlone;
    const among = kinds.length > 0 ? resourcesOf(kinds) : resources.filter(isRead);
    const named = among.filter(each => each.get && isFoundByLabel(each));
    const sections = line.name === 'open' ? (await import('../ui/views/registry.ts')).registry.sections : [];
    const words = [...singular(among), ...sections.map(({ names: [name = ''] }): Candidate => [name, 'list'])];
    return [...words, ...(await rowCandidates(named, line))];
  },
  'of resource': line => {
    const resource = resourceNamed(line.args[0] ?? '');
    return resource ? rowCandidates([resource], line) : [];
  },
  watched: async ({ taken, ...line }) => {
    const [first = ''] = line.args;
    const watched = taken.filter(isFoundByLabel);
    const among = watched.filter(({ names }) => names.includes(first));
    const words = line.args.length === 0 ? singular(watched) : [];
    return [...words, ...(await rowCandidates(among.length > 0 ? among : watched, line))];
  },
  seen: ({ taken, ...line }) => rowCandidates(taken, line),
  checkpoint: async line => {
    const runs = await rowCandidates(resourcesOf(['training']), line);
    return runs.flatMap(([name, words]): Candidate[] => [
      [name, words],
      ...Object.entries(namedSteps).map(([which, meaning]): Candidate => [`${name}@${which}`, meaning]),
    ]);
  },
  'chat model': ({ taken, ...line }) => rowCandidates(taken, line, slugCandidates),
  status: ({ args: [first = ''] }) => {
    const resource = resourceNamed(first);
    return ((resource && statusColumnOf(resource)?.known) ?? []).map(status => [status, '']);
  },
  flag: async ({ io }) => {
    const { triage } = await storedSettings(io);
    return (triage?.flags ?? triageDefaults.flags).map(flag => [flag, 'flag']);
  },
  grader: async () => (await import('../rollouts/regraders.ts')).localGraders.map(kind => [kind, 'grader']),
  field: fieldCandidates,
  column: line => columnCandidates(line, false),
  columns: line => columnCandidates(line, true),
  filter: filterCandidates,
  option: optionCandidates,
  setting: settingCandidates,
  'set setting': setCandidates,
  'setting value': settingValueCandidates,
};

/** The candidates for a value of this kind. */
export async function valueCandidates(
  spec: Pick<ArgumentSpec, 'of' | 'kinds' | 'choices'>,
  line: Line,
): Promise<Candidate[]> {
  const { of, kinds = [], choices } = spec;
  if (choices) return choices.map(choice => [choice, '']);
  const taken = acceptedResources(spec, line.name);
  return of === undefined ? [] : sources[of]({ ...line, kinds, taken });
}
