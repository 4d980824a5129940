/** The states of Watch's lines in words, for different widths. */

import { formatStatus, hasEnded, statusMeaning } from '../contract/status.ts';
import { type StatusLook, waitingWord } from '../present/column.ts';
import type { Fact } from '../present/fact.ts';
import { agoOf } from '../present/times.ts';
import { describeCheckpointAge, type Silence } from '../queries/pace.ts';
import { age, duration, endInstant, parseTime, roughly } from '../text/time.ts';
import type { Alarm } from './alarms.ts';
import { oldMs, type WatchedResource } from './watch.ts';

/** A line's state in words, and how it looks. */
export interface LineState {
  /** One or two words that stay the same while the state lasts, e.g. `stalled`. */
  readonly word: string;
  /** The state with its times, e.g. `running, ETA 8m` or `failed 2h ago, took 38m`. */
  readonly text: string;
  /** The state for a narrow column; by default, the next longer form. */
  readonly short?: string;
  /** The state for the narrowest column, without an ended resource's duration. */
  readonly shortest?: string;
  /** The state for a table with more important columns: only times, in one unit, because the mark shows the rest. */
  readonly brief?: string;
  readonly look: StatusLook;
  /** The reasons for its alarms, most urgent first. */
  readonly reasons?: readonly string[];
}

/** A state in words, in the form that the room allows. */
export const stateText = (
  { text, short = text, shortest = short, brief = shortest }: LineState,
  room: 'short' | 'shortest' | 'brief',
): string => ({ short, shortest, brief })[room];

/** A record's facts. If it has an alarm, its state in Watch and the reasons replace its status. */
export function statedFacts(facts: readonly Fact[], state: LineState | undefined): readonly Fact[] {
  const { reasons, text } = state ?? {};
  if (!reasons) return facts;
  return facts.flatMap(fact => (fact.label === 'status' ? [{ ...fact, value: text }, ...alarmFacts(reasons)] : [fact]));
}

export const alarmFacts = (reasons: readonly string[] = []): readonly Fact[] =>
  reasons.map(value => ({ label: 'alarm', value }));

function endedState(row: WatchedResource, status: string, now: number): LineState {
  const [from, to] = [row.beganAt ?? parseTime(row.startedAt), endInstant(row, now)];
  const word = formatStatus(status);
  const look = statusMeaning(status);
  // Without an end time, show when the end was seen.
  const ago = to === undefined ? row.endedAt && `seen ${age(now - row.endedAt)} ago` : agoOf(to, now);
  if (!ago) return { word, text: word, look };
  if (to === undefined) return { word, text: `${word}, ${ago}`, shortest: word, look };
  const ended = `${word} ${ago}`;
  if (from === undefined || to < from) return { word, text: ended, brief: ago, look };
  // This includes the time in the queue if nobody saw the run leave it.
  const most = row.beganAt === null ? 'up to ' : '';
  const text = `${ended}, took ${most}${duration(to - from)}`;
  return { word, text, short: `${ended}, ${most}${age(to - from)}`, shortest: ended, brief: ago, look };
}

/** Whether it is waiting, for a reason that the service reports. */
export const isWaiting = ({ waits, status, gone }: WatchedResource): boolean =>
  waits !== undefined && status !== undefined && !gone && !hasEnded(status);

/** `2 running, 1 waiting`; empty if no line waits. */
export function describeWaiting(rows: readonly WatchedResource[]): string {
  const [waiting, others] = [rows.filter(isWaiting).length, rows.filter(row => !isWaiting(row) && !row.gone)];
  if (waiting === 0) return '';
  const running = others.filter(({ status = '' }) => statusMeaning(status) === 'running').length;
  return [running > 0 ? `${running} running` : '', `${waiting} ${waitingWord}`].filter(Boolean).join(', ');
}

/** A line's state, preceded by a word for any alarm. */
export function stateOf(row: WatchedResource, now: number): LineState {
  if (row.group) return stateOfGroup(row.group.members, now);
  const state = plainStateOf(row, now);
  const [first] = row.alarms;
  if (!first) return state;
  const reasons = row.alarms.map(({ words }) => words);
  const word = 'ALARM';
  // The mark shows the alarm, so the text can describe the end of the run.
  const ended = hasEnded(row.status) ? state : undefined;
  const name = [word, shortNames[first.kind], first.lasted && formatSilence(first.lasted)].filter(Boolean).join(' ');
  const short = ended ? stateText(ended, 'short') : name;
  if (isWaiting(row))
    return { ...state, word, text: `${state.text}, ${name}`, short: `${word} ${state.short}`, look: 'alarm', reasons };
  const text = first.kind === 'stall' ? `${word} ${state.text}` : `${name}, ${state.text}`;
  return { ...ended, word, text, short, brief: ended?.word ?? short, look: 'alarm', reasons };
}

/** Names of alarms in a narrow column. */
const shortNames: Readonly<Record<Alarm['kind'], string>> = {
  stall: 'stall',
  'held-out drop': 'drop',
  'failed rollouts': 'fails',
  'held-out range': 'range',
  'trainer range': 'range',
  'evaluation range': 'range',
};

/** The width of a state in the narrowest column, in cells. */
const shortestState = 11;

/** E.g. `12: 3 ALARM, 9 running`, in line order. */
function stateOfGroup(members: readonly WatchedResource[], now: number): LineState {
  const states = members.map(member => stateOf(member, now));
  const words = [...Map.groupBy(states, ({ word }) => word)].map(
    ([word, all]) => `${all.length} ${word || 'no status'}`,
  );
  const [first = ''] = words;
  const text = words.length === 1 ? first : `${members.length}: ${words.join(', ')}`;
  const urgent = `${members.length}: ${first}`;
  const short = words.length > 1 && urgent.length <= shortestState ? urgent : String(members.length);
  return { word: text, text, short, look: states[0]?.look ?? 'unknown' };
}

/** `12m`, or `12m+` if it may have begun earlier. */
export const formatSilence = ({ forMs, atLeast }: Silence): string => `${age(forMs)}${atLeast ? '+' : ''}`;

function plainStateOf(row: WatchedResource, now: number): LineState {
  const { status, gone, error, isNew, standing, readAt, alarms } = row;
  if (gone || status === undefined) {
    const word = gone ? 'deleted' : error !== undefined ? 'unreachable' : isNew ? 'no status' : '';
    return { word, text: word, look: 'unknown' };
  }
  if (hasEnded(status)) return endedState(row, status, now);
  if (isWaiting(row)) return { word: waitingWord, text: `waits: ${row.waits}`, short: 'waits', look: 'waiting' };
  const look = statusMeaning(status);
  const word = formatStatus(status);
  if (standing.kind === 'queued') {
    const text = standing.forMs === undefined ? 'queued' : `queued ${age(standing.forMs)}`;
    return { word: 'queued', text, look };
  }
  const old = readAt !== undefined && now - readAt > oldMs ? `read ${age(now - readAt)} ago` : '';
  const stall = alarms.find(({ kind }) => kind === 'stall');
  const savedMs = standing.kind === 'silent' ? standing.checkpointMs : undefined;
  const lastSaved = savedMs === undefined ? '' : describeCheckpointAge(savedMs);
  if (stall?.lasted) {
    const text = `stalled ${formatSilence(stall.lasted)}`;
    const words = lastSaved ? `stalled, ${lastSaved}` : text;
    return { word: 'stalled', text: [words, old].filter(Boolean).join(', '), short: text, look };
  }
  if (standing.kind === 'silent') {
    const silence = formatSilence(standing);
    const text = [`no new step for ${silence}`, lastSaved, old].filter(Boolean).join(', ');
    return { word, text, short: `no step ${silence}`, look };
  }
  const leftMs = standing.kind === 'moving' ? standing.leftMs : undefined;
  const [left, about] = leftMs === undefined ? ['', ''] : [duration, roughly].map(words => `ETA ${words(leftMs)}`);
  const text = [word, left, old].filter(Boolean).join(', ');
  return { word, text, short: old || left || word, brief: old || about || word, look };
}
