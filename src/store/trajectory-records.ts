/**
 * Records of trajectory uploads, so that no trajectory is sent twice: one row per request with an unknown outcome,
 * written before the request is sent, and one per stored or skipped trajectory. Trajectories without a row were not
 * sent, were rejected, or were forgotten.
 */
import { randomUUID } from 'node:crypto';
import {
  type AccountUpload,
  countSums,
  countsIn,
  SentRecord,
  type TrajectoryUploadRef,
  type UploadCounts,
} from './sent-record.ts';
import { type FileState, jsonIn, ResumableUploads, type Row } from './tables.ts';

/** An upload that has begun. */
export interface TrajectoryRecord extends TrajectoryUploadRef {
  readonly counts: UploadCounts;
}

/** The name of the setting with the secret, which all profiles of a service share. */
const secretSetting = 'accountSecret';

export class TrajectoryRecords extends ResumableUploads {
  /**
   * An API key's account.
   *
   * @param accountOf hashes the API key with this secret, so that the key cannot be derived from the hash
   */
  async account(accountOf: (secret: string) => Promise<string>): Promise<string> {
    const values = [this.tables.service, secretSetting] as const;
    const insert = 'insert or ignore into settings (profile, name, value) values (?, ?, ?)';
    const select = 'select value from settings where profile = ? and name = ?';
    const own = randomUUID();
    if (this.tables.all(select, ...values).length === 0) this.tables.run(insert, ...values, JSON.stringify(own));
    const [row] = this.tables.all(select, ...values);
    return accountOf(row ? String(jsonIn(row['value'])) : own);
  }

  /** The record of the upload's dataset, which includes the upload itself. */
  of(upload: AccountUpload): SentRecord {
    return new SentRecord(this.tables, upload, this.changed);
  }

  get file(): FileState {
    return this.tables;
  }

  /** Unsettled uploads by this or another program, for each account, latest first. */
  unfinished(): TrajectoryRecord[] {
    const sql = `select path, dataset, agent, ${countSums} from unfinished_files where service = ?
      group by path, dataset, agent, account order by max(seq) desc`;
    return this.tables.all(sql, this.tables.service).map(toTrajectoryRecord);
  }
}

function toTrajectoryRecord({ path, dataset, agent, ...counts }: Row): TrajectoryRecord {
  return {
    path: String(path),
    dataset: String(dataset),
    agent: agent === '' ? undefined : String(agent),
    counts: countsIn(counts),
  };
}
