/** Looks up a response's fields in its schema. */
import type * as z from 'zod/mini';
import { own } from '../base/own-property.ts';
import { rowSchemaOf } from './common.ts';

/** The parts of zod's definitions that describe fields. */
interface Shape {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>;
  readonly innerType?: z.ZodMiniType;
  readonly element?: z.ZodMiniType;
  readonly in?: z.ZodMiniType;
  readonly out?: z.ZodMiniType;
}

const shapeOf = (schema: z.ZodMiniType): Shape => schema._zod.def as unknown as Shape;

/**
 * Whether a response may have a field, e.g. `failure.code`. If the contract leaves the fields open, any name passes.
 */
export function mayHaveField(schema: z.ZodMiniType, names: readonly string[]): boolean {
  return isField(schema, names, type => !['string', 'number', 'boolean'].includes(type));
}

/** Whether the contract names a field. Open parts, such as the options of a run, have no named fields. */
export function declaresField(schema: z.ZodMiniType, names: readonly string[]): boolean {
  return isField(schema, names, () => false);
}

/** @param isOpen whether a schema of this type, which declares no fields, accepts any */
function isField(
  schema: z.ZodMiniType,
  [name, ...rest]: readonly string[],
  isOpen: (type: string) => boolean,
): boolean {
  if (name === undefined) return true;
  const { type, shape, innerType, element, in: input, out } = shapeOf(schema);
  if (innerType) return isField(innerType, [name, ...rest], isOpen);
  if (input && out) return isField(shapeOf(input).type === 'transform' ? out : input, [name, ...rest], isOpen);
  if (element) return /^\d+$/.test(name) && isField(element, rest, isOpen);
  if (shape) {
    const field = own(shape, name);
    return field !== undefined && isField(field, rest, isOpen);
  }
  return isOpen(type);
}

/** The names of a response's fields in its schema. */
export function fieldNames(schema: z.ZodMiniType): string[] {
  const { shape, innerType, in: input, out } = shapeOf(schema);
  if (innerType) return fieldNames(innerType);
  if (input && out) return fieldNames(shapeOf(input).type === 'transform' ? out : input);
  return Object.keys(shape ?? {});
}

/** The schema of the rows in a response; undefined if it has none. */
export function rowsIn(answer: z.ZodMiniType): z.ZodMiniType | undefined {
  const { shape = {}, in: input, out } = shapeOf(answer);
  const parts = [input, out, ...Object.values(shape)].filter(part => part !== undefined);
  return rowSchemaOf(answer) ?? parts.map(rowsIn).find(row => row !== undefined);
}
