/**
 * What the other questions about definitions leave out: fields in what keeps unknown ones, keys that HTML would read, numbers whose
 * format is of another type, rules beside defaults that do not fit, and metadata of embedded objects.
 */
import type { Case } from '../recording.ts'
import { asked, ruled, spec } from './crd-asked.ts'
import {
  type Any,
  about,
  apply,
  definition,
  get,
  integer,
  jsonPatch,
  list,
  merge,
  object,
  path,
  post,
  put,
  text,
  version,
  widget,
} from './definitions.ts'
import { a, keyed, v1 } from './one-version.ts'

const by = (manager: string, given: Any, more = '') => apply(`${a}?fieldManager=${manager}${more}`, widget(given))
const keeping = { 'x-kubernetes-preserve-unknown-fields': true }
const set = (items: Any) => list(items, { 'x-kubernetes-list-type': 'set' })
const open = { type: 'object', additionalProperties: text }

const kept = object({
  p: object(
    {
      a: text,
      q: object({ b: text }),
      l: keyed({ v: text }),
      m: { type: 'object', additionalProperties: object({ c: text }) },
      at: object({ d: text }, { 'x-kubernetes-map-type': 'atomic' }),
      s: set(text),
    },
    keeping,
  ),
  n: object({ a: text }),
})

const numbers = object({
  a: { ...integer, format: 'double', maximum: 3.5 },
  b: { ...integer, format: 'float', minimum: 0.5 },
  c: { type: 'number', format: 'int32', maximum: 3.5, minimum: 0.5 },
  d: { ...integer, format: 'int32', maximum: 3.5 },
  e: { ...integer, format: 'uint32', maximum: 1e12 },
  f: { ...integer, multipleOf: 0.5 },
  g: { type: 'number', format: 'float', maximum: 1e300 },
  h: { type: 'number', format: 'bogus' },
})

const said = (rule: string, messageExpression?: string) =>
  ruled(text, { rule, ...(messageExpression === undefined ? {} : { messageExpression }) })
const wrongDefault = { ...text, default: 1 }

const refused: readonly Case[] = [
  spec('a rule and a default that does not fit', object({ s: said('self == 1'), d: wrongDefault })),
  spec('a dear rule and such a default', object({ l: list(said('self.matches("^(a|b)*$")')), d: wrongDefault })),
  spec('a message in items', object({ l: list(said('true', "'is ' + self")) })),
  spec('such a message and such a default', object({ l: list(said('true', "'is ' + self")), d: wrongDefault })),
  spec('a rule and a part without a type', object({ s: said('self == 1'), d: {} })),
  spec('two rules', object({ s: said('true', "'is ' + self"), d: said('self == 1') })),
  asked('a format of another type', definition([version('v1', object({ a: { ...integer, format: 'double' } }))])),
]

const pod = (metadata: Any) => ({ e: { apiVersion: 'v1', kind: 'Pod', metadata } })
const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, ...keeping }

export function depthCases(): readonly Case[] {
  return [
    about('what keeps unknown fields, and all in it', v1(kept), [
      by('one', {
        p: {
          a: 'x',
          z: 1,
          q: { b: 'y', z: { y: 1 } },
          l: [{ name: 'a', z: 1 }],
          m: { x: { c: 'd', z: 1 } },
          at: { z: 1 },
        },
      }),
      get(a),
      by('one', { n: { z: 1 } }),
      by('two', { p: { q: { z: { x: 2 } }, l: [{ name: 'a', z: 2 }] } }),
      by('two', { p: { new: { x: [1] }, q: { b: 'z' } } }, '&force=true'),
      put(a, { ...widget({ p: { new: { y: 1 } } }), metadata: { name: 'a' } }),
      merge(`${a}?fieldManager=three`, { spec: { p: { new: { y: 2 }, s: ['a'] } } }),
      get(a),
    ]),
    about(
      'keys that HTML would read',
      v1(object({ s: set(text), l: keyed({ v: text }), m: open, i: set({ type: 'number' }) })),
      [
        by('one', {
          s: ['<a>&', 'é', '"', '\\'],
          l: [{ name: '<a>&', v: '1' }, { name: 'b' }],
          m: { '<a>&': 'x', b: 'y' },
          i: [1.5, 1e21, 1e-7, 100000, 5],
        }),
        get(a),
        by('two', { l: [{ name: '<a>&', v: '2' }], s: ['<a>&'], m: { '<a>&': 'z' } }),
        by('two', { l: [{ name: '<a>&', v: '2' }, { name: '<a>&' }] }),
        by('one', { s: ['<a>&'] }),
        merge(`${a}?fieldManager=m`, { spec: { s: ['<b>', '<a>&'], l: [{ name: '<b>' }] } }),
        get(a),
      ],
    ),
    about('numbers whose format is of another type', v1(numbers), [
      ...[...'abcdefgh'].flatMap((name) =>
        [0, 1, 4, 2.5, 2147483648, 1e20].map((value) => post(`${path('v1')}?dryRun=All`, widget({ [name]: value }))),
      ),
    ]),
    about('texts with a format', v1(object({ m: { ...text, format: 'mac' }, d: { ...text, format: 'date' } })), [
      ...[[1], {}, 5, true, null, 'x'].map((value) => by('me', { m: value, d: '2020-01-01' })),
    ]),
    about('metadata of embedded objects', v1(object({ e: embedded })), [
      post(path('v1'), widget(pod({ name: 'p' }))),
      ...[{ name: 'A_', bogus: 1, labels: { a: 1 } }, { labels: { z: 1, a: 2 } }, { name: 5 }, [], 'x', null].flatMap(
        (metadata) => [
          put(`${a}?dryRun=All`, widget(pod(metadata))),
          merge(`${a}?dryRun=All`, { spec: pod(metadata) }),
          by('me', pod(metadata), '&dryRun=All'),
        ],
      ),
      jsonPatch(`${a}?dryRun=All`, [{ op: 'add', path: '/spec/e/metadata', value: { z: 1, labels: [] } }]),
    ]),
    ...refused,
  ]
}
