/** Pods that set kernel parameters are judged by their node before they begin. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Cluster, startCluster } from '../src/cluster/index.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster({ storage: 'memory', clock: 'manual', allowedUnsafeSysctls: ['net.core.*'] })
})
after(() => cluster?.stop())

test('a pod with an unsafe sysctl is refused, one with a safe or an allowed one runs', async () => {
  const pods = cluster.client.core.pods('default')
  const names = { unsafe: 'kernel.msgmax', safe: 'net.ipv4.tcp_syncookies', allowed: 'net.core.somaxconn' }
  for (const [name, sysctl] of Object.entries(names))
    await pods.create({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name },
      spec: {
        containers: [{ name: 'c', image: 'x' }],
        securityContext: { sysctls: [{ name: sysctl, value: '1' }] },
      },
    })
  await cluster.clock.advance('5s')
  const { phase, reason, message, startTime } = (await pods.get('unsafe')).status ?? {}
  assert.deepEqual(
    [phase, reason, message, typeof startTime],
    ['Failed', 'SysctlForbidden', 'Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted', 'string'],
  )
  for (const name of ['safe', 'allowed']) assert.equal((await pods.get(name)).status?.phase, 'Running')
})
