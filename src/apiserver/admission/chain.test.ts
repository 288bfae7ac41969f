import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { createMetrics } from '../../base/metrics.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { CacheReads } from '../reads.ts'
import { createAdmissionChain } from './chain.ts'
import { admissionTimings } from './metrics.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin } from './plugin.ts'

const reads: CacheReads = { get: () => undefined, list: () => [], getLive: async () => undefined }
const host = {} as AdmissionHost
const attributes = {
  operation: 'CREATE',
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
} as AdmissionAttributes

function chainOf(...plugins: readonly Omit<AdmissionPlugin, 'handles'>[]) {
  const metrics = createMetrics()
  const timings = admissionTimings({ machineClock: simulatedRuntime(1).clock, metrics })
  const factories = Object.fromEntries(
    plugins.map((plugin) => [plugin.name, () => ({ ...plugin, handles: () => true })]),
  )
  const chain = createAdmissionChain(reads, host, { plugins: factories, ...(timings === undefined ? {} : { timings }) })
  const counts = () => metrics.text().match(/^apiserver_admission_\w+_count\{.*$/gm) ?? []
  return { chain, counts }
}
const step = (type: string, rejected: boolean) =>
  `apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="${rejected}",type="${type}"} 1`
const controller = (name: string, type: string, rejected: boolean) =>
  `apiserver_admission_controller_admission_duration_seconds_count{name="${name}",operation="CREATE",rejected="${rejected}",type="${type}"} 1`

test('each plugin and each step is timed by how it came out, at once or later', async () => {
  const no = async () => {
    throw new Error('no')
  }
  const { chain, counts } = chainOf(
    { name: 'One', mutate: (it) => it.object as KubeObject, validate: () => {} },
    { name: 'Two', validate: no },
    { name: 'Three', validate: () => assert.fail('not asked any more') },
  )
  chain.mutate(attributes)
  await assert.rejects(async () => chain.validate(attributes), /no/)
  assert.deepEqual(counts().sort(), [
    controller('One', 'admit', false),
    controller('One', 'validate', false),
    controller('Two', 'validate', true),
    step('admit', false),
    step('validate', true),
  ])
})

test('each plugin is asked about the object that the one before gave, at once or later', async () => {
  const named = (object: KubeObject | undefined, name: string) =>
    ({ ...object, seen: [...(object?.['seen'] ?? []), name] }) as KubeObject
  const { chain } = chainOf(
    { name: 'One', mutate: (it) => named(it.object, 'One') },
    { name: 'Two', mutate: (it) => it.object as KubeObject },
    { name: 'Three', mutate: async (it) => named(it.object, 'Three') },
    { name: 'Four', mutate: (it) => named(it.object, 'Four') },
    { name: 'Five', validate: () => {} },
  )
  assert.deepEqual((await chain.mutate(attributes))['seen'], ['One', 'Three', 'Four'])
})
