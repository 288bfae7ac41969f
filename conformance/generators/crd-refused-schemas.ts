/** Definitions whose schemas are refused: what a structural schema may say. */
import type { Case } from '../recording.ts'
import { ruled, spec } from './crd-asked.ts'
import { integer, list, object, text } from './definitions.ts'

export const refusedSchemas: readonly Case[] = [
  spec(
    'formats',
    object({
      a: { ...text, format: 'bogus' },
      b: { ...text, format: 'date-time' },
      c: { ...integer, format: 'int7' },
      d: { ...text, format: 'quantity' },
    }),
  ),
  spec(
    'list types',
    object({
      a: list(text, { 'x-kubernetes-list-type': 'bogus' }),
      b: list(text, { 'x-kubernetes-list-type': 'map' }),
      c: list(object({ k: text }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
      d: list(object({ k: text }, { required: ['k'] }), { 'x-kubernetes-list-map-keys': ['k'] }),
      e: text,
      f: list(object({ k: object({}) }, { required: ['k'] }), {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'k', 'none'],
      }),
    }),
  ),
  spec(
    'map types',
    object({
      a: { ...text, 'x-kubernetes-map-type': 'atomic' },
      b: object({}, { 'x-kubernetes-map-type': 'bogus' }),
    }),
  ),
  spec(
    'sets of objects',
    object({
      a: list(object({ x: text }), { 'x-kubernetes-list-type': 'set' }),
      b: list(list(text), { 'x-kubernetes-list-type': 'set' }),
      c: list({ ...text, nullable: true }, { 'x-kubernetes-list-type': 'set' }),
    }),
  ),
  spec(
    'what structural schemas forbid',
    object({
      a: { ...text, uniqueItems: true },
      b: { type: 'object', properties: { x: text }, additionalProperties: text },
      c: { type: 'object', additionalProperties: false },
      d: {},
      e: { type: 'array' },
      f: { allOf: [{ type: 'object' }] },
      g: { type: ['string'] },
    }),
  ),
  spec(
    'what alternatives forbid',
    object({
      a: object(
        { x: text },
        {
          anyOf: [
            {
              type: 'object',
              description: 'd',
              default: {},
              properties: { x: { type: 'string' }, y: { minLength: 1 } },
            },
          ],
        },
      ),
      b: { ...text, not: { nullable: true, 'x-kubernetes-int-or-string': true } },
    }),
  ),
  spec(
    'int or string shapes',
    object({
      a: { 'x-kubernetes-int-or-string': true, type: 'integer' },
      b: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      c: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      d: {
        'x-kubernetes-int-or-string': true,
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'x' }],
      },
    }),
  ),
  spec(
    'embedded shapes',
    object({
      a: { type: 'object', 'x-kubernetes-embedded-resource': true },
      b: { ...text, 'x-kubernetes-embedded-resource': true },
      c: object(
        { metadata: { type: 'object', properties: { name: text } }, kind: integer },
        { 'x-kubernetes-embedded-resource': true },
      ),
    }),
  ),
  spec(
    'preserving',
    object({
      a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
      b: { ...text, 'x-kubernetes-preserve-unknown-fields': true },
    }),
  ),
  spec(
    'defaults that do not fit',
    object({
      a: { ...text, default: 1 },
      b: { ...integer, default: 5, maximum: 3 },
      c: object({ x: text }, { default: { y: 1 } }),
      d: { ...text, default: null },
      e: object({ x: text }, { required: ['x'], default: {} }),
      f: ruled({ ...integer, default: 1 }, 'self > 1'),
    }),
  ),
  spec(
    'patterns',
    object({
      a: { ...text, pattern: '(' },
      b: { ...text, pattern: '^(?=x)' },
      c: { ...text, pattern: '\\pL+' },
      d: { ...text, pattern: '(a{1000}){1000}' },
    }),
  ),
  spec(
    'bounds',
    object({
      a: { ...integer, minimum: 5, maximum: 1 },
      b: { ...text, minLength: -1, maxLength: -2 },
      c: list(text, { minItems: 3, maxItems: 1 }),
      d: { ...integer, multipleOf: 0 },
      e: { ...integer, exclusiveMinimum: true },
    }),
  ),
  spec(
    'what is left of JSON schema',
    object({
      a: { $ref: '#/x' },
      b: { definitions: { x: text } },
      c: { dependencies: { x: ['y'] } },
      d: { patternProperties: { x: text } },
      e: { additionalItems: true },
      f: { id: 'x', type: 'string' },
    }),
  ),
  spec('metadata', object({}, {})),
]
