/** Two trajectories side by side, starting at the first difference. */
import { Text } from 'ink';
import { useEffect, useMemo, useState } from 'react';
import { largestOf } from '../../../base/many.ts';
import type { TrajectoryReward } from '../../../contract/evaluations.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import {
  type AlignedPair,
  type Alignment,
  align,
  likeFirstDifference,
  type Message,
  messagesOf,
} from '../../../present/alignment.ts';
import { endedBy } from '../../../present/outcome-classes.ts';
import { sampleOf } from '../../../present/rollout-texts.ts';
import { plainLine, type SideLine, type SideText, sideBySide, sideGap } from '../../../present/side-by-side.ts';
import { hasFailed } from '../../../present/task-groups.ts';
import type { Attention } from '../../../queries/polling.ts';
import { runResultsQuery } from '../../../queries/run-results.ts';
import { stepRewardList } from '../../../queries/training.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { recordPlace } from '../../../resources/define.ts';
import type { Place } from '../../../resources/place.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { isWhole } from '../../../store/lists.ts';
import { cutApart } from '../../../text/apart.ts';
import { counted, reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { ErrorNote } from '../../app/error-note.tsx';
import { Loading } from '../../app/loading.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane, View } from '../../app/view.tsx';
import { useList, useListed } from '../../data/use-list.ts';
import { useLive, useLives } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { recordCommands } from '../../keys/general.ts';
import type { Binding } from '../../keys/router.tsx';
import { useMemory, useSiblings } from '../../navigation/memory.tsx';
import { withMatches } from '../../widgets/highlight.ts';
import { Lines } from '../../widgets/lines.tsx';
import type { ScrollState } from '../../widgets/scroll-view/scroll-state.ts';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { pairCommands } from '../commands.ts';
import { useSiblingBindings } from '../record/use-record-bindings.tsx';
import { pairOfTwins, twinPlace } from '../tasks/rollout-bindings.ts';
import { useRollouts } from '../tasks/use-rollouts.ts';
import { useNeighbours } from './use-neighbours.ts';

/** In a narrower pane, the sides are shown one after the other. */
const twoColumnsFrom = 100;
/** Lines shown before a difference, if they fit into half the height: the head, a fold, and equal lines. */
const beforeDifference = 5;
/** How many other rollouts of the task to read at most, to count those with the same message. */
const maxOthers = 8;
/** Maximum steps for a rollout that is read only to be counted. */
const maxSteps = 500;

/** Minimum cells for a task or a name in a head. */
const minNameWidth = 8;

export function PairView({ place }: ViewProps<'pair'>) {
  const { left, right } = place;
  const pane = usePane('main');
  const theme = useTheme();
  const [one, other] = [
    useLive(trajectoryQuery(left.id), pane.attention),
    useLive(trajectoryQuery(right.id), pane.attention),
  ];
  const alignment = useAlignment(one.data, other.data);
  const rollouts = useTaskRollouts(one.data, other.data);
  const likes = useLikes(alignment, one.data, other.data, rollouts);
  const [all, setAll] = useState(false);
  const columns = pane.width < twoColumnsFrom ? 1 : 2;
  const { lines, differences } = useMemo(
    () => (alignment ? sideBySide(alignment, { width: pane.width, columns, all }) : noLines),
    [alignment, pane.width, columns, all],
  );
  const head = headLines(place, [one.data, other.data], { likes, width: pane.width, columns }, theme);
  const height = Math.max(1, pane.height - head.length - scrollViewLines);
  const { scroll, textAt } = usePairScroll(lines, differences, { width: pane.width, height }, alignment);
  const listed = useListedPlace(place);
  const length = alignment?.pairs.reduce((sum, pair) => sum + textLength(pair), 0);
  const listedId = listed?.id ?? left.id;
  useNeighbours(left.id, listed && length, { listedId, twin: right.id, withTwins: true });
  const bindings = [...usePairBindings(place, listed), ...useOtherBindings(place, listed, rollouts.ids)];
  const position = useSiblings().position('trajectories', listedId);
  const error = one.error ?? other.error;
  return (
    <View
      freshness={one.freshness}
      bindings={[
        ...differenceBindings(scroll, differences, height),
        { command: pairCommands.equal, run: () => setAll(!all) },
        ...bindings,
      ]}
      main={
        alignment ? (
          <>
            <Lines lines={head} width={pane.width} height={head.length} />
            <ScrollView
              {...{ scroll, textAt, width: pane.width, focused: pane.focused }}
              drawnAt={line => drawLine(lines[line], pane.width, columns, theme)}
              words={[
                ...(listed ? [`task ${position}`] : []),
                ...describeRollouts(place, rollouts.ids, columns),
                describeAlignment(alignment),
              ].join('  ·  ')}
            />
          </>
        ) : error ? (
          <ErrorNote error={error} width={pane.width} height={pane.height} />
        ) : (
          <Loading />
        )
      }
      inspector={<Text> </Text>}
    />
  );
}

/** Moves to the next difference and to the previous one. */
function differenceBindings(
  scroll: ReturnType<typeof usePairScroll>['scroll'],
  differences: readonly number[],
  height: number,
): readonly Binding[] {
  const enabled = differences.length > 0;
  const jump = (by: 1 | -1) => () =>
    scroll.act(() => ({ kind: 'jump', places: differences, by, before: linesBefore(height) }));
  return [
    { command: pairCommands.next, enabled, run: jump(1) },
    { command: pairCommands.previous, enabled, run: jump(-1) },
  ];
}

const textLength = ({ left, right }: AlignedPair): number => (left?.text.length ?? 0) + (right?.text.length ?? 0);

/** The place of one of these two, if they were opened from a comparison of two runs. */
function useListedPlace({ left, right, listed }: ViewProps<'pair'>['place']): Place<'record'> | undefined {
  const siblings = useSiblings();
  const place = siblings.placeOf('trajectories', listed ?? siblings.listed('trajectories', left.id, right.id) ?? '');
  if (place?.view !== 'record') return undefined;
  if (listed !== undefined) return place;
  const ids = [place.id, place.twin?.id];
  return ids.includes(left.id) && ids.includes(right.id) ? place : undefined;
}

/** The keys that swap the sides, open one of them, and go to the comparison's next pair. */
function usePairBindings(place: ViewProps<'pair'>['place'], listed: Place<'record'> | undefined): readonly Binding[] {
  const { left, right } = place;
  const shell = useShell();
  const stepping = useSiblingBindings('trajectories', listed?.id, next => pairOfTwins(next) ?? next);
  const unlisted = { why: 'These two were not opened from a comparison of runs', run: () => {} };
  const openSide = ({ id, name }: typeof left, other: typeof left) => {
    const places = listed ? [listed, twinPlace(listed)].filter(each => each !== undefined) : [];
    // A rollout that is not in the comparison belongs to the run that its side names.
    const ofRun = left.name === right.name ? undefined : places.find(({ twin }) => twin?.of === name);
    const unlistedPlace = ofRun?.twin &&
      listed && {
        ...ofRun,
        id,
        graded: undefined,
        listed: listed.id,
        twin: { ...ofRun.twin, graded: undefined, id: other.id },
      };
    shell.open(places.find(each => each.id === id) ?? unlistedPlace ?? recordPlace(trajectories, id, name));
  };
  return [
    {
      command: pairCommands.swap,
      run: () => shell.navigate({ kind: 'replace', place: { ...place, left: right, right: left } }),
    },
    { command: pairCommands.left, run: () => openSide(left, right) },
    { command: pairCommands.right, run: () => openSide(right, left) },
    ...(listed ? stepping : [recordCommands.previous, recordCommands.next].map(command => ({ command, ...unlisted }))),
  ];
}

/** The keys that show another rollout of the task on one side. @param rollouts the ids of each side's rollouts */
function useOtherBindings(
  place: ViewProps<'pair'>['place'],
  listed: Place<'record'> | undefined,
  rollouts: readonly (readonly string[])[],
): readonly Binding[] {
  const { navigate } = useShell();
  return (['left', 'right'] as const).map((side, index) => {
    const { id, name } = place[side];
    const other = place[side === 'left' ? 'right' : 'left'].id;
    const ids = (rollouts[index] ?? []).filter(each => each !== other);
    const next = ids[(ids.indexOf(id) + 1) % ids.length];
    const isOther = next !== undefined && next !== id;
    return {
      command: side === 'left' ? pairCommands.otherLeft : pairCommands.otherRight,
      why: isOther ? undefined : `No other rollout of this task is listed for the ${side}`,
      run: () => {
        if (!isOther) return;
        // In a comparison, each side has the name of its run.
        const shown = { id: next, name: listed ? name : next };
        navigate({ kind: 'replace', place: { ...place, [side]: shown, ...(listed && { listed: listed.id }) } });
      },
    };
  });
}

/** `left 2 of 4, right 1 of 4`: which of the task's rollouts each side shows. */
function describeRollouts(
  { left, right }: ViewProps<'pair'>['place'],
  rollouts: readonly (readonly string[])[],
  columns: 1 | 2,
): readonly string[] {
  const names = columns === 2 ? ['left', 'right'] : ['-', '+'];
  const words = [left, right].flatMap(({ id }, index) => {
    const ids = rollouts[index] ?? [];
    const at = ids.indexOf(id);
    return at === -1 || ids.length < 2 ? [] : [`${names[index]} ${at + 1} of ${ids.length}`];
  });
  return words.length > 0 ? [words.join(', ')] : [];
}

const linesBefore = (height: number): number => Math.min(beforeDifference, Math.floor(height / 2));

/** The scrolling text, which begins at the first difference. */
function usePairScroll(
  lines: readonly SideLine[],
  differences: readonly number[],
  { width, height }: { readonly width: number; readonly height: number },
  alignment: Alignment | undefined,
) {
  const textAt = (line: number): string => {
    const at = lines[line];
    return at ? plainLine(at, width) : '';
  };
  const places = useMemo(
    () => ({
      placeAt: (line: number) => lines[line]?.place ?? 0,
      isFolded: () => false,
      searched: () => lines.map(line => ({ text: plainLine(line, width), place: line.place })),
    }),
    [lines, width],
  );
  const [initial, remember] = useMemory<ScrollState>('scroll');
  const scroll = useScroll({
    ...{ lineCount: lines.length, textAt, height, initial, places },
    ready: alignment !== undefined,
  });
  useEffect(() => remember(scroll.state), [remember, scroll.state]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as soon as both have been read
  useEffect(() => {
    if (!initial) scroll.act(() => ({ kind: 'show', place: differences[0] ?? 0, before: linesBefore(height) }));
  }, [alignment]);
  return { scroll, textAt };
}

const noLines = { lines: [], differences: [] };

const useMessages = (trajectory: Trajectory | undefined): readonly Message[] | undefined =>
  useMemo(() => trajectory && messagesOf(trajectory), [trajectory]);

function useAlignment(one: Trajectory | undefined, other: Trajectory | undefined): Alignment | undefined {
  const [left, right] = [useMessages(one), useMessages(other)];
  return useMemo(() => left && right && align(left, right), [left, right]);
}

function describeAlignment({ pairs, differing, isExact }: Alignment): string {
  const words = differing === 0 ? 'nothing differs' : `${differing} of ${counted(pairs.length, 'place')} differ`;
  return isExact ? words : `${words}; they differ too much to find all equal parts`;
}

/**
 * The rewards from the run, training step, file or dataset that a rollout comes from; from a dataset, only those that its
 * list has read.
 */
function useSource(rollout: Trajectory | undefined, attention: Attention) {
  const { eval_run_id: run, training_run_id: training, dataset_name: dataset, policy_step } = rollout ?? {};
  const step = run == null && training ? (policy_step ?? undefined) : undefined;
  const ofRun = useLive(runResultsQuery(run ?? '', true), run == null ? 'hidden' : attention).data?.rewards;
  const stepSource = useMemo(() => stepRewardList(training ?? '', step ?? -1), [training, step]);
  const ofStep = useList(stepSource, step === undefined ? 'hidden' : attention).rows;
  const ofScope = useListed(
    useMemo(() => trajectories.list(training ? { training } : { dataset: dataset ?? '' }), [training, dataset]),
  );
  // A file can be read to its end, in the order in which its list has read it.
  const { file } = useWorkbench();
  const ofFile = useRollouts(file && dataset ? { dataset } : undefined, attention);
  const scoped = file ? ofFile.rows : (ofScope?.rows ?? []);
  const listed = ofStep.length > 0 ? ofStep : scoped.filter(row => step === undefined || row.policy_step === step);
  const rows: readonly TrajectoryReward[] = run == null ? listed : (ofRun ?? []);
  const isRest = run == null && ofStep.length === 0 && (file ? ofFile.isReading : !isWhole(ofScope));
  return {
    kind: run != null ? 'run' : training ? 'training run' : 'dataset',
    id: run ?? training ?? dataset,
    step,
    rows,
    /** Whether it has more rollouts than were read. */
    hasMore: isRest && rows.length > 0,
  };
}

/** Names the steps or the sources of the others; a source that cannot be read is left out. */
function describeSource(sources: readonly ReturnType<typeof useSource>[], columns: 1 | 2): string {
  const read = sources.filter(({ rows }) => rows.length > 0);
  const [only, more] = read;
  const areOne = new Set(sources.map(({ kind, id }) => `${kind} ${id}`)).size === 1;
  const steps = [...new Set(read.map(({ step }) => step))];
  if (areOne && only?.step !== undefined) return ` in ${steps.length > 1 ? 'steps' : 'step'} ${steps.join(' and ')}`;
  if (areOne || !only) return '';
  if (more) return only.kind === more.kind ? ` in both ${only.kind}s` : ' on both sides';
  const names = columns === 2 ? ['the left', 'the right'] : ['-', '+'];
  return ` in the ${only.kind} of ${names[sources.indexOf(only)]}`;
}

/** If both have the same task: the lists that they come from, and the ids of the task's rollouts in each. */
function useTaskRollouts(left: Trajectory | undefined, right: Trajectory | undefined) {
  const task = right?.task_id;
  const attention = task && task === left?.task_id ? 'visible' : 'hidden';
  const sources = [useSource(left, attention), useSource(right, attention)];
  const ids = sources.map(({ rows }) =>
    rows.flatMap(({ task_id, trajectory_id: id }) => (task_id === task && id ? [id] : [])),
  );
  return { sources, ids };
}

/** How many other rollouts of the task agree with either of the two at the first difference. */
function useLikes(
  alignment: Alignment | undefined,
  left: Trajectory | undefined,
  right: Trajectory | undefined,
  rollouts: ReturnType<typeof useTaskRollouts>,
) {
  const both = [left, right];
  const isSmall = both.every(each => (each?.num_steps ?? each?.steps?.length ?? 0) <= maxSteps);
  const wants = (alignment?.first ?? -1) >= 0 && isSmall;
  const others = rollouts.ids.map(all => all.filter(id => both.every(each => each?.trajectory_id !== id)));
  // Alternate between both sides: one does not represent the other.
  const longest = largestOf(others, ({ length }) => length);
  const inTurn = Array.from({ length: longest }, (_, at) => others.flatMap(each => each[at] ?? [])).flat();
  const ids = [...new Set(inTurn)];
  const read = useLives(wants ? ids.slice(0, maxOthers).map(trajectoryQuery) : [], 'visible');
  const known = read.flatMap(({ data }) => data ?? []);
  const key = known.map(({ trajectory_id }) => trajectory_id).join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` identifies the known rollouts
  const found = useMemo(
    () => (alignment && known.length > 0 ? likeFirstDifference(alignment, known.map(messagesOf)) : undefined),
    [alignment, key],
  );
  return found && { ...found, read: known.length, of: ids.length, sources: rollouts.sources };
}

type Likes = ReturnType<typeof useLikes>;

interface HeadState {
  readonly likes: Likes;
  readonly width: number;
  readonly columns: 1 | 2;
}

/** Both sides' names, rewards and ends, and how many other rollouts are like either. */
function headLines(
  place: ViewProps<'pair'>['place'],
  [one, other]: readonly (Trajectory | undefined)[],
  { likes, width, columns }: HeadState,
  { styles }: Theme,
): readonly string[] {
  const { left, right } = place;
  const room = columns === 2 ? Math.floor((width - sideGap) / 2) : width - 2;
  const areSteps = one && other && one.policy_step !== other.policy_step;
  const endOf = (of: Trajectory): readonly string[] =>
    [of.status, endedBy(of)].flatMap(each => (each ? [sanitiseLine(each)] : []));
  // A comparison of runs names the runs, which tell the models apart.
  const areModels = one && other && one.eval_run_id === other.eval_run_id && one.model_id !== other.model_id;
  const models = cutApart(
    areModels ? [one, other].flatMap(({ model_id }) => (model_id ? sanitiseLine(model_id) : [])) : [],
    Math.max(minNameWidth, Math.floor(room / 3)),
  );
  const bothEnd = new Set(
    one && other && !hasFailed(one) ? endOf(one).filter(each => endOf(other).includes(each)) : [],
  );
  const sides = [
    { name: sanitiseLine(left.name), trajectory: one },
    { name: sanitiseLine(right.name), trajectory: other },
  ].map(({ name, trajectory }) => ({
    task: sanitiseLine(trajectory?.task_id ?? ''),
    name,
    end: trajectory
      ? [
          models.get(sanitiseLine(trajectory.model_id ?? '')) ?? '',
          ...(areSteps && trajectory.policy_step != null ? [`step ${trajectory.policy_step}`] : []),
          `reward ${reward(trajectory.reward)}`,
          ...describeSample(trajectory),
          // Leave out an end that both sides share: their names need the room more.
          ...endOf(trajectory).filter(each => !bothEnd.has(each)),
        ]
          .filter(Boolean)
          .join('  ')
      : '',
  }));
  const widest = (key: 'task' | 'name' | 'end'): number => largestOf(sides, each => displayWidth(each[key]));
  const free = Math.max(2 * minNameWidth, room - widest('end') - 4);
  // Cut an id before the task, but the task before a run's name.
  const nameRoom = Math.max(
    minNameWidth,
    free - (left.name === left.id ? widest('task') : Math.min(minNameWidth, widest('task'))),
  );
  const names = cutApart(
    sides.map(({ name }) => name),
    nameRoom,
  );
  const tasks = cutApart(
    sides.map(({ task }) => task),
    Math.max(minNameWidth, free - Math.min(nameRoom, widest('name'))),
  );
  const heads = sides.map(({ task, name, end }) =>
    truncate([tasks.get(task), names.get(name), end].filter(Boolean).join('  '), room),
  );
  const [first = '', second = ''] = heads;
  const lines =
    columns === 2
      ? [styles.title(`${fitCells(first, room)}   ${second}`)]
      : [styles.title(`- ${first}`), styles.title(`+ ${second}`)];
  return [
    ...lines,
    ...gradeLines(place, room, columns).map(styles.warning),
    ...(likes ? wrap(describeLikes(likes, columns), width) : []).map(styles.muted),
  ];
}

/** The results of a regrading, below the stored rewards; none if neither side has one. */
function gradeLines({ left, right }: ViewProps<'pair'>['place'], room: number, columns: 1 | 2): readonly string[] {
  const [one = '', other = ''] = [left, right].map(({ graded = '' }) => truncate(sanitiseLine(graded), room));
  if (one + other === '') return [];
  return columns === 2 ? [`${fitCells(one, room)}   ${other}`] : [`- ${one}`, `+ ${other}`];
}

/** How many other rollouts of the task equal one of the two at the first difference. */
function describeLikes(likes: NonNullable<HeadState['likes']>, columns: HeadState['columns']): string {
  const read = likes.read < likes.of ? `${likes.read} of ` : '';
  const listed = likes.sources.some(({ hasMore }) => hasMore) ? ' read so far' : '';
  const others = `${read}${counted(likes.of, 'other rollout')} of this task${describeSource(likes.sources, columns)}${listed}`;
  const [onLeft, onRight] = columns === 2 ? ['left', 'right'] : ['-', '+'];
  const counts = `${likes.left} like the ${onLeft}, ${likes.right} like the ${onRight}`;
  return likes.left + likes.right > 0
    ? `At the first difference, ${others}: ${counts}`
    : `None of ${others} matches either at the first difference`;
}

/** `sample 3`: which of its task's rollouts it is. */
function describeSample(trajectory: Trajectory): readonly string[] {
  const sample = sampleOf(trajectory);
  return sample === undefined ? [] : [`sample ${sanitiseLine(String(sample))}`];
}

/** One side's text, already cut to the width, with the differing words marked. */
function drawSide(side: SideText | undefined, width: number, theme: Theme): string {
  if (!side) return ' '.repeat(width);
  return withMatches(side.text, side.marks, theme) + ' '.repeat(Math.max(0, width - displayWidth(side.text)));
}

function drawLine(line: SideLine | undefined, width: number, columns: 1 | 2, theme: Theme): string {
  if (!line || line.kind === 'blank') return '';
  const { left, right, kind } = line;
  const { styles, glyphs } = theme;
  if (columns === 1) {
    if (kind === 'head') return styles.strong(truncate((left ?? right)?.text ?? '', width));
    if (kind === 'equal') return styles.muted(truncate(`  ${left?.text ?? ''}`, width));
    return left ? `- ${drawSide(left, 0, theme)}` : `+ ${drawSide(right, 0, theme)}`;
  }
  const room = Math.floor((width - sideGap) / 2);
  if (kind === 'equal') return styles.muted(truncate(left?.text ?? '', width));
  const between = ` ${styles.border(glyphs.vertical)} `;
  if (kind === 'head') {
    const head = (side: SideText | undefined): string => styles.strong(fitCells(side?.text ?? '', room));
    return head(left) + between + head(right);
  }
  return `  ${drawSide(left, room - 2, theme)}${between}  ${drawSide(right, 0, theme)}`;
}
