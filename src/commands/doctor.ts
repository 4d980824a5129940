/** `benchtop doctor`: checks everything that benchtop needs, and reports problems with their fixes. */

import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '../base/errors.ts';
import { own } from '../base/own-property.ts';
import { folderSharing, SharedError } from '../base/ownership.ts';
import { shellWord } from '../base/shell-word.ts';
import { version } from '../base/version.ts';
import { type Config, loadConfig } from '../config/load.ts';
import type { Profile } from '../config/profile.ts';
import { proxyFor } from '../config/proxy.ts';
import type { Benchmark } from '../contract/benchmarks.ts';
import { describeCapability } from '../contract/capabilities.ts';
import type { Page } from '../contract/common.ts';
import type { Operation } from '../contract/endpoints.ts';
import { certificateProblems, systemCertificates } from '../net/agents.ts';
import { benchmarkQuery } from '../queries/benchmarks.ts';
import { checkpointList } from '../queries/checkpoints.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { readPart } from '../queries/remembered-fallback.ts';
import { readRunOptions } from '../queries/run-options.ts';
import { untypedCall } from '../service/call.ts';
import type { RememberedStore } from '../store/store.ts';
import { bytes, counted } from '../text/numbers.ts';
import { clean, sanitise } from '../text/sanitise.ts';
import { isAsciiOnly } from '../text/terminal.ts';
import { wrap } from '../text/wrap.ts';
import { smallest } from '../ui/app/layout.ts';
import { assumptionFindings, type Finding } from './assumption-findings.ts';
import { askModel } from './chat.ts';
import { connectTo, openRemembered, originsOf, type ServiceConnection, textsOnDisk } from './connect.ts';
import { exitCodes } from './exit.ts';
import { exitCodeOf, messageOf } from './failure.ts';
import type { CommandIo } from './io.ts';
import { checkJq, printRecord, printsRecord } from './output.ts';
import { printPastAlarms } from './past-alarms.ts';
import { jobNotes } from './serve.ts';
import type { CommandInput } from './table/commands.ts';
import { configFlags } from './table/flags.ts';

const littleRoom = 200 * 1024 * 1024;
const patienceMs = 15_000;
/** The column at which a finding's words begin. */
const indent = 24;

function* terminalFindings(environment: NodeJS.ProcessEnv): Generator<Finding> {
  const about = 'terminal';
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) {
    yield { about, state: 'note', words: 'not a terminal: the workbench needs one, other commands do not' };
    return;
  }
  const { columns, rows } = stdout;
  const fits = columns >= smallest.columns && rows >= smallest.rows;
  yield {
    about,
    state: fits ? 'ok' : 'warn',
    words: `${columns}×${rows}, TERM ${environment['TERM'] ?? 'not set'}${fits ? '' : `; the screens need ${smallest.columns}×${smallest.rows}`}`,
  };
  if (isAsciiOnly(environment)) {
    yield { about, state: 'note', words: 'ASCII only, because of the locale or BENCHTOP_ASCII' };
  }
  if (environment['TMUX']) {
    yield { about, state: 'note', words: 'tmux: copying needs `set -g set-clipboard on` there' };
  }
}

/** The proxy and the trusted certificates for the service. */
export function* networkFindings({ service }: Profile, environment: NodeJS.ProcessEnv): Generator<Finding> {
  if (service.kind === 'local') return;
  const base = new URL(service.baseUrl.value);
  const addresses = new Map([base, new URL(service.inferenceUrl.value)].map(url => [url.host, url]));
  for (const [host, url] of addresses) {
    const proxy = proxyFor(url, environment);
    if (!proxy) yield { about: 'proxy', state: 'ok', words: `none for ${host}` };
    else if ('host' in proxy) {
      yield { about: 'proxy', state: 'ok', words: `${host} through ${proxy.host}, from ${proxy.variable}` };
    } else {
      yield { about: 'proxy', state: 'fail', words: `${proxy.variable} ${proxy.refusal}: set it to http://host:port` };
    }
  }
  if (base.protocol !== 'https:') return;
  const places = ['SSL_CERT_FILE', 'SSL_CERT_DIR'].filter(name => own(environment, name));
  const system = `${systemCertificates().length} more from ${places.length === 0 ? 'the system' : places.join(' and ')}`;
  const extra = environment['NODE_EXTRA_CA_CERTS'] ? ' and NODE_EXTRA_CA_CERTS' : '';
  const ownFile = service.caFile ? `, and from ${service.caFile.value}` : '';
  yield { about: 'certificates', state: 'ok', words: `from Node${extra}, ${system}${ownFile}` };
  for (const words of certificateProblems(environment)) yield { about: 'certificates', state: 'warn', words };
}

/** The JSON Schema shipped with the package; missing when running from source. */
const schemaPath = fileURLToPath(new URL('../config.schema.json', import.meta.url));

/** A folder that benchtop uses, and the feature that needs it. */
interface FolderUse {
  readonly path: string;
  /** The severity if the folder cannot be used. */
  readonly otherwise: 'warn' | 'fail';
  readonly lost: string;
  /** Returns why the folder's files are not private to this user; undefined if they are. */
  readonly sharing?: (path: string) => Error | undefined;
}

/** Whether a folder can be written or created, and is private to this user. */
export function* folderFindings(about: string, { path, otherwise, lost, sharing }: FolderUse): Generator<Finding> {
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    // Listing fails if the path is a file.
    accessSync(existing, constants.W_OK);
    readdirSync(existing);
  } catch (error) {
    yield { about, state: otherwise, words: `${path} cannot be written, so ${lost}: ${errorMessage(error)}` };
    return;
  }
  if (existing === path) {
    const shared = folderSharing(path);
    const problem = sharing?.(path) ?? (shared && new SharedError(path, shared));
    if (problem) yield { about, state: otherwise, words: `${lost}: ${problem.message}` };
    else if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      yield {
        about,
        state: 'warn',
        words: `other users can access ${path}. Run: chmod go-rwx ${shellWord(path)}`,
      };
    }
  }
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  const words = `${path}${existing === path ? '' : ' (not created yet)'}, ${bytes(free)} free`;
  if (free === 0) yield { about, state: otherwise, words: `${words}, so ${lost}` };
  else yield { about, state: free < littleRoom ? 'warn' : 'ok', words };
}

function errorOf(about: string, error: unknown): Finding {
  return { about, state: 'fail', words: messageOf(error), exit_code: exitCodeOf(error) };
}

/** Reads an operation, which may need a benchmark. */
type Read = (operation: Operation, context: QueryContext, benchId: string | undefined) => Promise<unknown>;

const readWhole: Read = (operation, { service, signal }) => untypedCall(service)(operation, {}, { signal });

const readRow: Read = (operation, { service, signal }) =>
  untypedCall(service)(operation, { query: { limit: 1 } }, { signal });

/** The benchmark's own record shows whether a 404 is about the benchmark. */
const readInBenchmark: Read = async (operation, context, bench_id) => {
  if (bench_id === undefined) return;
  const { service, signal } = context;
  await readPart(operation, benchmarkQuery(bench_id), context, () =>
    untypedCall(service)(operation, { params: { bench_id }, query: { limit: 1 } }, { signal }),
  );
};

/**
 * Reads of undocumented endpoints, which need no id, a benchmark's id, or the id of a training run seen on this
 * machine.
 */
const optional: Partial<Record<Operation, Read>> = {
  listTrajectories: readRow,
  listDatasets: readRow,
  listDeployments: readRow,
  listSecrets: readRow,
  listSupportedTrainingModels: readWhole,
  listBenchmarkRuntimes: readRow,
  listEvalRuns: readInBenchmark,
  listTrainingRuns: readInBenchmark,
  getTrainingOptions: async (_operation, { service, signal }, benchId) => {
    if (benchId !== undefined) await readRunOptions(service, 'getTrainingOptions', { benchId }, signal);
  },
  getDeploymentSummary: readWhole,
  listCheckpoints: async (_operation, context) => {
    const [run] = context.memory.seen.list('training');
    if (run) await checkpointList(run.id, false).readPage({ ...context, query: { limit: 1 } });
  },
};

/** The local service's jobs that need attention. */
async function* jobFindings(dataFolder: string): AsyncGenerator<Finding> {
  const { findService } = await import('../local/daemon/client.ts');
  const running = await findService(dataFolder);
  for (const words of running ? jobNotes(running) : []) yield { about: 'jobs', state: 'warn', words };
}

/** @param failed how many reads failed, so that their endpoints may or may not exist */
function capabilityFinding(missing: readonly string[], failed: number): Finding {
  const about = 'capabilities';
  if (missing.length > 0) {
    const words = `it does not ${missing.map(describeCapability).join(', ')}: benchtop works without that. Only reads were tried`;
    return { about, state: 'note', words };
  }
  if (failed === 0) return { about, state: 'ok', words: 'the service has every list and summary that benchtop uses' };
  const words = `${counted(failed, 'request')} failed, see above; the service has everything else that benchtop uses`;
  return { about, state: 'note', words };
}

async function* serviceFindings(
  connection: ServiceConnection,
  memory: RememberedStore,
  { model, assumptions }: { readonly model: string | undefined; readonly assumptions: Profile['assumptions'] },
  io: CommandIo,
): AsyncGenerator<Finding> {
  const about = 'service';
  const service = await connection.service();
  const patience = (): AbortSignal => AbortSignal.any([io.signal, AbortSignal.timeout(patienceMs)]);
  let benchmarks: Page<Benchmark>;
  try {
    const began = performance.now();
    benchmarks = await service.call('listBenchmarks', { query: { limit: 1 } }, { signal: patience() });
    const took = Math.round(performance.now() - began);
    yield {
      about,
      state: 'ok',
      words: `${connection.address()} responds and accepts the key; the first response took ${took} ms`,
    };
  } catch (error) {
    yield errorOf(about, error);
    return;
  }
  const benchId = benchmarks.items[0]?.bench_id;
  const failed: Finding[] = [];
  await Promise.all(
    Object.entries(optional).map(async ([operation, read]) => {
      try {
        await read(operation as Operation, { service, signal: patience(), memory }, benchId);
      } catch (error) {
        // Missing endpoints are reported with the capabilities.
        if (service.capabilities.has(operation as Operation)) failed.push(errorOf(operation, error));
      }
    }),
  );
  yield* failed;
  yield* await assumptionFindings(service, assumptions, benchmarks, patience());
  yield { about: 'generation', state: 'note', words: service.generation.describe() };
  yield capabilityFinding(service.capabilities.missing(), failed.length);
  if (model === undefined) return;
  try {
    const request = { model, messages: [{ role: 'user', content: 'Say a word.' }], max_tokens: 1 };
    await askModel({ service, memory, signal: patience() }, request, () => {});
    yield { about: 'inference', state: 'ok', words: `${model} answers` };
  } catch (error) {
    yield errorOf('inference', error);
  }
}

/** The settings and their origins, and the folders that they name. */
async function* settingsFindings(config: Config): AsyncGenerator<Finding> {
  const { settingsPath, paths, warnings, profile } = config;
  yield {
    about: 'settings',
    state: 'ok',
    words: existsSync(settingsPath) ? settingsPath : `${settingsPath} not found (optional): using defaults`,
  };
  for (const warning of warnings) yield { about: 'settings', state: 'warn', words: warning };
  if (existsSync(schemaPath)) yield { about: 'settings', state: 'note', words: `"$schema" for editors: ${schemaPath}` };
  for (const origin of originsOf(profile)) yield { about: 'profile', state: 'note', words: origin };
  yield* folderFindings('settings folder', {
    path: paths.config,
    otherwise: 'warn',
    lost: 'settings cannot be saved',
  });
  yield* folderFindings('state folder', { path: paths.state, otherwise: 'warn', lost: 'no history is kept' });
  yield* folderFindings('cache folder', {
    path: paths.cache,
    otherwise: 'warn',
    lost: 'startup is slower, and each search reads every text again',
  });
  const texts = textsOnDisk(config);
  if (texts) {
    const words = `${texts.path} has ${bytes(texts.bytes)} of texts of searched trajectories: benchtop search --forget deletes them`;
    yield { about: 'texts', state: 'note', words };
  }
  if (profile.service.kind !== 'local') return;
  const [{ dataFolderSharing }, { findService }] = await Promise.all([
    import('../local/daemon/files.ts'),
    import('../local/daemon/client.ts'),
  ]);
  const isRunning = (await findService(paths.data)) !== undefined;
  yield* folderFindings('data folder', {
    path: paths.data,
    otherwise: 'fail',
    lost: `the local service ${isRunning ? 'is running but cannot save its work' : 'cannot start'}`,
    sharing: dataFolderSharing,
  });
}

/** Whether seen resources are remembered. */
function memoryFinding(memory: RememberedStore, stateFolder: string): Finding {
  const damage = memory.file.damage();
  const problem =
    memory.file.problem ??
    memory.file.setAside ??
    (damage &&
      clean`remembered.db in ${stateFolder} is damaged (${damage}): some history cannot be read, and trajectory uploads may send nothing. Move it away to start a new history, without the record of earlier uploads`);
  const words = problem ?? 'resources seen are remembered between sessions';
  return { about: 'memory', state: problem === undefined ? 'ok' : 'warn', words };
}

async function* findings(flags: CommandInput<'doctor'>['flags'], io: CommandIo): AsyncGenerator<Finding> {
  const program = `benchtop ${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}`;
  yield { about: 'program', state: 'ok', words: program };
  yield* terminalFindings(io.environment);
  // These checks need the code of every screen, which other commands must not load.
  const { checkKeys, checkTerminal, homePlace } = await import('./start-checks.ts');
  try {
    checkTerminal(io.environment);
  } catch (error) {
    yield { about: 'terminal', state: 'warn', words: messageOf(error) };
  }
  let config: Config;
  try {
    config = loadConfig(configFlags(flags), io.environment);
    checkKeys(config);
    homePlace(config);
  } catch (error) {
    yield errorOf('settings', error);
    return;
  }
  yield* settingsFindings(config);
  const { paths, profile } = config;
  yield* networkFindings(profile, io.environment);
  const memory = openRemembered(config);
  const connection = connectTo(config, 'command', { remembered: () => memory });
  try {
    yield memoryFinding(memory, paths.state);
    yield* serviceFindings(connection, memory, { model: flags.model, assumptions: profile.assumptions }, io);
    if (profile.service.kind === 'local') yield* jobFindings(paths.data);
  } finally {
    memory.close();
    await connection.close();
  }
}

export async function run({ flags }: CommandInput<'doctor'>, io: CommandIo): Promise<number> {
  await checkJq(flags, io);
  if (flags.alarms !== undefined) return printPastAlarms(flags.alarms, flags, io);
  const all: Finding[] = [];
  for await (const finding of findings(flags, io)) {
    all.push(finding);
    const { about, state, words } = finding;
    if (printsRecord(flags)) continue;
    const safe = sanitise(words, { multiline: true });
    const lines = io.columns === undefined ? safe.split('\n') : wrap(safe, Math.max(20, io.columns - indent));
    await io.print(`${state.padEnd(6)}${about.padEnd(18)}${lines.join(`\n${' '.repeat(indent)}`)}\n`);
  }
  const failed = all.filter(({ state }) => state === 'fail');
  const ok = failed.length === 0;
  if (printsRecord(flags)) await printRecord({ ok, findings: all }, '', flags, io);
  if (ok) return exitCodes.done;
  const isDown = failed.every(({ exit_code }) => exit_code === exitCodes.unreachable);
  return isDown ? exitCodes.unreachable : exitCodes.failed;
}
