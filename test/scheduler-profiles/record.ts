/**
 * `node test/scheduler-profiles/record.ts KUBECONFIG AUDITLOG KUBE_SCHEDULER SCHEDULER_KUBECONFIG [NAME...]`: plays the scenarios to a real
 * API server without controllers and nodes, over which the executable KUBE_SCHEDULER runs with each scenario's file, and keeps in
 * recordings/ what it did.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { KubeObject } from '../../src/api/object.ts'
import { claimsResource } from '../../src/api/objects/resource-claims.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { sizeOf, writesIn } from '../devices/audit-log.ts'
import { createNeutral, type SeenWrite, stepOf } from '../devices/recording.ts'
import { play } from '../devices/scenario.ts'
import { countsOf, countsSince, NAMED } from '../scheduler-queue/recording.ts'
import { askedIn, fileOf, type ProfileStep, recordingFile, recordingText } from './recording.ts'
import { scenarios } from './scenarios.ts'
import { createStub, STUB } from './stub-extender.ts'

const [kubeconfig = '', auditLog = '', executable = '', schedulerKubeconfig = '', ...chosen] = process.argv.slice(2)
const runtime = liveRuntime()
const endpoint = endpointFromKubeconfig(readFileSync(kubeconfig, 'utf8'), (path) => readFileSync(path, 'utf8'))
const client = createClient(runtime, httpsTransport(endpoint), { userAgent: 'user' })
const of = (resource: string) => client.resource({ group: '', version: 'v1', resource })
const run = Date.now().toString(36)
const folder = mkdtempSync(join(tmpdir(), 'skiff-record-'))

for (const name of chosen.length === 0 ? Object.keys(scenarios) : chosen) await record(name)
rmSync(folder, { recursive: true })
process.exit(0)

function page(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const { cert, key } = endpoint
    const asked = request({ port, path: '/metrics', cert, key, rejectUnauthorized: false }, async (answer) => {
      let text = ''
      for await (const chunk of answer) text += chunk
      resolve(text)
    })
    asked.on('error', reject)
    asked.end()
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function record(name: string): Promise<void> {
  const scenario = scenarios[name]
  if (scenario === undefined) throw new Error(`no such scenario: ${name}`)
  const port = await freePort()
  const file = join(folder, 'config.json')
  const clientConnection = { kubeconfig: schedulerKubeconfig, qps: 5000, burst: 5000 }
  const stub = createStub(scenario.rules ?? {})
  const server = createHttpServer(async (asked, answer) => {
    let body = ''
    for await (const chunk of asked) body += chunk
    const { status, text } = stub.answer(asked.url ?? '', body)
    answer.writeHead(status, { 'content-type': 'application/json' }).end(text)
  })
  const stubPort = await freePort()
  server.listen(stubPort, '127.0.0.1')
  const stubUrl = `http://127.0.0.1:${stubPort}`
  const config = fileOf({ ...scenario.config, clientConnection, leaderElection: { leaderElect: false } })
  writeFileSync(file, config.replaceAll(STUB, stubUrl))
  const unstubbed = (writes: readonly SeenWrite[]): readonly SeenWrite[] =>
    JSON.parse(JSON.stringify(writes).replaceAll(stubUrl, STUB))
  const access = ['authentication', 'authorization'].map((what) => `--${what}-kubeconfig=${schedulerKubeconfig}`)
  const log = openSync(join(folder, 'log'), 'w')
  const flags = [
    `--config=${file}`,
    `--secure-port=${port}`,
    `--cert-dir=${folder}`,
    '--bind-address=127.0.0.1',
    ...access,
  ]
  const scheduler = spawn(executable, flags, { stdio: ['ignore', log, log] })
  const namespace = `profile-${name.toLowerCase()}-${run}`
  try {
    await of('namespaces').create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as KubeObject)
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
    await of('serviceaccounts')
      .namespace(namespace)
      .create(account as KubeObject)
    let text = ''
    for (let i = 0; i < 100 && !text.includes('scheduler_pending_pods'); i++) {
      await wait(100)
      if (scheduler.exitCode !== null) throw new Error(readFileSync(join(folder, 'log'), 'utf8').slice(-2000))
      text = await page(port).catch(() => '')
    }
    await wait(500)
    writeFileSync(recordingFile(name), recordingText(await played()))
    console.log(name)
  } finally {
    scheduler.kill('SIGKILL')
    server.close()
    server.closeAllConnections()
    // No controller is there that would free the devices of claims.
    const claims = client.resource(claimsResource).namespace(namespace)
    for (const { metadata } of (await claims.list()).items)
      await claims.patch(metadata.name ?? '', 'merge', { metadata: { finalizers: null } })
    await of('namespaces').delete(namespace)
  }

  async function played(): Promise<readonly ProfileStep[]> {
    const neutral = createNeutral(namespace)
    const told = new Set<string>()
    const steps: ProfileStep[] = []
    let from = sizeOf(auditLog)
    let before = countsOf(await page(port))
    await play(scenario!.steps, {
      client,
      namespace,
      pass: (ms) => wait(ms),
      async ended() {
        for (const [group, resource, kind] of NAMED) {
          const { items } = await client.resource({ group, version: 'v1', resource }).namespace(namespace).list()
          neutral.know(items.map((item) => ({ ...item, kind })))
        }
        const now = countsOf(await page(port))
        const until = sizeOf(auditLog)
        const wrote = stepOf(unstubbed(writesIn(auditLog, [namespace], from, until)), neutral, told)
        steps.push({ ...countsSince(before, now), wrote, ...askedIn(stub.taken(), neutral.text) })
        from = until
        before = now
      },
    })
    return steps
  }
}
