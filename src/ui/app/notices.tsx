/**
 * Announces in every view that runs have ended: in a line on the screen, and with the bell or a desktop notification if
 * configured.
 */
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import type { NoticeKind } from '../../config/preferences.ts';
import { formatStatus, statusMeaning } from '../../contract/status.ts';
import { runningOf, type Transition } from '../../queries/statuses/store.ts';
import { benchmarkCommands } from '../../resources/benchmarks.ts';
import { datasetCommands } from '../../resources/datasets.ts';
import { summaryOf } from '../../resources/inbox.ts';
import type { Place } from '../../resources/place.ts';
import type { Frame } from '../../resources/rotation-lists.ts';
import { rewardName } from '../../resources/watch.ts';
import { reward } from '../../text/numbers.ts';
import { clean, sanitiseLine } from '../../text/sanitise.ts';
import { truncate } from '../../text/width.ts';
import { isBad, keyOfEvent } from '../../workbench/inbox.ts';
import type { AnyJob } from '../../workbench/jobs.ts';
import { useBackgroundPolling } from '../data/use-watched.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { globalCommands } from '../keys/general.ts';
import { keyLabel } from '../keys/key.ts';
import { useRouter } from '../keys/router.tsx';
import type { Toast } from './shell-context.tsx';
import type { TerminalPort } from './terminal-port.ts';

/** Maximum width of a name, in cells: the event next to it matters more. */
const nameRoom = 24;

/** The words with full names, and a short form that cuts names in the middle. */
function bothForms(words: (nameOf: (label: string) => string) => string): Pick<Toast, 'text' | 'short'> {
  const cut = (label: string): string => truncate(sanitiseLine(label), nameRoom, { position: 'middle' });
  return { text: words(label => label), short: words(cut) };
}

/** Includes the mean only if it was read after the end: an earlier one may not be final. */
function describeTransition({ resource, to, mean }: Transition, nameOf: (label: string) => string): string {
  const name = nameOf(resource.label);
  if (resource.gone) return clean`${name} was deleted from the service`;
  const value = mean === undefined ? '' : `, ${rewardName(resource.kind)} ${reward(mean)}`;
  return clean`${name} ${formatStatus(to)}${value}`;
}

const describeSeveral = (parts: readonly string[], what: string): string =>
  sanitiseLine(parts.length === 1 ? parts.join('') : `${parts.length} ${what}: ${parts.join('; ')}`);

function toastKind({ resource, to }: Transition): Toast['kind'] {
  if (resource.gone) return 'warning';
  const meaning = statusMeaning(to);
  if (meaning === 'failure') return 'danger';
  return meaning === 'success' ? 'success' : 'info';
}

const severity = ['info', 'success', 'warning', 'danger'] as const;

/** One notice for everything that ended according to one response; the worst outcome sets its colour. */
export function noticeOf(ended: readonly Transition[]): Toast | undefined {
  if (ended.length === 0) return undefined;
  const words = bothForms(nameOf =>
    describeSeveral(
      ended.map(each => describeTransition(each, nameOf)),
      'ended',
    ),
  );
  const kinds = ended.map(toastKind);
  return { kind: severity.findLast(each => kinds.includes(each)) ?? 'info', ...words, news: true };
}

/**
 * The escape sequence for a notice: the bell, or a desktop notification through OSC 9 (iTerm2, Windows Terminal, kitty)
 * and OSC 777 (rxvt, foot, VTE), plus the window title. Terminals ignore sequences they do not know.
 */
export function noticeSequence(words: string, kind: NoticeKind): string {
  if (kind === 'off') return '';
  const plain = words.replaceAll(';', ',');
  const title = `\u001b]2;benchtop: ${plain}\u0007`;
  return kind === 'bell'
    ? `\u0007${title}`
    : `\u001b]9;${plain}\u0007\u001b]777;notify;benchtop;${plain}\u0007${title}`;
}

/** The notice about an upload that ended while its view was not on screen; none if the user stopped it. */
function jobNotice(job: AnyJob, resumeKey: string | undefined): Toast | undefined {
  const { phase, error } = job.state;
  if (phase === 'cancelled') return undefined;
  if (!error) return { kind: 'success', text: clean`${job.title} ${job.outcome}`, news: true };
  const text = clean`${job.title} failed: ${error.message.replace(/\.$/, '')}`;
  const place = job.dataset === undefined ? 'Benchmarks' : 'Datasets';
  const advice = job.hasStarted && resumeKey !== undefined ? `; ${resumeKey} in ${place} resumes it` : '';
  return { kind: 'danger', text, tail: advice, news: true };
}

/**
 * Shows Watch's summary of the inbox after the user has been away, and again as more missed events become known.
 *
 * @param isShown whether the view shows the summary or the events
 */
function useMissedNotice(toast: (toast: Toast) => void, isShown: boolean): void {
  const { inbox } = useWorkbench();
  const { keyOf } = useRouter();
  const [announced] = useState(() => new Set<string>());
  useEffect(() => {
    return inbox.subscribe(() => {
      const keys = inbox.missed().map(keyOfEvent);
      if (keys.every(key => announced.has(key))) return;
      for (const key of keys) announced.add(key);
      if (isShown) return;
      toast({
        kind: inbox.missed().some(isBad) ? 'danger' : 'info',
        text: summaryOf(inbox),
        tail: `  <${keyOf(globalCommands.inbox)}> inbox`,
        news: true,
      });
    });
  }, [inbox, keyOf, toast, announced, isShown]);
}

/** Announces that a training run continues from an earlier step. */
function useRestartNotices(toast: (toast: Toast) => void): void {
  const { restarts } = useWorkbench();
  useEffect(
    () =>
      restarts.subscribe(({ resource, step }) => {
        const words = bothForms(nameOf => clean`${nameOf(resource.label)} restarted from step ${step}`);
        toast({ kind: 'warning', ...words, news: true });
      }),
    [restarts, toast],
  );
}

/**
 * Announces each end once, even if several parts of the program read it. Kinds that do not run are announced only if
 * pinned; an upload is not announced in its own view.
 */
export function useNotices(
  kind: NoticeKind,
  terminal: TerminalPort,
  toast: (toast: Toast) => void,
  place: Place,
): void {
  const { statuses, pins, inbox, jobs } = useWorkbench();
  const router = useRouter();
  useRestartNotices(toast);
  useMissedNotice(toast, place.view === 'watch' || place.view === 'inbox');
  const shown = 'jobId' in place ? place.jobId : undefined;
  const announce = useCallback(
    (notice: Toast | undefined, isShown = false): void => {
      if (!notice) return;
      if (!isShown) toast(notice);
      const sequence = noticeSequence(notice.text, kind);
      if (sequence !== '') terminal.writeRaw(sequence);
    },
    [kind, terminal, toast],
  );
  useEffect(
    () =>
      statuses.onTransitions(transitions => {
        const isNews = (transition: Transition): boolean => {
          const { kind, id } = transition.resource;
          // The inbox summary covers work that ended while the user was away.
          return transition.ended && !inbox.isMissed(transition) && (statuses.runs(kind) || pins.has(kind, id));
        };
        announce(noticeOf(transitions.filter(isNews)));
      }),
    [statuses, pins, inbox, announce],
  );
  useEffect(
    () =>
      inbox.onRaised(events => {
        const words = bothForms(nameOf =>
          describeSeveral(
            events.map(({ label, detail }) => clean`${nameOf(label)}: ${detail.alarm ?? ''}`),
            'alarms',
          ),
        );
        announce({ kind: 'warning', ...words, news: true });
      }),
    [inbox, announce],
  );
  useEffect(
    () =>
      jobs.onEnd(job => {
        const [key] = router.keysOf((job.dataset === undefined ? benchmarkCommands : datasetCommands).resume);
        announce(jobNotice(job, key === undefined ? undefined : keyLabel(key)), job.id === shown);
      }),
    [jobs, router, announce, shown],
  );
}

/** Polls running work that no view polls; draws nothing. */
export function BackgroundPolling(frame: Frame) {
  useBackgroundPolling(frame);
  return null;
}

/** How many runs, training runs and deployments are known to be running. */
export function useRunningCount(): number {
  const { statuses } = useWorkbench();
  return useSyncExternalStore(
    statuses.subscribe,
    useCallback(() => runningOf(statuses).length, [statuses]),
  );
}
