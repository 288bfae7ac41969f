/**
 * `node test/devices/record.ts KUBECONFIG AUDITLOG [NAME...]`: plays the scenarios, one after the other, to a real cluster without
 * nodes and keeps in recordings/ what its scheduler and controllers wrote. The audit policy must log the bodies of writes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { KubeObject } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { sizeOf, writesIn } from './audit-log.ts'
import { createNeutral, recordingFile, recordingText, type SeenStep, stepOf } from './recording.ts'
import { play } from './scenario.ts'
import { scenarios } from './scenarios.ts'

const [kubeconfig = '', auditLog = '', ...chosen] = process.argv.slice(2)
const runtime = liveRuntime()
const endpoint = endpointFromKubeconfig(readFileSync(kubeconfig, 'utf8'), (path) => readFileSync(path, 'utf8'))
const client = createClient(runtime, httpsTransport(endpoint), { userAgent: 'user' })
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const run = Date.now().toString(36)

for (const name of chosen.length === 0 ? Object.keys(scenarios) : chosen) await record(name)
process.exit(0)

async function record(name: string): Promise<void> {
  const scenario = scenarios[name]
  if (scenario === undefined) throw new Error(`no such scenario: ${name}`)
  const namespace = `devices-${name}-${run}`
  const labels = { 'resource.kubernetes.io/admin-access': 'true' }
  await client
    .resource(NAMESPACES)
    .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } } as KubeObject)
  await client
    .resource(ACCOUNTS)
    .namespace(namespace)
    .create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } } as KubeObject)
    .catch(() => undefined)
  const neutral = createNeutral(namespace)
  const told = new Set<string>()
  const steps: SeenStep[] = []
  let from = sizeOf(auditLog)
  await play(scenario, {
    client,
    namespace,
    pass: (ms) => wait(ms),
    async ended() {
      for (const resource of ['pods', 'resourceclaims']) {
        const group = resource === 'pods' ? '' : 'resource.k8s.io'
        const kind = resource === 'pods' ? 'Pod' : 'ResourceClaim'
        const { items } = await client.resource({ group, version: 'v1', resource }).namespace(namespace).list()
        neutral.know(items.map((item) => ({ ...item, kind })).sort(byAge))
      }
      const until = sizeOf(auditLog)
      steps.push(stepOf(writesIn(auditLog, [namespace, 'devicetaintrules'], from, until), neutral, told))
      from = until
    },
  })
  writeFileSync(recordingFile(name), recordingText(steps))
  console.log(name, steps.length)
  await client.resource(NAMESPACES).delete(namespace)
  await wait(1500)
}

function byAge(a: KubeObject, b: KubeObject): number {
  return Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion)
}
