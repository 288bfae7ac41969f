/**
 * `node test/scenarios/record.ts KUBECONFIG AUDITLOG PLAY...`: plays to a real cluster what plays-*.ts say, and keeps in
 * recordings/ what its components did, and in recordings/times.json what held between times. The audit policy must log the
 * bodies of writes. The cluster's nodes are KWOK's; a node `idle`, which KWOK must not manage, is kept well from here.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Fields, JsonObject, KubeObject } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import type { RecordablePlay } from './acts.ts'
import { startNodeStandIn } from './node-stand-in.ts'
import { normalizeRecording, type RawRecording } from './normalize.ts'
import { recordablePlays } from './plays.ts'
import { timePlays } from './plays-times.ts'
import { pack } from './recording.ts'
import { clusterWide, eventsResource, type Scene, watchedResources } from './stage.ts'
import { factsOf, recordedTimes } from './times.ts'

const restMs = 4000
/** Nothing happened for so long: it is over. */
const quietMs = 8000
const betweenMs = 300

const [kubeconfig = '', auditLog = '', ...names] = process.argv.slice(2)
const runtime = liveRuntime()
const endpoint = endpointFromKubeconfig(readFileSync(kubeconfig, 'utf8'), (path) => readFileSync(path, 'utf8'))
const client = (userAgent: string) => createClient(runtime, httpsTransport(endpoint), { userAgent })
const stopping = new AbortController()
const everyPlay = { ...recordablePlays, ...timePlays }
const times: Record<string, readonly string[]> = { ...recordedTimes }
const nodes = client('kwok').resource({ group: '', version: 'v1', resource: 'nodes' })
await nodes.delete('idle').catch(() => {})
if (names.some((name) => everyPlay[name]?.idleNode))
  await startNodeStandIn(runtime, client('kwok'), stopping.signal).add('idle', { runsPods: false })
await Promise.all(
  names.map(async (name, at) => {
    await wait(at * betweenMs)
    const play = everyPlay[name]
    if (play === undefined) throw new Error(`no such play that can be recorded: ${name}`)
    await record(name, play)
  }),
)
process.exit(0)

async function record(name: string, play: RecordablePlay): Promise<void> {
  const namespace = `t-${name.toLowerCase()}`
  const observer = client('observer')
  const states: { type: string; resource: string; object: JsonObject }[] = []
  let marked = Number.POSITIVE_INFINITY
  const isOfPlay = ({ metadata }: KubeObject) =>
    metadata.namespace === namespace || metadata.name?.includes(namespace) === true
  const informers = createInformerFactory(runtime, observer, stopping.signal)
  for (const gvr of [...watchedResources, ...clusterWide, eventsResource]) {
    const saw = (type: string) => (object: KubeObject) => {
      if (runtime.clock.now() >= marked && isOfPlay(object))
        states.push({ type, resource: gvr.resource, object: object as never })
    }
    informers.informer(gvr, { managedFields: true, ...(clusterWide.includes(gvr) ? {} : { namespace }) }).addHandlers({
      added: saw('ADDED'),
      updated: (_, object) => saw('MODIFIED')(object),
      deleted: saw('DELETED'),
    })
  }
  informers.start()
  const user = client('user')
  const namespaces = user.resource({ group: '', version: 'v1', resource: 'namespaces' })
  await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } as KubeObject)
  await wait(restMs / 2)
  const scene: Scene = { namespace, runtime, user }
  if (play.prepare !== undefined) {
    await play.prepare(scene)
    await wait(restMs)
  }
  marked = runtime.clock.now()
  const audited = () => auditOf(namespace, marked - 50)
  await play.act(scene)
  for (let heard = -1; heard !== audited().length; ) {
    heard = audited().length
    await wait(quietMs)
  }
  const lines = audited()
  const seen = [...states].sort((a, b) => versionOf(a.object) - versionOf(b.object))
  const isEvent = (line: Fields) => line['objectRef'].resource === 'events'
  const recording = {
    scenario: name,
    writes: lines
      .filter((line) => !isEvent(line))
      .map((line) => ({
        user: line['user'].username,
        userAgent: String(line['userAgent']).split('/')[0] ?? '',
        verb: line['verb'],
        uri: line['requestURI'],
        code: line['responseStatus'].code,
        body: line['requestObject'],
      })),
    states: seen.filter(({ resource }) => resource !== eventsResource.resource),
    events: lines
      .filter((line) => isEvent(line) && line['verb'] === 'create' && line['requestObject'])
      .map((line) => line['requestObject']),
  }
  noteTimes(name in timePlays ? name : 'others', factsOf(seen.map(({ object }) => object as unknown as KubeObject)))
  if (name in recordablePlays) keep(name, recording)
  console.log(
    name,
    `${recording.writes.length} writes, ${recording.states.length} states, ${recording.events.length} Events`,
  )
  await namespaces.delete(namespace)
  const pods = user.resource({ group: '', version: 'v1', resource: 'pods' }).namespace(namespace)
  for (const { metadata } of (await pods.list()).items)
    await pods.delete(metadata.name ?? '', { gracePeriodSeconds: 0 }).catch(() => {})
}

function keep(name: string, recording: RawRecording): void {
  const text = JSON.stringify(recording).replaceAll(`t-${name.toLowerCase()}`, '$NS')
  writeFileSync(new URL(`./recordings/${name}.json`, import.meta.url), pack(normalizeRecording(JSON.parse(text))))
}

/** Adds to what was seen of a cluster's times before. */
function noteTimes(name: string, facts: Iterable<string>): void {
  times[name] = [...new Set([...(times[name] ?? []), ...facts])].sort()
  writeFileSync(new URL('./recordings/times.json', import.meta.url), `${JSON.stringify(times, null, 1)}\n`)
}

function versionOf(object: JsonObject): number {
  return Number((object['metadata'] as JsonObject)['resourceVersion'])
}

function auditOf(namespace: string, sinceMs: number): readonly Fields[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n')
  return lines.flatMap((line) => {
    if (!line.includes(namespace)) return []
    const entry: Fields = JSON.parse(line)
    const about: Fields = entry['objectRef'] ?? {}
    const own = about['namespace'] === namespace || about['name']?.includes(namespace)
    if (!own || entry['stage'] !== 'ResponseComplete') return []
    if (['get', 'list', 'watch'].includes(entry['verb'])) return []
    return Date.parse(entry['requestReceivedTimestamp']) >= sinceMs ? [entry] : []
  })
}
