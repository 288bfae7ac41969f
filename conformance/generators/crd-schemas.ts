/** What definitions say about their objects: defaults, pruning, list types; and what the files beside this one have. */
import type { Case } from '../recording.ts'
import { ratcheting } from './crd-ratcheting.ts'
import { ruleCases } from './crd-rules.ts'
import { views } from './crd-views.ts'
import { about, apply, changed, get, integer, list, object, path, post, put, text, widget } from './definitions.ts'
import { a, label, schema, spec, v1 } from './one-version.ts'

const letters = { enum: ['A', 'B'] }

const fields: readonly Case[] = [
  about(
    'fields: defaults',
    v1(
      object(
        {
          a: { ...text, default: 'da' },
          o: object({ x: { ...integer, default: 1 }, y: text }),
          p: object({ x: { ...integer, default: 1 } }, { default: {} }),
          n: { ...text, nullable: true, default: 'dn' },
          l: list(object({ x: { ...integer, default: 3 } })),
          m: { type: 'object', additionalProperties: object({ x: { ...integer, default: 4 } }) },
        },
        { default: { a: 'whole' } },
      ),
    ),
    [
      post(path('v1'), widget(undefined)),
      put(a, widget({ o: {}, l: [{}, { x: 5 }], m: { k: {} } })),
      spec({ a: null, n: null }),
      put(a, widget({ a: null, n: null, o: null, l: null })),
      apply(`${a}?fieldManager=me`, widget({ a: 'da' })),
      get(a),
    ],
  ),
  about('fields: defaults and fields that come and go', v1(object({ a: text, b: text })), [
    post(path('v1'), widget({ a: '1', b: '2' })),
    ...changed(schema(object({ a: text, c: { ...text, default: 'new' } })), [
      get(a),
      get(path('v1')),
      label,
      spec({ b: '3' }),
      get(a),
      post(path('v1'), widget({ b: 'x' }, { metadata: { name: 'w' } })),
      post(`${path('v1')}?fieldValidation=Strict`, widget({ b: 'x' }, { metadata: { name: 's' } })),
    ]),
    ...changed(schema(object({ a: text, b: text })), [get(a)]),
  ]),
  about(
    'fields: unknown ones are kept where asked',
    v1(
      object({
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        half: object({ known: object({ x: text }) }, { 'x-kubernetes-preserve-unknown-fields': true }),
        any: { 'x-kubernetes-preserve-unknown-fields': true },
        port: { 'x-kubernetes-int-or-string': true, pattern: '^[0-9]+%$', maximum: 10 },
      }),
    ),
    [
      post(
        path('v1'),
        widget({ free: { x: { y: 1 } }, half: { known: { x: '1', z: 1 }, z: 1 }, any: [1, 'x', null], lost: 1 }),
      ),
      post(
        `${path('v1')}?fieldValidation=Strict`,
        widget({ half: { known: { z: 1 }, z: 1 }, lost: 1 }, { metadata: { name: 'b' } }),
      ),
      spec({ free: { x: null } }),
      spec({ port: '10' }),
      spec({ port: '10%' }),
      spec({ port: 11 }),
      spec({ port: 1.5 }),
      spec({ port: true }),
      spec({ any: 'text', free: 'text' }),
      apply(
        `${a}?fieldManager=me&force=true`,
        widget({ free: { q: [1] }, half: { known: { x: '2' }, o: { p: 1 } }, any: { z: 1 } }),
      ),
      get(a),
    ],
  ),
  about(
    'fields: embedded objects',
    v1(
      object({
        one: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
        two: object({ spec: object({ x: text }) }, { 'x-kubernetes-embedded-resource': true }),
      }),
    ),
    [
      post(
        path('v1'),
        widget({ one: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', bogus: 1 }, spec: { x: 1 } } }),
      ),
      post(path('v1'), widget({ one: {} }, { metadata: { name: 'b' } })),
      post(
        path('v1'),
        widget(
          { one: { kind: 'po d', apiVersion: 'a/b/c', metadata: { name: 'A b', labels: { 'x y': '!' } } } },
          { metadata: { name: 'b' } },
        ),
      ),
      post(
        path('v1'),
        widget(
          { two: { kind: 'Pod', apiVersion: 'v1', metadata: { namespace: '_' }, spec: { x: '1', y: 1 }, status: {} } },
          { metadata: { name: 'b' } },
        ),
      ),
      post(path('v1'), widget({ two: { kind: 'Pod', apiVersion: 'v1', metadata: 'x' } }, { metadata: { name: 'c' } })),
      spec({ one: { kind: null } }),
    ],
  ),
  about(
    'alternatives that say alike',
    v1(
      object({
        both: { ...text, allOf: [letters, letters] },
        own: { ...text, ...letters, allOf: [letters] },
        any: { ...text, pattern: '^x', anyOf: [{ pattern: '^x' }, { pattern: '^x' }] },
        fewer: { ...text, allOf: [letters, { enum: ['A'] }] },
        part: object({ x: text }, { required: ['x'], allOf: [{ required: ['x'] }, { required: ['x'] }] }),
        size: { ...integer, maximum: 5, allOf: [{ maximum: 5 }] },
        parts: list({ ...text, allOf: [letters, letters] }, { maxItems: 1, allOf: [{ maxItems: 1 }] }),
        not: { ...text, not: { minLength: 1 }, allOf: [{ not: { minLength: 1 } }] },
      }),
    ),
    [
      { both: 'C' },
      { own: 'C' },
      { any: 'a' },
      { fewer: 'C' },
      { part: {} },
      { size: 7 },
      { parts: ['C', 'C'] },
      { not: 'a' },
      { both: 'C', own: 'C', size: 7 },
    ].map((value) => post(path('v1'), widget(value))),
  ),
]

export function schemaCases(): readonly Case[] {
  return [...ratcheting, ...ruleCases, ...fields, ...views]
}
