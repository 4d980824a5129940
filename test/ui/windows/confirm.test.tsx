/** A confirmation of several writes: each outcome is reported, and a second try sends only the rest. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deleteRun } from '../../../src/queries/evaluations.ts';
import { CancelledError, ConflictError, NotFoundError } from '../../../src/service/errors.ts';
import { counted } from '../../../src/text/numbers.ts';
import { Confirm } from '../../../src/ui/windows/confirm.tsx';
import { withAnswers } from '../../service/fake-service.ts';
import { serviceAt } from '../../service/hostile-server.ts';
import { openOnStage } from '../stage.tsx';

const names = ['one', 'two', 'three', 'four', 'five'];

function openConfirm(
  send: (name: string, signal: AbortSignal) => Promise<unknown>,
  columns = 100,
  typed: string | undefined = undefined,
) {
  const onDone = vi.fn();
  const { service } = serviceAt('https://service.example');
  const answering = withAnswers(service, {
    deleteEvalRun: async ({ params }, { signal = new AbortController().signal }) => {
      await send(String(params.eval_run_id), signal);
      return {};
    },
    listEvalRuns: () => [],
    getEvalRun: ({ params }) => {
      throw goneRun(String(params.eval_run_id));
    },
  });
  const screen = openOnStage(
    close => (
      <Confirm
        title={left => `Delete ${counted(left.length, 'run')}?`}
        question={() => 'All of them go. This cannot be undone.'}
        typed={() => typed}
        verb="delete"
        participle="deleted"
        action={deleteRun}
        rows={names.map(name => ({ bench_id: 'b', eval_run_id: name }))}
        labelOf={({ eval_run_id }) => `run ${eval_run_id}`}
        onDone={onDone}
        onClose={close}
      />
    ),
    { columns, rows: 24, service: async () => answering },
  );
  return { screen, onDone };
}

const goneRun = (name: string) =>
  new NotFoundError(`There is no run ${name}.`, { status: 404, code: 'resource_not_found' });
const requestId = `req_${'0123456789'.repeat(5)}`;
const conflict = new ConflictError('It is still running.', { status: 409, requestId });

describe('a confirmation', () => {
  it('by typing accepts only the exact text (W43)', async () => {
    const sent: string[] = [];
    const { screen, onDone } = openConfirm(async name => sent.push(name), 60, 'tutor talker');
    await screen.waitFor('Type tutor talker to delete:');
    await screen.type('y');
    await screen.press('enter');
    await screen.waitFor('✗ Type tutor talker');
    expect(sent).toEqual([]);
    await screen.press('backspace');
    await screen.type('tutor  talker');
    await screen.press('enter');
    await screen.waitFor(text => !text.includes('Delete 5 runs?'));
    expect([sent.length, onDone.mock.calls.length]).toEqual([names.length, 1]);
  });

  it('asks again about the rest, for the text too', async () => {
    const sent: string[] = [];
    const { screen } = openConfirm(
      async name => {
        sent.push(name);
        if (name === 'three') throw conflict;
      },
      60,
      'tutor',
    );
    await screen.waitFor('Type tutor to delete:');
    await screen.type('tutor\r');
    await screen.waitFor(text => text.includes('4 deleted, 1 failed') && text.includes('Delete 1 run?'));
    await screen.press('enter');
    await screen.waitFor('✗ Type tutor');
    expect(sent).toHaveLength(names.length);
  });

  it('never accepts Enter alone, even if the text to type is invisible', async () => {
    const sent: string[] = [];
    const { screen } = openConfirm(async name => sent.push(name), 60, '\u200b \u001b[31m');
    await screen.waitFor('Type yes to delete:');
    await screen.press('enter');
    await screen.waitFor('✗ Type yes');
    expect(sent).toEqual([]);
    await screen.type('yes');
    await screen.press('enter');
    await screen.waitFor(text => !text.includes('Delete 5 runs?'));
    expect(sent).toHaveLength(names.length);
  });

  it('says that its requests wait for the rate limit, and until when', async () => {
    const { screen } = openConfirm(() => new Promise(() => {}));
    const limited = { kind: 'limited', reason: 'rate_limit', until: Date.now() + 60_000 } as const;
    const gate = vi.spyOn(screen.workbench.gate, 'state').mockReturnValue(limited);
    onTestFinished(() => gate.mockRestore());
    await screen.waitFor('Delete 5 runs?');
    await screen.type('y');
    await screen.waitFor(text => / 0 of 5: Rate limited, retry in \d+[ms]\S* {3}<esc> stop/.test(text));
  });

  it('reports each success and failure, and retries only the rest', async () => {
    const sent: string[] = [];
    let broken = true;
    const { screen, onDone } = openConfirm(async name => {
      sent.push(name);
      if (name === 'three' && broken) throw conflict;
      if (name === 'five') throw goneRun(name);
    });
    await screen.waitFor('Delete 5 runs?');
    await screen.press('y');
    await screen.waitFor('4 deleted, 1 failed');
    expect(screen.text()).toContain('run three: It is still running.');
    // Whole, if need be over two lines.
    expect(screen.text().replaceAll(/[^\w]/g, '')).toContain(requestId.replaceAll(/[^\w]/g, ''));
    expect(onDone).not.toHaveBeenCalled();
    broken = false;
    await screen.press('ctrl-p');
    await screen.waitFor('DELETE /api/v1/eval/b/runs/three');
    expect(screen.text()).not.toContain('runs/one');
    await screen.press('y');
    await screen.waitFor(text => !text.includes('Delete 1 run?'));
    expect(sent).toEqual([...names, 'three']);
    expect(onDone).toHaveBeenCalledTimes(1);
  });

  it('sends once for y y enter, and stops with esc', async () => {
    const sent: string[] = [];
    const { screen, onDone } = openConfirm(
      (name, signal) =>
        new Promise((_, reject) => {
          sent.push(name);
          signal.addEventListener('abort', () =>
            reject(new CancelledError('Cancelled. It may have happened: look first.', { outcomeUnknown: true })),
          );
        }),
    );
    await screen.waitFor('Delete 5 runs?');
    await screen.type('yy\r');
    await screen.waitFor('delete…');
    await screen.waitFor(() => sent.length === 4);
    expect(new Set(sent).size).toBe(sent.length);
    await screen.press('esc');
    await screen.waitFor('0 deleted, 4 failed, 1 not sent');
    expect(screen.text()).toContain('It may have happened');
    expect(onDone).not.toHaveBeenCalled();
    await screen.press('esc');
    await screen.waitFor(text => !text.includes('Delete 5 runs?'));
  });

  it('fits a small terminal, however much there is to say', async () => {
    const { screen } = openConfirm(() => Promise.reject(conflict), 60);
    await screen.resize(60, 15);
    await screen.waitFor('Delete 5 runs?');
    await screen.press('y');
    await screen.waitFor('0 deleted, 5 failed');
    expect(screen.text()).toContain('more lines');
    const lines = screen.text().split('\n');
    expect(lines.findIndex(line => line.includes('Delete 5 runs?'))).toBeGreaterThan(0);
    expect(lines.filter(line => line.includes('╰') || line.includes('└')).length).toBeGreaterThan(0);
  });
});
