/**
 * Records of benchmark uploads, so that another program can resume them: the id, the phase, and the fingerprint of each
 * file. Files have a row each, so that recording one takes constant time.
 */
import { ResumableUploads, uploadsKeptMs } from './tables.ts';

/**
 * `sending`: files are being sent. `ingesting`: the manifest was sent, but the response is unknown. `ingested`: the
 * benchmark exists, but its image builds may not have started.
 */
export type RecordPhase = 'sending' | 'ingesting' | 'ingested';

interface UploadRecord {
  readonly benchId: string;
  readonly phase: RecordPhase;
  /** Fingerprint of the last manifest sent; undefined if none was sent. */
  readonly manifest: string | undefined;
}

/** A resumable upload. */
export interface UnfinishedUpload {
  readonly folder: string;
  readonly benchId: string;
}

/**
 * One record per profile and folder. Files are stored by folder and id, so that a program that is still sending files
 * for an older id does not interfere.
 */
export class UploadRecords extends ResumableUploads {
  /** Resumable uploads by this or another program, latest first. */
  unfinished(): UnfinishedUpload[] {
    const sql = 'select folder, bench_id from uploads where profile = ? order by begun_at desc, folder';
    return this.tables
      .all(sql, this.tables.scope)
      .map(({ folder, bench_id }) => ({ folder: String(folder), benchId: String(bench_id) }));
  }

  get(folder: string): UploadRecord | undefined {
    const sql = 'select bench_id, phase, manifest from uploads where profile = ? and folder = ?';
    const [row] = this.tables.all(sql, this.tables.scope, folder);
    if (!row) return undefined;
    const { bench_id, phase, manifest } = row;
    return {
      benchId: String(bench_id),
      phase: phase === 'ingesting' || phase === 'ingested' ? phase : 'sending',
      manifest: manifest === null ? undefined : String(manifest),
    };
  }

  /**
   * The files declared to the service, with the fingerprints of the sent versions; undefined if a file may not have
   * arrived.
   */
  files(folder: string, benchId: string): Map<string, string | undefined> {
    const sql = 'select path, mark from upload_files where profile = ? and folder = ? and bench_id = ?';
    const rows = this.tables.all(sql, this.tables.scope, folder, benchId);
    return new Map(rows.map(({ path, mark }) => [String(path), mark === null ? undefined : String(mark)]));
  }

  /** Begins a record, replacing the previous one. */
  begin(folder: string, benchId: string, now = Date.now()): void {
    this.forget(folder);
    for (const table of ['upload_files', 'uploads']) {
      const old = 'select folder from uploads where profile = ?1 and begun_at < ?2';
      this.tables.run(
        `delete from ${table} where profile = ?1 and folder in (${old})`,
        this.tables.scope,
        now - uploadsKeptMs,
      );
    }
    const sql = 'insert into uploads (profile, folder, bench_id, phase, begun_at) values (?, ?, ?, ?, ?)';
    this.tables.run(sql, this.tables.scope, folder, benchId, 'sending', now);
    this.changed();
  }

  setPhase(folder: string, benchId: string, phase: RecordPhase, manifest?: string): void {
    const sql = 'update uploads set phase = ?, manifest = ? where profile = ? and folder = ? and bench_id = ?';
    this.tables.run(sql, phase, manifest ?? null, this.tables.scope, folder, benchId);
  }

  /** Records files and their fingerprints; undefined for files about to be sent. */
  note(folder: string, benchId: string, files: readonly (readonly [path: string, mark: string | undefined])[]): void {
    this.tables.runAll(
      'insert or replace into upload_files (profile, folder, bench_id, path, mark) values (?, ?, ?, ?, ?)',
      files.map(([path, mark]) => [this.tables.scope, folder, benchId, path, mark ?? null]),
    );
  }

  /** @param benchId deletes the record only if it has this id, because another program may have begun a new one */
  forget(folder: string, benchId?: string): void {
    for (const table of ['upload_files', 'uploads']) {
      const sql = `delete from ${table} where profile = ?1 and folder = ?2 and bench_id = coalesce(?3, bench_id)`;
      this.tables.run(sql, this.tables.scope, folder, benchId ?? null);
    }
    this.changed();
  }
}
