import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../object.ts'
import { schemaOf } from '../schema/builtin.ts'
import { applyDefaults } from './defaults.ts'

const podSchema = schemaOf('io.k8s.api.core.v1.Pod')
const pod = (spec: object): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })

test('an object that has its defaults is given back as it is', () => {
  const once = applyDefaults(pod({ containers: [{ name: 'c', image: 'nginx' }] }), podSchema)
  assert.equal(applyDefaults(once, podSchema), once)
})

test('defaulting never writes into what it was given', () => {
  const container = Object.freeze({
    name: 'c',
    image: 'nginx',
    ports: Object.freeze([Object.freeze({ containerPort: 80 })]),
  })
  const given = Object.freeze(pod(Object.freeze({ hostNetwork: true, containers: Object.freeze([container]) })))
  const spec = applyDefaults(given, podSchema)['spec']
  assert.deepEqual(spec.containers[0].ports, [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }])
  assert.equal(spec.dnsPolicy, 'ClusterFirst')
})

test('an image is always pulled only when its tag is latest', () => {
  const policy = (image: string) =>
    applyDefaults(pod({ containers: [{ name: 'c', image }] }), podSchema)['spec'].containers[0].imagePullPolicy
  assert.equal(policy('nginx'), 'Always')
  assert.equal(policy('localhost:5000/nginx'), 'Always')
  assert.equal(policy('nginx:1.29'), 'IfNotPresent')
  assert.equal(policy(`nginx@sha256:${'0'.repeat(64)}`), 'IfNotPresent')
})

test('limits stand in for missing requests, in pods but not in templates', () => {
  const containers = [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }]
  assert.deepEqual(applyDefaults(pod({ containers }), podSchema)['spec'].containers[0].resources.requests, { cpu: '1' })
  const template = {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: { name: 't' },
    template: { spec: { containers } },
  }
  const defaulted = applyDefaults(template as KubeObject, schemaOf('io.k8s.api.core.v1.PodTemplate'))
  assert.equal(defaulted['template'].spec.containers[0].resources.requests, undefined)
})

test('a kind without defaults keeps its identity', () => {
  const map: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1' } }
  assert.equal(applyDefaults(map, schemaOf('io.k8s.api.core.v1.ConfigMap')), map)
})
