/** A benchmark upload's requests, shown before or during the upload. */
import { agentFields } from '../../../contract/generation.ts';
import { counted } from '../../../text/numbers.ts';
import type { BenchmarkUpload } from '../../../uploads/benchmark-upload.ts';
import { allocate } from '../../../uploads/file-batch.ts';
import { buildImages, ingest } from '../../../uploads/ingest.ts';
import type { Service } from '../../../workbench/workbench.ts';
import { useWindowRoom } from '../../app/shell-context.tsx';
import { useRequests } from '../../data/use-action.ts';
import { formCommands, overlayCommands } from '../../keys/general.ts';
import { Lines } from '../../widgets/lines.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../../widgets/window.tsx';
import { requestLine, requestLines } from '../../windows/requests.ts';

/** Maximum number of files to name; the others are counted. */
const namedFiles = 3;

interface UploadPreviewProps {
  readonly job: BenchmarkUpload;
  readonly onClose: () => void;
}

export function UploadPreview({ job, onClose }: UploadPreviewProps) {
  const { styles } = useTheme();
  const { plan, benchId, agent } = job.state;
  const { width, inner, ...room } = useWindowRoom(76);
  const requests = useRequests((service: Service) => {
    // The first response provides the id.
    const id = benchId ?? '';
    return Promise.all([
      allocate(service, plan.files.slice(0, namedFiles), benchId),
      ingest(service, { benchId: id, agent: agent === undefined ? undefined : agentFields(agent), plan }),
      buildImages(service, id),
    ]);
  });
  const more = plan.files.length - namedFiles;
  const [first, ...rest] = requests?.kind === 'known' ? requests.requests : [];
  const lines = first
    ? [
        ...requestLines({ kind: 'known', requests: [first] }, inner),
        ...(more > 0 ? [`and ${counted(more, 'more file')}, some in each request`] : []),
        'PUT each file, to its signed address',
        ...rest.map(requestLine),
      ]
    : requestLines(requests, inner);
  const height = Math.min(room.height, lines.length + windowMargin.lines);
  return (
    <Window
      title="Upload requests"
      width={width}
      height={height}
      bindings={[
        { command: overlayCommands.close, run: onClose },
        { command: overlayCommands.quit, run: onClose },
        { command: formCommands.preview, run: onClose },
      ]}
    >
      <Lines
        lines={lines.map(line => styles.code(line))}
        width={inner}
        height={Math.max(1, height - windowMargin.lines)}
      />
    </Window>
  );
}
