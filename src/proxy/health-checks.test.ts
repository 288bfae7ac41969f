import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { Service } from '../api/generated/types.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createHealthChecks, healthCheckOf } from './health-checks.ts'
import { serveOwnHealth } from './own-health.ts'
import { servicePorts } from './service-port.ts'

const HOST = '127.0.0.1'

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, HOST, () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

async function asked(port: number, path = '/') {
  const response = await fetch(`http://${HOST}:${port}${path}`, { headers: { connection: 'close' } })
  const weight = response.headers.get('x-load-balancing-endpoint-weight')
  return { status: response.status, weight, body: (await response.json()) as Record<string, unknown> }
}

test('a balancer is told how many ready endpoints of a Service the node has, at the Service’s own port', async () => {
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', namespace: 'n' },
    spec: {
      clusterIP: '10.96.0.9',
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30_001,
      ports: [{ port: 80 }, { name: 'b', port: 81 }],
    },
  }
  const endpoint = (address: string, nodeName: string, conditions = {}) => ({
    addresses: [address],
    nodeName,
    conditions,
  })
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 's-1' },
    addressType: 'IPv4',
    ports: [{ port: 8080 }, { name: 'b', port: 8081 }],
    endpoints: [
      endpoint('10.0.0.1', 'here'),
      endpoint('10.0.0.2', 'here', { ready: false, serving: true, terminating: true }),
      endpoint('10.0.0.3', 'there'),
    ],
  }
  const check = healthCheckOf(service, servicePorts(service, [slice], 'IPv4'), 'here')
  assert.deepEqual(check, { namespace: 'n', name: 's', port: 30_001, localEndpoints: 1 })
  const cluster = { ...service, spec: { ...service.spec, externalTrafficPolicy: 'Cluster' } }
  assert.equal(healthCheckOf(cluster, [], 'here'), undefined)
})

test('it answers 200 while there are endpoints here and 503 otherwise, moves with its port, and goes', async () => {
  const runtime = simulatedRuntime(1)
  let healthy = true
  const checks = createHealthChecks({ runtime, addresses: [HOST], isHealthy: () => healthy })
  const [port, other] = [await freePort(), await freePort()]
  const check = { namespace: 'n', name: 's', port, localEndpoints: 2 }
  const until = async (at: number, status: number) => {
    for (;;) {
      const seen = await asked(at).catch(() => undefined)
      if (seen?.status === status) return seen
    }
  }
  checks.set('n/s', check)
  assert.deepEqual(await until(port, 200), {
    status: 200,
    weight: '2',
    body: { service: { namespace: 'n', name: 's' }, localEndpoints: 2, serviceProxyHealthy: true },
  })
  healthy = false
  assert.equal((await asked(port)).status, 503)
  healthy = true
  checks.set('n/s', { ...check, localEndpoints: 0 })
  await until(port, 503)
  checks.set('n/s', { ...check, port: other })
  await until(other, 200)
  await assert.rejects(asked(port))
  checks.set('n/s', undefined)
  await checks.stop()
  await assert.rejects(asked(other))
})

test('a port that is another’s is tried again', async () => {
  const runtime = simulatedRuntime(1)
  const taken = createServer()
  const port = await freePort()
  await new Promise<void>((resolve) => taken.listen(port, HOST, () => resolve()))
  const checks = createHealthChecks({ runtime, addresses: [HOST], isHealthy: () => true })
  checks.set('n/s', { namespace: 'n', name: 's', port, localEndpoints: 1 })
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  await new Promise<void>((resolve) => taken.close(() => resolve()))
  for (let seen: number | undefined; seen !== 200; ) {
    await runtime.advance(6000)
    seen = (await asked(port).catch(() => undefined))?.status
  }
  await checks.stop()
})

test('the proxy tells of itself, and that nothing new should come where the node goes', async () => {
  const runtime = simulatedRuntime(1)
  let taints: { key: string; effect: string }[] = []
  const ports = { health: await freePort(), metrics: await freePort() }
  const end = await serveOwnHealth({
    ports,
    runtime,
    addresses: [HOST],
    isHealthy: () => true,
    lastToldMs: () => 0,
    node: () => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: { taints } }),
    metrics: () => 'kubeproxy_x 1\n',
  })
  const healthz = await asked(ports.health, '/healthz')
  assert.deepEqual([healthz.status, healthz.body['nodeEligible']], [200, true])
  taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }]
  assert.equal((await asked(ports.health, '/healthz')).status, 503)
  assert.equal((await asked(ports.health, '/livez')).status, 200)
  const metrics = await fetch(`http://${HOST}:${ports.metrics}/metrics`, { headers: { connection: 'close' } })
  assert.equal(await metrics.text(), 'kubeproxy_x 1\n')
  await end()
  await assert.rejects(asked(ports.health, '/healthz'))
})
