/** A cluster that is stopped and started again: pods of simulated nodes go on as if nothing had been. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KubeObject } from '../src/api/object.ts'
import { type Cluster, startCluster } from '../src/cluster/index.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }

function pod(
  name: string,
  simulation: Readonly<Record<string, string>>,
  spec: object = {},
  container: object = {},
): KubeObject {
  const annotations = Object.fromEntries(
    Object.entries(simulation).map(([key, value]) => [`sim.skiff.dev/${key}`, value]),
  )
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations },
    spec: { containers: [{ name: 'c', image: 'nginx:1', ...container }], ...spec },
  }
}

const podsOf = ({ client }: Cluster) => client.resource<KubeObject>(PODS).namespace('default')

async function shown(cluster: Cluster): Promise<ReadonlyMap<string, KubeObject>> {
  const { items } = await podsOf(cluster).list()
  return new Map(items.map((item) => [item.metadata.name ?? '', JSON.parse(JSON.stringify(item)) as KubeObject]))
}

test('pods of simulated nodes are not started again: what runs runs on, what was to end ends when it would have', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'skiff-restart-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const start = () => startCluster({ dataDir, clock: 'manual', nodes: 2, port: 0 })

  let cluster = await start()
  t.after(() => cluster.stop())
  const made = [
    pod('runs', {}, {}, { readinessProbe: { exec: { command: ['a'] }, initialDelaySeconds: 5 } }),
    pod(
      'starts',
      { startup: 'success-after=4s' },
      {},
      { startupProbe: { exec: { command: ['a'] }, periodSeconds: 1, failureThreshold: 30 } },
    ),
    pod('never-ready', { 'never-ready': 'true' }),
    pod('after-init', {}, { initContainers: [{ name: 'i', image: 'busybox', command: ['echo', 'hi'] }] }),
    pod('failed-once', { 'exit-after': '1s', 'exit-code': '3', 'exit-times': '1' }),
    pod('ends', { 'exit-after': '1h' }, { restartPolicy: 'Never' }),
    pod('goes', { 'stop-delay': '20s' }, { terminationGracePeriodSeconds: 60 }),
    pod('ended', { 'exit-after': '1s' }, { restartPolicy: 'Never' }),
  ]
  for (const one of made) await podsOf(cluster).create(one)
  await cluster.clock.advance('30s')
  await podsOf(cluster).delete('goes')
  await cluster.clock.advance('1s')
  const before = await shown(cluster)
  assert.equal(
    before.get('runs')?.['status'].conditions.find((one: { type: string }) => one.type === 'Ready').status,
    'True',
  )
  assert.equal(before.get('failed-once')?.['status'].containerStatuses[0].lastState.terminated.exitCode, 3)

  await cluster.stop()
  cluster = await start()
  await cluster.clock.advance('3s')
  assert.deepEqual(await shown(cluster), before, 'nothing of any pod has changed')

  await podsOf(cluster).create(pod('later', {}))
  await cluster.clock.advance('61s')
  const now = await shown(cluster)
  assert.equal(now.get('goes'), undefined, 'what was being deleted went')
  const running = [...now.values()].filter((one) => one['status'].phase === 'Running')
  const addresses = running.map((one) => String(one['status'].podIP))
  assert.equal(new Set(addresses).size, addresses.length, `no two have one address: ${addresses}`)

  await cluster.clock.advance('1h')
  const { terminated } = (await shown(cluster)).get('ends')?.['status'].containerStatuses[0].state ?? {}
  assert.equal(Date.parse(terminated.finishedAt) - Date.parse(terminated.startedAt), 3_600_000)
})
