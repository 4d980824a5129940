/** The window of a form: sent once, stopped by esc, and typed values stay. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { action } from '../../../src/queries/action.ts';
import { CancelledError, NetworkError } from '../../../src/service/errors.ts';
import type { Service } from '../../../src/service/index.ts';
import type { CallOptions } from '../../../src/service/options.ts';
import { FormWindow } from '../../../src/ui/windows/form-window.tsx';
import { fakeService } from '../../service/fake-service.ts';
import { openOnStage } from '../stage.tsx';

const neverAborted = new AbortController().signal;

function openForm(
  send: (signal: AbortSignal) => Promise<string>,
  service?: () => Promise<Service>,
  { summary, sentBefore, ...size }: { summary?: string; sentBefore?: number; columns?: number; rows?: number } = {},
) {
  const onDone = vi.fn();
  const start = action((_: Service, __: unknown, { signal }: CallOptions = {}) => send(signal ?? neverAborted), {
    touches: [],
  });
  const screen = openOnStage(
    close => (
      <FormWindow
        title="Start something"
        fields={[{ kind: 'text', name: 'name', label: 'Name', initial: 'tea' }]}
        action={start}
        draft="a form"
        inputOf={values => values['name']}
        summary={summary === undefined ? undefined : () => summary}
        {...(sentBefore !== undefined && { sentBefore: () => sentBefore })}
        onDone={onDone}
        onClose={close}
      />
    ),
    { ...(service && { service }), ...size },
  );
  return { screen, onDone };
}

const untilAborted = (signal: AbortSignal): Promise<string> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () =>
      reject(new CancelledError('Cancelled. It may have happened: look first.', { outcomeUnknown: true })),
    );
  });

describe('a form', () => {
  describe('with a long summary in a small terminal', () => {
    const summary = `1 run x 28 tasks, as in ${'a run with a long name '.repeat(20)}; about $0.41`;
    const small = { summary, columns: 60, rows: 15 };

    it('shows its end, with the cost', async () => {
      const { screen } = openForm(async () => 'started', undefined, small);
      await screen.waitFor('; about $0.41');
      expect(screen.text()).toMatch(/Name[^…]*tea[^…]*│ … /);
    });

    it('asks before it resends, and keeps the cost (rev38ui A1)', async () => {
      const send = vi.fn(async () => 'started');
      const { screen, onDone } = openForm(send, undefined, { ...small, sentBefore: Date.now() - 60_000 });
      await screen.waitFor('; about $0.41');
      await screen.press('enter');
      await screen.waitFor('without a response: press enter again');
      expect(screen.text()).toContain('; about $0.41');
      expect(send).not.toHaveBeenCalled();
      await screen.press('enter');
      await screen.waitFor(() => onDone.mock.calls.length === 1);
    });

    it('says how to stop while it is being sent (rev38ui A1)', async () => {
      const { screen } = openForm(untilAborted, undefined, small);
      await screen.waitFor('; about $0.41');
      await screen.press('enter');
      await screen.waitFor('Sending…   <esc> stop');
      expect(screen.text()).toContain('; about $0.41');
    });

    it('previews its request (rev38ui A1)', async () => {
      const request = { method: 'POST', path: '/v1/things', url: 'http://x/v1/things', body: {}, headers: {} };
      const service = { describe: () => [request] } as unknown as Service;
      const { screen } = openForm(untilAborted, async () => service, small);
      await screen.waitFor('; about $0.41');
      await screen.press('ctrl-p');
      await screen.waitFor('POST /v1/things');
      expect(screen.text()).toContain('; about $0.41');
    });
  });

  it('sends once for two presses of enter', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const send = vi.fn(() => promise);
    const { screen, onDone } = openForm(send);
    await screen.waitFor('Start something');
    await screen.type('\r\r');
    await screen.waitFor('Sending…');
    await screen.press('enter');
    expect(send).toHaveBeenCalledTimes(1);
    resolve('started');
    await screen.waitFor(text => !text.includes('Start something'));
    expect(onDone).toHaveBeenCalledExactlyOnceWith('started');
  });

  it('says that its request waits for the rate limit, and until when', async () => {
    const { screen } = openForm(untilAborted);
    const limited = { kind: 'limited', reason: 'rate_limit', until: Date.now() + 60_000 } as const;
    const gate = vi.spyOn(screen.workbench.gate, 'state').mockReturnValue(limited);
    onTestFinished(() => gate.mockRestore());
    await screen.waitFor('Start something');
    await screen.press('enter');
    await screen.waitFor(text => /Rate limited, retry in \d+[ms].* {3}<esc> stop/.test(text));
    await screen.press('esc');
    await screen.waitFor('It may have happened');
  });

  it('stops on esc while it is being sent, says that it may have happened, and keeps the typed values', async () => {
    const { screen, onDone } = openForm(untilAborted);
    await screen.waitFor('Start something');
    await screen.type(' party');
    await screen.press('enter');
    await screen.waitFor('Sending…');
    await screen.press('esc');
    await screen.waitFor('It may have happened');
    expect(screen.text()).toContain('tea party');
    await screen.press('esc');
    await screen.waitFor(text => !text.includes('Start something'));
    expect(onDone).not.toHaveBeenCalled();
    expect(screen.workbench.drafts.size).toBe(1);
  });

  it('keeps no draft of what it has sent', async () => {
    const { screen, onDone } = openForm(async () => 'started');
    await screen.waitFor('Start something');
    await screen.type(' party');
    await screen.waitFor(() => screen.workbench.drafts.size === 1);
    await screen.press('enter');
    await screen.waitFor(() => onDone.mock.calls.length === 1);
    expect(screen.workbench.drafts.size).toBe(0);
  });

  it('asks before it resends what may have happened, and names no key that a field would take', async () => {
    const send = vi.fn(async () => {
      throw new NetworkError('The answer was lost.', { outcomeUnknown: true });
    });
    const { screen } = openForm(send);
    await screen.waitFor('Start something');
    await screen.press('enter');
    await screen.waitFor('The answer was lost.');
    expect(screen.text()).not.toContain('to try again');
    await screen.press('enter');
    await screen.waitFor('press enter again to resend it');
    expect(send).toHaveBeenCalledTimes(1);
    await screen.press('enter');
    await screen.waitFor(() => send.mock.calls.length === 2);
  });

  it('stops waiting for a connection, and says that nothing was sent', async () => {
    const send = vi.fn(async () => 'started');
    const { screen } = openForm(send, () => new Promise<Service>(() => {}));
    await screen.waitFor('Start something');
    await screen.press('enter');
    await screen.waitFor('Sending…');
    await screen.press('esc');
    await screen.waitFor('Nothing was sent');
    expect(send).not.toHaveBeenCalled();
  });

  it('says why there is no connection, and can be sent again', async () => {
    let dead = true;
    const { screen, onDone } = openForm(
      async () => 'started',
      async () => {
        if (dead) throw new NetworkError('The local service did not start.', {});
        return {} as Service;
      },
    );
    await screen.waitFor('Start something');
    await screen.press('enter');
    await screen.waitFor('The local service did not start.');
    dead = false;
    await screen.press('enter');
    await screen.waitFor(text => !text.includes('Start something'));
    expect(onDone).toHaveBeenCalledTimes(1);
  });

  it('opens nothing when its answer comes after the window was closed', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    let closeWindow = (): void => {};
    const onDone = vi.fn();
    const screen = openOnStage(close => {
      closeWindow = close;
      return (
        <FormWindow
          title="Start something"
          fields={[{ kind: 'text', name: 'name', label: 'Name' }]}
          action={action(() => promise, { touches: [] })}
          inputOf={values => values}
          onDone={onDone}
          onClose={close}
        />
      );
    });
    await screen.waitFor('Start something');
    await screen.press('enter');
    await screen.waitFor('Sending…');
    closeWindow();
    await screen.waitFor(text => !text.includes('Start something'));
    resolve('started');
    await promise;
    await screen.press('esc');
    expect(onDone).not.toHaveBeenCalled();
  });

  it('uses the same key for the same start, and another key for another start', async () => {
    const keys: (string | undefined)[] = [];
    const start = action(
      async (_: Service, __: unknown, { idempotencyKey }: CallOptions = {}): Promise<string> => {
        keys.push(idempotencyKey);
        throw new NetworkError(`Answer ${keys.length} was lost.`, { outcomeUnknown: true });
      },
      { touches: [], keyed: 'start' },
    );
    const screen = openOnStage(close => (
      <FormWindow
        title="Start something"
        fields={[{ kind: 'text', name: 'name', label: 'Name', initial: 'tea' }]}
        action={start}
        inputOf={values => values['name']}
        onDone={() => {}}
        onClose={close}
      />
    ));
    await screen.waitFor('Start something');
    await screen.press('enter');
    await screen.waitFor('Answer 1 was lost.');
    await screen.press('enter', 'enter');
    await screen.waitFor('Answer 2 was lost.');
    await screen.type(' party');
    await screen.press('enter', 'enter');
    await screen.waitFor('Answer 3 was lost.');
    expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('asks before it repeats what an earlier session sent without an answer', async () => {
    const keys: (string | undefined)[] = [];
    const start = action(
      async (_: Service, __: unknown, { idempotencyKey }: CallOptions = {}): Promise<string> => {
        keys.push(idempotencyKey);
        return 'started';
      },
      { touches: [], keyed: 'start' },
    );
    const onDone = vi.fn();
    const screen = openOnStage(close => (
      <FormWindow
        title="Start something"
        fields={[{ kind: 'text', name: 'name', label: 'Name', initial: 'tea' }]}
        action={start}
        inputOf={values => values['name']}
        onDone={onDone}
        onClose={close}
      />
    ));
    const { startKeys } = screen.workbench.remembered;
    const key = startKeys.take('start', 'tea');
    startKeys.settle('start', 'tea', key, 'unknown');
    await screen.waitFor('Start something');
    await screen.press('enter');
    await screen.waitFor('without a response: press enter again to resend it');
    expect(keys).toEqual([]);
    await screen.press('enter');
    await screen.waitFor(text => !text.includes('Start something'));
    expect([keys, onDone.mock.calls]).toEqual([[key], [['started']]]);
  });

  it('does not send a start whose key cannot be saved, and says why (A1)', async () => {
    const send = vi.fn(async () => 'started');
    const service = async () => fakeService();
    const screen = openOnStage(
      close => (
        <FormWindow
          title="Start something"
          fields={[{ kind: 'text', name: 'name', label: 'Name', initial: 'tea' }]}
          action={action(send, { touches: [], keyed: 'start' })}
          inputOf={values => values['name']}
          onDone={() => {}}
          onClose={close}
        />
      ),
      { service },
    );
    const unwritten = vi.spyOn(screen.workbench.remembered.startKeys, 'whyUnwritten').mockReturnValue('No space left');
    onTestFinished(() => unwritten.mockRestore());
    await screen.waitFor('Start something');
    for (let press = 0; press < 2; press += 1) {
      await screen.press('enter');
      await screen.waitFor(shown =>
        /Nothing was sent: it cannot be recorded.*No space left\..*--idempotency-key\s/s.test(shown),
      );
    }
    expect(send).not.toHaveBeenCalled();
  });
});
