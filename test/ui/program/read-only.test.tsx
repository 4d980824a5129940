/**
 * A read-only program sends no write for any key, choice, text or click. The views and their commands come from
 * the registry; the service itself is one that would write, so that only the screens can refuse.
 */
import { describe, expect, it } from 'vitest';
import type { Command } from '../../../src/present/command.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import type { ViewDefinition } from '../../../src/ui/app/registry.ts';
import type { TerminalPort } from '../../../src/ui/app/terminal-port.ts';
import { keyLabel } from '../../../src/ui/keys/key.ts';
import type { MouseEvent } from '../../../src/ui/keys/mouse.ts';
import { registry } from '../../../src/ui/views/registry.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { planUpload } from '../../../src/uploads/benchmark-plan.ts';
import { BenchmarkUpload } from '../../../src/uploads/benchmark-upload.ts';
import { eventually } from '../../eventually.ts';
import { openScreen, type Screen } from '../../screen.ts';
import { type ServiceDouble, serviceDouble } from '../../service/double.ts';
import { hostileServer, json, serviceAt } from '../../service/hostile-server.ts';
import { smallFolder } from '../../uploads/small-folder.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';
import { placeIn } from '../places.ts';

const size = { columns: 120, rows: 30 };

const ids = {
  benchId: 'bench_1',
  runId: 'evr_1',
  trainingId: 'trn_1',
  endedTrajectory: 'traj_1',
  deploymentId: 'dep_1',
};

/** @throws Error if there is none */
function viewOf(id: string): ViewDefinition {
  const view = registry.views.find(each => each.id === id);
  if (!view) throw new Error(`there is no view ${id}`);
  return view;
}

interface Walk extends Screen {
  readonly click: (column: number, row: number) => void;
}

/** The program at a view, with everything that it asks for there on screen. */
async function openAt(view: ViewDefinition, double: ServiceDouble, readOnly: boolean, folder: string): Promise<Walk> {
  const listeners = new Set<(event: MouseEvent) => void>();
  const terminal: TerminalPort = {
    writeRaw: () => {},
    runExternal: async () => 0,
    suspend: () => {},
    quit: () => {},
    repaint: () => {},
    mouse: {
      subscribe: listener => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  };
  const { service } = serviceAt(double.url);
  // Nothing changes on the double, so nothing is polled.
  const poll = { focusedMs: limitMs, visibleMs: limitMs };
  const workbench = newWorkbench({ service: async () => service, readOnly, poll });
  const plan = await planUpload(folder);
  workbench.jobs.add(new BenchmarkUpload(folder, plan, workbench.remembered));
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registry}
      terminal={terminal}
      start={placeIn({ ...ids, jobId: folder }, view.id, 't-words')}
    />,
    size,
  );
  const settled = () => {
    expect(screen.text()).toContain('benchtop');
    expect(workbench.cache.isFetching()).toBe(0);
  };
  await screen.press();
  await eventually(async () => settled());
  await screen.type('');
  await eventually(async () => settled());
  return {
    ...screen,
    click: (column, row) => {
      const event: MouseEvent = { kind: 'press', button: 'left', column, row, shift: false, alt: false, ctrl: false };
      for (const listener of listeners) listener(event);
    },
    close: () => {
      screen.close();
      workbench.close();
    },
  };
}

const limitMs = 120_000;

/** The commands that may write in a view, and their keys; several views share the commands of one. */
function writingIn(view: ViewDefinition): { commands: Command[]; keys: string[] } {
  const all = new Set(registry.views.flatMap(({ commands: own }) => own));
  const commands = [...all]
    .filter(({ writes }) => writes)
    .filter(({ id }) => view.commands.some(own => own.id === id) || view.id.includes(id.slice(0, id.indexOf('.'))));
  return { commands, keys: [...new Set(commands.flatMap(({ keys }) => keys))] };
}

/** The screen without its last line, which says that a key is turned off. */
const bodyOf = (walk: Walk): string => walk.text().split('\n').slice(0, -2).join('\n');

/** Confirms an open question, form or menu. */
const yes = ['y', 'enter', 'enter'];

type Way = (walk: Walk) => Promise<void>;

/** Presses a key in the action menu, which stays open if it does nothing, and is closed then. */
const inMenu =
  (key: string): Way =>
  async walk => {
    await walk.press('a');
    const menu = bodyOf(walk);
    await walk.press(key, 'y');
    if (bodyOf(walk) === menu) await walk.press('esc');
  };

/** Every way to a write in a view, by its kind. */
function waysInto({ commands, keys }: ReturnType<typeof writingIn>): Readonly<Record<string, readonly Way[]>> {
  const byLine = [0, 1, 2].map(line => async (walk: Walk) => {
    const before = bodyOf(walk);
    await walk.press('a');
    if (bodyOf(walk) !== before) await walk.press(...Array.from({ length: line }, () => 'down'), 'enter', 'y');
  });
  return {
    'a key': keys.map(key => walk => walk.press(key, 'y')),
    'the action menu': [...keys.map(inMenu), ...byLine],
    'the palette': [...new Set(commands.map(({ title }) => title))].map(title => async walk => {
      await walk.type(`:${title}`);
      await walk.press('enter', 'y', 'esc');
    }),
    'the mouse': [5, 8, 14].map(row => async walk => {
      for (const column of [5, 40, 100]) {
        walk.click(column, row);
        walk.click(column, row);
      }
      await walk.press('y');
    }),
  };
}

it.each(registry.views.map(view => [view.id, view] as const))(
  'writes nothing in the view %s by a key, the action menu, the palette or the mouse',
  { timeout: limitMs },
  async (_, view) => {
    const double = await serviceDouble();
    const folder = smallFolder();
    const writing = writingIn(view);
    let walk = await openAt(view, double, true, folder);
    let before = bodyOf(walk);
    for (const { keys, hint } of writing.commands) {
      if (hint !== undefined) expect(walk.text()).not.toContain(`<${keyLabel(keys[0] ?? '')}> ${hint}`);
    }
    for (const [kind, ways] of Object.entries(waysInto(writing))) {
      for (const way of ways) {
        // Each way in is tried on its own: the program is opened again where the one before has led elsewhere.
        if (bodyOf(walk) !== before) {
          walk.close();
          walk = await openAt(view, double, true, folder);
          before = bodyOf(walk);
        }
        await way(walk);
        if (bodyOf(walk) !== before) await walk.press(...yes);
      }
      expect(double.writes(), `by ${kind}`).toEqual([]);
    }
    walk.close();
  },
);

it('says that a key is turned off', { timeout: limitMs }, async () => {
  const walk = await openAt(viewOf('list runs'), await serviceDouble(), true, smallFolder());
  await walk.waitFor('▸ baseline');
  await walk.press('d');
  await walk.waitFor('Read-only: cannot delete the run');
  walk.close();
});

describe('what is missing is named', () => {
  it.each([
    ['with the key that makes it, where the program may write', false],
    ['without a key, where it may not', true],
  ])('%s', { timeout: limitMs }, async (_, readOnly) => {
    const folder = smallFolder();
    const at = async (id: string, double: ServiceDouble): Promise<Walk> => {
      return openAt(viewOf(id), double, readOnly, folder);
    };
    const blocked = await at('record benchmarks', await serviceDouble());
    await blocked.waitFor('secret TOKEN is missing');
    expect(blocked.text().includes('is missing: n creates it')).toBe(!readOnly);
    expect(blocked.text().includes('1 image pending: b builds them')).toBe(!readOnly);
    blocked.close();
    const nothing = await hostileServer(json({ items: [], has_more: false }));
    const empty = await at('list benchmarks', { ...nothing, writes: () => [], isWrite: () => false });
    await empty.waitFor('No benchmarks yet');
    expect(empty.text().includes('yet: u uploads one')).toBe(!readOnly);
    empty.close();
  });
});
