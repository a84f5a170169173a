import { type TProperties, type TSchema, type TUnsafe, Type } from '@sinclair/typebox';

/** A reference to one of the document's components. */
export const ref = <T = unknown>(name: string): TUnsafe<T> =>
  Type.Unsafe<T>({ $ref: `#/components/schemas/${name}` });

/** An answer: a caller must expect further members of a later version. */
export const answer = <T extends TProperties>(properties: T, description?: string) =>
  Type.Object(properties, { ...(description && { description }) });

export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const text = (description?: string, options: object = {}) =>
  Type.String({ ...(description && { description }), ...options });

export const whole = (description?: string, options: object = {}) =>
  Type.Integer({ minimum: 0, ...(description && { description }), ...options });

/** Milliseconds with decimals. */
export const milliseconds = Type.Number({ minimum: 0, description: 'Milliseconds.' });

export const time = (description?: string) =>
  Type.String({ format: 'date-time', ...(description && { description }) });

/** An object of whatever members. */
export const anything = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', description });

export const counts = (description: string) => Type.Record(Type.String(), whole(), { description });

export const oneOf = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, ...(description && { description }) });
