/** ServiceCIDRs as a kube-controller-manager v1.37.1 was seen to keep and end them on 2026-11-26. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IPAddress, Service, ServiceCIDR } from '../../src/api/generated/types.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { createServiceCidrController } from '../../src/controllers/service-cidr/service-cidr-controller.ts'
import { ADMIN, startTestApi } from '../harness.ts'

const network = (resource: string) => ({ group: 'networking.k8s.io', version: 'v1', resource })
const FINALIZER = 'networking.k8s.io/service-cidr-finalizer'
const TERMINATING =
  'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR'

const cidr = (name: string, ...cidrs: readonly string[]): ServiceCIDR => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name },
  spec: { cidrs },
})
const address = (name: string, labels: Record<string, string> = {}): IPAddress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  metadata: { name, labels: { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io', ...labels } },
  spec: { parentRef: { resource: 'services', namespace: 'n', name: 's' } },
})

async function start() {
  const runtime = simulatedRuntime(1)
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const api = await done(startTestApi(runtime))
  const user = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
  const cidrs = user.resource<ServiceCIDR>(network('servicecidrs'))
  await done(
    user
      .resource({ group: '', version: 'v1', resource: 'namespaces' })
      .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }),
  )
  const services = user.resource<Service>({ group: '', version: 'v1', resource: 'services' }).namespace('default')
  const addresses = user.resource<IPAddress>(network('ipaddresses'))
  const stop = new AbortController()
  const { signal } = stop
  const informers = createInformerFactory(runtime, user, signal)
  const controller = createServiceCidrController({ runtime, client: user, informers, signal })
  informers.start()
  await done(controller.start())
  return {
    runtime,
    settle: () => runtime.advance(100),
    make: (made: ServiceCIDR) => done(cidrs.create(made)),
    use: (used: IPAddress) => done(addresses.create(used)),
    free: (name: string) => done(addresses.delete(name)),
    remove: (name: string) => done(cidrs.delete(name)),
    serve: (name: string, clusterIP: string) =>
      done(
        services.create({
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name },
          spec: { clusterIP, ports: [{ port: 80 }] },
        }),
      ),
    async look(name: string) {
      const { items } = await done(cidrs.list())
      const found = items.find(({ metadata }) => metadata.name === name)
      const condition = found?.status?.conditions?.[0]
      return found && [condition?.status, condition?.reason ?? '', condition?.message, found.metadata.finalizers]
    },
    async end() {
      stop.abort()
      await done(api.stop())
    },
  }
}
const ready = ['True', '', 'Kubernetes Service CIDR is ready', [FINALIZER]]
const waiting = ['False', 'Terminating', TERMINATING, [FINALIZER]]

test('a new one is protected and ready; one without addresses goes ten seconds after it was deleted', async () => {
  const it = await start()
  await it.make(cidr('extra', '10.97.0.0/24', 'fd00:97::/112'))
  await it.settle()
  assert.deepEqual(await it.look('extra'), ready)
  await it.remove('extra')
  await it.runtime.advance(8000)
  assert.deepEqual(await it.look('extra'), ready)
  await it.runtime.advance(3000)
  assert.equal(await it.look('extra'), undefined)
  await it.end()
})

test('one with an address of a Service waits for it, and is not ready; addresses of others do not count', async () => {
  const it = await start()
  await it.make(cidr('extra', '10.97.0.0/24', 'fd00:97::/112'))
  await it.use(address('10.97.0.5'))
  await it.use(address('fd00:97::5'))
  await it.use(address('10.97.0.6', { 'ipaddress.kubernetes.io/managed-by': 'me' }))
  await it.use(address('10.97.1.1'))
  await it.settle()
  await it.remove('extra')
  await it.settle()
  assert.deepEqual(await it.look('extra'), waiting)
  await it.free('10.97.0.5')
  await it.runtime.advance(60_000)
  assert.deepEqual(await it.look('extra'), waiting, 'the other family has one')
  await it.free('fd00:97::5')
  await it.settle()
  assert.equal(await it.look('extra'), undefined)
  await it.end()
})

test('one whose addresses belong to another, or that lies within another, goes; one that overlaps too little stays', async () => {
  const it = await start()
  await it.make(cidr('whole', '10.96.0.0/16'))
  await it.make(cidr('part', '10.96.0.0/24'))
  await it.use(address('10.96.0.77'))
  await it.settle()
  await it.remove('part')
  await it.settle()
  assert.deepEqual(await it.look('part'), ready, 'it goes, and was not asked to wait')
  await it.runtime.advance(11_000)
  assert.equal(await it.look('part'), undefined)
  await it.use(address('10.96.1.1'))
  await it.make(cidr('part', '10.96.0.0/24'))
  await it.settle()
  await it.remove('whole')
  await it.runtime.advance(60_000)
  assert.deepEqual(await it.look('whole'), waiting, '10.96.1.1 is in no other')
  await it.make(cidr('larger', '10.96.0.0/15'))
  await it.settle()
  assert.equal(await it.look('whole'), undefined)
  await it.end()
})

test('Services have the addresses of a further one that they ask for while it is ready, and no longer', async () => {
  const it = await start()
  const refused = /failed to allocate IP 10\.97\.0\.5: the provided network does not match the current range/
  await assert.rejects(it.serve('a', '10.97.0.5'), { code: 422, message: refused })
  await it.make(cidr('extra', '10.97.0.0/24'))
  await it.settle()
  assert.equal((await it.serve('a', '10.97.0.4')).spec?.clusterIP, '10.97.0.4')
  await it.remove('extra')
  await assert.rejects(it.serve('b', '10.97.0.5'), { code: 422, message: refused })
  await it.end()
})
