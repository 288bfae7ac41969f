/** What may still be done to objects made under a looser schema than the one they are judged by (KEP-4008). */
import type { Case, Step } from '../recording.ts'
import {
  type Any,
  about,
  apply,
  changed,
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
  widget,
} from './definitions.ts'
import { a, keyed, label, rule, ruled, schema, spec, v1 } from './one-version.ts'

/** An object made under a loose schema, then a strict one, then what may still be done. */
const ratchet = (name: string, loose: Any, value: Any, strict: Any, steps: readonly Step[], status?: Any): Case =>
  about(`ratcheting: ${name}`, v1(loose, status ? { subresources: { status: {} } } : {}, status?.[0]), [
    post(path('v1'), widget(value)),
    ...(status ? [merge(`${a}/status`, { status: status[1] })] : []),
    ...changed(schema(strict, status ? { subresources: { status: {} } } : {}, status?.[2]), steps),
  ])

export const ratcheting: readonly Case[] = [
  ratchet(
    'values',
    object({ size: integer, mode: text, n: text }),
    { size: 9, mode: 'long text', n: 'x' },
    object({ size: { ...integer, maximum: 5 }, mode: { ...text, maxLength: 3, pattern: '^a' }, n: text }),
    [
      label,
      spec({ n: 'y' }),
      spec({ size: 8 }),
      spec({ size: 3 }),
      spec({ size: 9 }),
      spec({ mode: 'other text' }),
      put(
        a,
        widget(
          { size: 3, mode: 'long text' },
          { metadata: { name: 'a', resourceVersion: '{{1.metadata.resourceVersion}}' } },
        ),
      ),
      apply(`${a}?fieldManager=me&force=true`, widget({ mode: 'long text' })),
      post(`${path('v1')}?dryRun=All`, widget({ size: 9, mode: 'long text' }, { metadata: { name: 'b' } })),
    ],
  ),
  ratchet(
    'enums and required fields',
    object({ mode: text, one: object({ x: text, y: text }) }),
    { mode: 'C', one: { x: '1' } },
    object({ mode: { ...text, enum: ['A', 'B'] }, one: object({ x: text, y: text }, { required: ['y'] }) }),
    [
      label,
      spec({ mode: 'D' }),
      spec({ one: { x: '2' } }),
      spec({ one: { y: '2' } }),
      spec({ mode: 'A', one: null }),
      spec({ one: {} }),
    ],
  ),
  ratchet(
    'types',
    object({ x: { 'x-kubernetes-preserve-unknown-fields': true }, n: text }),
    { x: { deep: ['text'] } },
    object({ x: integer, n: text }),
    [label, spec({ n: 'y' }), spec({ x: { deep: ['other'] } }), spec({ x: 7 }), get(a)],
  ),
  ratchet(
    'lists',
    object({ tags: list(text), parts: keyed({ size: integer }), set: list(text, { 'x-kubernetes-list-type': 'set' }) }),
    {
      tags: ['one', 'three'],
      parts: [
        { name: 'p', size: 9 },
        { name: 'q', size: 1 },
      ],
      set: ['one', 'three'],
    },
    object({
      tags: list({ ...text, maxLength: 3 }),
      parts: keyed({ size: { ...integer, maximum: 5 } }),
      set: list({ ...text, maxLength: 3 }, { 'x-kubernetes-list-type': 'set' }),
    }),
    [
      label,
      spec({ tags: ['one', 'three', 'two'] }),
      spec({
        parts: [
          { name: 'q', size: 2 },
          { name: 'p', size: 9 },
        ],
      }),
      spec({ parts: [{ name: 'p', size: 8 }] }),
      spec({ parts: [{ name: 'r', size: 9 }] }),
      spec({ set: ['one', 'three', 'two'] }),
      spec({ tags: ['one'] }),
      jsonPatch(a, [{ op: 'add', path: '/spec/set/-', value: 'x' }]),
    ],
  ),
  ratchet(
    'duplicates in lists',
    object({ tags: list(text), parts: list(object({ name: text })) }),
    { tags: ['a', 'a'], parts: [{ name: 'p' }, { name: 'p' }] },
    object({ tags: list(text, { 'x-kubernetes-list-type': 'set' }), parts: keyed({}) }),
    [
      label,
      spec({ tags: ['a', 'a', 'b'] }),
      spec({ tags: ['a', 'b'] }),
      spec({ parts: [{ name: 'p' }, { name: 'p' }, { name: 'q' }] }),
      spec({ tags: ['b', 'b'] }),
    ],
  ),
  ratchet(
    'maps',
    object({ labels: object({}, { properties: undefined, additionalProperties: text }) }),
    { labels: { k: 'long', l: 'x' } },
    object({ labels: { type: 'object', additionalProperties: { ...text, maxLength: 2 }, maxProperties: 1 } }),
    [label, spec({ labels: { l: 'y' } }), spec({ labels: { l: null } }), spec({ labels: { k: 'other' } })],
  ),
  ratchet(
    'rules',
    object({ size: integer, n: text, parts: keyed({ size: integer }) }),
    { size: 9, n: 'x', parts: [{ name: 'p', size: 9 }] },
    ruled(
      object({
        size: ruled(integer, rule('self < 5')),
        n: text,
        parts: keyed({ size: ruled(integer, rule('self < 5')) }),
      }),
      rule('!has(self.n) || self.n != "x" || self.size < 5'),
    ),
    [
      label,
      spec({ size: 8 }),
      spec({ n: 'x' }),
      spec({ n: 'y' }),
      spec({ n: 'x' }),
      spec({
        parts: [
          { name: 'p', size: 9 },
          { name: 'q', size: 1 },
        ],
      }),
      spec({ parts: [{ name: 'q', size: 9 }] }),
    ],
  ),
  ratchet(
    'alternatives',
    object({ x: { 'x-kubernetes-preserve-unknown-fields': true } }),
    { x: { a: 1, b: 2 } },
    object({
      x: object(
        { a: integer, b: integer, c: integer },
        { oneOf: [{ required: ['a'] }, { required: ['b'] }], not: { required: ['c'] } },
      ),
    }),
    [label, spec({ x: { a: 2 } }), spec({ x: { c: 2 } }), spec({ x: { b: null, c: null } })],
  ),
  ratchet(
    'status',
    object({ size: integer }),
    { size: 9 },
    object({ size: { ...integer, maximum: 5 } }),
    [
      merge(`${a}/status`, { status: { note: 'x' } }),
      merge(`${a}/status`, { status: { size: 8 } }),
      merge(`${a}/status`, { status: { size: 9 } }),
      spec({ size: 8 }),
      label,
    ],
    [object({ size: integer, note: text }), { size: 9 }, object({ size: { ...integer, maximum: 5 }, note: text })],
  ),
]
