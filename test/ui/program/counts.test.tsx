/** Two numbers in one frame never disagree, and a frame without changes is not sent. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../eventually.ts';
import { morePolls, openWorld, world } from './scripted-world.tsx';

/** The number behind a section. */
function sectionCount(text: string, section: string): string | undefined {
  return new RegExp(`^│ . ?${section} +(\\S*) *│`, 'm').exec(text)?.[1];
}

describe('the count of a section', () => {
  it('is right at once after what the program itself did, also where the list is not on screen', async () => {
    const service = world('none');
    const screen = openWorld(service, { view: 'list', resource: 'runs' });
    await screen.waitFor('No runs yet');
    await screen.waitFor(text => sectionCount(text, 'Runs') === '0');
    await screen.type(':benchmarks\r');
    await screen.waitFor('▸ t-words');
    await screen.press('e');
    await screen.waitFor('acme/small');
    await screen.press('enter');
    await screen.waitFor(text => sectionCount(text, 'Runs') === '1');
    await screen.type(':runs\r');
    await screen.waitFor('▸ baseline');
    await screen.press('d');
    await screen.waitFor('Delete this run?');
    await screen.press('y');
    await screen.waitFor(text => text.includes('No runs yet') && sectionCount(text, 'Runs') === '0');
  });

  it('of Watch is that of its lines', async () => {
    const service = world();
    const screen = openWorld(service, { view: 'list', resource: 'runs' });
    await screen.waitFor(text => sectionCount(text, 'Watch') === '1' && text.includes('1 running'));
    service.status = 'completed';
    await screen.waitFor(text => !text.includes('1 running') && text.includes('✓ completed'));
    expect(sectionCount(screen.text(), 'Watch')).toBe('1');
    await screen.type(':watch\r');
    await screen.waitFor('▸ baseline');
    await screen.press('d');
    await screen.waitFor(text => text.includes('Nothing is running') && sectionCount(text, 'Watch') === '');
  });
});

describe('the frame', () => {
  it('never says that a run is running next to one that says it has ended', async () => {
    const service = world();
    const screen = openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' });
    await screen.waitFor(text => text.includes('1 running') && text.includes('● running'));
    service.status = 'completed';
    // Every frame until both have changed, and one more: the head and the frame are drawn together.
    await screen.waitFor(text => text.includes('✓ completed'));
    await screen.waitFor(text => !text.includes('1 running'));
    await eventually(() => expect(screen.text()).toContain('4 of 4 rollouts'));
  });

  it('is not sent again while polls say nothing new', async () => {
    const service = world();
    // Seldom enough for no answer to be overdue, however busy the machine is.
    const poll = { focusedMs: 500, visibleMs: 500 };
    const screen = openWorld(service, { view: 'list', resource: 'runs' }, { poll });
    await screen.waitFor('▸ baseline');
    await screen.waitFor('1 running');
    await morePolls(service, 4);
    screen.bytes();
    await morePolls(service, 8);
    expect(screen.bytes()).toBe(0);
  });
});
