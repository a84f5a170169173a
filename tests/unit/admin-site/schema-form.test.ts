import { describe, expect, test } from '@jest/globals';
import { argumentsOf, fieldsOf } from '../../../admin-site/src/playground/schema-form.ts';

const schema = {
  type: 'object',
  required: ['city', 'days'],
  properties: {
    city: { type: 'string', description: 'Where', title: 'City' },
    days: { type: 'integer' },
    exact: { type: 'boolean' },
    unit: { enum: ['C', 'F', 7] },
    tags: { type: 'array' },
    limit: { type: 'number', default: 5 },
  },
};

describe('the form of a tool', () => {
  const fields = fieldsOf(schema) ?? [];

  test('has an input of the right kind for each property', () => {
    expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ['city', 'text', true],
      ['days', 'number', true],
      ['exact', 'flag', false],
      ['unit', 'choice', false],
      ['tags', 'json', false],
      ['limit', 'number', false],
    ]);
    expect(fields[0]).toMatchObject({ label: 'City', description: 'Where' });
  });

  test('gives arguments of the right types and leaves out what is empty', () => {
    const inputs = { city: '7', days: '3', exact: 'false', unit: '"C"', tags: '["a"]' };
    expect(argumentsOf(fields, inputs)).toEqual({
      city: '7',
      days: 3,
      exact: false,
      unit: 'C',
      tags: ['a'],
      limit: 5,
    });
    expect(argumentsOf(fields, { limit: '' })).toEqual({ city: '' });
  });

  test('names the field whose JSON is none', () => {
    expect(() => argumentsOf(fields, { tags: '[' })).toThrow('tags is not valid JSON');
  });

  test.each([[undefined], [null], ['text'], [[]], [{}], [{ properties: 7 }]])(
    'is raw JSON where a schema describes no properties: %j',
    (odd) => expect(fieldsOf(odd)).toBeUndefined(),
  );

  test('bears odd properties', () => {
    expect(fieldsOf({ properties: { a: true, b: null, __proto__: { type: 'string' } } })).toHaveLength(2);
  });
});
