import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { SIZE_PATTERN } from '../size.ts';

/**
 * Small vocabulary on top of TypeBox, so that one declaration gives type, default, validation and
 * documentation. A property with a `default` (or `derived`) is required in the TypeScript type, because the
 * loader fills it, and optional in the file: `relaxDefaults` takes it out of `required` before ajv sees it.
 */

/** A closed object: a key that is not listed is a configuration fault. */
export function section<T extends TProperties>(properties: T, description?: string): TObject<T> {
  return Type.Object(properties, { additionalProperties: false, ...(description && { description }) });
}

/** A closed object that is always there: left out of the file it is filled with its own defaults. */
export function filledSection<T extends TProperties>(properties: T, description?: string): TObject<T> {
  return Type.Object(properties, {
    additionalProperties: false,
    default: {},
    ...(description && { description }),
  });
}

export const text = (description: string, options: object = {}) =>
  Type.String({ description, minLength: 1, ...options });

export const flag = (description: string, byDefault: boolean) =>
  Type.Boolean({ description, default: byDefault });

/** Whole milliseconds. Timers of Node end at 2^31 - 1 ms. */
export const milliseconds = (
  description: string,
  options: { default?: number; derived?: string; minimum?: number },
) => Type.Integer({ description, unit: 'ms', minimum: 1, maximum: 2_147_483_647, ...options });

export const count = (description: string, options: { default: number; minimum?: number }) =>
  Type.Integer({ description, minimum: 1, maximum: 1_000_000_000, ...options });

/** A byte size such as `10mb`, `64 kB` or a plain number of bytes. */
export const size = (description: string, byDefault: string) =>
  Type.Union([Type.String({ pattern: SIZE_PATTERN }), Type.Integer({ minimum: 1 })], {
    description,
    default: byDefault,
    expected: 'a size such as 10mb or a number of bytes',
  });

export const textList = (description: string, options: object = {}) =>
  Type.Array(Type.String({ minLength: 1 }), { description, default: [], ...options });

/** Names to text values, such as headers or environment variables. */
export const textMap = (description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description,
    default: {},
  });

export const oneOf = <const T extends readonly string[]>(
  description: string,
  values: T,
  byDefault?: T[number],
) =>
  Type.Unsafe<T[number]>({
    type: 'string',
    enum: [...values],
    description,
    ...(byDefault !== undefined && { default: byDefault }),
  });

/** Returns a copy of `schema` in which no property that the loader fills is `required`. */
export function relaxDefaults<T extends TSchema>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (value?.type === 'object' && value.properties && Array.isArray(value.required)) {
      const required = value.required.filter(
        (name: string) => !('default' in value.properties[name]) && !('derived' in value.properties[name]),
      );
      return { ...value, required };
    }
    return value;
  });
}
