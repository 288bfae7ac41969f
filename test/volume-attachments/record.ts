/**
 * `STOP=COMMAND START=COMMAND node test/volume-attachments/record.ts KUBECONFIG AUDITLOG [NAME...]`: plays the scenarios, one after the
 * other, to a real cluster without nodes and keeps in recordings/ what its attach/detach controller wrote. The audit policy must log the
 * bodies of writes; the commands end the controller manager and start it again.
 */
import { execSync } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import {
  createNeutral,
  recordingFile,
  recordingText,
  type SeenStep,
  type SeenWrite,
  stepOf,
  WRITER,
} from './recording.ts'
import { clear, play } from './scenario.ts'
import { scenarios } from './scenarios.ts'

const [kubeconfig = '', auditLog = '', ...chosen] = process.argv.slice(2)
const runtime = liveRuntime()
const endpoint = endpointFromKubeconfig(readFileSync(kubeconfig, 'utf8'), (path) => readFileSync(path, 'utf8'))
const client = createClient(runtime, httpsTransport(endpoint), { userAgent: 'user' })
const core = (resource: string) => client.resource({ group: '', version: 'v1', resource })
const run = Date.now().toString(36)

for (const name of chosen.length === 0 ? Object.keys(scenarios) : chosen) await record(name)
process.exit(0)

async function record(name: string): Promise<void> {
  const scenario = scenarios[name]
  if (scenario === undefined) throw new Error(`no such scenario: ${name}`)
  const namespace = `${name.replaceAll(/[ ,]+/g, '-')}-${run}`
  await core('namespaces').create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as KubeObject)
  await core('serviceaccounts')
    .namespace(namespace)
    .create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } } as KubeObject)
    .catch(() => undefined)
  const token = `${run}${Math.floor(performance.now())}`
  await clear(client, (ms) => wait(ms))
  const neutral = createNeutral(namespace, scenario, token)
  const told = new Set<string>()
  const steps: SeenStep[] = []
  let from = sizeOf(auditLog)
  await play(scenario, {
    client,
    namespace,
    token,
    pass: (ms) => wait(ms),
    async controllers(what) {
      execSync(process.env[what.toUpperCase()] ?? '', { stdio: 'ignore' })
    },
    async ended() {
      const { items } = await core('pods').namespace(namespace).list()
      neutral.know(items.map((item) => ({ ...item, kind: 'Pod' })))
      const until = sizeOf(auditLog)
      steps.push(stepOf(writesIn(from, until), neutral, told))
      from = until
    },
  })
  writeFileSync(recordingFile(name), recordingText(steps))
  console.log(name, steps.length)
  await core('namespaces').delete(namespace)
  await wait(1500)
}

function sizeOf(path: string): number {
  const file = openSync(path, 'r')
  const { size } = fstatSync(file)
  closeSync(file)
  return size
}

function writesIn(from: number, until: number): readonly SeenWrite[] {
  const file = openSync(auditLog, 'r')
  const bytes = Buffer.alloc(until - from)
  readSync(file, bytes, 0, bytes.length, from)
  closeSync(file)
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      if (!line.includes(WRITER)) return []
      const entry: Fields = JSON.parse(line)
      const about: Fields = entry['objectRef'] ?? {}
      if (entry['user'].username !== WRITER || entry['stage'] !== 'ResponseComplete') return []
      if (!['create', 'update', 'patch', 'delete'].includes(entry['verb'])) return []
      return [
        {
          at: entry['requestReceivedTimestamp'] as string,
          writer: 'attach-detach',
          verb: entry['verb'],
          resource: about['resource'],
          subresource: about['subresource'] ?? '',
          name: about['name'] ?? '',
          code: entry['responseStatus'].code,
          body: entry['requestObject'] ?? {},
        },
      ]
    })
    .sort((a, b) => (a.at < b.at ? -1 : 1))
}
