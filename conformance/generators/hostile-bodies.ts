/** Bodies that an attacker or a broken client sends: encodings, JSON, YAML, patches, delete options. */
import { gzipSync } from 'node:zlib'
import type { Step } from '../recording.ts'
import {
  CM,
  configMap,
  DELETE,
  DEP,
  GET,
  inherited,
  json,
  PATCH,
  POD,
  POST,
  PUT,
  repeated,
} from './hostile-requests.ts'

const M = 'application/merge-patch+json'
const J = 'application/json-patch+json'
const S = 'application/strategic-merge-patch+json'
const A = 'application/apply-patch+yaml'
const YAML = 'application/yaml'
type Cases = readonly (readonly [string, readonly Step[]])[]

const plain = json(configMap('a', { data: { a: 'b' } }))

function encodings(): Cases {
  const types = [
    'text/plain',
    'application/xml',
    '',
    'application/json; charset=utf-16',
    'application/json;;;',
    'APPLICATION/JSON',
    'application/yaml',
    'application/x-yaml',
    'text/yaml',
    'application/cbor',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/vnd.kubernetes.protobuf',
    'application/json, application/yaml',
    'application/*',
    '*/*',
    'json',
  ]
  const raw = (name: string, bytes: Buffer, h: Record<string, string> = {}) =>
    [
      name,
      [{ m: 'POST', p: CM, b64: bytes.toString('base64'), h: { 'content-type': 'application/json', ...h } }],
    ] as const
  const protobuf = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  return [
    ...types.map((type) => [`content type ${type}`, [POST(CM, plain, type)]] as const),
    raw('gzip body', gzipSync(plain), { 'content-encoding': 'gzip' }),
    raw('not gzip', Buffer.from(plain), { 'content-encoding': 'gzip' }),
    raw('broken UTF-8 in a value', Buffer.from(plain.replace('"b"', '"\xff\xfe"'), 'latin1')),
    raw('broken UTF-8 in a key', Buffer.from(plain.replace('"a":"b"', '"\xc0\x80":"b"'), 'latin1')),
    raw('UTF-16', Buffer.from(plain, 'utf16le')),
    raw('byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(plain)])),
    raw('protobuf prefix alone', Buffer.from('k8s\0'), protobuf),
    raw('protobuf, then noise', Buffer.from('k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff', 'latin1'), protobuf),
    raw('protobuf with a huge length', Buffer.from('k8s\0\x0a\xff\xff\xff\xff\x07', 'latin1'), protobuf),
    raw('protobuf of no kind', Buffer.from('k8s\0\x0a\x00', 'latin1'), protobuf),
    raw('protobuf of another kind', Buffer.from('k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x00', 'latin1'), protobuf),
    raw(
      'protobuf kind, JSON inside',
      Buffer.from(`k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x02{}`, 'latin1'),
      protobuf,
    ),
    raw(
      'protobuf with a wrong wire type',
      Buffer.from('k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x02\x08\x01', 'latin1'),
      protobuf,
    ),
    raw('nothing but zeros', Buffer.alloc(64)),
    raw('noise', Buffer.from('\x00\x01\x02\x03{}[]', 'latin1')),
  ]
}

const nested = (depth: number, open: string, close: string, inside = '') =>
  repeated(open, depth) + inside + repeated(close, depth)
const cmText = (inside: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}${inside}}`

const documents: readonly string[] = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '"x"',
  '[]',
  '[{}]',
  '{',
  '}',
  '{}',
  '{}}',
  '{} {}',
  cmText(',"data":{"a":"1",}'),
  "{'kind':'ConfigMap'}",
  cmText(',"data":{"a":01}'),
  cmText(',"data":{"a":NaN}'),
  cmText(',"x":1e999'),
  cmText(',"data":{"a":"\\ud800"}'),
  cmText(',"data":{"a":"\\u0000"}'),
  cmText(',"data":{"a":"\\x"}'),
  cmText(',"data":{"a":"\n"}'),
  cmText(',"immutable":"true"'),
  cmText(',"immutable":1'),
  cmText(',"data":null'),
  cmText(',"data":[]'),
  cmText(',"data":"x"'),
  cmText(',"data":{"a":1}'),
  cmText(',"data":{"a":null}'),
  cmText(',"data":{"a":{}}'),
  cmText(',"data":{"":"x"}'),
  cmText(',"data":{".":"x","..":"y","..a":"z","a/b":"q","a b":"r"}'),
  cmText(`,"data":{"${'k'.repeat(254)}":"x"}`),
  cmText(',"data":{"a":"x"},"binaryData":{"a":"eA=="}'),
  cmText(',"binaryData":{"a":"***"}'),
  cmText(',"binaryData":{"a":"eA"}'),
  cmText(',"binaryData":{"a":5}'),
  cmText(',"data":{"a":"1","a":"2"}'),
  cmText(',"metadata":{"name":"b"}'),
  cmText(',"kind":"Secret"'),
  cmText(',"KIND":"Secret","Data":{"x":"y"},"DATA":{"z":"1"}'),
  cmText(`,"bogus":${nested(200, '[', ']')}`),
  cmText(`,"bogus":${nested(9990, '{"a":', '}', '1')}`),
  cmText(`,"bogus":${nested(20000, '[', ']')}`),
  cmText(`,"data":${nested(20000, '{"a":', '}', '1')}`),
  nested(50000, '[', ']'),
  repeated('{"a":', 50_000),
  cmText(`,"data":{${Array.from({ length: 3000 }, (_, i) => `"k${i}":"v"`).join()}}`),
  cmText(`,"data":{"a":"${repeated('x', 1_048_577)}"}`),
  cmText(`,"data":{"a":"${repeated('x', 3_200_000)}"}`),
  '{"kind":"ConfigMap","metadata":{"name":"a"}}',
  '{"apiVersion":"v1","metadata":{"name":"a"}}',
  '{"apiVersion":"v1","kind":null,"metadata":{"name":"a"}}',
  '{"apiVersion":1,"kind":"ConfigMap","metadata":{"name":"a"}}',
  '{"apiVersion":"v1","kind":["ConfigMap"],"metadata":{"name":"a"}}',
  '{"apiVersion":"v1","kind":"configmap","metadata":{"name":"a"}}',
  '{"apiVersion":"v1","kind":"ConfigMapList","items":[]}',
  '{"apiVersion":"v1","kind":"List","items":[]}',
  '{"apiVersion":"v1","kind":"Status"}',
  '{"apiVersion":"meta.k8s.io/v1","kind":"Table"}',
  '{"apiVersion":"v1/","kind":"ConfigMap","metadata":{"name":"a"}}',
  '{"apiVersion":"/v1","kind":"ConfigMap","metadata":{"name":"a"}}',
  '{"apiVersion":"a/b/c","kind":"ConfigMap","metadata":{"name":"a"}}',
  '{"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"a"}}',
  '{"apiVersion":"__proto__","kind":"constructor","metadata":{"name":"a"}}',
]

const metadata: readonly string[] = [
  'null',
  '[]',
  '"x"',
  '{}',
  '{"name":5}',
  '{"name":null}',
  '{"name":""}',
  '{"name":"A"}',
  '{"name":"a/b"}',
  '{"name":"a%2fb"}',
  '{"name":"."}',
  '{"name":".."}',
  '{"name":"😀"}',
  `{"name":"${'n'.repeat(254)}"}`,
  `{"name":"${'n'.repeat(253)}"}`,
  '{"name":"a","namespace":"other"}',
  '{"name":"a","namespace":5}',
  '{"generateName":"A_"}',
  `{"name":"a","generateName":"${'g'.repeat(300)}"}`,
  '{"name":"a","labels":{"a":null}}',
  '{"name":"a","labels":{"a":1}}',
  '{"name":"a","labels":[]}',
  '{"name":"a","labels":{"":"x","a b":"y","a/b/c":"z","-a":"-","a":"b c"}}',
  `{"name":"a","labels":{"${'k'.repeat(64)}":"${'v'.repeat(64)}"}}`,
  `{"name":"a","labels":{"${'d'.repeat(254)}/k":"v"}}`,
  '{"name":"a","annotations":{"":"x","A/b":"y"}}',
  `{"name":"a","annotations":{"a":"${repeated('x', 262_145)}"}}`,
  '{"name":"a","ownerReferences":[null]}',
  '{"name":"a","ownerReferences":[{}]}',
  '{"name":"a","ownerReferences":{"a":"b"}}',
  '{"name":"a","ownerReferences":[{"apiVersion":"a/b/c","kind":"K","name":"n","uid":"u"}]}',
  '{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"n","uid":"u","controller":"yes"}]}',
  '{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"n","uid":"u"},{"apiVersion":"v1","kind":"Pod","name":"m","uid":"u"}]}',
  '{"name":"a","finalizers":[null]}',
  '{"name":"a","finalizers":["","a","a/b/c","A/b","x.y/z","x.y/z"]}',
  '{"name":"a","finalizers":"x"}',
  '{"name":"a","managedFields":[{"manager":"m"}]}',
  '{"name":"a","managedFields":[{"manager":"m","operation":"Bogus","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]}',
  '{"name":"a","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"X","fieldsV1":{}}]}',
  '{"name":"a","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"x":1}}]}',
  '{"name":"a","managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:__proto__":{}}},"subresource":"zz","time":"x"}]}',
  '{"name":"a","managedFields":"x"}',
  '{"name":"a","creationTimestamp":"yesterday"}',
  '{"name":"a","creationTimestamp":5}',
  '{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}',
  '{"name":"a","deletionGracePeriodSeconds":"5"}',
  '{"name":"a","resourceVersion":"5"}',
  '{"name":"a","resourceVersion":"x"}',
  '{"name":"a","resourceVersion":5}',
  '{"name":"a","uid":"mine","selfLink":"x","generation":7}',
  '{"name":"a","generation":-1}',
  '{"name":"a","generation":1e30}',
  '{"name":"a","bogus":1}',
  '{"name":"a","clusterName":"x"}',
]

function names(): Cases {
  return inherited.map((name) => {
    const key = JSON.stringify(name)
    return [
      `a map key named ${name}`,
      [
        POST(
          CM,
          `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{${key}:"l"},"annotations":{${key}:"n"}},"data":{${key}:"1"},${key}:{"x":1}}`,
        ),
        GET(`${CM}/a`),
        PATCH(`${CM}/a`, M, `{${key}:{"polluted":true},"metadata":{"annotations":{${key}:"2"}},"data":{${key}:"3"}}`),
        PATCH(`${CM}/a`, S, `{"data":{${key}:"4"},"metadata":{"annotations":{${key}:null}}}`),
        PATCH(
          `${CM}/a`,
          J,
          `[{"op":"add","path":"/data/${name}","value":"5"},{"op":"add","path":"/${name}/x","value":1}]`,
        ),
        PATCH(`${CM}/a`, J, `[{"op":"replace","path":"/data/${name}","value":"6"}]`),
        PATCH(
          `${CM}/a?fieldManager=m&force=true`,
          A,
          `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{${key}:"7"}}`,
        ),
        PATCH(`${CM}/a?fieldManager=m`, A, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{}}`),
        PUT(`${CM}/a`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{${key}:"8"},${key}:1}`),
        GET(`${CM}/a`),
      ],
    ] as const
  })
}

const laughs = ['a: &a ["x","x","x","x","x","x","x","x","x"]']
for (let i = 1; i < 9; i++) {
  const last = String.fromCharCode(96 + i)
  const next = String.fromCharCode(97 + i)
  laughs.push(`${next}: &${next} [${Array(9).fill(`*${last}`).join()}]`)
}
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n'
const yamls: readonly string[] = [
  head,
  `---\n${head}---\n${head}`,
  `${head}...\nmore`,
  `${head}data:\n\ta: b\n`,
  `${head}data: {a: yes, b: no, c: on}\n`,
  `${head}data: {a: 0o14, b: 014, c: 1_000}\n`,
  `${head}data: {a: 2001-01-01}\n`,
  `${head}data: {a: !!str 5}\n`,
  `${head}data: {a: !!binary eA==}\n`,
  `${head}data: {a: !!js/function "x"}\n`,
  `${head}data: {a: !custom x}\n`,
  `${head}data: &x {a: b}\nbinaryData: *x\n`,
  `${head}data: {<<: {a: b}, c: d}\n`,
  `${head}data:\n  <<: *nope\n`,
  `${head}data: {a: b, a: c}\n`,
  `${head}data: {1: x}\n`,
  `${head}data: {null: x}\n`,
  `${head}data: {~: x}\n`,
  `${head}data: {true: x}\n`,
  `${head}data: {? [a] : b}\n`,
  `${head}data: {a: .nan, b: .inf}\n`,
  `${head}data:\n  a: |\n    x\n   y\n`,
  `${head}data:\n  a: "unclosed\n`,
  `${head}data: [a\n`,
  `${head} data: {}\n`,
  `%YAML 1.1\n---\n${head}`,
  `%YAML 9.9\n---\n${head}`,
  '# nothing',
  '',
  '---',
  '~',
  '- a\n- b',
  'just text',
  `${head}__proto__: {x: 1}\ndata: {__proto__: "1"}\n`,
  `${laughs.join('\n')}\n${head}`,
  `${head}data: ${repeated('[', 5000)}`,
  `${head}data: {a: "\\u0000\\x41\\_"}\n`,
  `${head}data: {a: @x}\n`,
  `\ufeff${head}`,
  `${head}\u0000`,
  `${head}data: {é: ü}\n`,
  `${head}immutable: "true"\n`,
  `${head}immutable: yes\n`,
]

function patches(): Cases {
  const base = [POST(CM, configMap('a', { data: { a: '1' } }, { labels: { l: '1' } }))]
  const on = (type: string, bodies: readonly unknown[]): Cases =>
    bodies.map(
      (b) =>
        [
          `${type.split('/')[1]} ${json(b).slice(0, 90)}`,
          [...base, PATCH(`${CM}/a`, type, b), GET(`${CM}/a`)],
        ] as const,
    )
  const one = json({ op: 'test', path: '/data/a', value: '1' })
  const many = `[${repeated(`${one},`, 10_000)}${one}]`
  return [
    ...on(J, [
      '',
      'null',
      '{}',
      '"x"',
      '[1]',
      '[null]',
      '[[]]',
      '[{}]',
      '[',
      '[{"op":"test"}]',
      [{ op: 'bogus', path: '/data/a' }],
      [{ op: 5, path: '/data/a' }],
      [{ path: '/data/a', value: 'x' }],
      [{ op: 'add', value: 'x' }],
      [{ op: 'add', path: 'data/a', value: 'x' }],
      [{ op: 'add', path: '/data/b' }],
      [{ op: 'add', path: '', value: {} }],
      [{ op: 'replace', path: '', value: configMap('a', { data: { r: '1' } }) }],
      [{ op: 'remove', path: '' }],
      [{ op: 'replace', path: '', value: [] }],
      [{ op: 'add', path: '/metadata/finalizers/-', value: 'x.y/z' }],
      [{ op: 'add', path: '/metadata/finalizers/5', value: 'x.y/z' }],
      [{ op: 'remove', path: '/data/nope' }],
      [{ op: 'replace', path: '/data/nope', value: 'x' }],
      [{ op: 'replace', path: '/nope/deep/er', value: 'x' }],
      [{ op: 'move', path: '/data/b' }],
      [{ op: 'move', from: '/data/a', path: '/data/b' }],
      [{ op: 'move', from: '/metadata', path: '/metadata/labels/x' }],
      [{ op: 'copy', from: '/data/nope', path: '/data/b' }],
      [{ op: 'copy', from: '/data/a', path: '/data/b' }],
      [{ op: 'copy', from: '', path: '/data/b' }],
      [{ op: 'test', path: '/data/a', value: '2' }],
      [{ op: 'test', path: '/data/a' }],
      [{ op: 'test', path: '/data/nope', value: null }],
      [{ op: 'test', path: '', value: {} }],
      [{ op: 'add', path: '/data/a~1b', value: 'x' }],
      [{ op: 'add', path: '/data/~0', value: 'x' }],
      [{ op: 'add', path: '/data/~2', value: 'x' }],
      [{ op: 'add', path: '/data/', value: 'x' }],
      [{ op: 'add', path: '/metadata/labels/x', value: null }],
      [{ op: 'add', path: '/data/x', value: 5 }],
      [{ op: 'replace', path: '/metadata/name', value: 'b' }],
      [{ op: 'replace', path: '/metadata/namespace', value: 'b' }],
      [{ op: 'replace', path: '/kind', value: 'Secret' }],
      [{ op: 'remove', path: '/kind' }],
      [{ op: 'replace', path: '/apiVersion', value: 'v2' }],
      [{ op: 'remove', path: '/metadata' }],
      [{ op: 'remove', path: '/metadata/uid' }],
      [{ op: 'add', path: '/constructor/prototype/polluted', value: '1' }],
      [{ op: 'add', path: '/bogus', value: { a: 1 } }],
      many,
    ]),
    ...on(M, [
      '',
      'null',
      '[]',
      '"x"',
      '5',
      '{',
      '{}',
      '{"a":1,}',
      { metadata: null },
      { metadata: [] },
      { metadata: { name: 'b' } },
      { metadata: { name: null } },
      { metadata: { namespace: 'b' } },
      { metadata: { uid: 'x' } },
      { metadata: { resourceVersion: '' } },
      { metadata: { resourceVersion: 'abc' } },
      { metadata: { resourceVersion: null } },
      { metadata: { creationTimestamp: null, uid: null } },
      { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
      { metadata: { managedFields: [] } },
      { metadata: { managedFields: [{}] } },
      { metadata: { managedFields: [{ manager: 'x' }] } },
      { metadata: { labels: null } },
      { metadata: { labels: { l: null, m: null } } },
      { metadata: { labels: 'x' } },
      { metadata: { finalizers: [null] } },
      { apiVersion: 'v2' },
      { kind: 'Secret' },
      { kind: null },
      { data: { a: { b: null } } },
      { data: { a: 5 } },
      { data: null },
      { bogus: { x: 1 } },
      '{"data":{"a":"2","a":"3"}}',
      `{"bogus":${nested(20000, '{"a":', '}', '1')}}`,
    ]),
    ...on(S, [
      '',
      'null',
      '[]',
      '"x"',
      '{',
      '{}',
      { $patch: 'delete' },
      { $patch: 'replace' },
      { $patch: 'bogus' },
      { $patch: 5 },
      { data: { $patch: 'replace', z: '1' } },
      { data: { $patch: 'delete' } },
      { data: { $patch: 'bogus' } },
      { data: { $retainKeys: ['z'] } },
      { data: { $retainKeys: ['z'], z: '1' } },
      { data: { $retainKeys: 'z' } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['x'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': 'x' } },
      { metadata: { '$setElementOrder/finalizers': 5 } },
      { metadata: { '$setElementOrder/finalizers': ['x.y/z'], finalizers: ['x.y/z', 'x.y/q'] } },
      { metadata: { finalizers: [{}] } },
      { metadata: { finalizers: ['x.y/z', 'x.y/z'] } },
      { metadata: { ownerReferences: [{ name: 'n' }] } },
      { metadata: { ownerReferences: ['x'] } },
      { metadata: { ownerReferences: [{ $patch: 'bogus', uid: 'x' }] } },
      { metadata: { ownerReferences: [{ $patch: 'replace' }] } },
      { bogus: { x: 1 } },
      { data: [] },
      { metadata: [] },
    ]),
    ...[
      'application/json',
      'text/plain',
      `${M}; charset=utf-8`,
      'application/apply-patch+cbor',
      '',
      'application/merge-patch',
    ].map((type) => [`patch as ${type}`, [...base, PATCH(`${CM}/a`, type, '{"data":{"z":"1"}}')]] as const),
  ]
}

function applies(): Cases {
  const object = (more: Record<string, unknown> = {}, meta: Record<string, unknown> = {}) => configMap('a', more, meta)
  const bodies: readonly (readonly [string, unknown])[] = [
    ['', object()],
    ['?fieldManager=', object()],
    ['?fieldManager=m&force=maybe', object()],
    [`?fieldManager=${'m'.repeat(129)}`, object()],
    ['?fieldManager=m', ''],
    ['?fieldManager=m', 'null'],
    ['?fieldManager=m', '[]'],
    ['?fieldManager=m', 'text'],
    ['?fieldManager=m', '{'],
    ['?fieldManager=m', { kind: 'ConfigMap' }],
    ['?fieldManager=m', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }],
    ['?fieldManager=m', { apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'a' } }],
    ['?fieldManager=m', { apiVersion: 'v1', kind: 'ConfigMap' }],
    ['?fieldManager=m', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } }],
    ['?fieldManager=m', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'b' } }],
    ['?fieldManager=m', object({}, { namespace: 'other' })],
    ['?fieldManager=m', object({}, { managedFields: [] })],
    ['?fieldManager=m', object({}, { managedFields: [{ manager: 'x' }] })],
    ['?fieldManager=m', object({}, { resourceVersion: '1' })],
    ['?fieldManager=m', object({}, { resourceVersion: 'x' })],
    ['?fieldManager=m', object({}, { uid: 'x' })],
    ['?fieldManager=m', object({ bogus: 1 })],
    ['?fieldManager=m&fieldValidation=Strict', object({ bogus: 1 })],
    ['?fieldManager=m&fieldValidation=Ignore', object({ bogus: 1 })],
    ['?fieldManager=m', object({ data: { a: 5 } })],
    ['?fieldManager=m', object({ data: { a: null } })],
    ['?fieldManager=m', object({ data: null })],
    ['?fieldManager=m', object({ data: [] })],
    ['?fieldManager=m', object({}, { finalizers: ['x.y/z', 'x.y/z'] })],
    ['?fieldManager=m', object({}, { finalizers: [null] })],
    ['?fieldManager=m', object({}, { finalizers: [{}] })],
    ['?fieldManager=m', object({}, { ownerReferences: [{ name: 'x' }] })],
    ['?fieldManager=m', object({}, { labels: { 'a b': 'c d' } })],
    ['?fieldManager=m', `${head}data: {a: b, a: c}\n`],
    ['?fieldManager=m&fieldValidation=Strict', `${head}data: {a: b, a: c}\n`],
    ['?fieldManager=m&dryRun=All', object({ data: { z: '1' } })],
  ]
  return bodies.flatMap(([query, b]) => [
    [
      `apply to nothing ${query.slice(0, 40)} ${json(b).slice(0, 90)}`,
      [PATCH(`${CM}/a${query}`, A, b), GET(`${CM}/a`)],
    ] as const,
    [
      `apply ${query.slice(0, 40)} ${json(b).slice(0, 90)}`,
      [POST(CM, configMap('a', { data: { a: '1' } })), PATCH(`${CM}/a${query}`, A, b), GET(`${CM}/a`)],
    ] as const,
  ])
}

function deletes(): Cases {
  const bodies: readonly unknown[] = [
    'null',
    '[]',
    '"x"',
    '{',
    '{}',
    'text',
    ' ',
    { kind: 'DeleteOptions' },
    { apiVersion: 'v1' },
    { kind: 'Pod', apiVersion: 'v1' },
    { kind: 'DeleteOptions', apiVersion: 'policy/v1' },
    { kind: 'DeleteOptions', apiVersion: 'apps/v1' },
    { kind: 'DeleteOptions', apiVersion: 'nope/v1' },
    { kind: 'DeleteOptions', apiVersion: 'a/b/c' },
    { kind: 'deleteoptions', apiVersion: 'v1' },
    ...[
      { gracePeriodSeconds: '5' },
      { gracePeriodSeconds: -1 },
      { gracePeriodSeconds: 1e30 },
      { gracePeriodSeconds: 1.5 },
      { gracePeriodSeconds: null },
      { preconditions: null },
      { preconditions: {} },
      { preconditions: [] },
      { preconditions: { uid: null } },
      { preconditions: { uid: '' } },
      { preconditions: { uid: 5 } },
      { preconditions: { resourceVersion: '' } },
      { preconditions: { resourceVersion: 5 } },
      { preconditions: { resourceVersion: 'abc' } },
      { propagationPolicy: '' },
      { propagationPolicy: 'orphan' },
      { propagationPolicy: 5 },
      { propagationPolicy: null },
      { orphanDependents: 'true' },
      { orphanDependents: true, propagationPolicy: 'Background' },
      { dryRun: ['All', 'All'] },
      { dryRun: ['All', 'None'] },
      { dryRun: ['none'] },
      { dryRun: 'All' },
      { dryRun: [] },
      { bogus: 1, __proto__x: 2 },
      { ignoreStoreReadErrorWithClusterBreakingPotential: true },
    ].map((options) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...options })),
  ]
  return bodies.map(
    (b) =>
      [
        `delete with ${json(b).slice(0, 110)}`,
        [
          POST(CM, configMap('a')),
          DELETE(`${CM}/a`, b),
          GET(`${CM}/a`),
          DELETE(`${CM}/a?gracePeriodSeconds=3`, b),
          DELETE(CM, b),
        ],
      ] as const,
  )
}

function subresources(): Cases {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  const scale = (more: Record<string, unknown>, meta: Record<string, unknown> = { name: 'd' }) => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: meta,
    ...more,
  })
  const scales: readonly unknown[] = [
    '{}',
    'null',
    '[]',
    scale({}),
    scale({ spec: { replicas: -1 } }),
    scale({ spec: { replicas: '1' } }),
    scale({ spec: { replicas: 99999999999 } }),
    scale({ spec: { replicas: 1.5 } }),
    scale({ spec: null }),
    scale({ spec: { replicas: 2 } }, { name: 'other' }),
    scale({ spec: { replicas: 2 } }, {}),
    scale({ spec: { replicas: 2 } }, { name: 'd', namespace: 'other' }),
    scale({ spec: { replicas: 2 } }, { name: 'd', resourceVersion: '1' }),
    scale({ spec: { replicas: 2 } }, { name: 'd', resourceVersion: 'abc' }),
    scale({ spec: { replicas: 2 } }, { name: 'd', uid: 'x' }),
    scale({ spec: { replicas: 2, bogus: 1 }, status: { replicas: 7 } }),
    deployment,
    { ...scale({}), apiVersion: 'autoscaling/v2' },
    { ...scale({}), apiVersion: 'extensions/v1beta1' },
  ]
  const binding = (more: Record<string, unknown>, name = 'p') => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name },
    ...more,
  })
  const bindings: readonly unknown[] = [
    '{}',
    binding({}),
    binding({ target: {} }),
    binding({ target: { name: '' } }),
    binding({ target: { kind: 'Pod', name: 'n' } }),
    binding({ target: { name: 'n' } }),
    binding({ target: { name: 'n', kind: 'Node' } }, 'other'),
    binding({ target: { name: 'N/../x', kind: 'Node' } }),
    pod,
  ]
  const evictions: readonly unknown[] = [
    '{}',
    '[]',
    { apiVersion: 'policy/v1', kind: 'Eviction' },
    { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'p' } },
    { apiVersion: 'policy/v9', kind: 'Eviction', metadata: { name: 'p' } },
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'q' } },
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p', namespace: 'other' } },
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: { gracePeriodSeconds: 'x' } },
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: { dryRun: ['x'] } },
    {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p' },
      deleteOptions: { preconditions: { uid: 'x' } },
    },
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: { propagationPolicy: 'x' } },
  ]
  const ephemeral: readonly unknown[] = [
    { ...pod, spec: { ...pod.spec, ephemeralContainers: [{ name: 'c', image: 'i' }] } },
    { ...pod, spec: { ...pod.spec, ephemeralContainers: [{ name: 'e' }] } },
    { ...pod, spec: { ...pod.spec, ephemeralContainers: [{ name: 'e', image: 'i', ports: [{ containerPort: 1 }] }] } },
    { ...pod, spec: { ...pod.spec, ephemeralContainers: [{ name: 'e', image: 'i', targetContainerName: 'nope' }] } },
    { ...pod, spec: { containers: [{ name: 'z', image: 'z' }], ephemeralContainers: [] } },
  ]
  const SA = '/api/v1/namespaces/$NS/serviceaccounts'
  const tokens: readonly unknown[] = [
    '{}',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: -1 } },
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 5 } },
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 99999999999 } },
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { boundObjectRef: { kind: 'Node', name: 'x' } },
    },
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { boundObjectRef: { kind: 'Pod', name: 'nope' } },
    },
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { boundObjectRef: { kind: 'Bogus', name: 'x' } },
    },
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: { name: 'other' }, spec: {} },
    { apiVersion: 'authentication.k8s.io/v1beta1', kind: 'TokenRequest', spec: {} },
  ]
  const each = (name: string, bodies: readonly unknown[], steps: (b: unknown) => readonly Step[]): Cases =>
    bodies.map((b) => [`${name} ${json(b).slice(0, 110)}`, steps(b)] as const)
  return [
    ...each('scale', scales, (b) => [POST(DEP, deployment), PUT(`${DEP}/d/scale`, b), PATCH(`${DEP}/d/scale`, M, b)]),
    ...each('binding', bindings, (b) => [POST(POD, pod), POST(`${POD}/p/binding`, b), GET(`${POD}/p`)]),
    ...each('eviction', evictions, (b) => [
      POST(POD, pod),
      POST(`${POD}/p/eviction`, b),
      POST(`${POD}/nope/eviction`, b),
    ]),
    ...each('ephemeral containers', ephemeral, (b) => [
      POST(POD, pod),
      PUT(`${POD}/p/ephemeralcontainers`, b),
      PATCH(`${POD}/p/ephemeralcontainers`, S, b),
    ]),
    ...each('resize', ephemeral.slice(0, 2), (b) => [POST(POD, pod), PUT(`${POD}/p/resize`, b)]),
    ...each('token', tokens.slice(1), (b) => [POST(`${SA}/default/token?dryRun=All`, b), POST(`${SA}/nope/token`, b)]),
  ]
}

/** Name and steps of each case. */
export function hostileBodies(): Cases {
  return [
    ...encodings(),
    ...documents.map(
      (b) =>
        [
          `create ${b.length} bytes ${b.slice(0, 110)}`,
          [POST(CM, b), POST(`${CM}?fieldValidation=Strict`, b), PUT(`${CM}/a`, b)],
        ] as const,
    ),
    ...metadata.map((m) => {
      const b = `{"apiVersion":"v1","kind":"ConfigMap","metadata":${m}}`
      return [
        `metadata ${m.slice(0, 110)}`,
        [POST(`${CM}?dryRun=All`, b), POST(CM, configMap('a')), PUT(`${CM}/a`, b)],
      ] as const
    }),
    ...names(),
    ...yamls.map(
      (b) =>
        [
          `YAML ${b.replace(head, '…').slice(0, 80)}`,
          [POST(CM, b, YAML), POST(`${CM}?fieldValidation=Strict`, b.replace('name: a', 'name: b'), YAML)],
        ] as const,
    ),
    ...patches(),
    ...applies(),
    ...deletes(),
    ...subresources(),
  ]
}
