/** Bodies that an attacker or a broken client sends: encodings, JSON, YAML. */

import { gzipSync } from 'node:zlib'
import { A, type Cases, head, J, M, nested, plain, S, YAML } from './hostile-bodies-parts.ts'
import { CM, configMap, GET, inherited, PATCH, POST, PUT, repeated } from './hostile-requests.ts'
import { applies, deletes, patches, subresources } from './hostile-writes.ts'

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
