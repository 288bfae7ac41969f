/** What definitions say about their objects: ratcheting, rules in CEL, defaults, pruning, list types, columns, selectable fields. */
import type { Case, Step } from '../recording.ts'
import {
  type Any,
  about,
  apply,
  changed,
  definition,
  definitions,
  get,
  integer,
  jsonPatch,
  list,
  merge,
  object,
  path,
  post,
  put,
  remove,
  table,
  text,
  version,
  widget,
} from './definitions.ts'

const v1 = (spec: Any, more: Any = {}, status?: Any) => definition([version('v1', spec, more, status)])
const schema = (spec: Any, more: Any = {}, status?: Any) => ({
  spec: { versions: [version('v1', spec, more, status)] },
})
const rule = (text: string, more: Any = {}) => ({ rule: text, ...more })
const ruled = (schemaOf: Any, ...rules: Any[]) => ({ ...schemaOf, 'x-kubernetes-validations': rules })
const a = `${path('v1')}/a`
const spec = (change: Any) => merge(a, { spec: change })
const label = merge(a, { metadata: { labels: { x: 'y' } } })

/** An object made under a loose schema, then a strict one, then what may still be done. */
const ratchet = (name: string, loose: Any, value: Any, strict: Any, steps: readonly Step[], status?: Any): Case =>
  about(`ratcheting: ${name}`, v1(loose, status ? { subresources: { status: {} } } : {}, status?.[0]), [
    post(path('v1'), widget(value)),
    ...(status ? [merge(`${a}/status`, { status: status[1] })] : []),
    ...changed(schema(strict, status ? { subresources: { status: {} } } : {}, status?.[2]), steps),
  ])

const keyed = (items: Any, more: Any = {}) =>
  list(object({ name: text, ...items }, { required: ['name'] }), {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    ...more,
  })

const ratcheting: readonly Case[] = [
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

const transitions: readonly Case[] = [
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
]

const columns = (...given: readonly (readonly [type: string, jsonPath: string, more?: Any])[]) => ({
  additionalPrinterColumns: given.map(([type, jsonPath, more], i) => ({ name: `C${i}`, type, jsonPath, ...more })),
})

const views: readonly Case[] = [
  about(
    'columns',
    v1(
      object({
        s: text,
        i: integer,
        n: { type: 'number' },
        b: { type: 'boolean' },
        d: text,
        l: list(object({ name: text, on: { type: 'boolean' }, n: integer })),
        o: object({ x: text }),
        t: list(text),
      }),
      columns(
        ...(['string', 'integer', 'number', 'boolean', 'date'] as const).flatMap((type) =>
          (['s', 'i', 'n', 'b', 'd', 'o', 't', 'none'] as const).map((name) => [type, `.spec.${name}`] as const),
        ),
        ['string', '.spec.l[0].name'],
        ['string', '.spec.l[-1].name'],
        ['string', '.spec.l[5].name'],
        ['string', '.spec.l[*].name'],
        ['string', '.spec.l[?(@.on==true)].name'],
        ['string', '.spec.l[?(@.name=="q")].n'],
        ['integer', '.spec.l[?(@.n>1)].n'],
        ['string', '.spec.l[0:2].name'],
        ['string', '.spec.t[*]'],
        ['string', '.spec.o.*'],
        ['string', '.metadata.labels.a\\.b/c'],
        ['string', ".metadata.labels['a.b/c']"],
        ['string', '.spec'],
        ['string', '.spec.l[*]'],
        ['date', '.metadata.creationTimestamp', { format: 'date-time', description: 'D', priority: 1 }],
        ['string', '.spec.s', { format: 'byte', priority: -1 }],
      ),
    ),
    [
      post(
        path('v1'),
        widget(
          {
            s: 'text',
            i: 7,
            n: 1.5,
            b: true,
            d: '2001-01-01T00:00:00Z',
            l: [
              { name: 'p', on: true, n: 1 },
              { name: 'q', on: false, n: 2 },
              { name: 'r', on: true, n: 3 },
            ],
            o: { x: 'y' },
            t: ['a', 'b'],
          },
          { metadata: { name: 'a', labels: { 'a.b/c': 'd' } } },
        ),
      ),
      post(path('v1'), widget({ i: 0, n: 3, b: false, s: '', l: [], t: [] }, { metadata: { name: 'b' } })),
      get(path('v1'), table),
      get(a, table),
      get(`${path('v1')}?includeObject=None`, table),
      get(`${path('v1')}?includeObject=Object`, table),
      get(a, { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }),
      remove(a),
    ],
  ),
  about(
    'columns of several versions, none of them, and errors',
    definition([
      version('v1', object({ s: text }), columns(['string', '.spec.s'])),
      version('v2', object({ s: text })),
    ]),
    [
      post(path('v1'), widget({ s: 'x' })),
      get(path('v1'), table),
      get(path('v2'), table),
      ...[
        'spec.s',
        '',
        '.spec.s[',
        '.spec{.s}',
        '$.spec.s',
        '.spec.s[?(@.x',
        '.spec["s"]',
        '.',
        '.spec.s s',
        '{.spec.s}',
      ].map((jsonPath) =>
        post(
          `${definitions}?dryRun=All`,
          definition([version('v1', object({ s: text }), columns(['string', jsonPath]))], {}, 'others', 'Other'),
        ),
      ),
    ],
  ),
  about(
    'selectable fields',
    definition([
      version(
        'v1',
        object({ mode: text, size: integer, on: { type: 'boolean' }, o: object({ x: { ...text, default: 'dx' } }) }),
        {
          selectableFields: [
            { jsonPath: '.spec.mode' },
            { jsonPath: '.spec.size' },
            { jsonPath: '.spec.on' },
            { jsonPath: '.spec.o.x' },
          ],
        },
      ),
      version('v2', object({ mode: text }), { selectableFields: [{ jsonPath: '.spec.mode' }] }),
    ]),
    [
      post(path('v1'), widget({ mode: 'x', size: 3, on: true, o: {} })),
      post(path('v1'), widget({ mode: 'y', size: 0 }, { metadata: { name: 'b' } })),
      ...[
        'spec.mode=x',
        'spec.mode!=x',
        'spec.mode=',
        'spec.size=3',
        'spec.size=0',
        'spec.on=true',
        'spec.o.x=dx',
        'spec.o.x=',
        'spec.none=1',
        '.spec.mode=x',
        'metadata.name=a,spec.mode=x',
        'metadata.namespace=$NS',
        'spec.mode=x,spec.mode=y',
        'metadata.uid=x',
        'spec.mode in (x)',
      ].map((selector) => get(`${path('v1')}?fieldSelector=${encodeURIComponent(selector).replace('%24NS', '$NS')}`)),
      get(`${path('v2')}?fieldSelector=spec.mode%3Dx`),
      get(`${path('v2')}?fieldSelector=spec.size%3D3`),
      spec({ mode: 'y' }),
      get(
        `${path('v1')}?watch=true&timeoutSeconds=1&resourceVersion={{2.metadata.resourceVersion}}&fieldSelector=spec.mode%3Dx`,
      ),
      get(
        `${path('v1')}?watch=true&timeoutSeconds=1&resourceVersion={{2.metadata.resourceVersion}}&fieldSelector=spec.mode%3Dy`,
      ),
      remove(`${path('v1')}?fieldSelector=spec.size%3D3`),
      get(path('v1')),
    ],
  ),
]

export function schemaCases(): readonly Case[] {
  return [...ratcheting, ...transitions, ...fields, ...views]
}
