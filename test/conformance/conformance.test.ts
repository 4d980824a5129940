/**
 * Checks every row of the service document against the local service: raw over HTTP, and through the service layer. A
 * row without a check fails, and so does a check without a row.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/contract/common.ts';
import { endpoints } from '../../src/contract/endpoints.ts';
import { errorCodes, errorTypes } from '../../src/contract/errors.ts';
import { deploymentStatuses, trainingStatuses } from '../../src/contract/status.ts';
import { documentedEndpoints, documentText, notShown, type TableRow, tableRows } from './document.ts';
import { rules, scopedByKey } from './rules.ts';
import { makeWorld, type Sample, type World } from './samples.ts';
import { allowedValues, fieldLists, withoutValue } from './sentences.ts';
import { hasType } from './types.ts';

let world: World;
let passed = 0;
let checked = 0;

beforeAll(async () => {
  world = await makeWorld();
});
afterAll(async () => {
  await world.end();
  process.stdout.write(
    `conformance: ${passed} of ${checked} rows of the service document passed; ${notShown().length} of its statements say “not shown”\n`,
  );
});

/** Counts a row, and that it passed. */
function row(name: string, check: () => Promise<void> | void): void {
  checked += 1;
  it(name, async () => {
    await check();
    passed += 1;
  }, 30_000);
}

function samplesOf(of: string): readonly Sample[] {
  const found = world.samples.get(of) ?? [];
  expect(found.length, `samples of ${of}`).toBeGreaterThan(0);
  return found;
}

/**
 * A field is in every answer that contains its object, with its type or, if it has no value, null; at least once it has
 * a value; and the service layer returns it as it was sent.
 */
function checkField(of: string, field: string, type: string): void {
  const mayBeNull = withoutValue[of]?.includes(field) ?? false;
  const samples = samplesOf(of);
  for (const { raw, layer, from } of samples) {
    expect(Object.hasOwn(raw, field), `${of}.${field} is missing from ${from}`).toBe(true);
    const value = raw[field];
    const isRight = (value === null && mayBeNull) || hasType(value, type);
    expect(isRight, `${of}.${field} is ${JSON.stringify(value)} in ${from}, not ${type}`).toBe(true);
    if (layer && typeof value !== 'object') expect(layer[field]).toEqual(value);
  }
  const values = samples.map(({ raw }) => raw[field]);
  expect(values.some(value => value !== null) || type.endsWith('or null'), `${of}.${field} has no value`).toBe(true);
}

const isFieldRow = ({ cells }: TableRow): boolean => 'Field' in cells;
const fieldRows = tableRows().filter(isFieldRow);
const ruleRows = tableRows().filter(each => !isFieldRow(each));

function ruleName({ section, cells, name }: TableRow): string {
  return [section, name, ...(cells['Condition'] ? [cells['Condition']] : [])].join(' | ');
}

describe('fields in tables', () => {
  for (const { section, name, cells } of fieldRows) {
    row(`${section}: ${name}`, () => checkField(section, name, cells['Type'] ?? ''));
  }
});

describe('fields in sentences', () => {
  it.each(fieldLists)('are in the document: $of', ({ quote }) => {
    expect(documentText).toContain(quote);
  });
  for (const { of, fields } of fieldLists) {
    for (const [field, type] of Object.entries(fields)) row(`${of}: ${field}`, () => checkField(of, field, type));
  }
});

describe('rules, bounds, errors and limits', () => {
  const wanted = ruleRows.map(ruleName);
  it('have a check for each row, and a row for each check', () => {
    expect(Object.keys(rules).sort()).toEqual([...new Set(wanted)].sort());
  });
  for (const name of wanted) row(name, () => rules[name]?.(world));
});

describe('allowed values', () => {
  it.each(Object.values(allowedValues))('are in the document: $quote', ({ quote }) => {
    expect(documentText).toContain(quote);
  });
  row('deployment status', () =>
    expect([...deploymentStatuses].sort()).toEqual([...allowedValues.deployment.values].sort()),
  );
  row('training status', () => expect([...trainingStatuses].sort()).toEqual([...allowedValues.training.values].sort()));
  row('error types', () => expect([...errorTypes].sort()).toEqual([...allowedValues.errorType.values].sort()));
  row('common codes', () =>
    expect(Object.keys(errorCodes)).toEqual(expect.arrayContaining([...allowedValues.commonCodes.values])),
  );
});

describe('null rules of a deployment', () => {
  const of = (status: string) => samplesOf('Deployment').filter(({ raw }) => raw['status'] === status)[0]?.raw ?? {};
  row('null until the merge lands', () => {
    const { model_id, base_model_slug, checkpoint_step, updated_at } = of('PENDING');
    expect([model_id, base_model_slug, checkpoint_step, updated_at]).toEqual([null, null, null, null]);
  });
  row('completed_at once it is DEPLOYED, and not before', () => {
    expect(of('PENDING')['completed_at']).toBeNull();
    expect(of('DEPLOYED')['completed_at']).toEqual(expect.any(String));
  });
  row('a failure when it is FAILED, and only then', () => {
    expect(of('DEPLOYED')['failure']).toBeNull();
    expect(of('FAILED')['failure']).toMatchObject({ type: 'dependency_error', code: 'weights_missing' });
  });
});

describe('endpoints', () => {
  const declared = Object.values<Endpoint>(endpoints);
  const inDocument = documentedEndpoints();
  it('of the document are all declared, and no others are marked as documented', () => {
    const shown = declared.filter(each => !each.capability).map(({ method, path }) => `${method} ${path}`);
    expect(shown.sort()).toEqual(inDocument.map(({ method, path }) => `${method} ${path}`).sort());
  });
  for (const { method, path } of inDocument) {
    row(`${method} ${path}`, async () => {
      const ids: Record<string, string> = {
        bench_id: world.ids.benchId,
        eval_run_id: world.ids.runId,
        training_run_id: world.ids.trainingId,
        trajectory_id: world.ids.openTrajectory,
      };
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'unknown');
      // A real answer: a success, or an error other than that of an unknown route.
      const { status, body } = await world.local.call(method, filled, method === 'POST' ? {} : undefined);
      expect(['unknown_route', 'method_not_allowed', 'not_implemented']).not.toContain(body.error?.code);
      expect(status).toBeLessThan(500);
      const wrong = await world.local.call('PATCH', filled);
      expect([wrong.status, wrong.body.error.code]).toEqual([405, 'method_not_allowed']);
    });
  }
});

describe('organizations', () => {
  row('are separate by key', () => scopedByKey(world));
});
