/** The questions before the program quits, or shows another service. */

import { Text } from 'ink';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Connection, noConnection } from '../../../src/ui/app/connection.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import { View } from '../../../src/ui/app/view.tsx';
import { useUnfinished } from '../../../src/ui/data/workbench.tsx';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { Job, type JobState } from '../../../src/workbench/jobs.ts';
import { openScreen } from '../../screen.ts';
import { fakeService } from '../../service/fake-service.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';
import { noTerminal, registryOf } from '../stage.tsx';

let words: string | undefined;
function ShownService() {
  useUnfinished(words);
  return <View main={<Text>the view</Text>} />;
}
interface EndlessState extends JobState {
  readonly phase: 'working' | 'stopped';
}

/** An upload that ends only when it is cancelled. */
class Endless extends Job<EndlessState> {
  constructor() {
    super('upload', { label: 'my-benchmark', touches: [] }, { phase: 'stopped' } as EndlessState);
  }
  readonly share = 0;
  readonly hasStarted = false;
  readonly outcome = 'is done';
  protected begin(): Partial<EndlessState> {
    return { phase: 'working' };
  }
  protected work(): Promise<never> {
    return new Promise((_, reject) => {
      const stop = (): void => reject(new Error('stopped'));
      if (this.signal.aborted) stop();
      this.signal.addEventListener('abort', stop);
    });
  }
  protected end(): Partial<EndlessState> {
    return { phase: 'stopped' };
  }
}

function opened(unfinished?: string) {
  words = unfinished;
  const quit = vi.fn();
  const switchTo = vi.fn();
  const connection: Connection = { ...noConnection, profiles: ['local', 'lab'], current: 'local', switchTo };
  const workbench = newWorkbench({ service: async () => fakeService(), profile: 'local' });
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registryOf(ShownService)}
      terminal={{ ...noTerminal, quit }}
      connection={connection}
    />,
    { columns: 100, rows: 30 },
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
  return { screen, workbench, quit, switchTo };
}

describe('leaving', () => {
  it('asks nothing if nothing would be lost', async () => {
    const { screen, quit, switchTo } = opened();
    await screen.waitFor('the view');
    await screen.type(':profile lab');
    await screen.waitFor('profile lab');
    await screen.press('enter');
    expect(switchTo).toHaveBeenCalledWith('lab');
    await screen.press('q');
    expect(quit).toHaveBeenCalledOnce();
  });

  it('names what a view would lose, and leaves only after y', async () => {
    const { screen, quit } = opened('The answer of model-a in the chat');
    await screen.waitFor('the view');
    await screen.press('q');
    await screen.waitFor('The answer of model-a in the chat');
    expect(screen.text()).toContain('<y> quit');
    expect(screen.text()).not.toContain('Sent data is');
    await screen.press('esc');
    await screen.waitFor(text => !text.includes('The answer of model-a'));
    expect(quit).not.toHaveBeenCalled();
    await screen.press('q');
    await screen.waitFor('The answer of model-a in the chat');
    await screen.press('y');
    expect(quit).toHaveBeenCalledOnce();
  });

  it('names a running upload before a switch of profiles, and stops it only after y', async () => {
    const { screen, workbench, switchTo } = opened();
    const job = new Endless();
    workbench.jobs.add(job);
    void job.run(async () => fakeService());
    await screen.waitFor('the view');
    for (const answer of ['n', 'y']) {
      await screen.type(':profile lab');
      await screen.waitFor('profile lab');
      await screen.press('enter');
      await screen.waitFor('The upload of my-benchmark');
      expect(screen.text()).toContain('Sent data is');
      expect(screen.text()).toContain('<y> show lab');
      expect(switchTo).not.toHaveBeenCalled();
      await screen.press(answer);
    }
    expect(switchTo).toHaveBeenCalledWith('lab');
    expect(job.busy).toBe(true);
  });
});

describe('a workbench that closes', () => {
  it('waits for its jobs to save their progress', async () => {
    const { workbench } = opened();
    const job = new Endless();
    workbench.jobs.add(job);
    const store = workbench.remembered;
    void job.run(async () => fakeService());
    workbench.close();
    // Still open: the job has not ended yet.
    store.setSetting('noted', true);
    expect(workbench.remembered).toBe(store);
    await workbench.closed;
    expect(job.busy).toBe(false);
    expect(workbench.remembered).not.toBe(store);
  });
});
