/** Which fields an answer has, by the contract. */
import type * as z from 'zod/mini';
import { own } from '../text/own.ts';
import { rowSchemaOf } from './common.ts';

/** The parts of a schema that are inspected; other schemas do not describe fields. */
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
 * Whether an answer may have a field, e.g. `failure.code`. Where the contract leaves the fields open, any name may be
 * one: only a certain typing error is rejected.
 */
export function mayHaveField(schema: z.ZodMiniType, names: readonly string[]): boolean {
  return isField(schema, names, type => !['string', 'number', 'boolean'].includes(type));
}

/** Whether the contract names a field. Of an open part, such as the options of a run, it names none. */
export function declaresField(schema: z.ZodMiniType, names: readonly string[]): boolean {
  return isField(schema, names, () => false);
}

/** @param isOpen whether a part without declared fields may have one, by its type */
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

/** The names of the fields that an answer has by its schema. */
export function fieldNames(schema: z.ZodMiniType): string[] {
  const { shape, innerType, in: input, out } = shapeOf(schema);
  if (innerType) return fieldNames(innerType);
  if (input && out) return fieldNames(shapeOf(input).type === 'transform' ? out : input);
  return Object.keys(shape ?? {});
}

/** The schema of the rows in an answer; undefined if it holds none. */
export function rowsIn(answer: z.ZodMiniType): z.ZodMiniType | undefined {
  const { shape = {}, in: input, out } = shapeOf(answer);
  const parts = [input, out, ...Object.values(shape)].filter(part => part !== undefined);
  return rowSchemaOf(answer) ?? parts.map(rowsIn).find(row => row !== undefined);
}
