import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { FORMATS } from '../../../lib/config/formats.ts';
import { isMapping } from '../../../lib/config/path.ts';
import { relaxedSchema, validateStructure } from '../../../lib/config/validate.ts';

type Properties = Record<string, Record<string, unknown>>;

/** Every keyword that the validator, the filler or the reference reads. */
const KEYWORDS = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'const'],
  ...['minLength', 'pattern', 'format', 'minimum', 'maximum'],
  ...['default', 'derived', 'description', 'unit', 'expected'],
]);

function schemasIn(schema: unknown): Record<string, unknown>[] {
  if (!isMapping(schema)) return [];
  const below = [schema.items, schema.additionalProperties, ...((schema.anyOf as unknown[]) ?? [])];
  return [schema, ...[...below, ...Object.values(schema.properties ?? {})].flatMap(schemasIn)];
}

const schemas = schemasIn(relaxedSchema);

test('the schema uses no keyword that nothing reads', () => {
  const keywords = new Set(schemas.flatMap((schema) => Object.keys(schema)));
  expect([...keywords].filter((keyword) => !KEYWORDS.has(keyword))).toEqual([]);
  const formats = schemas.flatMap(({ format }) => (format === undefined ? [] : [format as string]));
  expect(formats.filter((format) => !Object.hasOwn(FORMATS, format))).toEqual([]);
});

test('our validator and ajv agree on every key with every kind of value', () => {
  const ajv = new Ajv({ strict: true });
  ajv.addVocabulary(['unit', 'derived', 'expected']);
  for (const [name, { test }] of Object.entries(FORMATS)) ajv.addFormat(name, test);
  const accepts = ajv.compile(relaxedSchema as object);
  const values = [
    ...[null, true, false, 0, 1, -1, 1.5, 3000, 65_536, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY],
    ...[
      '',
      'a',
      'a b',
      '10mb',
      '14d',
      '/health',
      'http://localhost',
      'redis://localhost',
      'file',
      's3',
      'echo',
    ],
    ...['stdio', 'info', 'strict', 'edapi', 'x'.repeat(70), '0'.repeat(64), '..', '127.0.0.1', 'true'],
    ...[
      [],
      [1],
      ['a'],
      [''],
      [{}],
      [null],
      {},
      { a: 'b' },
      { a: 1 },
      { type: 's3' },
      { type: 's3', bucket: 'b' },
    ],
  ];
  /** The least that a schema accepts, so that what is around a value never decides. */
  const sample = (schema: Record<string, unknown>): unknown => {
    if (!isMapping(schema.properties)) return values.find((value) => ajv.validate(schema, value));
    const required = (schema.required ?? []) as string[];
    return Object.fromEntries(
      required.map((name) => [name, sample((schema.properties as Properties)[name] ?? {})]),
    );
  };
  let compared = 0;
  let accepted = 0;
  const visit = (schema: Record<string, unknown>, wrap: (value: unknown) => unknown): void => {
    for (const value of values) {
      const config = wrap(value);
      const ours = validateStructure(config).length === 0;
      if (ours !== accepts(config)) throw new Error(`ajv disagrees on ${JSON.stringify(config)}`);
      compared++;
      if (ours) accepted++;
    }
    if (isMapping(schema.items)) visit(schema.items, (value) => wrap([value]));
    for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, unknown>)) {
      if (isMapping(property))
        visit(property, (value) => wrap({ ...(sample(schema) as object), [name]: value }));
    }
  };
  visit(relaxedSchema as Record<string, unknown>, (value) => value);
  expect(compared).toBeGreaterThan(5000);
  expect(accepted).toBeGreaterThan(500);
});
