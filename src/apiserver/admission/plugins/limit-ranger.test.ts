import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../api/object.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionHost } from '../plugin.ts'
import { limitRanger } from './limit-ranger.ts'

const range = (limits: object[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: {},
  spec: { limits },
})
const plugin = (...limits: object[]) =>
  limitRanger(
    { list: () => [range(limits)] } as unknown as CacheReads,
    { fresh: () => undefined } as Partial<AdmissionHost> as AdmissionHost,
  )

const creating = (resources: object): AdmissionAttributes =>
  ({
    operation: 'CREATE',
    endpoint: { row: { group: '', resource: 'pods' } },
    subresource: '',
    namespace: 'n',
    name: 'p',
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', resources }] },
    },
  }) as unknown as AdmissionAttributes

test('a container gets the defaults it lacks, and the pod says so', () => {
  const defaults = { type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '100m' } }
  const pod = plugin(defaults).mutate?.(creating({ limits: { cpu: '2' } })) as KubeObject
  assert.deepEqual(pod['spec'].containers[0].resources, {
    limits: { cpu: '2', memory: '1Gi' },
    requests: { cpu: '100m' },
  })
  assert.equal(
    pod.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu request for container c; memory limit for container c',
  )
})

test('a pod that lacks nothing stays the very object it was', () => {
  const attributes = creating({ limits: { cpu: '1' }, requests: { cpu: '1' } })
  assert.equal(plugin({ type: 'Container', default: { cpu: '1' } }).mutate?.(attributes), attributes.object)
})

test('too much, too little and too far apart are refused together', () => {
  const limits = { type: 'Container', min: { cpu: '100m' }, max: { memory: '1Gi' }, maxLimitRequestRatio: { cpu: '2' } }
  assert.throws(() => plugin(limits).validate?.(creating({ requests: { cpu: '50m' }, limits: { cpu: '1' } })), {
    message:
      'pods "p" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum memory usage per Container is 1Gi.  No limit is specified, cpu max limit to request ratio per Container is 2, but provided ratio is 20.000000]',
  })
})
