/** What the upload of a benchmark sends, before or while it does. */
import type { BenchmarkUpload } from '../../../queries/uploads/benchmark-upload.ts';
import { safeJson, sanitiseLine } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';
import { useShell } from '../../app/shell-context.tsx';
import { formCommands, overlayCommands } from '../../keys/general.ts';
import { KeyScope } from '../../keys/router.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../../widgets/window.tsx';
import { Lines } from '../shared/lines.tsx';

/** Files that are named; the others are counted. */
const namedFiles = 3;

/** The requests in their order, the first with the beginning of its body. Pure. */
export function uploadRequests({ state }: Pick<BenchmarkUpload, 'state'>): string[] {
  const { plan } = state;
  const declared = plan.files.map(({ path, size }) => ({ path, size_bytes: size }));
  const more = declared.length - namedFiles;
  const files = [...declared.slice(0, namedFiles), ...(more > 0 ? [`and ${more} more`] : [])];
  // Given by the first answer.
  const benchId = state.benchId ?? 'bench_…';
  return [
    'POST /api/v1/benchmarks/uploads',
    ...safeJson({ files }, 2).split('\n'),
    'PUT each file, to the address that is given for it',
    `POST /api/v1/benchmarks/${benchId}/ingest`,
    `POST /api/v1/benchmarks/${benchId}/images/build`,
  ];
}

export interface UploadPreviewProps {
  readonly job: BenchmarkUpload;
  readonly onClose: () => void;
}

export function UploadPreview({ job, onClose }: UploadPreviewProps) {
  const { layout } = useShell();
  const { styles } = useTheme();
  const width = Math.min(layout.columns - 4, 76);
  const inner = width - windowMargin.columns;
  const lines = uploadRequests(job).flatMap(line => wrap(sanitiseLine(line), inner));
  const height = Math.min(layout.rows - 2, lines.length + windowMargin.lines);
  return (
    <KeyScope
      modal
      bindings={[
        { command: overlayCommands.close, run: onClose },
        { command: overlayCommands.quit, run: onClose },
        { command: formCommands.preview, run: onClose },
      ]}
    >
      <Window title="What is sent" width={width} height={height}>
        <Lines
          lines={lines.map(line => styles.code(line))}
          width={inner}
          height={Math.max(1, height - windowMargin.lines)}
        />
      </Window>
    </KeyScope>
  );
}
