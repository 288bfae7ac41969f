import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { problemOfValue, problemText } from '../decode-problem.ts'
import { deepFreeze } from '../freeze.ts'
import type { KubeObject } from '../object.ts'
import { createParts, createPartTexts, type Parts } from '../parts.ts'
import type { RequestBody } from '../request.ts'
import { strictText } from '../schema/strict-problem.ts'
import { builtinScheme } from '../scheme/scheme.ts'
import { decodeBody, decodeFields, decodeOptions, type FieldValidation } from './decode.ts'

const bytes = (text: string, contentType = 'application/json'): RequestBody => ({
  kind: 'bytes',
  bytes: Buffer.from(text),
  contentType,
})
const row = (group: string, resource: string, version = 'v1') => builtinScheme().find(group, version, resource)!
const configMaps = row('', 'configmaps')
const texts = createPartTexts()
const memories = new Map<string, Parts>()
const decode = (text: string, expected = configMaps, fieldValidation: FieldValidation = 'Warn') =>
  decodeBody(bytes(text), expected, {
    fieldValidation,
    parts: getOrInsertComputed(memories, expected.resource, () => createParts(texts)),
  })
const refused = (text: string, message: string, expected = configMaps, fieldValidation: FieldValidation = 'Warn') =>
  assert.throws(() => decode(text, expected, fieldValidation), { code: 400, reason: 'BadRequest', message }, text)

const IN = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '

test('kind and apiVersion are taken from the path where the body has none', () => {
  for (const text of ['null', '{}', '{"kind":"ConfigMap"}', '{"apiVersion":"v1"}', '{"apiVersion":"/v1","kind":""}'])
    assert.deepEqual(decode(text).object, { kind: 'ConfigMap', apiVersion: 'v1', metadata: {} })
})

test('a body that is no object is unrecognized', () => {
  const unrecognized =
    "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
  refused('nonsense', `${unrecognized}invalid character 'o' in literal null (expecting 'u') (6e6f6e73656e7365)`)
  refused('{', `${unrecognized}unexpected end of JSON input ({)`)
  refused('', `${unrecognized}unexpected end of JSON input (<empty>)`)
  const goType =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  refused('[]', `${unrecognized}json: cannot unmarshal array into Go value of type ${goType} (5b5d)`)
  refused(
    '{"apiVersion":["v1"],"kind":"ConfigMap"}',
    `${unrecognized}json: cannot unmarshal array into Go struct field .apiVersion of type string ({"apiVersion":["v1"],"kind":"C ...)`,
  )
})

test('another kind or version than the path expects is refused', () => {
  const scheme = 'in scheme "pkg/runtime/scheme.go:111"'
  refused(
    '{"apiVersion":"v1","kind":"Bogus"}',
    `Bogus in version "v1" cannot be handled as a ConfigMap: no kind "Bogus" is registered for version "v1" ${scheme}`,
  )
  refused(
    '{"apiVersion":"v9","kind":"ConfigMap"}',
    `ConfigMap in version "v9" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v9" ${scheme}`,
  )
  refused(
    '{"apiVersion":"apps/v1","kind":"Deployment"}',
    'Deployment in version "v1" cannot be handled as a ConfigMap: converting (v1.Deployment) to (core.ConfigMap): unknown conversion',
  )
  refused(
    '{"apiVersion":"batch/v1beta1","kind":"CronJob"}',
    'CronJob in version "v1beta1" cannot be handled as a ConfigMap: converting (v1beta1.CronJob) to (core.ConfigMap): unknown conversion',
  )
  refused(
    '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition"}',
    `CustomResourceDefinition in version "v1" cannot be handled as a ConfigMap: no kind "CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1" ${scheme}`,
  )
  refused(
    '{"Kind":"Pod"}',
    'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
  )
  refused(
    '{"apiVersion":"events.k8s.io/v1","kind":"Event"}',
    'the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)',
    row('', 'events'),
  )
  refused(
    '{"apiVersion":"batch/v1beta1","kind":"CronJob"}',
    'the API version in the data (batch/v1beta1) does not match the expected API version (batch/v1)',
    row('batch', 'cronjobs'),
  )
  const hpa = row('autoscaling', 'horizontalpodautoscalers', 'v2')
  const old = '{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","bogus":1}'
  refused(
    old,
    'the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)',
    hpa,
  )
  refused(
    old,
    'HorizontalPodAutoscaler in version "v1" cannot be handled as a HorizontalPodAutoscaler: strict decoding error: unknown field "bogus"',
    hpa,
    'Strict',
  )
  refused(
    '{"apiVersion":"a/b/c"}',
    'the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})',
  )
  refused(
    '{"apiVersion":"apps/"}',
    `ConfigMap in version "" cannot be handled as a ConfigMap: Object 'apiVersion' is missing in '{"apiVersion":"apps/"}'`,
  )
})

test('a value of the wrong type is named by its Go struct, path and type', () => {
  const cannot = (what: string, where: string) => `${IN}json: cannot unmarshal ${what} into Go struct field ${where}`
  refused('{"metadata":5}', cannot('number', 'ConfigMap.metadata of type v1.ObjectMeta'))
  refused('{"metadata":{"name":5}}', cannot('number', 'ObjectMeta.metadata.name of type string'))
  refused('{"data":{"x":5}}', cannot('number', 'ConfigMap.data of type string'))
  refused('{"binaryData":"x"}', cannot('string', 'ConfigMap.binaryData of type map[string][]uint8'))
  refused('{"metadata":{"generation":1e2}}', cannot('number 1e2', 'ObjectMeta.metadata.generation of type int64'))
  refused(
    '{"metadata":{"generation":99999999999999999999}}',
    cannot('number 99999999999999999999', 'ObjectMeta.metadata.generation of type int64'),
  )
  refused(
    '{"metadata":{"creationTimestamp":5}}',
    cannot('number', 'ObjectMeta.metadata.creationTimestamp of type string'),
  )
})

test('embedded structs are in the path, and the first mismatch in the text is the one told', () => {
  const podIn = 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal '
  const pods = row('', 'pods')
  refused(
    '{"spec":{"volumes":[{"name":"a","configMap":{"items":0}}]}}',
    `${podIn}number into Go struct field ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap.items of type []v1.KeyToPath`,
    pods,
  )
  refused(
    '{"spec":{"nodeName":1,"hostPID":2}}',
    `${podIn}number into Go struct field PodSpec.spec.nodeName of type string`,
    pods,
  )
  refused(
    '{"spec":{"hostPID":2,"nodeName":1}}',
    `${podIn}number into Go struct field PodSpec.spec.hostPID of type bool`,
    pods,
  )
})

test('a type with a decoder of its own ends the decoding', () => {
  refused(
    '{"metadata":{"name":5,"creationTimestamp":"x"},"bogus":1}',
    `${IN}parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`,
  )
  refused('{"binaryData":{"x":"###"}}', `${IN}illegal base64 data at input byte 0`)
  const limit = (value: string) => `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":${value}}}}]}}`
  refused(
    limit('"abc"'),
    `Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    row('', 'pods'),
  )
  assert.equal(decode(limit('1.5'), row('', 'pods')).object['spec'].containers[0].resources.limits.cpu, '1500m')
})

test('unknown and duplicate fields: refused, warned of or ignored', () => {
  const text =
    '{"metadata":{"name":"a","name":"b","labels":{"x.y/z":"1","x.y/z":"2"}},"bogus":1,"data":{"x":"1","x":"2"}}'
  const found = [
    'duplicate field "metadata.name"',
    'duplicate field "metadata.labels.x.y/z"',
    'unknown field "bogus"',
    'duplicate field "data.x"',
  ]
  refused(text, `${IN}strict decoding error: ${found.join(', ')}`, configMaps, 'Strict')
  const { object, strict } = decode(text)
  assert.deepEqual(strict.map(strictText), found)
  assert.deepEqual(object['data'], { x: '2' })
  assert.deepEqual(decode(text, configMaps, 'Ignore').strict, [])
  refused(
    '{"spec":{"replicas":1,"containers":[{"name":"c","imag":"x"}]}}',
    'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.replicas", unknown field "spec.containers[0].imag"',
    row('', 'pods'),
    'Strict',
  )
})

test('what is written twice is decoded into what was there', () => {
  const { object } = decode('{"data":{"a":"1"},"data":{"b":"2"},"metadata":{"name":"x"},"metadata":{"name":null}}')
  assert.deepEqual(object['data'], { a: '1', b: '2' })
  assert.equal(object.metadata.name, 'x')
  const text = '{"spec":{"ports":[{"port":80}],"ports":[{"name":"p","port":null}]}}'
  assert.deepEqual(decode(text, row('', 'services')).object['spec'].ports, [{ name: 'p', port: 80, targetPort: 0 }])
  refused(
    '{"apiVersion":[],"apiVersion":"v1"}',
    `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go struct field .apiVersion of type string ({"apiVersion":[],"apiVersion": ...)`,
  )
})

test('64-bit integers stay exact', () => {
  const { object } = decode('{"metadata":{"name":"a","generation":9223372036854775807}}')
  assert.equal(object.metadata.generation as unknown, 9223372036854775807n)
})

test('content types', () => {
  const text = '{"data":{"a":"1"}}'
  for (const type of ['', 'application/json; charset=utf-8', 'Application/JSON', 'application/yaml'])
    assert.deepEqual(decodeBody(bytes(text, type), configMaps, { fieldValidation: 'Warn' }).object['data'], { a: '1' })
  assert.throws(() => decodeBody(bytes(text, 'text/plain'), configMaps, { fieldValidation: 'Warn' }), {
    code: 415,
    reason: 'UnsupportedMediaType',
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  })
  assert.throws(
    () => decodeBody(bytes(text, 'application/vnd.kubernetes.protobuf'), configMaps, { fieldValidation: 'Warn' }),
    {
      code: 400,
      message: `the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (${text})`,
    },
  )
})

test('an object of this process passes the same walk and is not touched', () => {
  const object: KubeObject = deepFreeze({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { b: '1', a: '2' },
  })
  const decoded = decodeBody({ kind: 'object', object }, configMaps, { fieldValidation: 'Strict' }).object
  assert.deepEqual(Object.keys(decoded['data']), ['a', 'b'])
  const wrong = { ...object, data: { a: 5 } }
  assert.throws(() => decodeBody({ kind: 'object', object: wrong }, configMaps, { fieldValidation: 'Strict' }), {
    message: `${IN}json: cannot unmarshal number into Go struct field ConfigMap.data of type string`,
  })
})

test('nesting is bounded, whichever way an object comes', () => {
  let data: unknown = {}
  for (let i = 0; i < 100_000; i++) data = { a: data }
  const revisions = row('apps', 'controllerrevisions')
  const object = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'a' }, data }
  const warn = { fieldValidation: 'Warn' } as const
  assert.throws(() => decodeBody({ kind: 'object', object }, revisions, warn), {
    code: 400,
    message: /exceeded max depth/,
  })
  for (const depth of [5000, 50_000]) {
    const text = `{"metadata":{"name":"a"},"data":${'{"a":'.repeat(depth)}{}${'}'.repeat(depth)}}`
    assert.throws(() => decode(text, revisions), { code: 400, message: /exceeded max depth/ })
  }
})

test('fields of this process tell what is wrong without throwing', () => {
  assert.deepEqual(decodeFields({ data: { a: '1' } }, configMaps.schema), {
    object: { metadata: {}, data: { a: '1' } },
    strict: [],
  })
  assert.deepEqual(decodeFields({ bogus: 1 }, configMaps.schema).strict, [{ kind: 'unknown', path: 'bogus' }])
  const { error } = decodeFields({ data: { a: 1 } }, configMaps.schema)
  assert.equal(
    error && problemText(error),
    'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
  )
  assert.equal(error && problemOfValue(error), 'json: cannot unmarshal number into Go value of type string')
})

test('DeleteOptions are read in any version, and nothing else is', () => {
  const options = (text: string) => decodeOptions(bytes(text))
  assert.equal(decodeOptions(undefined), undefined)
  assert.equal(options(''), undefined)
  assert.equal(
    options('{"kind":"DeleteOptions","apiVersion":"bogus/v1","gracePeriodSeconds":0,"x":1}')?.['gracePeriodSeconds'],
    0,
  )
  for (const [text, message] of [
    [
      '{"kind":"Pod","apiVersion":"v1"}',
      'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      '{"kind":"GetOptions","apiVersion":"meta.k8s.io/v1"}',
      'converting (v1.GetOptions) to (v1.DeleteOptions): unknown conversion',
    ],
    [
      '{"preconditions":{"uid":5}}',
      'json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID',
    ],
    ['{', "couldn't get version/kind; json parse error: unexpected end of JSON input"],
  ] as const)
    assert.throws(() => options(text), { code: 400, message }, text)
})

test('subresource bodies are decoded by their own kind', () => {
  const eviction = row('', 'pods').subresources.find(({ name }) => name === 'eviction')!
  const { object } = decodeBody(
    bytes('{"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"p"}}'),
    eviction,
    { fieldValidation: 'Warn' },
  )
  assert.equal(object.apiVersion, 'policy/v1')
  assert.throws(() => decodeBody(bytes('{"apiVersion":"v1","kind":"Pod"}'), eviction, { fieldValidation: 'Warn' }), {
    message:
      'Pod in version "v1" cannot be handled as a Eviction: converting (v1.Pod) to (policy.Eviction): unknown conversion',
  })
})

const pods = row('', 'pods')
const SPEC = JSON.stringify({
  containers: [{ image: 'x', name: 'c', resources: { limits: { cpu: '1000m' } }, env: [{ name: 'A', value: '1' }] }],
  nodeSelector: { b: '1', a: '2' },
  activeDeadlineSeconds: 5,
})
const podText = (name: string, spec = SPEC) =>
  `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"${name}"},"spec":${spec}}`

test('a spec that is read again, in the very same words, is the same value', () => {
  const [, first, second] = ['first', 'a', 'b'].map((name) => decode(podText(name), pods).object)
  assert.equal(first!['spec'], second!['spec'])
  assert.equal(second!.metadata.name, 'b')
  const spaced = decode(`{ "spec" :\n ${SPEC} , "metadata": {"name":"c"},"kind":"Pod", "apiVersion":"v1"}`, pods).object
  assert.equal(spaced['spec'], first!['spec'])
  assert.deepEqual(Object.keys(spaced), ['kind', 'apiVersion', 'metadata', 'spec', 'status'])
  assert.notEqual(decode(podText('d', SPEC.replace('"1"', '"2"')), pods).object['spec'], first!['spec'])
})

test('of a spec that was read before everything is refused that would be refused without it', () => {
  for (const name of ['a', 'b']) decode(podText(name), pods)
  const strict = (text: string) => {
    try {
      return decode(text, pods, 'Strict').object
    } catch (error) {
      return (error as Error).message
    }
  }
  const other = SPEC.replace('"c"', '"other"')
  // The same words but for one name, which have not been read before.
  for (const text of [
    podText('a').slice(0, -1),
    `${podText('a')}}`,
    podText('a', `${SPEC}1`),
    podText('a', `\f${SPEC}`),
    podText('a', `${SPEC}\v`),
    podText('a', `${SPEC},"spec":{}`),
    podText('a', `{},"spec":${SPEC}`),
    podText('a', `${SPEC},"bogus":1`),
    podText('a', `${SPEC},"metadata":{"name":"x"}`),
    podText('a', `${SPEC},"status":${SPEC}`),
    podText('a', `[${SPEC}]`),
    podText('a', SPEC.replace('"image"', '"name":"c","image"')),
    podText('a').replace('"Pod"', '"ConfigMap"'),
    podText('a').replace('"Pod"', '7'),
    podText('a').replace('"kind"', '"Kind"'),
  ])
    assert.deepEqual(
      JSON.stringify(strict(text)).replaceAll('other', 'c'),
      JSON.stringify(strict(text.replaceAll(SPEC, other))).replaceAll('other', 'c'),
      text,
    )
})

test('the same words are another spec in another kind', () => {
  const spec = JSON.stringify({
    template: { spec: { containers: [] } },
    selector: { matchLabels: { app: 'x'.repeat(60) } },
  })
  const of = (kind: string, resource: string) =>
    decode(`{"kind":"${kind}","apiVersion":"apps/v1","spec":${spec}}`, row('apps', resource)).object['spec']
  const deployment = of('Deployment', 'deployments')
  assert.notEqual(of('DaemonSet', 'daemonsets'), deployment)
  assert.ok(Object.hasOwn(deployment, 'strategy'))
  assert.ok(!Object.hasOwn(of('DaemonSet', 'daemonsets'), 'strategy'))
})

test('what is remembered of a body is its spec alone, and only when it comes again', () => {
  const specs = ['once', 'twice', 'thrice'].map(
    (name) => decode(podText(name, SPEC.replace('x', 'only-here')), pods).object['spec'],
  )
  assert.notEqual(specs[0], specs[1])
  assert.equal(specs[1], specs[2])
  const review = (name: string) =>
    decode(
      `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{${name}},"spec":{"token":"${'s'.repeat(200)}"}}`,
      row('authentication.k8s.io', 'tokenreviews'),
    ).object['spec']
  const secrets = ['', '', ''].map(review)
  assert.notEqual(secrets[1], secrets[2])
})
