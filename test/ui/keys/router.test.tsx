import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { useLayoutEffect, useReducer, useState } from 'react';
import { describe, expect, it } from 'vitest';
import type { Command } from '../../../src/present/command.ts';
import type { KeyPress } from '../../../src/ui/keys/key.ts';
import { type Offer, Router } from '../../../src/ui/keys/key-router.ts';
import {
  type Binding,
  createFloodGauge,
  KeyRouter,
  KeyScope,
  useOffered,
  useRouter,
} from '../../../src/ui/keys/router.tsx';
import { eventually } from '../../eventually.ts';

const command = (id: string, ...keys: string[]): Command => ({ id, title: id, keys, group: 'Test' });
const idsOf = (offered: readonly Offer[]): readonly string[] => offered.map(({ binding }) => binding.command.id);
const press = (name: string) => ({ name, text: name });

function recorder() {
  const ran: string[] = [];
  const bind = (id: string, key: string, more: Partial<Binding> = {}): Binding => ({
    command: command(id, key),
    run: () => void ran.push(id),
    ...more,
  });
  return { ran, bind };
}

describe('createFloodGauge', () => {
  it('takes as a paste what no fingers can type, and what comes right after it', () => {
    const isFlood = createFloodGauge();
    const reads: readonly (readonly [characters: number, at: number])[] = [
      [300, 0],
      [4_095, 1_000],
      [4_095, 1_030],
      [200, 1_060],
      [1, 1_070],
      [12, 1_075],
      [12, 1_300],
      [4_095, 2_000],
      [1, 2_010],
      [1, 2_020],
      [4_095, 3_000],
      [1, 3_100],
    ];
    expect(reads.map(([characters, at]) => isFlood('x'.repeat(characters), at))).toEqual([
      false,
      true,
      true,
      true,
      false,
      true,
      false,
      // The rest of a paste that filled one read, and a key behind it (U41).
      true,
      true,
      false,
      true,
      false,
    ]);
  });
});

describe('Router', () => {
  const router = () => new Router({ overrides: {}, readOnly: false });

  it('asks the deepest active scope first and bubbles unhandled keys', () => {
    const { ran, bind } = recorder();
    const keys = router();
    keys.set('root', { bindings: [bind('root.x', 'x'), bind('root.y', 'y')] });
    keys.set('pane', { parent: 'root', bindings: [bind('pane.x', 'x')] });
    expect([keys.press(press('x')), keys.press(press('y')), keys.press(press('z'))]).toEqual([true, true, false]);
    expect(ran).toEqual(['pane.x', 'root.y']);
  });

  it('runs the hook before a command, by its key or otherwise', () => {
    const { ran, bind } = recorder();
    const keys = router();
    const open = bind('open', 'x', { before: () => void ran.push('before') });
    keys.set('root', { bindings: [open] });
    keys.press(press('x'));
    keys.run(open, press('enter'));
    expect(ran).toEqual(['before', 'open', 'before', 'open']);
  });

  it('holds keys while something is on its way, and loses none', () => {
    const { ran, bind } = recorder();
    const keys = router();
    const release = keys.hold();
    const draw = (then: () => void): void => then();
    keys.send([press('x'), press('y')], draw);
    expect(ran).toEqual([]);
    keys.set('view', { bindings: [bind('x', 'x'), bind('y', 'y')] });
    release();
    release();
    expect(ran).toEqual(['x', 'y']);
  });

  it('takes an unused key with alt as an escape and a key, which look the same on a slow line', () => {
    const { ran, bind } = recorder();
    const keys = new Router({ overrides: { 'no.where': ['alt-y'] }, readOnly: false });
    const close: Binding = {
      command: command('close', 'esc'),
      run: () => {
        ran.push('close');
        keys.remove('window');
      },
    };
    const open = (): void => {
      ran.length = 0;
      keys.set('root', { bindings: [bind('palette', ':'), bind('tree', 't'), bind('word', 'alt-b')] });
      keys.set('window', { parent: 'root', modal: true, bindings: [close, bind('form.t', 't')] });
    };
    const ranBy = (...names: string[]): readonly string[] => {
      open();
      keys.send(
        names.map(name => ({ name, text: name.length === 1 ? name : '', escaped: name.startsWith('alt-') })),
        then => then(),
      );
      return [...ran];
    };
    expect(ranBy('alt-:', 't')).toEqual(['close', 'palette', 'tree']);
    // A command, here or elsewhere, has the key; or a sequence of the terminal begins so.
    keys.remove('window');
    expect(ranBy('esc', 'alt-b')).toEqual(['close', 'word']);
    expect(ranBy('alt-y', 't')).toEqual(['form.t']);
    expect(ranBy('alt-[', 't')).toEqual(['form.t']);
  });

  it('gives a paste to what the keys before it open, and the keys after it to what it leaves', () => {
    const { ran, bind } = recorder();
    const keys = router();
    const drawings: (() => void)[] = [];
    const draw = (then: () => void): void => void drawings.push(then);
    keys.set('root', {
      bindings: [bind('open', ':')],
      onPaste: () => {
        ran.push('pasted below');
        return true;
      },
    });
    keys.send([press(':')], draw);
    keys.sendPaste('runs', draw);
    keys.send([press('x')], draw);
    expect(ran).toEqual(['open']);
    keys.set('palette', {
      parent: 'root',
      modal: true,
      bindings: [bind('accept', 'x')],
      onPaste: text => {
        ran.push(`pasted ${text}`);
        return true;
      },
    });
    drawings.shift()?.();
    expect(ran).toEqual(['open', 'pasted runs']);
    drawings.shift()?.();
    expect(ran).toEqual(['open', 'pasted runs', 'accept']);
  });

  it('holds a paste for what is on its way, like keys', () => {
    const keys = router();
    const pasted: string[] = [];
    const release = keys.hold();
    keys.sendPaste('an id', then => then());
    keys.set('view', { onPaste: text => pasted.push(text) > 0 });
    expect(pasted).toEqual([]);
    release();
    expect(pasted).toEqual(['an id']);
  });

  it('types the characters of one read at once, and stops if another scope handles one of them', () => {
    const { ran, bind } = recorder();
    const keys = router();
    const typed: string[] = [];
    const field = {
      takes: ({ text }: KeyPress) => text !== '' && !/\d/.test(text),
      type: ({ text }: KeyPress) => void typed.push(text),
    };
    keys.set('root', { bindings: [bind('one', '1')] });
    keys.set('form', { parent: 'root', bindings: [bind('submit', 'enter'), bind('a', 'a')], field });
    keys.set('window', { parent: 'form', bindings: [bind('x', 'x')] });
    const long = 'b'.repeat(100_000);
    const enter = { name: 'enter', text: '' };
    keys.send([...`a${long}x1c`].map(press).concat(enter, press('d')), then => then());
    expect(typed).toEqual([`a${long}`, 'c', 'd']);
    expect(ran).toEqual(['x', 'one', 'submit']);
  });

  it('counts repeated presses for a command that uses them, and no more (R9)', () => {
    const counts: number[] = [];
    const ran: string[] = [];
    const keys = router();
    const next = { ...command('next', ']'), counts: true };
    keys.set('view', {
      bindings: [
        { command: next, run: ({ count = 1 }) => void counts.push(count) },
        { command: command('down', 'j'), run: () => void ran.push('down') },
      ],
    });
    const draws: (() => void)[] = [];
    keys.send([...']]]]]j]'].map(press), then => draws.push(then));
    expect([counts, ran]).toEqual([[5], []]);
    draws.shift()?.();
    expect(ran).toEqual(['down']);
    draws.shift()?.();
    expect(counts).toEqual([5, 1]);
    keys.press(press(']'));
    expect(counts).toEqual([5, 1, 1]);
  });

  it('does not count what a field takes as text (R9)', () => {
    const typed: string[] = [];
    const keys = router();
    keys.set('view', {
      bindings: [{ command: { ...command('next', ']'), counts: true }, run: () => {} }],
    });
    keys.set('field', { parent: 'view', field: { takes: () => true, type: ({ text }) => void typed.push(text) } });
    keys.send([...']]]'].map(press), () => {});
    expect(typed).toEqual([']]]']);
  });

  it('names the command that a read-only program does not run, if nothing else has its key', () => {
    const { ran, bind } = recorder();
    const keys = new Router({ overrides: { 'view.delete': ['D'] }, readOnly: true });
    const refused: string[] = [];
    const leave = keys.onRefused(({ command: { id } }) => refused.push(id));
    const writing = (id: string, key: string) => bind(id, key, { command: { ...command(id, key), writes: true } });
    keys.set('root', { bindings: [bind('root.e', 'e')] });
    keys.set('view', {
      parent: 'root',
      bindings: [
        writing('view.delete', 'd'),
        writing('view.edit', 'e'),
        { ...writing('view.stop', 's'), enabled: false },
      ],
    });
    expect(['D', 'e', 's', 'd'].map(key => keys.press(press(key)))).toEqual([false, true, false, false]);
    expect([refused, ran]).toEqual([['view.delete'], ['root.e']]);
    leave();
    keys.press(press('D'));
    expect(refused).toHaveLength(1);
  });

  it('says why a command is disabled, if nothing else has its key', () => {
    const { ran, bind } = recorder();
    const keys = new Router({ overrides: {}, readOnly: false });
    const refused: unknown[] = [];
    keys.onRefused(({ command: { id }, why }) => refused.push([id, why]));
    keys.set('root', { bindings: [bind('root.e', 'e')] });
    keys.set('view', {
      parent: 'root',
      bindings: [bind('view.cancel', 'c', { why: 'It has ended' }), bind('view.edit', 'e', { why: 'It has ended' })],
    });
    expect(['c', 'e'].map(key => keys.press(press(key)))).toEqual([false, true]);
    expect([refused, ran]).toEqual([[['view.cancel', 'It has ended']], ['root.e']]);
    expect(keys.offered().map(({ binding }) => binding.command.id)).toEqual(['root.e']);
  });

  it('withdraws the refusal of a digit once more digits follow', () => {
    const { bind } = recorder();
    const keys = new Router({ overrides: {}, readOnly: false });
    const refused: unknown[] = [];
    keys.onRefused(({ why, isNumber }) => refused.push([why, isNumber]));
    keys.set('view', {
      bindings: [bind('flag', '', { command: command('flag', '1', '2'), why: 'It is a file' })],
    });
    keys.send(['1', '2', '0'].map(press), () => {});
    expect(refused).toEqual([
      ['It is a file', undefined],
      ['It is a file', true],
    ]);
  });

  it('reports a handler that fails, and gives its key to no other', async () => {
    const { ran, bind } = recorder();
    const failed: unknown[] = [];
    const keys = new Router({ overrides: {}, readOnly: false, onFailure: error => failed.push(error) });
    const fail = (): never => {
      throw new Error('broken');
    };
    keys.set('root', { bindings: [bind('root.x', 'x'), bind('root.y', 'y')] });
    keys.set('view', {
      parent: 'root',
      bindings: [bind('view.x', 'x', { run: fail }), bind('view.y', 'y', { run: async () => fail() })],
      onPaste: fail,
    });
    expect([keys.press(press('x')), keys.press(press('y')), keys.paste('text')]).toEqual([true, true, true]);
    await eventually(() => expect(failed).toHaveLength(3));
    expect(ran).toEqual([]);
  });

  it('gives keys to the inner of two windows, whichever came first', () => {
    const { ran, bind } = recorder();
    const keys = router();
    keys.set('inner', { parent: 'outer', modal: true, bindings: [bind('inner', 'x')] });
    keys.set('outer', { parent: 'root', modal: true, bindings: [bind('outer', 'x'), bind('outer', 'y')] });
    keys.set('root', {});
    expect([keys.press(press('x')), keys.press(press('y'))]).toEqual([true, false]);
    expect(ran).toEqual(['inner']);
  });

  it('skips an inactive scope and everything in it', () => {
    const { ran, bind } = recorder();
    const keys = router();
    keys.set('root', { bindings: [bind('root', 'x')] });
    keys.set('pane', { parent: 'root', active: false, bindings: [bind('pane', 'x')] });
    keys.set('list', { parent: 'pane', bindings: [bind('list', 'x')] });
    keys.press(press('x'));
    expect(ran).toEqual(['root']);
  });

  it('passes nothing beyond a modal scope', () => {
    const { ran, bind } = recorder();
    const keys = router();
    keys.set('root', { bindings: [bind('quit', 'q')] });
    keys.set('pane', { parent: 'root', bindings: [bind('down', 'j')] });
    keys.set('dialog', { parent: 'root', modal: true, bindings: [bind('ok', 'y')] });
    expect([keys.press(press('q')), keys.press(press('j')), keys.press(press('y'))]).toEqual([false, false, true]);
    keys.remove('dialog');
    keys.press(press('q'));
    expect(ran).toEqual(['ok', 'quit']);
  });

  it('gives a guarded scope no keys of the read that opened it, and all later ones', () => {
    const { ran, bind } = recorder();
    const keys = router();
    const draw = (then: () => void): void => then();
    const open = (): void =>
      keys.set('window', { parent: 'root', modal: true, guarded: true, bindings: [bind('yes', 'y')] });
    keys.set('root', { bindings: [{ command: command('delete', 'd'), run: open }] });
    const read = (text: string, at: number) => [...text].map(key => ({ ...press(key), at }));
    keys.send(read('dyy', 1), draw);
    expect(ran).toEqual([]);
    keys.send(read('yy', 2), draw);
    expect(ran).toEqual(['yes', 'yes']);
  });

  it('passes a key on if the binding declines it', () => {
    const { ran, bind } = recorder();
    const keys = router();
    keys.set('root', { bindings: [bind('root', 'esc')] });
    keys.set('list', { parent: 'root', bindings: [{ ...bind('list', 'esc'), run: () => false }] });
    expect(keys.press(press('esc'))).toBe(true);
    expect(ran).toEqual(['root']);
  });

  it('gives text to a field before any binding', () => {
    const { ran, bind } = recorder();
    const typed: string[] = [];
    const keys = router();
    keys.set('root', { bindings: [bind('quit', 'q')] });
    keys.set('field', {
      parent: 'root',
      field: { takes: ({ text }) => text !== '', type: ({ text }) => void typed.push(text) },
    });
    keys.press(press('q'));
    expect([typed, ran]).toEqual([['q'], []]);
  });

  it('redraws before and after every command except repeatable moves', () => {
    const { ran, bind } = recorder();
    const keys = router();
    const drawings: (() => void)[] = [];
    const down = { ...command('down', 'j'), repeats: true };
    keys.set('root', {
      bindings: [{ ...bind('down', 'j'), command: down }, bind('open', 'enter')],
    });
    keys.send(['j', 'j', 'enter', 'j'].map(press), then => drawings.push(then));
    expect(ran).toEqual(['down', 'down']);
    drawings.shift()?.();
    expect(ran).toEqual(['down', 'down', 'open']);
    keys.send([press('enter')], then => drawings.push(then));
    drawings.shift()?.();
    expect(ran).toEqual(['down', 'down', 'open', 'down']);
    drawings.shift()?.();
    expect(ran).toEqual(['down', 'down', 'open', 'down', 'open']);
  });

  it('removes commands that write in read-only mode and follows overrides', () => {
    const { ran, bind } = recorder();
    const keys = new Router({ overrides: { open: ['o'] }, readOnly: true });
    keys.set('root', {
      bindings: [bind('open', 'enter'), { ...bind('drop', 'd'), command: { ...command('drop', 'd'), writes: true } }],
    });
    expect([keys.press(press('o')), keys.press(press('enter')), keys.press(press('d'))]).toEqual([true, false, false]);
    expect(ran).toEqual(['open']);
    expect(idsOf(keys.offered())).toEqual(['open']);
  });

  it('offers no key that would be typed, and of several keys the ones that work', () => {
    const keys = router();
    const both = command('model', 'm', 'ctrl-o');
    keys.set('root', {
      bindings: [
        { command: command('help', '?'), run: () => {} },
        { command: command('page', 'space', 'pagedown'), run: () => {} },
        { command: command('pane', 'left', 'alt-left'), run: () => {} },
      ],
    });
    const field = { takes: ({ name, text }: KeyPress) => text !== '' || name === 'left', type: () => {} };
    const inField = [both, command('send', 'enter'), command('to the start', 'left')];
    keys.set('field', { parent: 'root', bindings: inField.map(each => ({ command: each, run: () => {} })), field });
    const offered = (): object =>
      Object.fromEntries(keys.offered().map(({ binding, keys: each }) => [binding.command.id, each]));
    expect(offered()).toEqual({
      model: ['ctrl-o'],
      send: ['enter'],
      'to the start': ['left'],
      page: ['pagedown'],
      pane: ['alt-left'],
    });
    let changes = 0;
    keys.subscribe(() => {
      changes += 1;
    });
    keys.set('field', { parent: 'root', bindings: inField.map(each => ({ command: each, run: () => {} })) });
    expect(changes).toBe(1);
    expect(offered()).toMatchObject({ model: ['m', 'ctrl-o'], help: ['?'], pane: ['alt-left'] });
  });

  it('does not offer a key of an outer scope that an inner one handles', () => {
    const { bind } = recorder();
    const keys = router();
    keys.set('root', { bindings: [bind('back', 'esc'), bind('quit', 'q')] });
    keys.set('field', { parent: 'root', bindings: [bind('clear', 'esc')] });
    expect(idsOf(keys.offered())).toEqual(['clear', 'quit']);
  });

  it('notifies its listeners only when its hints change', () => {
    const { bind } = recorder();
    const keys = router();
    let calls = 0;
    keys.set('root', { bindings: [bind('quit', 'q')] });
    keys.subscribe(() => {
      calls += 1;
    });
    const [first] = keys.offered();
    const binding = { ...bind('quit', 'q'), ...(first && { command: first.binding.command }) };
    keys.set('root', { bindings: [binding] });
    expect(calls).toBe(0);
    // The bindings that React has read stay the same (U47); a press runs the latest ones.
    expect(keys.offered()[0]).toBe(first);
    expect(keys.offers()[0]?.binding).toBe(binding);
    keys.set('root', { bindings: [] });
    expect(calls).toBe(1);
  });
});

const down: Command = { ...command('down', 'j'), repeats: true };
const pick = command('pick', 'enter');

function Counter() {
  const [state, dispatch] = useReducer(
    (old: { at: number; picked: number }, action: 'down' | 'pick') =>
      action === 'down' ? { ...old, at: old.at + 1 } : { ...old, picked: old.at },
    { at: 0, picked: -1 },
  );
  const offered = idsOf(useOffered());
  return (
    <KeyScope
      bindings={[
        { command: down, run: () => dispatch('down') },
        { command: pick, run: () => dispatch('pick') },
      ]}
    >
      <Text>{`${state.at} ${state.picked} ${offered.join(',')}`}</Text>
    </KeyScope>
  );
}

const close = command('close', 'x');
const act = command('act', 'a');

/** A window over something, which a key closes; `hold` lets the keys wait as a window does that is still being loaded. */
function Over({ ran, hold }: { ran: string[]; hold: (router: Router) => void }) {
  const [isOpen, setOpen] = useState(true);
  const router = useRouter();
  useLayoutEffect(() => hold(router), [hold, router]);
  return (
    <KeyScope bindings={[{ command: act, run: () => void ran.push('act') }]}>
      {isOpen ? (
        <KeyScope modal bindings={[{ command: close, run: () => setOpen(false) }]}>
          <Text>window</Text>
        </KeyScope>
      ) : (
        <Text>closed</Text>
      )}
    </KeyScope>
  );
}

const recordedKeys = ['esc', ':', 'j', 'u', 't', '[', '\\', 'down', 'tab', 'enter', 'ctrl-u'];

/** Records its keys, and the characters of its field. */
function Recorded({ ran, hasField }: { readonly ran: string[]; readonly hasField: boolean }) {
  const type = ({ text }: KeyPress): void => void ran.push(text);
  return (
    <KeyScope
      bindings={recordedKeys.map(key => ({
        command: { ...command(key, key), repeats: true },
        run: () => void ran.push(key),
      }))}
      {...(hasField && { field: { takes: ({ text }: KeyPress) => text !== '', type } })}
    />
  );
}

describe('KeyRouter', () => {
  it.each([
    // Over a slow line: what follows, or does no harm, is meant for what the escape leaves.
    ['\x1b:', ['esc', ':'], ['esc', ':']],
    ['\x1b\x1b[B', ['esc', 'down'], ['esc', 'down']],
    ['\x1b\t', ['esc', 'tab'], ['esc', 'tab']],
    ['\x1b\rj', ['esc', 'enter', 'j'], ['esc', 'enter', 'j']],
    ['\x1b\x15j', ['esc', 'ctrl-u', 'j'], ['esc', 'ctrl-u', 'j']],
    ['\x1bjt', ['esc', 'j', 't'], ['esc', 'jt']],
    // Alt, alone or held; in a field, alt-u is readline's even if other keys follow.
    ['\x1b\r', [], []],
    ['\x1b\x15', [], []],
    ['\x1bu', [], []],
    ['\x1bj\x1bj', [], []],
    ['\x1but', ['esc', 'u', 't'], ['t']],
    // The terminal reports alt as a modifier.
    ['\x1b[106;3ut', ['t'], ['t']],
    ['\x1b[58;3u', [], []],
    ['\x1b[1;3B', [], []],
    // The end of a reply of the terminal.
    ['\x1b\\t', ['t'], ['t']],
  ])('reads %j as an escape and a key only where that is safe', async (bytes, inList, inField) => {
    for (const [hasField, expected] of [[false, inList] as const, [true, inField] as const]) {
      const ran: string[] = [];
      const { stdin, unmount } = render(
        <KeyRouter>
          <Recorded ran={ran} hasField={hasField} />
        </KeyRouter>,
      );
      await Promise.resolve();
      stdin.write(bytes);
      await new Promise(setImmediate);
      expect(ran, hasField ? 'in a field' : 'in a list').toEqual(expected);
      unmount();
    }
  });
});

describe('KeyScope', () => {
  it('gives the key after the one that closed a window to what is below, even if they had to wait', async () => {
    const ran: string[] = [];
    let release = (): void => {};
    const hold = (router: Router): void => {
      release = router.hold();
    };
    const { stdin, lastFrame, unmount } = render(
      <KeyRouter>
        <Over ran={ran} hold={hold} />
      </KeyRouter>,
    );
    await Promise.resolve();
    stdin.write('xa');
    await new Promise(setImmediate);
    expect(ran).toEqual([]);
    // Not from within an event of the terminal, after which React would tidy up at once.
    setImmediate(release);
    await eventually(() => expect(ran).toEqual(['act']));
    expect(lastFrame()).toBe('closed');
    unmount();
  });

  it('says when a key was read, even if it had to wait', async () => {
    const reads: (number | undefined)[] = [];
    let release = (): void => {};
    function Waiting() {
      const router = useRouter();
      useLayoutEffect(() => {
        release = router.hold();
      }, [router]);
      return <KeyScope bindings={[{ command: act, run: ({ at }) => void reads.push(at) }]} />;
    }
    const { stdin, unmount } = render(
      <KeyRouter>
        <Waiting />
      </KeyRouter>,
    );
    await Promise.resolve();
    stdin.write('a');
    await new Promise(setImmediate);
    const typed = performance.now();
    stdin.write('a');
    setImmediate(release);
    await eventually(() => expect(reads).toHaveLength(2));
    expect(reads[0]).toBeLessThan(typed);
    expect(reads[1]).toBeGreaterThanOrEqual(typed);
    unmount();
  });

  it('moves 100 rows for 100 keys of one read, and picks the last one', async () => {
    const { stdin, lastFrame, unmount } = render(
      <KeyRouter>
        <Counter />
      </KeyRouter>,
    );
    await Promise.resolve();
    stdin.write('j'.repeat(100));
    stdin.write('\r');
    await eventually(() => expect(lastFrame()).toBe('100 100 down,pick'));
    unmount();
  });
});
