import { lateView } from '../../app/late.tsx';
import type { ViewDefinition } from '../../app/view-definition.ts';
import { uploadCommands } from './commands.ts';

export const benchmarkUploadView: ViewDefinition = {
  name: 'benchmark-upload',
  title: 'Upload',
  aliases: [],
  crumb: params => `upload ${params['name'] ?? ''}`,
  component: lateView(async () => (await import('./benchmark-upload.tsx')).BenchmarkUploadView),
  commands: Object.values(uploadCommands),
};

export const trajectoryUploadView: ViewDefinition = {
  name: 'trajectory-upload',
  title: 'Upload',
  aliases: [],
  crumb: params => `upload into ${params['dataset'] ?? ''}`,
  component: lateView(async () => (await import('./trajectory-upload.tsx')).TrajectoryUploadView),
  commands: [],
};
