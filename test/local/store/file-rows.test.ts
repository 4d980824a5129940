/** The rows of a file that a screen or a command reads. */
import { expect, it, vi } from 'vitest';
import { FileRows } from '../../../src/local/store/file-rows.ts';
import { storesInMemory } from './memory.ts';

const item = (content: string) => ({
  trace_id: `trace-${content}`,
  conversation_id: undefined,
  status: 'completed',
  steps: [{ messages: [{ role: 'user', content }] }],
});

it('adds each row without reading the others (attack27 C4)', () => {
  const { stores, organizationId } = storesInMemory();
  const { database } = stores;
  const rows = new FileRows(stores, organizationId, 'rollouts.jsonl', new Map());
  rows.add(item('one'), 'line 1');
  const calls = [vi.spyOn(database, 'run'), vi.spyOn(database, 'get')].map(({ mock }) => mock.calls);
  rows.add(item('two'), 'line 2');
  const statements = calls.flat().filter(([sql]) => /^(select|update|delete)/.test(sql));
  // One each for the equal ones before it, for its id, and for the id of its trace.
  expect(statements.filter(([sql]) => sql.startsWith('select'))).toHaveLength(3);
  const plans = statements.map(([sql, ...values]) => database.all(`explain query plan ${sql}`, ...values));
  expect(JSON.stringify(plans)).not.toContain('SCAN');
});
