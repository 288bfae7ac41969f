/** Rules of definitions in CEL: what they may compare, what they say, what they cost. */
import type { Case } from '../recording.ts'
import { about, definition, integer, list, merge, object, path, post, text, version, widget } from './definitions.ts'
import { a, keyed, rule, ruled, spec, v1 } from './one-version.ts'

export const ruleCases: readonly Case[] = [
  about(
    'rules: transitions',
    v1(
      object({
        grows: ruled(integer, rule('self >= oldSelf', { message: 'only grows' })),
        fixed: ruled(
          text,
          rule('self == oldSelf', {
            messageExpression: '"was " + oldSelf + ", not " + self',
            reason: 'FieldValueForbidden',
          }),
        ),
        parts: keyed({ size: ruled(integer, rule('self >= oldSelf')) }),
        once: ruled(
          text,
          rule('oldSelf.hasValue() ? self == oldSelf.value() : self != "no"', {
            optionalOldSelf: true,
            message: 'once only',
          }),
        ),
      }),
    ),
    [
      post(path('v1'), widget({ grows: 2, fixed: 'x', parts: [{ name: 'p', size: 2 }] })),
      spec({ grows: 1 }),
      spec({ grows: 3 }),
      spec({ fixed: 'y' }),
      spec({ fixed: null }),
      spec({ fixed: 'y' }),
      spec({ parts: [{ name: 'p', size: 1 }] }),
      spec({
        parts: [
          { name: 'q', size: 1 },
          { name: 'p', size: 3 },
        ],
      }),
      spec({ once: 'no' }),
      spec({ once: 'yes' }),
      spec({ once: 'other' }),
      spec({ once: null }),
      spec({ once: 'other' }),
      post(`${path('v1')}?dryRun=All`, widget({ once: 'no' }, { metadata: { name: 'b' } })),
    ],
  ),
  about(
    'rules: about what, and in what words',
    v1(
      ruled(
        object({
          min: integer,
          max: integer,
          list: list(integer, { maxItems: 5 }),
          one: object({ two: text }),
        }),
        rule('!has(self.min) || !has(self.max) || self.min <= self.max', {
          fieldPath: '.max',
          reason: 'FieldValueInvalid',
          messageExpression: '"at least " + (self.min > 2 ? "three" : "one")',
        }),
        rule('!has(self.list) || self.list.all(x, x > 0)', { fieldPath: '.list' }),
        rule('!has(self.one) || has(self.one.two)', {
          fieldPath: '.one.two',
          reason: 'FieldValueRequired',
          message: 'two is needed',
        }),
        rule('!has(self.min) || self.min != 7', { reason: 'FieldValueDuplicate', fieldPath: '.min' }),
        rule('!has(self.min) || self.min != 8', { messageExpression: '"  "' }),
        rule('!has(self.min) || self.min != 9', { messageExpression: 'self.max > 0 ? "x" : "y"', message: 'fallback' }),
        rule('!has(self.min) || 10 / self.min > 0'),
      ),
    ),
    [
      post(path('v1'), widget({ min: 3, max: 2 })),
      post(path('v1'), widget({ list: [1, -1] })),
      post(path('v1'), widget({ one: {} })),
      post(path('v1'), widget({ min: 7 })),
      post(path('v1'), widget({ min: 8 })),
      post(path('v1'), widget({ min: 9 })),
      post(path('v1'), widget({ min: 0 })),
      post(path('v1'), widget({ min: 11 })),
      post(path('v1'), widget({ min: 'x', one: {} })),
      post(path('v1'), widget({ min: 5, max: 6, one: { two: 'x' } })),
    ],
  ),
  about(
    'rules: of the whole object and its metadata',
    definition([
      {
        ...version('v1', object({ size: integer })),
        schema: {
          openAPIV3Schema: ruled(
            object({ spec: object({ size: integer }), status: object({ size: integer }) }),
            rule('self.metadata.name.startsWith("a")'),
            rule('!has(self.status) || self.status.size <= self.spec.size', { message: 'too many' }),
          ),
        },
        subresources: { status: {} },
      },
    ]),
    [
      post(path('v1'), widget({ size: 1 })),
      post(path('v1'), widget({ size: 1 }, { metadata: { name: 'b' } })),
      post(path('v1'), widget({ size: 1 }, { metadata: { generateName: 'b-' } })),
      merge(`${a}/status`, { status: { size: 2 } }),
      merge(`${a}/status`, { status: { size: 1 } }),
      spec({ size: 0 }),
      spec({ size: 5 }),
    ],
  ),
  about(
    'rules: work without end is stopped',
    v1(
      object({
        text: ruled({ ...text, maxLength: 100000 }, rule('!self.matches("(a+)+b")')),
        list: ruled(list(integer, { maxItems: 100 }), rule('self.all(x, self.all(y, x + y != 3))')),
      }),
    ),
    [
      post(path('v1'), widget({ text: '{{repeat a 50000}}' })),
      post(path('v1'), widget({ list: Array.from({ length: 100 }, (_, i) => i * 7) })),
      post(path('v1'), widget({ list: [1, 2] })),
    ],
  ),
]
