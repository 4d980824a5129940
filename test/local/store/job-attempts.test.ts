/** Jobs that crash the service repeatedly. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Database } from '../../../src/local/store/database.ts';
import { JobAttempts, type JobKind, type JobRecords } from '../../../src/local/store/job-attempts.ts';

class Service {
  readonly database = new Database(':memory:');
  readonly #folder = mkdtempSync(join(tmpdir(), 'benchtop-attempts-'));
  readonly attempts = new JobAttempts(this.database, join(this.#folder, 'jobs-under-way'));
  readonly progress = new Map<string, number>();
  readonly unfinished = new Set(['evr_1', 'trn_1', 'waits', 'bench_1']);
  readonly fail = vi.fn((_id: string, _failure: { readonly code: string }) => true);

  constructor() {
    onTestFinished(() => rmSync(this.#folder, { recursive: true }));
  }

  /** A start of the service: the jobs that may have ended the last one. */
  restart(): string[] {
    const jobs = () => [...this.unfinished].map(id => ({ id }));
    const of: JobRecords = { jobs, progress: id => this.progress.get(id) ?? 0, fail: this.fail };
    const records: Record<JobKind, JobRecords> = { 'image build': of, evaluation: of, training: of, deployment: of };
    return this.attempts.recover(records).map(({ id }) => id);
  }
}

describe('a job in progress when the service crashed', () => {
  it('is resumed once, and set aside after the second crash (X1)', () => {
    const service = new Service();
    service.attempts.begin('evr_1', 'evaluation');
    expect(service.restart()).toEqual(['evr_1']);
    expect(service.fail).not.toHaveBeenCalled();
    service.attempts.begin('evr_1', 'evaluation');
    expect(service.restart()).toEqual([]);
    expect(service.fail).toHaveBeenCalledExactlyOnceWith(
      'evr_1',
      expect.objectContaining({ code: 'set_aside', message: expect.stringContaining('ended abnormally 2 times') }),
    );
    expect(service.restart()).toEqual([]);
  });

  it('does not count if it was not resumed, had ended, or the service stopped properly', () => {
    const service = new Service();
    service.attempts.begin('waits', 'training');
    service.restart();
    service.restart();
    service.attempts.begin('waits', 'training');
    service.attempts.end('waits', false);
    service.attempts.begin('done', 'training');
    service.attempts.end('done', true);
    expect(service.restart()).toEqual([]);
    expect(service.fail).not.toHaveBeenCalled();
  });

  it('does not count if the disk was full, until the next attempt', () => {
    const service = new Service();
    for (let end = 0; end < 3; end += 1) {
      service.attempts.begin('evr_1', 'evaluation');
      service.attempts.pardon();
      expect(service.restart()).toEqual(['evr_1']);
    }
    service.attempts.begin('evr_1', 'evaluation');
    expect(service.restart()).toEqual(['evr_1']);
    service.attempts.begin('evr_1', 'evaluation');
    expect(service.restart()).toEqual([]);
  });

  it('continues as long as the service crashes elsewhere', () => {
    const service = new Service();
    for (const steps of [0, 3, 4, 9]) {
      service.attempts.begin('trn_1', 'training');
      service.progress.set('trn_1', steps);
      expect(service.restart()).toEqual(['trn_1']);
    }
    // Steps since the last checkpoint are repeated, up to another one (B3).
    service.attempts.begin('trn_1', 'training');
    service.progress.set('trn_1', 8);
    expect(service.restart()).toEqual(['trn_1']);
    // The step after 8 may be the cause.
    service.attempts.begin('trn_1', 'training');
    expect(service.restart()).toEqual([]);
    expect(service.fail).toHaveBeenCalledOnce();
  });

  it('is forgotten if it has been deleted or has ended since, so that it holds no other job back', () => {
    const service = new Service();
    service.unfinished.add('evr_2');
    for (const id of ['evr_1', 'evr_2']) service.attempts.begin(id, 'evaluation');
    service.attempts.begin('waits', 'evaluation');
    service.attempts.end('waits', false);
    for (const id of ['evr_1', 'waits']) service.unfinished.delete(id);
    expect(service.restart()).toEqual(['evr_2']);
    const left = service.database.all<{ job_id: string }>('select job_id from job_attempts');
    expect(left.map(({ job_id }) => job_id)).toEqual(['evr_2']);
    expect(service.fail).not.toHaveBeenCalled();
  });

  it('is listed until it is deleted, or its images are built again', () => {
    const service = new Service();
    const ids = () => service.attempts.setAside().map(({ id, kind }) => [id, kind]);
    const image = { bench_id: 'bench_1', task_id: 't', provider: '', provider_ref: '', dockerfile_uri: '' };
    service.database.run("insert into benchmarks values ('bench_1', 'org_1', '', '', '', '', '', '', '{}')");
    service.database.put('images', { ...image, build_status: 'failed' });
    for (let turn = 0; turn < 2; turn += 1) {
      service.attempts.begin('bench_1', 'image build');
      service.unfinished.add('evr_deleted');
      service.attempts.begin('evr_deleted', 'evaluation');
      service.restart();
    }
    expect(ids()).toEqual([['bench_1', 'image build']]);
    service.attempts.begin('bench_1', 'image build');
    expect(ids()).toEqual([]);
    expect(service.restart()).toEqual(['bench_1']);
  });
});
