import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScheme } from '../../api/scheme/scheme.ts'
import { StatusError } from '../../api/status.ts'
import { serviceNetwork } from '../registry/allocators/service-network.ts'
import { ensureBootstrapObjects } from './bootstrap.ts'
import { keepSystemObjects } from './keep-system-objects.ts'
import { startStandIn } from './test-stand-in.ts'

const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io'
const PRODUCER = 'api-priority-and-fairness-config-producer-v1'

async function kept() {
  const it = startStandIn()
  const { runtime, handler, reads, follow, signal } = it.options
  const options = {
    runtime,
    handler,
    reads,
    scheme: createScheme(),
    port: 6443,
    network: serviceNetwork('10.1.0.0/16'),
    follow: (prefix: string, listener: () => void) => follow([prefix], listener),
    signal,
  }
  await it.runtime.complete(ensureBootstrapObjects(options))
  it.taken()
  keepSystemObjects(options)
  return it
}

test('the kubernetes Service and ServiceCIDR are made again at the next of the ten seconds since the start', async () => {
  const it = await kept()
  await it.runtime.advance(13_000)
  it.remove('', 'services', 'default', 'kubernetes')
  it.remove('networking.k8s.io', 'servicecidrs', '', 'kubernetes')
  await it.runtime.advance(6990)
  assert.deepEqual(it.taken(), [])
  await it.runtime.advance(20)
  assert.deepEqual(
    it
      .taken()
      .filter((what) => what.startsWith('POST'))
      .sort(),
    ['POST /api/v1/namespaces/default/services', 'POST /apis/networking.k8s.io/v1/servicecidrs'],
  )
  it.stop()
})

test('system namespaces and what priority and fairness goes by are made again within the minute, and nothing is written without a reason', async () => {
  const it = await kept()
  await it.runtime.advance(200_000)
  assert.deepEqual(it.taken(), [])
  it.remove('', 'namespaces', '', 'kube-node-lease')
  it.remove(FLOW_CONTROL, 'flowschemas', '', 'probes')
  it.remove(FLOW_CONTROL, 'prioritylevelconfigurations', '', 'system')
  await it.runtime.advance(39_000)
  assert.deepEqual(it.taken(), [])
  await it.runtime.advance(2000)
  assert.deepEqual(it.taken().sort(), [
    'POST /api/v1/namespaces',
    `POST /apis/${FLOW_CONTROL}/v1/flowschemas ${PRODUCER}`,
    `POST /apis/${FLOW_CONTROL}/v1/prioritylevelconfigurations ${PRODUCER}`,
  ])
  await it.runtime.advance(200_000)
  assert.deepEqual(it.taken(), [])
  it.stop()
})

test('what could not be made is tried again at the next tick', async () => {
  const it = await kept()
  it.remove('', 'services', 'default', 'kubernetes')
  it.refuse('POST /api/v1/namespaces/default/services', new StatusError(500, 'InternalError', 'no store'))
  await it.runtime.advance(10_000)
  assert.equal(it.failures.length, 1)
  assert.equal(it.get('', 'services', 'default', 'kubernetes'), undefined)
  await it.runtime.advance(10_000)
  assert.notEqual(it.get('', 'services', 'default', 'kubernetes'), undefined)
  it.stop()
})
