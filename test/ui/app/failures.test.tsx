/** A part of the program fails: the rest stays, a report is written, and no source code is shown. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Box, Text } from 'ink';
import { type ReactNode, useEffect, useState } from 'react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redactor } from '../../../src/config/redaction.ts';
import type { Command } from '../../../src/present/command.ts';
import type { Place } from '../../../src/resources/place.ts';
import { ProgramBoundary } from '../../../src/ui/app/failure-boundary.tsx';
import { Failures, formatFailure } from '../../../src/ui/app/failures.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import type { Registry, ViewDefinition } from '../../../src/ui/app/registry.ts';
import { useShell } from '../../../src/ui/app/shell-context.tsx';
import { writeCrashReport } from '../../../src/ui/app/terminal/crash-report.ts';
import type { TerminalPort } from '../../../src/ui/app/terminal-port.ts';
import { View } from '../../../src/ui/app/view.tsx';
import type { MouseEvent } from '../../../src/ui/keys/mouse.ts';
import { useMouseRegion } from '../../../src/ui/keys/mouse-regions.tsx';
import { type Binding, KeyScope } from '../../../src/ui/keys/router.tsx';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { openScreen } from '../../screen.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';

const secret = 'hunter2hunter2';
/** A word that is only in this file: a screen that shows it shows source code. */
const sourceMark = 'FAILS_ON_PURPOSE';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-failures-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const command = (id: string, key: string): Command => ({ id, title: id, keys: [key], group: 'Test' });

/** Set by a test to make the view fail from then on. */
let broken = false;
let explosions = 0;
const explode = (): never => {
  explosions += 1;
  throw new Error(`broken with ${secret}`); // FAILS_ON_PURPOSE
};

function Sound() {
  const shell = useShell();
  const bindings: Binding[] = ['render', 'effect', 'handlers', 'late-effect'].map((view, index) => ({
    command: command(`open.${view}`, String(index + 1)),
    run: () => shell.open(placeOf(view)),
  }));
  return <View bindings={bindings} main={<Text>the sound view</Text>} />;
}

function FailsInRender() {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setTicks(count => count + 1), 5);
    return () => clearTimeout(timer);
  }, []);
  // A scope inside: it must not keep its keys when its view is gone.
  return (
    <KeyScope bindings={[{ command: command('ghost', 'z'), run: () => explode() }]}>
      {broken && ticks >= 0 ? explode() : <View main={<Text>drawn well</Text>} />}
    </KeyScope>
  );
}

function FailsInEffect() {
  useEffect(() => {
    if (broken) explode();
  });
  return <View main={<Text>effect went well</Text>} />;
}

function FailsInHandlers() {
  const shell = useShell();
  const region = useMouseRegion({ onClick: () => explode() });
  const show = (id: string, render: (close: () => void) => ReactNode): void => shell.showOverlay(id, render);
  return (
    <View
      bindings={[
        { command: command('throws', 't'), run: () => explode() },
        { command: command('rejects', 'a'), run: async () => explode() },
        { command: command('window', 'w'), run: () => show('bad', () => explode()) },
        { command: command('component', 'c'), run: () => show('bad', () => <Broken />) },
      ]}
      main={
        <Box ref={region}>
          <Text>the view with keys</Text>
        </Box>
      }
    />
  );
}

function Broken(): ReactNode {
  return broken ? explode() : <Text>the window is well now</Text>;
}

const placeOf = (resource: string): Place => ({ view: 'list', resource });
const view = (name: string, component: ViewDefinition['component']): ViewDefinition => ({
  id: `list ${name}`,
  title: name,
  component,
  commands: [],
  general: [],
});

const registry: Registry = {
  home: placeOf('sound'),
  sections: [{ title: 'sound', names: ['sound'], place: placeOf('sound') }],
  views: [
    view('sound', Sound),
    view('render', FailsInRender),
    view('effect', FailsInEffect),
    view('handlers', FailsInHandlers),
  ],
};

function open(start?: string, shown = registry) {
  const failures = new Failures({
    write: (error, details) => writeCrashReport(folder, error, redactor([secret]), details),
    redact: redactor([secret]),
  });
  let quits = 0;
  const mice = new Set<(event: MouseEvent) => void>();
  const terminal: TerminalPort = {
    writeRaw: () => {},
    runExternal: async () => 0,
    suspend: () => {},
    quit: () => {
      quits += 1;
    },
    repaint: () => {},
    failures,
    mouse: {
      subscribe: listener => {
        mice.add(listener);
        return () => mice.delete(listener);
      },
    },
  };
  const workbench = newWorkbench({ service: () => new Promise(() => {}) });
  const screen = openScreen(
    <ProgramBoundary failures={failures} onQuit={terminal.quit}>
      <Program
        workbench={workbench}
        theme={createTheme()}
        registry={shown}
        terminal={terminal}
        {...(start && { start: placeOf(start) })}
      />
    </ProgramBoundary>,
    { columns: 140, rows: 24 },
  );
  return {
    screen,
    click: (column: number, row: number) => {
      for (const listener of mice)
        listener({ kind: 'press', button: 'left', column, row, shift: false, alt: false, ctrl: false });
    },
    quits: () => quits,
    close: () => {
      screen.close();
      workbench.close();
    },
  };
}

const reports = (): string[] => readdirSync(folder).filter(name => name.startsWith('crash-'));

function expectReport(): void {
  const [name = ''] = reports();
  expect(reports()).toHaveLength(1);
  const report = readFileSync(join(folder, name), 'utf8');
  expect(report).toContain('broken with [redacted]');
  expect(report).toContain('failures.test.tsx');
  expect(report).not.toContain(secret);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
}

function expectNoSource(text: string): void {
  expect(text).not.toContain(secret);
  expect(text).not.toContain(sourceMark);
  expect(text).not.toContain('throw new');
}

describe('a view that fails while drawn', () => {
  it('is replaced by the error and the path of the report; a retry draws it again', async () => {
    broken = true;
    const { screen, close } = open();
    await screen.waitFor('the sound view');
    await screen.press('1');
    await screen.waitFor('This view failed: broken with [redacted].');
    expect(screen.text().replaceAll(/\s*│\s*/g, '')).toContain(reports()[0]);
    // The hints follow with the next frame: a view's keys are known once it has been drawn.
    await screen.waitFor('<r> try again');
    expect(screen.text()).toContain('<esc> back');
    expect(screen.text()).toContain('sound › render');
    expectNoSource(screen.text());
    expectReport();
    // The keys of the failed view are gone with it.
    await screen.press('z');
    expect(screen.text()).not.toContain('Failed:');
    const before = explosions;
    await screen.press('r');
    await screen.waitFor(text => explosions > before && text.includes('This view failed'));
    expect(reports()).toHaveLength(1);
    broken = false;
    await screen.press('r');
    await screen.waitFor('drawn well');
    close();
  });

  it('can be left with esc, and by the sections', async () => {
    broken = true;
    const { screen, close } = open();
    await screen.waitFor('the sound view');
    await screen.press('1');
    await screen.waitFor('This view failed');
    await screen.press('esc');
    await screen.waitFor('the sound view');
    await screen.press('1');
    await screen.waitFor('This view failed');
    await screen.press('left', 'enter');
    await screen.waitFor('the sound view');
    close();
  });

  it('offers no way back if there is none', async () => {
    broken = true;
    const { screen, close } = open('render');
    await screen.waitFor('This view failed');
    await screen.waitFor('<r> try again');
    expect(screen.text()).not.toContain('<esc> back');
    close();
  });
});

describe('a view that fails in an effect', () => {
  it('is replaced too', async () => {
    broken = true;
    const { screen, close } = open();
    await screen.waitFor('the sound view');
    await screen.press('2');
    await screen.waitFor('This view failed: broken with [redacted].');
    expectReport();
    broken = false;
    await screen.press('enter');
    await screen.waitFor('effect went well');
    close();
  });
});

describe('a view whose handlers fail', () => {
  it.each([
    ['a key', 't'],
    ['the promise of a key', 'a'],
  ])('reports it in a line and stays: %s', async (_, key) => {
    const { screen, close } = open('handlers');
    await screen.waitFor('the view with keys');
    await screen.press(key);
    await screen.waitFor('Failed: broken with [redacted].');
    expect(screen.text()).toContain(`${reports()[0]} `);
    expect(screen.text()).toContain('the view with keys');
    expectNoSource(screen.text());
    expectReport();
    close();
  });

  it('reports it for the mouse, too', async () => {
    const { screen, click, close } = open('handlers');
    await screen.waitFor('the view with keys');
    const row = screen
      .text()
      .split('\n')
      .findIndex(line => line.includes('the view with keys'));
    click(screen.line(row).indexOf('the view'), row);
    await screen.waitFor('Failed: broken with [redacted].');
    expectReport();
    close();
  });
});

describe('a window that fails', () => {
  it.each(['w', 'c'])('reports it in its place, and closes', async key => {
    broken = true;
    const { screen, close } = open('handlers');
    await screen.waitFor('the view with keys');
    await screen.press(key);
    await screen.waitFor('This window failed: broken with [redacted].');
    expectNoSource(screen.text());
    expectReport();
    // It has the keys.
    await screen.press('t');
    expect(screen.text()).not.toContain('Failed:');
    await screen.press('esc');
    await screen.waitFor(text => !text.includes('This window failed'));
    expect(screen.text()).toContain('the view with keys');
    close();
  });

  it('can be retried', async () => {
    broken = true;
    const { screen, close } = open('handlers');
    await screen.waitFor('the view with keys');
    await screen.press('c');
    await screen.waitFor('This window failed');
    broken = false;
    await screen.press('r');
    await screen.waitFor('the window is well now');
    close();
  });
});

describe('the frame itself', () => {
  it('is replaced by a plain message, with keys to retry or quit', async () => {
    broken = true;
    const failing = registry.views.map(each => ({ ...each, crumb: () => (broken ? explode() : 'well') }));
    const { screen, quits, close } = open(undefined, { ...registry, views: failing });
    await screen.waitFor('The screen failed: broken with [redacted].');
    expectNoSource(screen.text());
    expectReport();
    expect(screen.text()).not.toContain('ERROR');
    await screen.press('q');
    expect(quits()).toBe(1);
    await screen.press('ctrl-c');
    expect(quits()).toBe(2);
    broken = false;
    await screen.press('r');
    await screen.waitFor('the sound view');
    close();
  });
});

describe('the message of a failure', () => {
  it('never contains source code, which V8 writes into some errors', () => {
    const styles: Record<string, { readonly name: string }> = {};
    const thrown = (work: () => unknown): unknown => {
      try {
        return work();
      } catch (error) {
        return error;
      }
    };
    const error = thrown(() => (styles as unknown as { frobnicate: () => void }).frobnicate());
    expect(String(error)).toContain('frobnicate');
    expect(formatFailure(error)).toBe('internal error (TypeError)');
    expect(formatFailure(new Error('no such file\nconst a = 1;'))).toBe('no such file');
    expect(formatFailure(new Error('\u001b[31mred'))).toBe('red');
    expect(formatFailure(undefined)).toBe('undefined');
    expect(formatFailure(new Error(''))).toBe('internal error');
    expect(formatFailure(new Error('x'.repeat(9_000))).length).toBeLessThan(300);
  });
});

describe('a report', () => {
  it('is written once for each place that fails, however it was reached', async () => {
    const written: unknown[] = [];
    const failures = new Failures({ write: error => `report ${written.push(error)}`, redact: text => text });
    const lookUp = (id: string): Error => new Error(`no view ${id}`);
    const draw = (id: string): Error => lookUp(id);
    const byKey = (id: string): Error => draw(id);
    const first = failures.record(draw('a'));
    expect(failures.record(byKey('a'))).toBe(first);
    expect(failures.record(await Promise.resolve('a').then(draw))).toBe(first);
    expect(written).toHaveLength(1);
    // Another message and another place are another failure.
    expect(failures.record(draw('b')).words).toBe('no view b');
    expect(failures.record(lookUp('a')).report).toBe('report 3');
  });
});

describe('failures that the screen cannot show', () => {
  const quiet = () => new Failures({ write: () => undefined, redact: text => text });

  it('end the program if no screen shows them', () => {
    expect(quiet().announce(new Error('early'))).toBe(false);
  });

  it('end the program if they come faster than frames', () => {
    const failures = quiet();
    const seen: string[] = [];
    failures.subscribe(({ words }) => seen.push(words));
    const survived = Array.from({ length: 60 }, () => failures.announce(new Error('again')));
    expect(survived.indexOf(false)).toBe(50);
    expect(seen).toHaveLength(50);
  });
});
