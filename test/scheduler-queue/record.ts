/**
 * `node test/scheduler-queue/record.ts KUBECONFIG AUDITLOG METRICS [NAME...]`: plays the scenarios to a real API server and scheduler,
 * without controllers and nodes, and keeps in recordings/ what the queue did. METRICS: the scheduler's page, as `curl` is to be told of it
 * (address, certificate, key).
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { KubeObject } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { sizeOf, writesIn } from '../devices/audit-log.ts'
import { createNeutral, stepOf } from '../devices/recording.ts'
import { play } from '../devices/scenario.ts'
import { countsOf, countsSince, NAMED, type QueueStep, recordingFile, recordingText } from './recording.ts'
import { slowScenarios, scenarios as usual } from './scenarios.ts'

const scenarios = { ...usual, ...slowScenarios }
const [kubeconfig = '', auditLog = '', metrics = '', ...chosen] = process.argv.slice(2)
const runtime = liveRuntime()
const endpoint = endpointFromKubeconfig(readFileSync(kubeconfig, 'utf8'), (path) => readFileSync(path, 'utf8'))
const client = createClient(runtime, httpsTransport(endpoint), { userAgent: 'user' })
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const run = Date.now().toString(36)
const page = () => countsOf(execFileSync('curl', ['-sk', ...metrics.split(' ')], { encoding: 'utf8' }))

for (const name of chosen.length === 0 ? Object.keys(usual) : chosen) await record(name)
process.exit(0)

async function record(name: string): Promise<void> {
  const scenario = scenarios[name]
  if (scenario === undefined) throw new Error(`no such scenario: ${name}`)
  const namespace = `queue-${name}-${run}`
  const metadata = { name: namespace }
  await client.resource(NAMESPACES).create({ apiVersion: 'v1', kind: 'Namespace', metadata } as KubeObject)
  await client
    .resource(ACCOUNTS)
    .namespace(namespace)
    .create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } } as KubeObject)
  await wait(500)
  const neutral = createNeutral(namespace)
  const told = new Set<string>()
  const steps: QueueStep[] = []
  let from = sizeOf(auditLog)
  let before = page()
  await play(scenario, {
    client,
    namespace,
    pass: (ms) => wait(ms),
    async ended() {
      for (const [group, resource, kind] of NAMED) {
        const { items } = await client.resource({ group, version: 'v1', resource }).namespace(namespace).list()
        neutral.know(items.map((item) => ({ ...item, kind })))
      }
      const now = page()
      const until = sizeOf(auditLog)
      const wrote = stepOf(writesIn(auditLog, [namespace], from, until), neutral, told)
      steps.push({ ...countsSince(before, now), wrote })
      from = until
      before = now
    },
  })
  writeFileSync(recordingFile(name), recordingText(steps))
  console.log(name, steps.length)
  await client.resource(NAMESPACES).delete(namespace)
  await wait(500)
}
