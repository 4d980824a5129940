/** All of the program's views: each resource's list and record, and views of other content. */

import type { ComponentType } from 'react';
import { aboutAudit, aboutLengths, aboutRewards } from '../../present/about.ts';
import type { Command, CommandTable } from '../../present/command.ts';
import { aboutAgreement, aboutIntervals } from '../../present/statistics/about.ts';
import { aboutPasses } from '../../present/statistics/pass-at-k.ts';
import { resources } from '../../resources/catalogue.ts';
import { listPlace, type Resource, singularTitle, titleOf } from '../../resources/define.ts';
import type { Place, ViewName } from '../../resources/place.ts';
import { checkpointActions } from '../../resources/training.ts';
import { cutApart } from '../../text/apart.ts';
import { clean, sanitiseLine } from '../../text/sanitise.ts';
import { truncate } from '../../text/width.ts';
import { lazyView } from '../app/lazy.tsx';
import { defineView, type Registry, type Section, type ViewDefinition, type ViewProps } from '../app/registry.ts';
import { inboxCount, watchCount } from '../data/use-watched.ts';
import { listCommands, recordCommands, scrollCommands, tableCommands } from '../keys/general.ts';
import { BenchmarksView } from './benchmarks/list.tsx';
import {
  alarmCommands,
  chartCommands,
  chatCommands,
  compareCommands,
  inboxCommands,
  lengthCommands,
  pairCommands,
  promptCommands,
  readerCommands,
  regradeCommands,
  rolloutCommands,
  searchCommands,
  sideCommands,
  stepsCommands,
  tasksCommands,
  teachingCommands,
  treeCommands,
  triageCommands,
  uploadCommands,
  watchCommands,
} from './commands.ts';
import { PlainListView } from './list/list-view.tsx';
import { PlainRecordView } from './record/record-view.tsx';
import { WatchView } from './watch.tsx';

/** A resource's custom views. */
interface OwnViews {
  readonly list?: ComponentType<ViewProps<'list'>>;
  /** The list's commands in addition to the resource's own. */
  readonly ofList?: readonly Command[];
  /** Text in the list's help. */
  readonly about?: string;
  readonly record?: ComponentType<ViewProps<'record'>>;
  /** The record's commands in addition to the resource's own. */
  readonly own?: readonly Command[];
  /** Whether the record shows a list of its parts; by default, it shows text. */
  readonly hasParts?: boolean;
  /** Whether the record fills the inspector; true by default. */
  readonly hasInspector?: boolean;
  /** Minimum terminal columns at which the record shows the side panes; shown at any width by default. */
  readonly sidesFrom?: number;
}

const { grid: _grid, ...ofOneRun } = chartCommands;
const { full: _full, ...ofManyRuns } = chartCommands;

const inSteps = (what: string, steps: string | undefined): string => (steps ? `${what} in steps ${steps}` : what);

/** Flags and notes on a list's rows. */
const ofRows = Object.values(triageCommands);
const ofRollouts = [sideCommands.pair, promptCommands.ask, ...ofRows, searchCommands.texts];

const ownViews: ReadonlyMap<string, OwnViews> = new Map<string, OwnViews>([
  [
    'benchmarks',
    {
      // The first view is loaded eagerly.
      list: BenchmarksView,
      ofList: [searchCommands.texts],
      own: [...ofRows, searchCommands.texts],
      record: lazyView(async () => (await import('./benchmarks/benchmark.tsx')).BenchmarkView),
      hasParts: true,
    },
  ],
  ['images', { list: lazyView(async () => (await import('./lists.tsx')).ImagesView) }],
  [
    'runs',
    {
      list: lazyView(async () => (await import('./lists.tsx')).RunsView),
      ofList: [...Object.values(rolloutCommands), regradeCommands.open, ...ofRows, searchCommands.texts],
      record: lazyView(async () => (await import('./runs/run.tsx')).RunView),
      own: [
        ...Object.values(alarmCommands),
        regradeCommands.open,
        ...Object.values(rolloutCommands),
        sideCommands.pair,
        ...ofRows,
        searchCommands.texts,
      ],
      hasParts: true,
    },
  ],
  [
    'trajectories',
    {
      list: lazyView(async () => (await import('./lists.tsx')).TrajectoriesView),
      ofList: [...Object.values(rolloutCommands), regradeCommands.open, ...ofRollouts],
      record: lazyView(async () => (await import('./trajectories/trajectory.tsx')).TrajectoryView),
      own: [...Object.values(readerCommands), sideCommands.pair, promptCommands.ask, ...ofRows],
      sidesFrom: 141,
    },
  ],
  [
    'training',
    {
      list: lazyView(async () => (await import('./training/list.tsx')).TrainingListView),
      ofList: [searchCommands.texts],
      about: aboutRewards,
      record: lazyView(async () => (await import('./training/training-run.tsx')).TrainingRunView),
      own: [
        ...Object.values(ofOneRun),
        teachingCommands.tasks,
        teachingCommands.audit,
        alarmCommands.past,
        searchCommands.texts,
      ],
      hasParts: true,
    },
  ],
  [
    'deployments',
    {
      list: lazyView(async () => (await import('./deployments/list.tsx')).DeploymentsView),
      record: lazyView(async () => (await import('./deployments/deployment.tsx')).DeploymentView),
      hasInspector: false,
    },
  ],
  [
    'datasets',
    {
      list: lazyView(async () => (await import('./datasets.tsx')).DatasetsView),
      ofList: [...Object.values(rolloutCommands), searchCommands.texts],
    },
  ],
  ['secrets', { list: lazyView(async () => (await import('./secrets.tsx')).SecretsView) }],
]);

const ofList: readonly CommandTable[] = [listCommands, recordCommands];
const ofText: readonly CommandTable[] = [scrollCommands, recordCommands];

function viewsOf(resource: Resource): ViewDefinition[] {
  const [id] = resource.names;
  const { list, record, own = [], ofList: listed = [], about, ...more } = ownViews.get(id) ?? {};
  const { hasParts = false, hasInspector = record !== undefined, sidesFrom } = more;
  const views = [
    defineView<'list'>({
      id: `list ${id}`,
      title: titleOf(resource),
      crumb: ({ label }) => (label === undefined ? titleOf(resource) : clean`${titleOf(resource)} of ${label}`),
      component: list ?? PlainListView,
      commands: [...Object.values({ ...resource.actions, ...resource.commands }), ...listed],
      ...(about !== undefined && { about }),
      general: ofList,
    }),
  ];
  if (!resource.get) return views;
  return [
    ...views,
    defineView<'record'>({
      id: `record ${id}`,
      title: singularTitle(resource),
      crumb: place => place.label ?? place.id,
      component: record ?? PlainRecordView,
      hasInspector,
      ...(sidesFrom !== undefined && { sidesFrom }),
      commands: own,
      general: hasParts ? ofList : ofText,
    }),
  ];
}

const sectionOf = (resource: Resource): Section => ({
  title: titleOf(resource),
  names: resource.names,
  place: listPlace(resource),
  listKey: resource.list({}).key,
});

const beforeCrumb = 'Runs › '.length;
const betweenRuns = ' vs ';
const minNameWidth = 10;

/** Below a comparison of the stored rewards, only the grader. */
const graderCrumb = ({ grader }: NonNullable<Place<'compare'>['regrading']>, room: number): string =>
  truncate(clean`by ${grader}`, room);

/** Both names, if there is room to distinguish them. */
function comparedCrumb(place: Place<'compare'>, room: number): string | undefined {
  if (place.regrading) return graderCrumb(place.regrading, room);
  const [base, fresh] = [sanitiseLine(place.base.name), sanitiseLine(place.new.name)];
  const each = Math.floor((room - beforeCrumb - betweenRuns.length) / 2);
  if (each < minNameWidth || base === fresh) return undefined;
  return [...cutApart([base, fresh], each).values()].join(betweenRuns);
}

const watch: Section = {
  title: 'Watch',
  names: ['watch', 'w', 'pins'],
  place: { view: 'watch' },
  count: watchCount,
};
const inbox: Section = { title: 'Inbox', names: ['inbox', 'in'], place: { view: 'inbox' }, count: inboxCount };
const tree: Section = { title: 'Tree', names: ['tree', 'lineage'], place: { view: 'tree' } };
const chat: Section = { title: 'Chat', names: ['chat', 'c', 'talk'], place: { view: 'chat' } };

/** Actions on lines in Watch and the tree: all actions of resources that run, except deletion. */
const lineActions: readonly Command[] = resources
  .filter(({ watch }) => watch)
  .flatMap(({ actions = {} }) => Object.values(actions).filter(({ destructive }) => !destructive));

/** A view that no resource declares; it shows a list unless `general` has other commands. */
const view = <Name extends ViewName>(
  id: Name,
  title: string,
  more: Omit<ViewDefinition<Name>, 'id' | 'title' | 'general'> & Partial<Pick<ViewDefinition<Name>, 'general'>>,
): ViewDefinition => defineView<Name>({ id, title, general: ofList, ...more });

export const registry: Registry = {
  home: { view: 'list', resource: 'benchmarks' },
  busyHome: watch.place,
  sections: [watch, inbox, ...resources.filter(({ needs }) => needs === undefined).map(sectionOf), tree, chat],
  views: [
    view('watch', watch.title, {
      component: WatchView,
      // The lines show more than the facts, so they get the width first.
      inspectorFrom: 240,
      about: aboutRewards,
      commands: [...Object.values(watchCommands), alarmCommands.past, ...lineActions],
    }),
    view('inbox', 'Inbox', {
      component: lazyView(async () => (await import('./inbox.tsx')).InboxView),
      inspectorFrom: 240,
      about: aboutRewards,
      commands: Object.values(inboxCommands),
    }),
    ...resources.flatMap(viewsOf),
    view('tree', tree.title, {
      component: lazyView(async () => (await import('./tree.tsx')).TreeView),
      // The lines show more than the facts, so they get the width first.
      inspectorFrom: 160,
      about: aboutRewards,
      commands: [treeCommands.fold, ...lineActions, ...Object.values<Command>(checkpointActions)],
    }),
    view('compare', 'Comparison', {
      crumb: comparedCrumb,
      component: lazyView(async () => (await import('./runs/compare.tsx')).CompareView),
      about: aboutIntervals,
      commands: [
        ...[compareCommands.swap, compareCommands.other, rolloutCommands.tasks, sideCommands.pair],
        ...[regradeCommands.open, compareCommands.stored, regradeCommands.stop],
      ],
    }),
    view('compare-many', 'Comparison', {
      crumb: ({ runs, regrading }, room) => (regrading ? graderCrumb(regrading, room) : `${runs.length} runs`),
      component: lazyView(async () => (await import('./runs/compare-many.tsx')).CompareManyView),
      about: aboutIntervals,
      commands: [
        ...[compareCommands.baseline, compareCommands.pool, rolloutCommands.tasks],
        ...[regradeCommands.open, compareCommands.stored, regradeCommands.stop],
      ],
    }),
    view('curves', 'Curves', {
      crumb: ({ runs }) => `curves of ${runs.length} runs`,
      component: lazyView(async () => (await import('./training/curves-view.tsx')).CurvesView),
      hasInspector: false,
      commands: [listCommands.open, ...Object.values(ofManyRuns)],
      general: [],
    }),
    view('tasks', 'Tasks', {
      crumb: ({ base, steps }) => (base ? clean`tasks against ${base.name}` : inSteps('tasks', steps)),
      component: lazyView(async () => (await import('./tasks/tasks.tsx')).TasksView),
      about: `${aboutPasses} In SPREAD, a cross is a failed rollout without a reward, and a circle any other one without.`,
      commands: [
        ...Object.values(tasksCommands),
        stepsCommands.choose,
        sideCommands.pair,
        promptCommands.ask,
        searchCommands.texts,
      ],
    }),
    view('pair', 'Side by side', {
      component: lazyView(async () => (await import('./trajectories/pair.tsx')).PairView),
      hasInspector: false,
      sidesFrom: 240,
      commands: [...Object.values(pairCommands), recordCommands.previous, recordCommands.next],
      general: [scrollCommands],
    }),
    view('lengths', 'Reward against length', {
      crumb: ({ steps }) => inSteps('reward against length', steps),
      component: lazyView(async () => (await import('./tasks/lengths.tsx')).LengthsView),
      about: aboutLengths,
      commands: [...Object.values(lengthCommands), stepsCommands.choose, sideCommands.pair, searchCommands.texts],
    }),
    view('outcomes', 'Ends', {
      crumb: ({ steps }) => inSteps('outcomes', steps),
      component: lazyView(async () => (await import('./tasks/outcomes.tsx')).OutcomesView),
      commands: [stepsCommands.choose, searchCommands.texts],
    }),
    view('rollouts', 'Rollouts', {
      crumb: ({ task, ended }) => task ?? ended?.value ?? 'none',
      component: lazyView(async () => (await import('./tasks/tasks.tsx')).RolloutsView),
      commands: [...ofRollouts, readerCommands.twin],
    }),
    view('step', 'Step', {
      crumb: ({ step }) => `step ${step}`,
      component: lazyView(async () => (await import('./training/step.tsx')).TrainingStepView),
      commands: [
        sideCommands.pair,
        teachingCommands.rollouts,
        teachingCommands.earlier,
        teachingCommands.later,
        searchCommands.texts,
      ],
    }),
    view('step-rollouts', 'Rollouts of a step', {
      crumb: ({ step, task }) => (task === undefined ? 'rollouts' : clean`rollouts of ${task} in step ${step}`),
      component: lazyView(async () => (await import('./training/step-rollouts.tsx')).StepRolloutsView),
      commands: [...Object.values(rolloutCommands), ...ofRollouts],
    }),
    view('task-life', 'Task in training', {
      crumb: ({ task }) => task,
      component: lazyView(async () => (await import('./training/task-life.tsx')).TaskLifeView),
      commands: [sideCommands.pair, promptCommands.ask, teachingCommands.earlier, teachingCommands.later],
    }),
    view('audit', 'Audit', {
      component: lazyView(async () => (await import('./training/audit.tsx')).AuditView),
      about: aboutAudit,
      commands: [],
    }),
    view('evidence', 'Evidence', {
      crumb: ({ finding }) => finding,
      component: lazyView(async () => (await import('./training/audit.tsx')).EvidenceView),
      commands: ofRows,
    }),
    view('search', 'Search', {
      crumb: ({ query }) => clean`search ${query}`,
      component: lazyView(async () => (await import('./search/search.tsx')).SearchView),
      inspectorFrom: 160,
      commands: Object.values(searchCommands),
    }),
    view('regrade', 'Regrade', {
      crumb: ({ label = '' }) => clean`grade ${label}`,
      about: aboutAgreement,
      component: lazyView(async () => (await import('./runs/regrade.tsx')).RegradeView),
      inspectorFrom: 160,
      commands: [regradeCommands.stop, ...ofRows],
    }),
    view('chat', chat.title, {
      component: lazyView(async () => (await import('./chat/chat.tsx')).ChatView),
      // Two conversations side by side need this width.
      inspectorFrom: 160,
      sidesFrom: 100,
      commands: Object.values(chatCommands),
      general: [scrollCommands, { export: recordCommands.export }],
    }),
    view('benchmark-upload', 'Upload', {
      crumb: ({ label = '' }) => `upload ${label}`,
      component: lazyView(async () => (await import('./uploads/benchmark-upload.tsx')).BenchmarkUploadView),
      hasInspector: false,
      commands: Object.values(uploadCommands),
      general: [tableCommands],
    }),
    view('trajectory-upload', 'Upload', {
      crumb: ({ dataset }) => `upload into ${dataset}`,
      component: lazyView(async () => (await import('./uploads/trajectory-upload.tsx')).TrajectoryUploadView),
      hasInspector: false,
      commands: [],
      general: [tableCommands],
    }),
  ],
};
