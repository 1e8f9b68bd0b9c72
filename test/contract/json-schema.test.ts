import { expect, test } from 'vitest';
import { findFaults, type Schema } from './json-schema.ts';

const kit: Schema = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', format: 'uuid' }, step: { enum: ['sent', 'back'], type: 'string' } },
};
const resolve = () => kit;
const id = '1f0a7a52-2c8c-4a7e-9a55-3d1b8f0f4b10';
const nullableKit: Schema = { anyOf: [{ $ref: '#/components/schemas/Kit' }, { type: 'null' }] };

test.each<[string, Schema, unknown]>([
  ['a named schema', { $ref: '#/components/schemas/Kit' }, { id, step: 'sent' }],
  ['null where a branch allows it', nullableKit, null],
  ['null where it is nullable', { type: 'string', nullable: true }, null],
  ['an empty schema', {}, { any: 'thing' }],
  ['one of two types', { type: ['string', 'null'] }, null],
  ['further fields where any are allowed', { type: 'object', additionalProperties: true }, { a: 1 }],
  ['an object that names no fields', { type: 'object' }, { a: 1 }],
  ['a date', { type: 'string', format: 'date' }, '2026-03-01'],
  ['an instant', { type: 'string', format: 'date-time' }, '2026-03-01T10:00:00.000Z'],
  ['a list by places', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] }, ['a', 1]],
])('%s fits', (_, schema, value) => {
  expect(findFaults(schema, value, { at: 'body', resolve })).toEqual([]);
});

test.each<[string, Schema, unknown, string, string]>([
  ['a missing field', { $ref: '#/Kit' }, {}, 'Kit/id', 'required'],
  ['an undeclared field', { $ref: '#/Kit' }, { id, name: 'x' }, 'Kit/name', 'undeclared'],
  ['an unknown value', { $ref: '#/Kit' }, { id, step: 'lost' }, 'Kit/step', 'enum'],
  ['a text that is no uuid', { $ref: '#/Kit' }, { id: 'x' }, 'Kit/id', 'format'],
  ['null', { $ref: '#/Kit' }, null, 'Kit', 'type'],
  ['a wrong branch, reported for the best one', nullableKit, { id, step: 'lost' }, 'Kit/step', 'enum'],
  ['a value that no branch has', nullableKit, 1, 'Kit', 'type'],
  ['a wrong item', { type: 'array', items: { type: 'integer' } }, [1, 'x'], 'body/*', 'type'],
  [
    'a wrong further field',
    { type: 'object', additionalProperties: { type: 'integer' } },
    { a: 'x' },
    'body/*',
    'type',
  ],
  ['a wrong part of all', { allOf: [{ type: 'string' }, { minLength: 3 }] }, 'ab', 'body', 'minLength'],
  ['another constant', { const: 'testkit' }, 'walk_in_test', 'body', 'const'],
  ['a day in place of an instant', { type: 'string', format: 'date-time' }, '2026-03-01', 'body', 'format'],
  [
    'an instant without an offset',
    { type: 'string', format: 'date-time' },
    '2026-03-01T10:00:00',
    'body',
    'format',
  ],
  ['another pattern', { type: 'string', pattern: '^a$' }, 'b', 'body', 'pattern'],
  ['a text too long', { type: 'string', maxLength: 1 }, 'ab', 'body', 'maxLength'],
  ['a fraction', { type: 'integer' }, 1.5, 'body', 'type'],
  ['a number too small', { type: 'integer', minimum: 1 }, 0, 'body', 'minimum'],
  ['a number too big', { type: 'integer', maximum: 100 }, 101, 'body', 'maximum'],
  ['a number at its open end', { type: 'number', exclusiveMinimum: 0 }, 0, 'body', 'exclusiveMinimum'],
  ['a list too short', { type: 'array', minItems: 1 }, [], 'body', 'minItems'],
  ['an item twice', { type: 'array', uniqueItems: true }, [1, 1], 'body', 'uniqueItems'],
])('%s is a fault', (_, schema, value, at, rule) => {
  expect(findFaults(schema, value, { at: 'body', resolve })).toMatchObject([{ at, rule }]);
});

test('a keyword that is not understood is refused', () => {
  const schema = { anyOf: [{ items: { properties: { a: { maximumOf: 2 } } } }] };
  expect(() => findFaults(schema, [], { at: 'body', resolve })).toThrow('unknown keyword: "maximumOf"');
});
