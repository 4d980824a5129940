/** The whole program in process, on any service: its own router, views and queries, drawn into an emulator. */

import { errorStack } from '../../src/base/errors.ts';
import { kinds } from '../../src/resources/catalogue.ts';
import type { Place } from '../../src/resources/place.ts';
import { systemClock } from '../../src/service/clock.ts';
import { createService } from '../../src/service/index.ts';
import { Failures } from '../../src/ui/app/failures.ts';
import { Program } from '../../src/ui/app/program.tsx';
import type { TerminalPort } from '../../src/ui/app/terminal-port.ts';
import { createMouseDecoder, type MouseEvent } from '../../src/ui/keys/mouse.ts';
import { registry } from '../../src/ui/views/registry.ts';
import { createTheme } from '../../src/ui/widgets/theme/theme.tsx';
import { Workbench } from '../../src/workbench/workbench.ts';
import { openScreen, type Screen } from '../../test/screen.ts';
import { SequenceReader } from '../rig/sequences.ts';
import { type Input, mouseBytes } from './inputs.ts';

export interface ProgramOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly columns: number;
  readonly rows: number;
  readonly readOnly: boolean;
  /** Where it opens; the benchmarks by default. */
  readonly start?: Place;
  /** The program's waits are shortened by this factor. */
  readonly haste: number;
  /** Called with unintended output of the program, and with every failure that it survives: of a view, a key, a timer. */
  readonly onUnmeant: (what: string) => void;
}

export interface RunningProgram {
  readonly screen: Screen;
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly give: (input: Input) => Promise<void>;
  /** Whether something is being read from the service. */
  readonly isReading: () => boolean;
  readonly close: () => Promise<void>;
}

const usualTimeouts = { connectMs: 5_000, silenceMs: 30_000, deadlineMs: 120_000 };
const defaultIntervals = { focusedMs: 2_000, visibleMs: 10_000 };

function hurried<Times extends Record<string, number>>(times: Times, haste: number): Times {
  return Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, Math.ceil(ms / haste)])) as Times;
}

export function openProgram(options: ProgramOptions): RunningProgram {
  const { baseUrl, apiKey, haste, onUnmeant } = options;
  let { columns, rows } = options;
  const key = async (): Promise<string> => apiKey;
  const service = createService({
    baseUrl,
    apiKey: key,
    inferenceToken: key,
    userAgent: 'torture',
    timeouts: hurried(usualTimeouts, haste),
    clock: {
      now: Date.now,
      monotonic: () => performance.now() * haste,
      random: Math.random,
      sleep: (ms, signal) => systemClock.sleep(ms / haste, signal),
    },
  });
  const workbench = new Workbench({
    kinds,
    service: async () => service,
    profile: 'torture',
    readOnly: options.readOnly,
    poll: hurried(defaultIntervals, haste),
  });
  const reader = new SequenceReader(onUnmeant);
  const mice = new Set<(event: MouseEvent) => void>();
  const decoder = createMouseDecoder();
  const terminal: TerminalPort = {
    writeRaw: sequence => reader.take(sequence),
    runExternal: async () => 0,
    suspend: () => {},
    quit: () => {},
    repaint: () => {},
    failures: new Failures({
      write: (error, details) => {
        onUnmeant(`a failure that the screen survives: ${errorStack(error)}${details}`);
        return undefined;
      },
      redact: text => text,
    }),
    mouse: {
      subscribe: listener => {
        mice.add(listener);
        return () => mice.delete(listener);
      },
    },
  };
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registry}
      terminal={terminal}
      start={options.start ?? { view: 'list', resource: 'benchmarks' }}
      notices="desktop"
    />,
    { columns, rows, onBytes: bytes => reader.take(bytes) },
  );

  const give = async (input: Input): Promise<void> => {
    switch (input.kind) {
      case 'bytes':
        return screen.type(input.bytes);
      case 'mouse': {
        for (const event of decoder.feed(mouseBytes(input)).events) for (const listener of mice) listener(event);
        return screen.type('');
      }
      case 'resize':
        ({ columns, rows } = input);
        return screen.resize(columns, rows);
    }
  };
  return {
    screen,
    size: () => ({ columns, rows }),
    give,
    isReading: () => workbench.cache.isFetching() > 0,
    close: async () => {
      screen.close();
      workbench.close();
      await service.close();
    },
  };
}
