/** Flags on a digit and notes, in a list of trajectories. */
import { expect, it, vi } from 'vitest';
import { RememberedStore } from '../../../src/store/store.ts';
import { TrajectoriesView } from '../../../src/ui/views/lists.tsx';
import { TrajectoryView } from '../../../src/ui/views/trajectories/trajectory.tsx';
import { fakeService } from '../../service/fake-service.ts';
import { openViewOnStage, type StageOptions } from '../stage.tsx';

const items = ['one', 'two', 'three'].map((task_id, index) => ({
  ...{ trajectory_id: `traj_${index}`, task_id, status: 'completed', reward: index, num_steps: 1 },
  eval_run_id: 'evr_1',
}));
const service = fakeService({
  listTrajectories: () => ({ items, has_more: false, next_cursor: null }),
  getTrajectory: () => ({
    ...items[0],
    steps: [
      { step_index: 0, messages: ['question', 'answer\n'.repeat(60)].map(content => ({ role: 'user', content })) },
    ],
  }),
});

const of = items.map(({ trajectory_id: id, task_id: label }) => ({ kind: 'trajectory', id, label }));

async function openList(more: StageOptions = {}) {
  const stage = openViewOnStage(TrajectoriesView, {
    place: { view: 'list', resource: 'trajectories', scope: { run: 'evr_1' }, label: 'first' },
    service: async () => service,
    columns: 120,
    rows: 24,
    ...more,
  });
  await stage.waitFor('three');
  const { notes } = stage.workbench;
  const said = (message = 0) =>
    of.map(({ id }) => notes.own({ id, message })).map(note => note && [note.flag, note.text]);
  return { stage, notes, said };
}

it('changes only the edited flag or note, of each marked row', async () => {
  const { stage, notes, said } = await openList();
  for (const [index, text] of ['first finding', 'second finding', ''].entries())
    notes.say(of.slice(index, index + 1), { text, flag: index === 1 ? 'gamed' : '' });
  await stage.press('space', 'space', 'space', "'");
  await stage.waitFor('Note on 3 marked');
  expect(stage.text()).toContain('2 different, kept unless you type');
  expect(stage.text()).toContain('only on 1 of 3, kept');
  await stage.press('tab', 'right', 'right', 'right');
  await stage.waitFor('← bad');
  await stage.press('enter');
  await stage.waitFor('3 bad of the 3 rows read');
  expect(said()).toEqual([
    ['bad', 'first finding'],
    ['bad', 'second finding'],
    ['bad', ''],
  ]);
  await stage.press("'");
  await stage.waitFor('Note on 3 marked');
  await stage.type('of all');
  await stage.press('enter');
  await stage.waitFor('Note saved');
  expect(said()).toEqual([1, 2, 3].map(() => ['bad', 'of all']));
});

it('removes a note with an emptied text, of one row and of marked ones (A1)', async () => {
  const { stage, notes, said } = await openList();
  notes.say(of, { text: 'first note' });
  await stage.press("'");
  await stage.waitFor('Note on one');
  await stage.press('ctrl-u', 'enter');
  await stage.waitFor('Note removed');
  expect(said().map(each => each?.[1])).toEqual([undefined, 'first note', 'first note']);
  await stage.press('j', 'space', 'space', "'");
  await stage.waitFor('Note on 2 marked');
  await stage.press('ctrl-u', 'enter');
  await stage.waitFor(text => !text.includes('Note on 2 marked'));
  expect(said()).toEqual([undefined, undefined, undefined]);
});

it('refuses flags and notes at once if there is no file for them (A2)', async () => {
  // A folder cannot be made in a file.
  const path = `${import.meta.filename}/remembered.sqlite`;
  const { stage, said } = await openList({ remembered: () => RememberedStore.open(path, 'test') });
  const keysOfNotes = ['1', "'", '0'];
  for (const key of keysOfNotes) {
    await stage.press(key);
    await stage.waitFor('Notes can neither be read nor saved');
    await stage.press('esc');
  }
  expect(stage.text()).not.toContain('Note on');
  expect(said()).toEqual([undefined, undefined, undefined]);
});

it('keeps the typed text if it cannot be saved (A2)', async () => {
  const remembered = RememberedStore.inMemory('test');
  const { stage, said } = await openList({ remembered: () => remembered });
  await stage.press("'");
  await stage.waitFor('Note on one');
  await stage.type('typed');
  const change = vi.spyOn(remembered.notes, 'change').mockReturnValue(false);
  await stage.press('enter');
  await stage.waitFor('The note could not be saved');
  change.mockRestore();
  await stage.press('enter');
  await stage.waitFor('Note saved');
  expect(said()[0]).toEqual(['', 'typed']);
});

it('says on how many of the marked rows a flag replaces another (C2)', async () => {
  const { stage, notes, said } = await openList();
  notes.say(of.slice(1, 2), { flag: 'bad' });
  await stage.press('space', 'space', 'space', '1');
  await stage.waitFor('Flagged good, 1 of 3 instead of bad: 0 undoes it');
  await stage.press('k', '2');
  await stage.waitFor('Flagged bad instead of good: 0 undoes it');
  expect(said().map(each => each?.[0])).toEqual(['bad', 'bad', 'bad']);
});

it('marks a row that has only a note, and counts rows flagged differently by two people (out31 C5, C13)', async () => {
  const { stage, notes } = await openList({ columns: 80 });
  notes.say(of.slice(1, 2), { text: 'why' });
  await stage.waitFor(text => /FLAG(.*\n)*.*two +note /.test(text));
  const [first] = of;
  const by = (author: string, flag: string, id = first?.id ?? '') =>
    stage.workbench.remembered.notes.change([{ kind: 'trajectory', id, label: id, message: 0, author }], { flag });
  for (const [author, flag] of ['good', 'bad', 'gamed'].entries()) by(`author ${author}`, flag);
  notes.readAgain();
  await stage.waitFor(text =>
    text.replaceAll(/[│\s]+/g, ' ').includes('; 1 flagged differently by several people of the 3'),
  );
});

it('starts with what is saved at that moment', async () => {
  const { stage, notes, said } = await openList();
  stage.workbench.remembered.notes.change([{ ...of[0], message: 0, author: notes.author } as never], { text: 'shell' });
  await stage.press("'");
  await stage.waitFor('shell');
  await stage.press('tab', 'right', 'enter');
  await stage.waitFor('1 good');
  expect(said()[0]).toEqual(['good', 'shell']);
});

it('asks before it replaces what was saved elsewhere since the window opened', async () => {
  const { stage, notes, said } = await openList();
  const saveElsewhere = (text: string) =>
    stage.workbench.remembered.notes.change([{ ...of[0], message: 0, author: notes.author } as never], { text });
  await stage.press("'");
  await stage.waitFor('Note on one');
  await stage.type('mine');
  saveElsewhere('theirs');
  await stage.press('enter');
  await stage.waitFor('Changed elsewhere: theirs. Press enter');
  saveElsewhere('theirs, longer');
  await stage.press('enter');
  await stage.waitFor('elsewhere: theirs, longer. Press');
  expect(said()[0]).toEqual(['', 'theirs, longer']);
  await stage.press('enter');
  await stage.waitFor(text => !text.includes('Note on one'));
  expect(said()[0]).toEqual(['', 'mine']);
});

it('shows the note of a message before editing, and moves typed text to one without a note', async () => {
  const stage = openViewOnStage(TrajectoryView, {
    place: { view: 'record', resource: 'trajectories', id: 'traj_0' },
    service: async () => service,
    columns: 120,
    rows: 24,
  });
  await stage.waitFor('answer');
  const { notes } = stage.workbench;
  const own = (message: number) => {
    const note = notes.own({ id: 'traj_0', message });
    return note && [note.flag, note.text];
  };
  // Digits flag while reading, as in a list.
  await stage.press('1');
  await stage.waitFor('flagged good');
  await stage.press('}', "'");
  await stage.waitFor('About');
  await stage.type('new');
  await stage.press('shift-tab', 'right');
  await stage.waitFor('← message 1');
  await stage.press('enter');
  await stage.waitFor('flagged good  ·  #1: > question new');
  expect([own(0), own(1)]).toEqual([
    ['good', ''],
    ['', '> question\nnew'],
  ]);
  await stage.press("'");
  await stage.waitFor('About');
  await stage.type('other');
  await stage.press('shift-tab', 'right');
  await stage.waitFor(text => text.includes('new') && !text.includes('other'));
  await stage.press('enter');
  await stage.waitFor(text => !text.includes('About'));
  expect([own(0), own(1)]).toEqual([
    ['good', ''],
    ['', '> question\nnew'],
  ]);
});

it('takes a note on any message on screen, even if the whole transcript fits', async () => {
  const messages = ['system', 'user', 'assistant'].map(role => ({ role, content: `said by ${role}` }));
  const stage = openViewOnStage(TrajectoryView, {
    place: { view: 'record', resource: 'trajectories', id: 'traj_0' },
    service: async () => fakeService({ getTrajectory: () => ({ ...items[0], steps: [{ step_index: 0, messages }] }) }),
    columns: 120,
    rows: 40,
  });
  await stage.waitFor('said by assistant');
  await stage.press("'");
  await stage.waitFor('About');
  await stage.type('wrong');
  await stage.press('shift-tab', 'left');
  await stage.waitFor('← message 3, assistant');
  await stage.press('enter');
  await stage.waitFor(text => !text.includes('About'));
  expect(stage.workbench.notes.own({ id: 'traj_0', message: 3 })?.text).toBe('> said by assistant\nwrong');
});

it('flags rows on a digit, filters and counts by flag, undoes it, and keeps a note', async () => {
  const { stage } = await openList();
  // A filter by flag is valid before there are flags, as in `benchtop list`.
  await stage.type('/');
  await stage.type('flag:gamed');
  await stage.press('enter');
  await stage.waitFor('No row matches');
  expect(stage.text()).not.toContain('FLAG');
  await stage.press('esc');
  await stage.waitFor('three');
  await stage.press('3');
  await stage.waitFor('flagged: 1 gamed of the 3 rows read');
  expect(stage.text()).toMatch(/TASK +FLAG .*\n.*one +gamed/);
  await stage.press('j', '1');
  await stage.waitFor(text => text.includes('1 good') && text.includes('1 gamed'));
  await stage.type('/');
  await stage.type('flag:gamed');
  await stage.press('enter');
  await stage.waitFor(text => text.includes('one') && !text.includes('three'));
  await stage.press('3');
  await stage.waitFor(text => !text.includes('gamed of'));
  await stage.press('esc');
  await stage.waitFor('three');
  await stage.press("'");
  await stage.waitFor('Note on');
  await stage.type('reads the answer file');
  await stage.press('tab', 'enter');
  await stage.waitFor('reads the answer file');
  await stage.press('9');
  await stage.waitFor('No flag has the digit 9');
  stage.close();
});

it('takes a digit before another or before G as a number, which flags nothing (B6)', async () => {
  const { stage, said } = await openList();
  await stage.press('4');
  await stage.waitFor('Flagged grader broken: 0 undoes it');
  await stage.press('j', 'j');
  await stage.type('2G');
  await stage.waitFor('2/3');
  expect(said().map(each => each?.[0])).toEqual(['grader broken', undefined, undefined]);
  await stage.press('k');
  await stage.type('1500G');
  await stage.waitFor('This is a row number, so nothing is flagged');
  await stage.waitFor('3/3');
  expect(said().map(each => each?.[0])).toEqual(['grader broken', undefined, undefined]);
  await stage.press('g', '3');
  await stage.waitFor('Flagged gamed instead of grader broken: 0 undoes it');
  await stage.press('j', '0');
  await stage.waitFor('Undone');
  expect(said().map(each => each?.[0])).toEqual(['grader broken', undefined, undefined]);
});

it('goes to a step by number before G (B6)', async () => {
  const steps = Array.from({ length: 40 }, (_, step_index) => ({
    ...{ step_index, messages: [{ role: 'user', content: `at ${step_index}\n${'more\n'.repeat(5)}` }] },
  }));
  const stage = openViewOnStage(TrajectoryView, {
    place: { view: 'record', resource: 'trajectories', id: 'traj_0' },
    service: async () => fakeService({ getTrajectory: () => ({ ...items[0], steps }) }),
    columns: 100,
    rows: 24,
  });
  await stage.waitFor('at 0');
  await stage.type('24G');
  await stage.waitFor('step 24, 25 of 40 steps');
  expect(stage.workbench.notes.own({ id: 'traj_0' })).toBeUndefined();
});

it('shows a note on a message below that message, with its number', async () => {
  const stage = openViewOnStage(TrajectoryView, {
    place: { view: 'record', resource: 'trajectories', id: 'traj_0', label: 'one' },
    service: async () => service,
    columns: 100,
    rows: 24,
  });
  await stage.waitFor('answer');
  const { notes } = stage.workbench;
  notes.say([{ kind: 'trajectory', id: 'traj_0', label: 'one', message: 2 }], { flag: 'bad', text: 'says it again' });
  await stage.waitFor('says it again');
  expect(stage.text()).toMatch(
    /user {2}· {2}#1 .*\n.*question.*\n.*\n.*user {2}· {2}#2 .*\n.*note by \S+: bad - says it again/,
  );
});
