/**
 * `node test/autoscaling/record.ts KUBECONFIG AUDITLOG ADDRESS [NAME...]`: plays the scenarios, all at once, to a real cluster and
 * keeps in recordings/ what its autoscaler did. The cluster's audit policy must log the bodies of writes; its API server asks
 * the metrics APIs at ADDRESS, which is this machine's and not loopback.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { isAlreadyExists } from '../../src/api/status.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { issue } from '../../src/cluster/certificate.ts'
import { answerMetrics, GROUP_VERSIONS, type StubbedNamespace } from './metrics-stub.ts'
import { lateness, looksOf, recordingFile, recordingText, type SeenQuestion, type SeenWrite } from './recording.ts'
import { definitions, play } from './scenario.ts'
import { scenarios } from './scenarios.ts'

const [kubeconfig = '', auditLog = '', address = '', ...chosen] = process.argv.slice(2)
const CONTROLLER = 'system:serviceaccount:kube-system:horizontal-pod-autoscaler'
const betweenMs = 400
const settleMs = 3000
const DISCOVERY_MS = 35_000
const runtime = liveRuntime()
const endpoint = endpointFromKubeconfig(readFileSync(kubeconfig, 'utf8'), (path) => readFileSync(path, 'utf8'))
const client = createClient(runtime, httpsTransport(endpoint), { userAgent: 'user' })
const stubbed = new Map<string, StubbedNamespace>()
const questions = new Map<string, SeenQuestion[]>()
const resource = (group: string, version: string, name: string) => client.resource({ group, version, resource: name })

/** What this run makes may be there from an earlier one: false. */
const ensure = (group: string, version: string, name: string, object: unknown, namespace = ''): Promise<boolean> =>
  resource(group, version, name)
    .namespace(namespace)
    .create(object as KubeObject)
    .then(
      () => true,
      (error) => {
        if (isAlreadyExists(error)) return false
        throw error
      },
    )

const port = await serveMetrics()
const service = { name: 'metrics-stub', namespace: 'kube-system' }
await ensure(
  '',
  'v1',
  'services',
  { apiVersion: 'v1', kind: 'Service', metadata: service, spec: { ports: [{ port: 443 }] } },
  'kube-system',
)
const slice = `metrics-stub-${port}`
await ensure(
  'discovery.k8s.io',
  'v1',
  'endpointslices',
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: slice, labels: { 'kubernetes.io/service-name': service.name } },
    addressType: 'IPv4',
    ports: [{ name: '', port }],
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  },
  'kube-system',
)
for (const [group, versions] of Object.entries(GROUP_VERSIONS))
  for (const [at, version] of versions.entries())
    await ensure('apiregistration.k8s.io', 'v1', 'apiservices', {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 100,
        versionPriority: 200 - at * 100,
        insecureSkipTLSVerify: true,
        service,
      },
    })
const areNew = await Promise.all(
  definitions.map((definition) => ensure('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', definition)),
)
// A controller asks for what is served only now and then.
if (areNew.includes(true)) await wait(DISCOVERY_MS)

const names = chosen.length === 0 ? Object.keys(scenarios) : chosen
await Promise.all(
  names.map(async (name, at) => {
    await wait(at * betweenMs)
    await record(name)
  }),
)
await resource('discovery.k8s.io', 'v1', 'endpointslices').namespace('kube-system').delete(slice)
process.exit(0)

async function record(name: string): Promise<void> {
  const scenario = scenarios[name]
  if (scenario === undefined) throw new Error(`no such scenario: ${name}`)
  const namespace = `hpa-${name}-${port}`
  const own: StubbedNamespace = { metrics: {}, pods: [] }
  stubbed.set(namespace, own)
  questions.set(namespace, [])
  await ensure('', 'v1', 'namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await ensure(
    '',
    'v1',
    'serviceaccounts',
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
    namespace,
  )
  const made = await play(scenario, {
    client,
    namespace,
    stubbed: own,
    now: () => Date.now(),
    until: (ms) => wait(Math.max(0, ms - Date.now())),
  })
  const ended = Date.now()
  await wait(settleMs)
  const writes = writesIn(namespace).filter(({ atMs }) => atMs < ended)
  const asked = (questions.get(namespace) ?? []).filter(({ atMs }) => atMs < ended)
  const looks = looksOf({ namespace, made, writes, questions: asked })
  writeFileSync(recordingFile(name), recordingText(looks))
  const late = Math.max(0, ...[...writes, ...asked].map(({ atMs }) => lateness(made, atMs)))
  console.log(name, `${looks.length} looks, ${(late / 1000).toFixed(1)} s late at most`)
  await resource('', 'v1', 'namespaces').delete(namespace)
}

async function serveMetrics(): Promise<number> {
  const { key, cert } = issue(runtime, { commonName: 'metrics-stub', usage: 'server', hosts: [address], validDays: 2 })
  const server = createServer({ key, cert }, (request, response) => {
    const path = request.url ?? ''
    const bare = decodeURIComponent(path.split('?')[0] ?? '')
    const namespace = /\/namespaces\/([^/?]+)/.exec(bare)?.[1]
    const asked = decodeURIComponent(path)
    if (namespace !== undefined) questions.get(namespace)?.push({ atMs: Date.now(), path: asked })
    else if (!/^\/(openapi|apis(\/[^/]*){0,2}$)/.test(bare)) console.log('asked of no namespace:', asked)
    const { code, body } = answerMetrics(bare, Date.now(), (one) => stubbed.get(one)) ?? {
      code: 404,
      body: 'nothing here',
    }
    const isText = typeof body === 'string'
    response.writeHead(code, { 'content-type': isText ? 'text/plain' : 'application/json' })
    response.end(isText ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => void server.listen(0, address, resolve))
  return (server.address() as AddressInfo).port
}

function writesIn(namespace: string): readonly SeenWrite[] {
  return readFileSync(auditLog, 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (!line.includes(namespace) || !line.includes(CONTROLLER)) return []
      const entry: Fields = JSON.parse(line)
      const about: Fields = entry['objectRef'] ?? {}
      if (about['namespace'] !== namespace || entry['user'].username !== CONTROLLER) return []
      if (entry['stage'] !== 'ResponseComplete' || !entry['requestObject']) return []
      return [
        {
          atMs: Date.parse(entry['requestReceivedTimestamp']),
          verb: entry['verb'],
          resource: about['resource'],
          name: about['name'] ?? '',
          code: entry['responseStatus'].code,
          body: entry['requestObject'],
        },
      ]
    })
    .sort((a, b) => a.atMs - b.atMs)
}
