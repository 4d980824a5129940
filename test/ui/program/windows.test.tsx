/**
 * Every window of every view, at sizes where it barely fits or does not: its border is whole, the frame and the hints
 * around it are intact, and its hints work.
 */
import { afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, onTestFinished, vi } from 'vitest';
import type { Command } from '../../../src/present/command.ts';
import { keyLabel } from '../../../src/ui/keys/key.ts';
import { type Offer, Router } from '../../../src/ui/keys/key-router.ts';
import { registry } from '../../../src/ui/views/registry.ts';
import { makeWorld, type World } from '../../conformance/samples.ts';
import { eventually } from '../../eventually.ts';
import type { Screen } from '../../screen.ts';
import { placeIn } from '../places.ts';
import { type Between, between, openProgram } from './rig.tsx';

let world: World;
let wire: Between;
beforeAll(async () => {
  world = await makeWorld();
  return () => world.end();
}, 120_000);

const requestId = 'req_8a21d93c-aa0d-46db-8de3-660f1e2ab719-of-a-write-that-was-refused';
const refusal = {
  error: {
    type: 'invalid_request_error',
    code: 'unprocessable_entity',
    message: `It was refused ${'for one reason and for another '.repeat(8)}at the end.`,
    param: 'display_name',
    context: { details: 'more than fits '.repeat(20) },
  },
};

let router: MockInstance<Router['set']>;
beforeEach(async () => {
  router = vi.spyOn(Router.prototype, 'set');
  wire = await between(
    world.local,
    text => text,
    method => (method === 'GET' ? undefined : { status: 422, body: refusal, headers: { 'x-request-id': requestId } }),
  );
  return () => wire.close();
});
afterEach(() => router.mockRestore());

const offered = (): readonly Offer[] => {
  const [instance] = router.mock.contexts.slice(-1);
  if (!(instance instanceof Router)) throw new Error('the program has no router yet');
  return instance.offered();
};

const sizes = [
  [120, 36],
  [60, 15],
] as const;

/** Commands that open a window without writing; a window that is the same in every view is checked in one. */
const openers = new Set(['item.actions', 'chat.model', 'chat.settings', 'chat.history']);
const openersAnywhere = new Set(['item.export', 'list.columns', 'app.palette', 'app.help', 'app.connect']);
const opens = ({ id, writes = false }: Command, view: string): boolean =>
  writes || openers.has(id) || (view === 'list benchmarks' && openersAnywhere.has(id));

/** The commands that open a window in each view; in views that are not here, none does. */
const opening: Readonly<Record<string, readonly string[]>> = {
  'list benchmarks': [
    'app.connect',
    'app.help',
    'app.palette',
    'benchmark.build',
    'benchmark.evaluate',
    'benchmark.secret',
    'benchmark.train',
    'benchmark.upload',
    'item.actions',
    'item.export',
    'list.columns',
  ],
  'record benchmarks': ['benchmark.build', 'benchmark.evaluate', 'benchmark.train', 'item.actions', 'run.delete'],
  tree: ['benchmark.build', 'benchmark.evaluate', 'benchmark.secret', 'benchmark.train', 'item.actions'],
  'list images': ['benchmark.build'],
  'list runs': ['item.actions', 'run.delete'],
  'record runs': ['item.actions', 'run.delete'],
  step: ['item.actions'],
  'step-rollouts': ['item.actions'],
  tasks: ['item.actions'],
  'list trajectories': ['item.actions', 'trajectory.complete', 'trajectory.reward'],
  'list training': ['item.actions', 'training.continue', 'training.delete', 'training.deploy', 'training.evaluate'],
  'record training': [
    'checkpoint.continue',
    'checkpoint.deploy',
    'checkpoint.evaluate',
    'item.actions',
    'training.delete',
  ],
  'list deployments': ['deployment.deploy', 'deployment.undeploy', 'deployment.unpromote', 'item.actions'],
  'record deployments': ['deployment.undeploy', 'deployment.unpromote', 'item.actions'],
  'list datasets': ['dataset.upload', 'item.actions'],
  'list secrets': ['item.actions', 'secret.create', 'secret.replace', 'secret.revoke'],
  chat: ['chat.history', 'chat.model', 'chat.settings'],
};

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const linesOf = (screen: Screen): string[][] =>
  screen
    .text()
    .split('\n')
    .map(line => [...line]);

/** The window that is above the panes; the last of its corners on screen are its own. */
function windowOn(screen: Screen): Box | undefined {
  const lines = linesOf(screen);
  for (let top = 1; top < lines.length - 3; top += 1) {
    const left = lines[top]?.indexOf('┌') ?? -1;
    if (left <= 0) continue;
    const right = lines[top]?.indexOf('┐', left) ?? -1;
    const bottom = lines.findIndex((line, row) => row > top && line[left] === '└' && line[right] === '┘');
    return { left, top, right, bottom };
  }
  return undefined;
}

function expectInside(screen: Screen, box: Box, frame: readonly string[]): void {
  const lines = linesOf(screen);
  const rows = lines.length;
  const shown = screen.text();
  expect(box.bottom, shown).toBeGreaterThan(box.top + 1);
  expect(box.bottom, shown).toBeLessThan(rows - 3);
  expect(box.right, shown).toBeLessThan((lines[0]?.length ?? 0) - 1);
  for (let row = box.top + 1; row < box.bottom; row += 1) {
    expect([lines[row]?.[box.left], lines[row]?.[box.right]], shown).toEqual(['│', '│']);
  }
  expect(lines[box.bottom]?.slice(box.left + 1, box.right).join(''), shown).toMatch(/^─+$/);
  const after = shown.split('\n');
  // The rule and the border of the frame are as they were.
  expect([after.at(-3), after.at(-1)], shown).toEqual([frame.at(-3), frame.at(-1)]);
  expect(after.at(-2), shown).toMatch(/^│ .* │$/);
}

/** The commands that run while keys are pressed; none of them does anything. */
async function commandsOf(press: (ran: readonly string[]) => Promise<void>): Promise<readonly string[]> {
  const ran: string[] = [];
  const original = Router.prototype.press;
  const spy = vi.spyOn(Router.prototype, 'press').mockImplementation(function recorded(this: Router, key) {
    // At this very moment: the bindings change with every drawing.
    const bindings = this.offers().map(({ binding }) => binding as { run: unknown; command: Command });
    const real = bindings.map(({ run }) => run);
    for (const binding of bindings) binding.run = () => void ran.push(binding.command.id);
    const taken = original.call(this, key);
    for (const [index, binding] of bindings.entries()) binding.run = real[index];
    return taken;
  });
  try {
    await press(ran);
  } finally {
    spy.mockRestore();
  }
  return ran;
}

/** Presses each hint on screen, and checks that its command is called; the command itself does nothing. */
async function expectHintsToAct(screen: Screen): Promise<number> {
  // A hint may be drawn just before its key is taken.
  const hints = await eventually(() => {
    const foot = screen.text().split('\n').at(-2) ?? '';
    return [...foot.matchAll(/<(\S+)> /g)].map(([, label]) => {
      const offer = offered().find(({ keys: [first = ''] }) => keyLabel(first) === label);
      expect(offer?.binding.command.hint, `${label} in ${foot}`).toBeDefined();
      return { foot, label, offer };
    });
  });
  for (const { foot, label, offer } of hints) {
    if (!offer) continue;
    const ran = await commandsOf(() => screen.press(offer.keys[0] ?? ''));
    expect(ran, `${label} in ${foot}`).toEqual([offer.binding.command.id]);
  }
  return hints.length;
}

/** Their rows have no view of their own. */
const withoutRecords = new Set(['list models', 'list runtimes', 'list secrets']);

describe.each(registry.views.map(view => view.id))('in the view %s', name => {
  it.each(sizes)('at %i×%i', async (columns, rows) => {
    const start = placeIn(world.ids, name, 'a name');
    const { screen, failed, sent, close } = openProgram({ service: wire.service, start, columns, rows });
    onTestFinished(close);
    await wire.quiet();
    await screen.waitFor(text => !text.includes('Loading'));
    if (name === 'chat') {
      await screen.waitFor('<enter> send');
      await screen.press('esc');
      await screen.waitFor('<i> write');
    }
    // Keys wait while the code of a view is read.
    await commandsOf(async ran => {
      await screen.press('ctrl-l');
      await eventually(() => expect(ran).toEqual(['app.repaint']));
    });
    // It sends requests once it was read, and the answers decide on keys.
    await wire.quiet();
    const frame = screen.text().split('\n');
    await expectHintsToAct(screen);
    if (withoutRecords.has(name)) expect(frame.at(-2)).not.toContain('<enter>');
    // Beside a list that has room for it, a pane says that no secret is missing.
    const expected = (opening[name] ?? []).filter(id => columns < 120 || name === 'tree' || id !== 'benchmark.secret');
    await eventually(() => {
      const commands = offered().map(({ binding }) => binding.command);
      const ids = new Set(commands.filter(command => opens(command, name)).map(({ id }) => id));
      expect([...ids].toSorted()).toEqual(expected);
    });
    for (const id of expected) {
      const key = await eventually(() => {
        const offer = offered().find(({ binding }) => binding.command.id === id);
        expect(offer, id).toBeDefined();
        return offer?.keys[0] ?? '';
      });
      await screen.press(key);
      await screen.waitFor(() => windowOn(screen) !== undefined);
      await wire.quiet();
      await screen.waitFor(text => !text.includes('Loading'));
      const box = windowOn(screen);
      if (!box) throw new Error(`the window of ${id} is gone:\n${screen.text()}`);
      expectInside(screen, box, frame);
      // For some seconds the line shows the last change instead.
      const isSaid = /^│ [•✓▲✗] /.test(screen.text().split('\n').at(-2) ?? '');
      expect((await expectHintsToAct(screen)) > 0 || isSaid, screen.text()).toBe(true);
      // Through the fields, if there are any.
      const isForm = offered().some(({ binding: { command: each } }) => each.id === 'form.submit');
      // Once round: the last field leads to the first.
      const atFirst = screen.text();
      for (let field = 0; isForm && field < 12; field += 1) {
        await screen.press('tab');
        if (screen.text() === atFirst) break;
        expectInside(screen, windowOn(screen) ?? box, frame);
        expect(linesOf(screen).slice(box.top, box.bottom).flat(), screen.text()).toContain('▸');
      }
      const asks = offered().some(({ binding: { command: each } }) => each.id === 'confirm.yes');
      if (isForm || asks) await screen.press(asks ? 'y' : 'enter');
      await wire.quiet();
      const refused = windowOn(screen);
      if (refused && screen.text().includes('It was refused')) {
        expectInside(screen, refused, frame);
        const inside = linesOf(screen)
          .slice(refused.top + 1, refused.bottom)
          .map(line =>
            line
              .slice(refused.left + 1, refused.right)
              .join('')
              .trim(),
          );
        expect(inside.join(''), screen.text()).toContain(requestId);
        await screen.press('ctrl-y');
        expect(atob(sent.at(-1)?.match(/;c;([^\u0007]*)/)?.[1] ?? '')).toBe(requestId);
      }
      for (let tries = 0; tries < 3 && windowOn(screen); tries += 1) await screen.press('esc');
      expect(windowOn(screen), screen.text()).toBeUndefined();
    }
    expect(failed.map(({ error }) => (error instanceof Error ? error.stack : error))).toEqual([]);
  });
});
