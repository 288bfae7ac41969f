import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyDefaults } from '../defaults/defaults.ts'
import type { FieldError } from '../errors/field-errors.ts'
import type { KubeObject } from '../object.ts'
import { schemaOf } from '../schema/builtin.ts'
import { scheduleError } from './cron-schedule.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from './meta.ts'
import { validatePodUpdate } from './pod-updates.ts'
import { podWarnings } from './pod-warnings.ts'
import { validatePod } from './pods.ts'

function pod(spec: object): KubeObject {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n' },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  }
  return applyDefaults(object, schemaOf('io.k8s.api.core.v1.Pod'))
}
const texts = (errors: readonly FieldError[]) => errors.map((e) => `${e.field}: ${e.message}`)

test('a plain pod is valid', () => {
  assert.deepEqual(validatePod(pod({})), [])
})

test('mistakes are reported in the order of the API, each at its field', () => {
  const errors = validatePod(
    pod({
      volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }],
      containers: [{ name: '', image: '', ports: [{ containerPort: 0 }] }],
      restartPolicy: 'Nope',
      tolerations: [{ operator: 'Equal' }],
    }),
  )
  assert.deepEqual(texts(errors), [
    'spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type',
    'spec.containers[0].name: Required value',
    'spec.containers[0].image: Required value',
    'spec.containers[0].ports[0].containerPort: Required value',
    'spec.restartPolicy: Unsupported value: "Nope": supported values: "Always", "OnFailure", "Never"',
    'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
  ])
})

test('an image may change, a command may not, and the answer shows the difference', () => {
  const old = pod({})
  assert.deepEqual(
    validatePodUpdate(pod({ containers: [{ name: 'c', image: 'i2', imagePullPolicy: 'Always' }] }), old),
    [],
  )
  const [error, ...more] = validatePodUpdate(pod({ containers: [{ name: 'c', image: 'i', command: ['x'] }] }), old)
  assert.deepEqual(more, [])
  assert.equal(error?.type, 'FieldValueForbidden')
  assert.match(
    error?.message ?? '',
    /pod updates may not change fields other than[\s\S]*- {3}"Command": null,\n\+ {3}"Command": \[/,
  )
})

test('no finalizer is added once deletion has begun', () => {
  const old = {
    name: 'p',
    namespace: 'n',
    resourceVersion: '1',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['a.b/c'],
  }
  const errors = validateObjectMetaUpdate({ ...old, finalizers: ['a.b/c', 'a.b/d'] }, old)
  assert.deepEqual(texts(errors), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.b/d"}',
  ])
})

test('metadata without a name is refused, and names that only look like prototypes are plain data', () => {
  assert.deepEqual(texts(validateObjectMeta({ namespace: 'n' }, { namespaced: true })), [
    'metadata.name: Required value: name or generateName is required',
  ])
  const labels = JSON.parse('{"__proto__":"x","constructor":"y"}')
  assert.deepEqual(
    validateObjectMeta({ name: 'a', namespace: 'n', labels }, { namespaced: true }).map((e) => e.message.slice(0, 27)),
    ['Invalid value: "__proto__":'],
  )
})

test('deprecated node labels earn a warning', () => {
  assert.deepEqual(podWarnings(pod({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } })), [
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ])
})

test('a schedule is five fields in their ranges, or a name', () => {
  for (const good of ['* * * * *', '*/5 0-6 1,15 jan sun', '@hourly', '@every 1h30m'])
    assert.equal(scheduleError(good), undefined)
  assert.equal(scheduleError('60 * * * *'), 'end of range (60) above maximum (59): 60')
  assert.equal(scheduleError('* *'), 'expected exactly 5 fields, found 2: [* *]')
  assert.equal(
    scheduleError('@every 1x'),
    'failed to parse duration @every 1x: time: unknown unit "x" in duration "1x"',
  )
})
