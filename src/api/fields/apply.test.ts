import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, KubeObject } from '../object.ts'
import { schemaOf } from '../schema/builtin.ts'
import { StatusError } from '../status.ts'
import { type Applied, type ApplyOptions, applyServerSide } from './apply.ts'

const T1 = '2026-01-01T00:00:01Z'
const T2 = '2026-01-01T00:00:02Z'
const kinds = {
  ConfigMap: { schema: schemaOf('io.k8s.api.core.v1.ConfigMap'), apiVersion: 'v1' },
  Deployment: { schema: schemaOf('io.k8s.api.apps.v1.Deployment'), apiVersion: 'apps/v1' },
}

function apply(
  kind: keyof typeof kinds,
  live: KubeObject | undefined,
  manager: string,
  body: object,
  options: Partial<ApplyOptions> = {},
): Applied {
  const { schema, apiVersion } = kinds[kind]
  const applied = { apiVersion, kind, metadata: { name: 'o', namespace: 'n' }, ...body } as JsonObject
  return applyServerSide({
    live,
    applied,
    schema,
    apiVersion,
    kind,
    manager,
    force: false,
    subresource: '',
    time: T1,
    ...options,
  })
}

function refusal(run: () => unknown): StatusError {
  try {
    run()
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
  throw new assert.AssertionError({ message: 'the apply was not refused' })
}

test('an apply that creates owns what it says, without the maps around it', () => {
  const { object } = apply('ConfigMap', undefined, 'one', { data: { a: '1' } })
  assert.deepEqual(object['data'], { a: '1' })
  assert.deepEqual(object.metadata.managedFields, [
    {
      manager: 'one',
      operation: 'Apply',
      apiVersion: 'v1',
      time: T1,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {} } },
    },
  ])
})

test('a field of another value and owner is a conflict, which force takes', () => {
  const { object: live } = apply('ConfigMap', undefined, 'one', { data: { a: '1' } })
  const error = refusal(() => apply('ConfigMap', live, 'two', { data: { a: '2' } }))
  assert.equal(error.code, 409)
  assert.equal(error.message, 'Apply failed with 1 conflict: conflict with "one": .data.a')
  assert.deepEqual(error.details, {
    causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }],
  })
  const { object } = apply('ConfigMap', live, 'two', { data: { a: '2' } }, { force: true, time: T2 })
  assert.deepEqual(object['data'], { a: '2' })
  assert.deepEqual(
    object.metadata.managedFields?.map((e) => e.manager),
    ['two'],
  )
})

test('several conflicts are listed by owner', () => {
  const { object: live } = apply('ConfigMap', undefined, 'one', { data: { a: '1', b: '1' } })
  const error = refusal(() => apply('ConfigMap', live, 'two', { data: { a: '2', b: '2' } }))
  assert.equal(error.message, 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b')
})

test('conflicts at one place are listed before those below it', () => {
  const pod = (hostname: string, schedulerName: string) => ({
    spec: {
      template: {
        spec: {
          dnsConfig: { searches: [hostname] },
          hostname,
          securityContext: { fsGroupChangePolicy: hostname },
          schedulerName,
        },
      },
    },
  })
  const { object: live } = apply('Deployment', undefined, 'one', pod('a', 'b'))
  const error = refusal(() => apply('Deployment', live, 'two', pod('c', 'd')))
  const at = '.spec.template.spec'
  assert.deepEqual(
    error.details?.causes?.map(({ field }) => field),
    [`${at}.hostname`, `${at}.schedulerName`, `${at}.dnsConfig.searches`, `${at}.securityContext.fsGroupChangePolicy`],
  )
})

test('an equal value is shared; an apply that changes nothing leaves no time', () => {
  const { object: live } = apply('ConfigMap', undefined, 'one', { data: { a: '1' } })
  const { object, changed } = apply('ConfigMap', live, 'two', { data: { a: '1' } }, { time: T2 })
  assert.equal(changed, false)
  assert.deepEqual(
    object.metadata.managedFields?.map((e) => [e.manager, e.time]),
    [
      ['two', undefined],
      ['one', T1],
    ],
  )
})

test('what a manager no longer applies goes, unless somebody else owns it', () => {
  const { object: first } = apply('ConfigMap', undefined, 'one', { data: { a: '1', b: '1' } })
  const { object: shared } = apply('ConfigMap', first, 'two', { data: { b: '1' } })
  const { object } = apply('ConfigMap', shared, 'one', { data: { c: '1' } }, { time: T2 })
  assert.deepEqual(object['data'], { b: '1', c: '1' })
})

test('keyed lists are merged item by item, with defaults as keys', () => {
  const spec = (containers: object[]) => ({
    spec: { selector: { matchLabels: { a: 'b' } }, template: { spec: { containers } } },
  })
  const { object: first } = apply(
    'Deployment',
    undefined,
    'one',
    spec([{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }]),
  )
  const { object: second } = apply('Deployment', first, 'two', spec([{ name: 'd', image: 'j' }]))
  assert.deepEqual(
    second['spec'].template.spec.containers.map((c: { name: string }) => c.name),
    ['c', 'd'],
  )
  const error = refusal(() => apply('Deployment', second, 'two', spec([{ name: 'c', image: 'other' }])))
  assert.equal(
    error.message,
    'Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="c"].image',
  )
  const { object: third } = apply('Deployment', second, 'one', spec([{ name: 'c', image: 'i' }]))
  assert.deepEqual(third['spec'].template.spec.containers, [
    { name: 'c', image: 'i' },
    { name: 'd', image: 'j' },
  ])
})

test('the first apply to an object without owners makes before-first-apply the owner of the rest', () => {
  const live = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'o', uid: 'u' },
    data: { a: '1' },
  } as KubeObject
  const { object } = apply('ConfigMap', live, 'one', { data: { b: '1' } })
  assert.deepEqual(
    object.metadata.managedFields?.map((e) => [e.manager, e.operation]),
    [
      ['one', 'Apply'],
      ['before-first-apply', 'Update'],
    ],
  )
})

test('kubectl takes over what client-side apply had set', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
  const live = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      name: 'o',
      uid: 'u',
      annotations: { [annotation]: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o"},"data":{"a":"1"}}' },
    },
    data: { a: '1' },
  } as KubeObject
  const { object } = apply('ConfigMap', live, 'kubectl', { data: { a: '2' } })
  assert.deepEqual(object['data'], { a: '2' })
  assert.equal(
    object.metadata.annotations?.[annotation],
    '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"o","namespace":"n"}}\n',
  )
  assert.equal(refusal(() => apply('ConfigMap', live, 'other', { data: { a: '2' } })).code, 409)
})

test('a body that does not fit is refused in the words of structured merge', () => {
  const prefix = 'failed to create typed patch object (n/o; /v1, Kind=ConfigMap): '
  const message = (body: object) => refusal(() => apply('ConfigMap', undefined, 'one', body)).message
  assert.equal(message({ bogus: 1 }), `${prefix}.bogus: field not declared in schema`)
  assert.equal(message({ data: 1 }), `${prefix}.data: expected map, got &{1}`)
  assert.equal(message({ data: { a: 1 } }), `${prefix}.data.a: expected string, got &value.valueUnstructured{Value:1}`)
  const template = { spec: { template: { spec: { containers: [{ name: 'c' }, { name: 'c' }] } } } }
  const error = refusal(() => apply('Deployment', undefined, 'one', template))
  assert.equal(error.code, 500)
  assert.match(error.message, /\.spec\.template\.spec\.containers: duplicate entries for key \[name="c"\]$/)
})

test('the body must name the kind of the request, and no managedFields', () => {
  assert.equal(
    refusal(() => apply('ConfigMap', undefined, 'one', { apiVersion: undefined })).message,
    'invalid object type: /, Kind=ConfigMap',
  )
  assert.equal(
    refusal(() => apply('ConfigMap', undefined, 'one', { apiVersion: 'a/b/c' })).message,
    'invalid object type: /, Kind=',
  )
  assert.equal(apply('ConfigMap', undefined, 'one', { apiVersion: '/v1' }).object.apiVersion, 'v1')
  const metadata = { name: 'o', managedFields: [] }
  assert.equal(
    refusal(() => apply('ConfigMap', undefined, 'one', { metadata })).message,
    'metadata.managedFields must be nil',
  )
})
