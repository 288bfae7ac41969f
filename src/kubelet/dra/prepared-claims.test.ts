/** Against drivers that register by their sockets. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../../base/live-runtime.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Client } from '../../client/client.ts'
import { createPluginRegistry } from '../plugins/plugin-registry.ts'
import type { PluginAnswers } from '../plugins/plugin-stand-in.ts'
import { createDraDrivers } from './dra-drivers.ts'
import { startDraDriver } from './driver-stand-in.ts'
import { createPreparedClaims } from './prepared-claims.ts'

const DRIVER = 'd.example.test'
const ends: (() => void)[] = []
after(() => {
  for (const end of ends.reverse()) end()
})
const claim = (name: string, ...drivers: string[]) => ({ namespace: 'n', name, uid: `uid-${name}`, drivers })

async function stage(answers: PluginAnswers = {}, version: 'v1' | 'v1beta1' = 'v1') {
  const root = mkdtempSync(join(tmpdir(), 'skiff-dra-'))
  const registry = join(root, 'registry')
  const asked: string[] = []
  const registered = Promise.withResolvers<void>()
  const stop = new AbortController()
  const runtime = liveRuntime()
  const client = { resource: () => ({ deleteCollection: async () => {} }) } as unknown as Client
  const drivers = createDraDrivers({ runtime, client, nodeName: 'n1' })
  createPluginRegistry(runtime, registry, { DRAPlugin: drivers }).run(stop.signal)
  const driver = await startDraDriver({
    name: DRIVER,
    registry,
    folder: join(root, 'driver'),
    version,
    answers,
    asked(method, request) {
      const claims = (request['claims'] ?? []) as readonly { readonly name: string }[]
      if (method.startsWith('Node')) asked.push(`${method} ${claims.map(({ name }) => name).join(' ')}`)
      if (method === 'NotifyRegistrationStatus') registered.resolve()
    },
  })
  ends.push(() => {
    stop.abort()
    driver.stop()
    rmSync(root, { recursive: true, force: true })
  })
  await registered.promise
  const file = join(root, 'prepared.json')
  return { drivers, file, asked, prepared: () => createPreparedClaims(file, drivers) }
}

for (const version of ['v1', 'v1beta1'] as const)
  test(`a claim that pods share is prepared once, and taken back after the last of them (${version})`, async () => {
    const { asked, prepared } = await stage({}, version)
    const claims = prepared()
    await Promise.all([
      claims.prepare('a', [claim('x', DRIVER), claim('y', DRIVER)]),
      claims.prepare('b', [claim('x', DRIVER)]),
    ])
    assert.deepEqual(asked.splice(0), ['NodePrepareResources x y'])
    const [device] = claims.devices('b', 'x', 'r')
    assert.deepEqual(device?.cdi_device_ids, [`${DRIVER}/claim=x`])
    assert.throws(() => claims.devices('b', 'y', undefined), { message: 'claim y is not prepared' })
    await claims.unprepare('a')
    assert.deepEqual(asked.splice(0), ['NodeUnprepareResources y'])
    await claims.unprepare('b')
    await claims.unprepare('b')
    assert.deepEqual(asked, ['NodeUnprepareResources x'])
    assert.deepEqual(claims.pods(), [])
  })

test('a kubelet that starts anew has taken back what was prepared before, also what it never heard to be prepared', async () => {
  const { asked, prepared } = await stage({
    NodePrepareResources() {
      throw new Error('busy')
    },
  })
  await assert.rejects(prepared().prepare('a', [claim('x', DRIVER)]), { message: 'NodePrepareResources: busy' })
  const later = prepared()
  assert.deepEqual(later.pods(), ['a'])
  await later.unprepare('a')
  assert.deepEqual(asked, ['NodePrepareResources x', 'NodeUnprepareResources x'])
  assert.deepEqual(prepared().pods(), [])
})

test('a kubelet that starts anew knows the devices of containers, and asks again for a pod that is begun anew', async () => {
  const { asked, prepared } = await stage()
  await prepared().prepare('a', [claim('x', DRIVER)])
  const later = prepared()
  assert.equal(later.devices('a', 'x', undefined).length, 1)
  await later.prepare('a', [claim('x', DRIVER)])
  await later.prepare('a', [claim('x', DRIVER)])
  assert.deepEqual(asked, ['NodePrepareResources x', 'NodePrepareResources x'])
})

test('what a driver refuses or leaves out is told with the claim, and tried again', async () => {
  let answer: object = { claims: { 'uid-x': { error: 'no such device' } } }
  const { asked, prepared } = await stage({ NodeUnprepareResources: () => answer })
  const claims = prepared()
  await claims.prepare('a', [claim('x', DRIVER)])
  await assert.rejects(claims.unprepare('a'), {
    message: 'NodeUnprepareResources failed for claim n/x: no such device',
  })
  answer = {}
  await assert.rejects(claims.unprepare('a'), {
    message: `NodeUnprepareResources of DRA driver ${DRIVER} left out claim n/x`,
  })
  answer = { claims: { 'uid-x': {} } }
  await claims.unprepare('a')
  assert.equal(asked.length, 4)
})

test('a driver that is not there is named', async () => {
  const { prepared } = await stage()
  await assert.rejects(prepared().prepare('a', [claim('x', 'other.example.test')]), {
    message: 'DRA driver other.example.test is not registered',
  })
})

test('a damaged file is told of, not passed over', async () => {
  const { file, prepared } = await stage()
  for (const text of ['', '{}', '{"version":2,"claims":[]}']) {
    writeFileSync(file, text)
    assert.throws(prepared, /prepared\.json, which tells what devices are prepared for pods, cannot be read/)
  }
})

test('what a driver offers is deleted when it stays away, and what earlier ones offered at the start', async () => {
  const runtime = simulatedRuntime(1)
  const deleted: (string | undefined)[] = []
  let fails = 1
  const deleteCollection = async (_: object, { fieldSelector }: { readonly fieldSelector?: string }) => {
    if (fails-- > 0) throw new Error('away')
    deleted.push(fieldSelector)
  }
  const client = { resource: () => ({ deleteCollection }) } as unknown as Client
  const drivers = createDraDrivers({ runtime, client, nodeName: 'n1' })
  drivers.begin(new AbortController().signal)
  await runtime.advance(5000)
  assert.deepEqual(deleted.splice(0), ['spec.nodeName=n1'])
  const plugin = (endpoint: string) => ({ name: DRIVER, endpoint, versions: ['v1.DRAPlugin'] })
  await drivers.add(plugin('/a'))
  await drivers.remove(plugin('/a'))
  await runtime.advance(29_000)
  await drivers.add(plugin('/b'))
  await runtime.advance(60_000)
  assert.deepEqual(deleted, [])
  // An update: the new one is there before the old one goes.
  await drivers.add(plugin('/c'))
  await drivers.remove(plugin('/b'))
  await runtime.advance(60_000)
  assert.deepEqual(deleted, [])
  await drivers.remove(plugin('/c'))
  await runtime.advance(30_000)
  assert.deepEqual(deleted, [`spec.nodeName=n1,spec.driver=${DRIVER}`])
  await assert.rejects(drivers.add({ name: DRIVER, endpoint: '/d', versions: ['v1alpha3.Node'] }), {
    message: `DRA driver ${DRIVER} supports none of the services of this node, v1.DRAPlugin and v1beta1.DRAPlugin: v1alpha3.Node`,
  })
  drivers.close()
})
