import type { RecordSample } from '../records.ts';

/** A runtime, as the build of an image creates it. */
export const sample: RecordSample = {
  resource: 'runtimes',
  table: 'runtimes',
  row: {
    runtime_id: 'runtime_sample',
    image_ref: 'local/sample',
    dockerfile_uri: null,
    content_hash: 'sample',
    provider: 'local',
    blueprint_id: null,
    build_status: 'ready',
    created_at: '2026-01-01T00:00:00.000Z',
  },
};
