/**
 * Texts that distinguish a task's rollouts in a list: question, answer, expected answer, and the sample's number. Pure.
 */
import { isRecord, own } from '../base/own-property.ts';
import { messageContent } from '../contract/message-content.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { withoutData } from '../text/data-urls.ts';
import { withoutThoughts } from '../text/thoughts.ts';
import { type Cell, type Column, plainColumn } from './column.ts';
import { answerOf, messagesBeforeAnswer } from './task-groups.ts';

/** One line of each text in a rollout that was read with its steps; empty if there is none. */
export interface RolloutTexts {
  readonly question: string;
  readonly answer: string;
}

const longestLine = 240;

/** The first line with text in it. */
function firstLine(text: string | undefined): string {
  const line = withoutData(/\S[^\r\n]*/.exec(text ?? '')?.[0] ?? '');
  // Copy the line, because a slice would keep the whole text in memory.
  return Buffer.from(line.slice(0, longestLine).trimEnd().toWellFormed()).toString();
}

/** The last message of the user before the model's first one. */
function askedIn(trajectory: Pick<Trajectory, 'steps'>): string | undefined {
  const before = messagesBeforeAnswer(trajectory);
  const question = before.findLast(({ role }) => role === 'user') ?? before.at(-1);
  return (question && messageContent(question.content)) ?? undefined;
}

/** The texts of a trajectory; undefined if they were not read. */
export function textsOf(row: object): RolloutTexts | undefined {
  const { steps, read_texts } = row as Partial<Trajectory> & { readonly read_texts?: RolloutTexts };
  if (read_texts) return read_texts;
  return steps
    ? { question: firstLine(askedIn({ steps })), answer: firstLine(withoutThoughts(answerOf({ steps }) ?? '')) }
    : undefined;
}

/** Fields in which services, trainers and benchmarks write a task's expected answer. */
const targets = ['target', 'expected', 'ground_truth', 'gts', 'reference'] as const;
const targetsInMetadata = [...targets, 'answer'] as const;

/** The task's expected answer, if the record has it. */
export function targetOf(row: object): Cell {
  const fields = row as Readonly<Record<string, unknown>>;
  const [grader, metadata] = [own<unknown>(fields, 'grader'), own<unknown>(fields, 'metadata')];
  const values = [
    isRecord(grader) ? own(grader, 'expected') : undefined,
    ...targets.map(name => own(fields, name)),
    ...targetsInMetadata.map(name => (isRecord(metadata) ? own(metadata, name) : undefined)),
  ];
  const found = values.find(value => typeof value === 'string' || typeof value === 'number');
  return typeof found === 'string' ? firstLine(found) || undefined : (found as Cell);
}

/** The sample's number within its task. */
export function sampleOf(row: object): Cell {
  const sample = own(row as Readonly<Record<string, unknown>>, 'sample');
  return typeof sample === 'string' || typeof sample === 'number' ? sample : undefined;
}

/** @param of returns a row's texts; undefined if they were not read */
export const textColumns = <Row>(of: (row: Row) => RolloutTexts | undefined): readonly Column<Row>[] => [
  plainColumn('answer', 'ANSWER', { min: 24, max: 200, grow: 3 }, row => of(row)?.answer || undefined, {
    hidden: true,
    cutAt: 'end',
    decides: 4,
  }),
  plainColumn('question', 'QUESTION', { min: 16, max: 120, grow: 2 }, row => of(row)?.question || undefined, {
    hidden: true,
    cutAt: 'end',
  }),
];
