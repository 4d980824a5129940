/** A benchmark upload's requests, shown before or during the upload. */
import { agentFields } from '../../../contract/generation.ts';
import { counted } from '../../../text/numbers.ts';
import type { BenchmarkUpload } from '../../../uploads/benchmark-upload.ts';
import { allocate } from '../../../uploads/file-batch.ts';
import { buildImages, ingest } from '../../../uploads/ingest.ts';
import type { Service } from '../../../workbench/workbench.ts';
import { ReadingWindow, useReadingWidth } from '../../app/reading-window.tsx';
import { useRequests } from '../../data/use-action.ts';
import { formCommands } from '../../keys/general.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
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
  const width = useReadingWidth();
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
        ...requestLines({ kind: 'known', requests: [first] }, width),
        ...(more > 0 ? [`and ${counted(more, 'more file')}, some in each request`] : []),
        'PUT each file, to its signed address',
        ...rest.map(requestLine),
      ]
    : requestLines(requests, width);
  return (
    <ReadingWindow
      title="Upload requests"
      lines={lines.map(text => ({ text, style: styles.code }))}
      opener={formCommands.preview}
      onClose={onClose}
    />
  );
}
