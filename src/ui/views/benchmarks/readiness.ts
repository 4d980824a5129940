/** A benchmark's blockers and warnings in words. Pure. */
import type { BenchmarkImage, Readiness, TaskCount } from '../../../contract/benchmarks.ts';
import { formatStatus, type StatusMeaning, statusMeaning } from '../../../contract/status.ts';
import type { ListData } from '../../../queries/lists/list-source.ts';
import { benchmarkActions } from '../../../resources/benchmarks.ts';
import { asReceived, counted, countOf } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';
import type { Advise } from '../list/advice.ts';

/** One line for the verdict, and one for each blocker with its remedy; long lines wrap. */
export function readinessLines(
  readiness: Readiness | undefined,
  width: number,
  { styles, glyphs }: Theme,
  advise: Advise,
): string[] {
  if (!readiness) return [styles.muted('readiness unknown')];
  const marked = (words: string): string[] =>
    wrap(sanitiseLine(words), width - 2).map((line, index) =>
      styles.warning(`${index === 0 ? glyphs.warning : ' '} ${line}`),
    );
  const warnings = (readiness.warnings ?? []).flatMap(words => marked(String(words)));
  if (readiness.ready) return [styles.success(`${glyphs.check} ready to launch`), ...warnings];
  const secrets = (readiness.missing_secret_names ?? []).flatMap(name =>
    marked(`secret ${name} is missing${advise({ command: benchmarkActions.secret, words: 'creates it' })}`),
  );
  const images = Object.entries(readiness.unready_task_image_counts ?? {}).flatMap(([status, count]) =>
    marked(
      `${count == null ? 'images' : counted(count, 'image')} ${formatImageStatus(status)}${status === 'building' ? '' : advise({ command: benchmarkActions.build, words: 'builds them' })}`,
    ),
  );
  const blockers = [...secrets, ...images];
  if (readiness.ready === null && blockers.length === 0) return [styles.muted('readiness not reported'), ...warnings];
  const reason = blockers.length > 0 ? blockers : [styles.muted('the service does not report why')];
  return [styles.warning(`${glyphs.cross} not ready`), ...reason, ...warnings];
}

/** Services count images without a status under `null`. */
function formatImageStatus(status: string): string {
  return status === '' || status === 'null' ? 'without a status' : sanitiseLine(formatStatus(status));
}

/** How many images are built and how many failed: `1 of 3 images ready, 1 failed`. */
export function imageLines(list: ListData<BenchmarkImage> | undefined, { styles }: Theme): string[] {
  if (!list) return [];
  const { rows: images, dropped: unreadable } = list;
  const count = (meaning: StatusMeaning): number =>
    images.filter(({ build_status }) => build_status != null && statusMeaning(build_status) === meaning).length;
  const failed = count('failure') + count('stopped');
  const words = `${count('success')} of ${counted(images.length + unreadable, 'image')} ready`;
  return [
    styles.muted(words) +
      (failed > 0 ? styles.danger(`, ${failed} failed`) : '') +
      (unreadable > 0 ? styles.warning(`, ${unreadable} could not be read`) : ''),
  ];
}

/** How many tasks there are, by split if known: `8 tasks: 6 train, 2 test`. */
export function taskLines(answer: Pick<TaskCount, 'task_count' | 'by_split'> | undefined, { styles }: Theme): string[] {
  const all = countOf(answer?.task_count);
  if (answer === undefined || all === undefined) return [];
  const splits = Object.entries(answer.by_split ?? {}).filter(([, tasks]) => typeof tasks === 'number');
  const words = splits.map(([split, tasks]) => `${asReceived(tasks)} ${sanitiseLine(split)}`).join(', ');
  return [styles.muted(`${counted(all, 'task')}${words === '' ? '' : `: ${words}`}`)];
}
