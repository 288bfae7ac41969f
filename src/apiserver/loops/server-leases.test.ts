import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { createMemory } from '../../storage/memory.ts'
import { openStorage } from '../../storage/open.ts'
import { startKubernetesEndpoints, stopKubernetesEndpoints } from './kubernetes-endpoints.ts'
import { createServerLeases } from './server-leases.ts'
import { startStandIn } from './test-stand-in.ts'

/** API servers over one store; `start` begins one. */
async function sharing() {
  const it = startStandIn()
  const { runtime } = it
  const storage = await openStorage({ runtime, driver: 'memory', memory: createMemory() })
  const leases = createServerLeases(storage)
  const { handler } = it.options
  const start = async (...addresses: readonly string[]) => {
    const ending = new AbortController()
    const server = { runtime: it.options.runtime, handler, addresses, port: 6443, leases, signal: ending.signal }
    await runtime.complete(startKubernetesEndpoints(server))
    return {
      kill: () => ending.abort(),
      stop: () => {
        ending.abort()
        return runtime.complete(stopKubernetesEndpoints(server))
      },
    }
  }
  const named = () => {
    const endpoints = it.get('', 'endpoints', 'default', 'kubernetes') as KubeObject | undefined
    const slice = it.get('discovery.k8s.io', 'endpointslices', 'default', 'kubernetes')
    const ips: readonly string[] = (endpoints?.['subsets'] ?? []).flatMap((subset: { addresses: { ip: string }[] }) =>
      subset.addresses.map(({ ip }) => ip),
    )
    const inSlice = (slice?.['endpoints'] ?? []).flatMap((each: { addresses: string[] }) => each.addresses)
    assert.deepEqual(inSlice, ips)
    return ips
  }
  return { it, runtime, leases, start, named }
}

test('each server that lives is named, one that stops is not from then on', async () => {
  const { start, named, runtime } = await sharing()
  await start('10.0.0.1')
  const two = await start('10.0.0.2')
  assert.deepEqual(named(), ['10.0.0.1', '10.0.0.2'])
  await runtime.advance(60_000)
  assert.deepEqual(named(), ['10.0.0.1', '10.0.0.2'])
  await two.stop()
  assert.deepEqual(named(), ['10.0.0.1'])
})

test('one that was killed is named until its lease has ended and another looks', async () => {
  const { start, named, runtime } = await sharing()
  const one = await start('10.0.0.1')
  await start('10.0.0.2')
  one.kill()
  await runtime.advance(10_000)
  assert.deepEqual(named(), ['10.0.0.1', '10.0.0.2'])
  await runtime.advance(15_000)
  assert.deepEqual(named(), ['10.0.0.2'])
})

test('one that pods cannot reach takes nothing of the others away, and the last one takes all', async () => {
  const { it, start, named } = await sharing()
  const one = await start('10.0.0.1')
  const unreached = await start()
  await unreached.stop()
  assert.deepEqual(named(), ['10.0.0.1'])
  await one.stop()
  assert.equal(it.get('', 'endpoints', 'default', 'kubernetes'), undefined)
})

test('a lease that another has written meanwhile is renewed all the same', async () => {
  const { runtime, leases } = await sharing()
  await runtime.complete(Promise.all([leases.renew('10.0.0.1'), leases.renew('10.0.0.1')]))
  assert.deepEqual(await runtime.complete(leases.addresses()), ['10.0.0.1'])
  await runtime.complete(Promise.all([leases.giveBack('10.0.0.1'), leases.giveBack('10.0.0.1')]))
  assert.deepEqual(await runtime.complete(leases.addresses()), [])
})
