/**
 * Everything that the contract declares, written out in shape.txt: requests and responses. A change of the contract
 * shows up there: `npx vitest run test/contract/shape.test.ts -u`.
 */
import { expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { describeCapability } from '../../src/contract/capabilities.ts';
import { type Endpoint, rowSchemaOf } from '../../src/contract/common.ts';
import { endpoints } from '../../src/contract/endpoints.ts';

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>;
  readonly catchall?: z.ZodMiniType;
  readonly [part: string]: unknown;
}

const definitionOf = (schema: z.ZodMiniType): Definition => schema._zod.def as unknown as Definition;

/** The limits of a value: `min_length 1`. */
function checksOf(schema: z.ZodMiniType): string {
  const checks = (definitionOf(schema)['checks'] ?? []) as readonly { _zod: { def: Record<string, unknown> } }[];
  const words = checks.map(({ _zod: { def } }) => {
    const limits = ['value', 'inclusive', 'minimum', 'maximum', 'format', 'pattern'].filter(name => name in def);
    return [def['check'], ...limits.map(name => String(def[name]))].join(' ');
  });
  return words.length > 0 ? ` (${words.join(', ')})` : '';
}

/** A schema in the manner of TypeScript, on one line for each field. */
function describeSchema(schema: z.ZodMiniType, indent: string): string {
  const part = (inner: unknown): string => describeSchema(inner as z.ZodMiniType, indent);
  const definition = definitionOf(schema);
  const { type, shape, catchall } = definition;
  const checks = checksOf(schema);
  const row = rowSchemaOf(schema);
  if (row) return `page of ${part(row)}`;
  switch (type) {
    case 'object': {
      const more = `${indent}  `;
      const fields = Object.entries(shape ?? {}).map(([name, each]) => `${more}${name}: ${describeSchema(each, more)}`);
      const rest = catchall ? (definitionOf(catchall).type === 'never' ? 'exactly ' : 'at least ') : '';
      return fields.length === 0 ? `${rest}{}${checks}` : `${rest}{\n${fields.join('\n')}\n${indent}}${checks}`;
    }
    case 'optional':
    case 'nullable':
      return `${part(definition['innerType'])} | ${type === 'optional' ? 'nothing' : 'null'}${checks}`;
    case 'array':
      return `list of ${part(definition['element'])}${checks}`;
    case 'record':
      return `record of ${part(definition['valueType'])}${checks}`;
    case 'union':
      return (definition['options'] as readonly z.ZodMiniType[]).map(part).join(' or ');
    case 'pipe':
      return [definition['in'], definition['out']].map(part).join(' > ');
    case 'enum':
      return Object.values(definition['entries'] as object).join(' | ');
    case 'literal':
      return (definition['values'] as readonly unknown[]).join(' | ');
    default:
      return `${definition['format'] ?? type}${checks}`;
  }
}

function describeEndpoint(endpoint: Endpoint): string {
  const { operation, method, path, query, body, response, repeatable, ...options } = endpoint;
  const schemas = Object.entries({ query, body, response }).flatMap(([name, schema]) =>
    schema ? [`  ${name}: ${describeSchema(schema, '  ')}`] : [],
  );
  const flags = Object.entries({ ...options, ...(repeatable ? { repeatable: true } : {}) });
  return [
    `${operation}: ${method} ${path}`,
    `  to ${describeCapability(operation)}`,
    ...flags.map(([name, value]) => `  ${name} ${JSON.stringify(value)}`),
    ...schemas,
    '',
  ].join('\n');
}

it('the contract has the shape that shape.txt declares', async () => {
  const all = Object.values(endpoints as Readonly<Record<string, Endpoint>>).map(describeEndpoint);
  await expect(all.join('\n')).toMatchFileSnapshot('shape.txt');
});
