/**
 * Plays a recorded scenario to `skiff up --clock manual` from outside: the user is the real kubectl, the nodes are a program of
 * their own on the cluster's time, and time passes by the cluster's clock control alone.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json, JsonObject, KubeObject } from '../../src/api/object.ts'
import type { Clock, Timer } from '../../src/base/clock.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import type { Runtime } from '../../src/base/runtime.ts'
import type { Client } from '../../src/client/client.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient, type Transport } from '../../src/client/transport.ts'
import { openControl } from '../../src/cluster/control-client.ts'
import type { Play } from './acts.ts'
import { kubectlClient } from './kubectl-client.ts'
import { startNodeStandIn } from './node-stand-in.ts'
import { createNormalizer } from './normalize.ts'
import type { State } from './recording.ts'
import { clusterWide, namespace, type Stage, watchedResources } from './stage.ts'

/** Time passes in such steps: what the nodes do is late by no more. */
const STEP_MS = 1000
const MINUTE_MS = 60_000
/** Of silence outside, before a next timer of the cluster fires. */
const SETTLE = '10ms'

/** `dataDir`: a cluster with a manual clock and forks, without nodes. Each play has a fork of it. */
export async function performOutside(play: Play, dataDir: string): Promise<readonly State[]> {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-scenario-'))
  const fork = await openControl<{ kubeconfig: string }>(dataDir, 'fork', {}, 'it was started without --controls fork')
  const stopping = new AbortController()
  const { signal } = stopping
  const transports: ReturnType<typeof httpsTransport>[] = []
  try {
    const kubeconfig = join(folder, 'kubeconfig')
    writeFileSync(kubeconfig, fork.told.kubeconfig, { mode: 0o600 })
    const endpoint = endpointFromKubeconfig(fork.told.kubeconfig, (path) => readFileSync(path, 'utf8'))
    const live = liveRuntime()
    const connect = (
      runtime: Runtime,
      userAgent: string,
      around: (transport: Transport) => Transport = (same) => same,
    ) => {
      const transport = httpsTransport(endpoint)
      transports.push(transport)
      return createClient(runtime, around(transport), { userAgent })
    }
    const observer = connect(live, 'observer')
    const time = await outsideTime(observer)
    // As the recordings began: what is due by the minute is so as often.
    await time.toFullMinute()
    const ofNodes = { ...live, clock: time.clock }
    const nodes = startNodeStandIn(ofNodes, connect(ofNodes, 'kwok', time.during), signal)
    const seen = await watchAll(live, observer, signal)
    const user = kubectlClient(kubeconfig) as Client
    // Who waits moves the cluster's time.
    const waiting: Clock = {
      ...time.clock,
      now: time.clock.now,
      setTimer(ms, _label, task) {
        let isOff = false
        void time.advance(ms).then(() => isOff || task())
        return {
          cancel: () => {
            isOff = true
          },
        }
      },
    }
    const scene = { namespace, runtime: { clock: waiting, advance: time.advance }, user, nodes } as unknown as Stage
    for (let index = 1; index <= play.nodes; index++) await nodes.add(`kwok-${index}`)
    if (play.idleNode) await nodes.add('idle', { runsPods: false })
    await user.resource({ group: '', version: 'v1', resource: 'namespaces' }).create({
      ...{ apiVersion: 'v1', kind: 'Namespace' },
      metadata: { name: namespace },
    })
    await time.advance(12_000)
    await play.prepare?.(scene)
    await time.advance(10_000)
    const marked = await seen.untilNow()
    await play.act(scene)
    await time.advance(play.restMs ?? 120_000)
    await seen.untilNow()
    return statesOf(seen.states, marked)
  } finally {
    stopping.abort()
    for (const transport of transports) transport.close()
    fork.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Seen {
  readonly type: string
  readonly resource: string
  readonly object: KubeObject
}

const versionOf = ({ metadata }: KubeObject) => Number(metadata.resourceVersion)

/** From all watches one story, in the order of versions: what came after the mark, about the scenario. */
function statesOf(all: readonly Seen[], marked: number): readonly State[] {
  const ordered = [...all].sort((a, b) => versionOf(a.object) - versionOf(b.object))
  const normalizer = createNormalizer(namespace)
  for (const { object } of ordered) normalizer.learn(object as unknown as Json)
  const isOfPlay = ({ resource, object: { metadata } }: Seen) =>
    (metadata.namespace ?? metadata.name) === namespace || resource === 'nodes' || resource === 'persistentvolumes'
  return ordered
    .filter((state) => versionOf(state.object) > marked && isOfPlay(state))
    .map(({ type, resource, object }) => ({
      type,
      resource,
      object: normalizer.json(object as unknown as Json) as JsonObject,
    }))
}

async function watchAll(runtime: Runtime, client: Client, signal: AbortSignal) {
  const states: Seen[] = []
  const informers = createInformerFactory(runtime, client, signal)
  const all = [...watchedResources, ...clusterWide].map((gvr) => {
    const informer = informers.informer(gvr)
    const saw = (type: string) => (object: KubeObject) => void states.push({ type, resource: gvr.resource, object })
    informer.addHandlers({
      added: saw('ADDED'),
      updated: (_, object) => saw('MODIFIED')(object),
      deleted: saw('DELETED'),
    })
    return { gvr, informer }
  })
  informers.start()
  return {
    states,
    /** Resolves when what is there has been seen as it is, with the version that this was so at. */
    async untilNow(): Promise<number> {
      let newest = 0
      for (const { gvr, informer } of all) {
        const { items, metadata } = await client.resource(gvr).list()
        newest = Math.max(newest, Number(metadata.resourceVersion))
        const isSeen = () =>
          informer.store.list().length === items.length &&
          items.every((item) => {
            const { namespace: own, name } = item.metadata
            const key = own === undefined ? `${name}` : `${own}/${name}`
            return informer.store.get(key)?.metadata.resourceVersion === item.metadata.resourceVersion
          })
        while (!isSeen()) await new Promise(setImmediate)
      }
      return newest
    },
  }
}

interface OutsideTime {
  /** The cluster's time, as it was told last; timers fire when it has passed them. */
  readonly clock: Clock
  advance(ms: number): Promise<void>
  /** Before anybody outside is there. */
  toFullMinute(): Promise<void>
  /** Counts the requests of whoever is outside: time stands still until they are answered. */
  during(transport: Transport): Transport
}

async function outsideTime(client: Client): Promise<OutsideTime> {
  const ask = async (method: 'GET' | 'POST', body?: JsonObject) => {
    const answer = await client.raw(method, '/skiff.dev/clock', body)
    if (answer.status !== 200) throw new Error(`the clock answers ${answer.status}: ${answer.body}`)
    return Date.parse(JSON.parse(answer.body).time)
  }
  let now = await ask('GET')
  const start = now
  const timers = new Set<{ readonly due: number; readonly task: () => void }>()
  let asking = 0
  const clock: Clock = {
    now: () => now,
    monotonic: () => now - start,
    setTimer(ms, _label, task): Timer {
      const timer = { due: now + ms, task }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
  }
  const fire = () => {
    const due = [...timers].filter((timer) => timer.due <= now).sort((a, b) => a.due - b.due)
    for (const timer of due) if (timers.delete(timer)) timer.task()
  }
  const step = async (ms: number) => {
    now = await ask('POST', { advance: `${ms}ms`, settle: SETTLE })
    fire()
    while (asking > 0) await new Promise(setImmediate)
  }
  return {
    clock,
    async advance(ms) {
      const end = now + ms
      while (now < end) await step(Math.min(STEP_MS, end - now))
      // What it brought about, outside too.
      await step(1)
    },
    async toFullMinute() {
      now = await ask('POST', { advance: `${MINUTE_MS - (now % MINUTE_MS)}ms` })
    },
    during: (transport) => ({
      ...transport,
      async send(request, beforeItBegins) {
        const isWatch = request.query.get('watch') === 'true'
        if (!isWatch) asking++
        try {
          return await transport.send(request, beforeItBegins)
        } finally {
          if (!isWatch) asking--
        }
      },
    }),
  }
}
