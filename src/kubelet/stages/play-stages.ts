/**
 * Plays stages (KWOK's Stage API) on the objects of a cluster: of each object it is found which stage comes next, after the stage's delay
 * its steps are done, and what they change leads to the next one. Nodes and pods are played where they are simulated, objects of any
 * other kind all.
 */
import type { Node } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { sleep, type Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client, DiscoveredResource } from '../../client/client.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createInformerFactory } from '../../client/informer.ts'
import { type Pod, specOf } from '../pod.ts'
import { type NextStage, nextStage } from './next-stage.ts'
import { createPlayedAddresses } from './played-addresses.ts'
import { isFakeNode, keepLeases } from './played-nodes.ts'
import { STAGE_VERSION, type Stage } from './stage-file.ts'
import { createStepper } from './stage-steps.ts'

export interface PlayStagesOptions {
  readonly runtime: Runtime
  /** May do to the objects what their stages say. */
  readonly client: Client
  /** The same as this user, for steps that say so. */
  readonly clientAs: ((username: string) => Client) | undefined
  readonly stages: readonly Stage[]
  /** Whether the Node of this name is a simulated one of a kubelet, whose pods are simulated too. Nodes made for KWOK are in any case. */
  isSimulated(nodeName: string): boolean
  /** Of one node alone, by whose rights nothing else is seen. Default: all. */
  readonly nodeName?: string
  /** Where the node's pods have their addresses, where its Node does not say so. */
  podCIDROf(nodeName: string): string | undefined
  readonly signal: AbortSignal
}

interface Waiting extends NextStage {
  readonly object: KubeObject
  readonly timer: Timer
}

const NODES = { group: '', version: 'v1', resource: 'nodes' }
const PODS = { group: '', version: 'v1', resource: 'pods' }
const LOOK_AGAIN_MS = 2000
const RETRY_MS = 1000
const LONGEST_RETRY_MS = 32 * 60_000
/** Timers reach no further: a longer one is looked at again then. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

const isOfPods = ({ kind, groupVersion }: Stage): boolean => kind === 'Pod' && groupVersion === 'v1'
const isOfNodes = ({ kind, groupVersion }: Stage): boolean => kind === 'Node' && groupVersion === 'v1'

/** What kubelets of simulated nodes leave to stages. */
export const playedBy = (stages: readonly Stage[]): { readonly pods: boolean; readonly node: boolean } => ({
  pods: stages.some(isOfPods),
  node: stages.some(isOfNodes),
})

/** Resolves when the stages of nodes and pods are at work. Those of kinds that are not served yet follow when they are. */
export async function playStages(options: PlayStagesOptions): Promise<void> {
  const { runtime, client, stages, signal } = options
  const { log, clock } = runtime
  const informers = createInformerFactory(runtime, client, signal)
  const random = runtime.random.apart()
  const { nodeName } = options
  const ofNodes = nodeName === undefined ? {} : { fieldSelector: `metadata.name=${nodeName}` }
  const ofPods = nodeName === undefined ? {} : { fieldSelector: `spec.nodeName=${nodeName}` }
  const nodes = informers.informer<Node>(NODES, ofNodes)
  const addresses = createPlayedAddresses({
    node: (name) => nodes.store.get(name),
    podCIDROf: options.podCIDROf,
  })
  const events = createEventRecorder(runtime, client, { component: 'skiff-stages' })
  const stepper = createStepper({ runtime, client, clientAs: options.clientAs, events, addresses, random })
  const isPlayed = (node: Node): boolean => isFakeNode(node) || options.isSimulated(node.metadata.name ?? '')
  const isPlayedNode = (name: string): boolean => {
    const node = nodes.store.get(name)
    return node !== undefined && isPlayed(node)
  }
  if (stages.some(isOfNodes)) nodes.addHandlers(keepLeases(runtime, client, signal))

  function player(resource: DiscoveredResource, ofKind: readonly Stage[]) {
    const waiting = new Map<string, Waiting>()
    /** By uid, what the last step made of the object: what comes later and is older says nothing. */
    const made = new Map<string, number>()

    const isOurs = (object: KubeObject): boolean => {
      if (resource.group !== '') return true
      if (resource.resource === 'pods') return isPlayedNode(nodeOf(object))
      return resource.resource !== 'nodes' || isPlayed(object as Node)
    }

    function consider(object: KubeObject): void {
      const uid = object.metadata.uid ?? ''
      const before = waiting.get(uid)
      if (signal.aborted || !isOurs(object)) return
      if (before?.object.metadata.resourceVersion === object.metadata.resourceVersion) return
      if (versionOf(object) < (made.get(uid) ?? 0)) return
      let next: NextStage | undefined
      try {
        next = nextStage(ofKind, object, random, clock.now())
      } catch (error) {
        log.error('No stage could be found', error, { kind: object.kind, name: object.metadata.name })
        return
      }
      if (next === undefined) return
      before?.timer.cancel()
      arm(object, next, next.afterMs)
    }

    function arm(object: KubeObject, next: NextStage, afterMs: number, from = 0, retries = 0): void {
      const uid = object.metadata.uid ?? ''
      const timer = clock.setTimer(Math.min(afterMs, LONGEST_TIMER_MS), `stage ${next.stage.name}`, () => {
        if (afterMs > LONGEST_TIMER_MS) return arm(object, next, afterMs - LONGEST_TIMER_MS, from, retries)
        waiting.delete(uid)
        if (!signal.aborted) void play(object, next, from, retries)
      })
      waiting.set(uid, { ...next, object, timer })
    }

    async function play(object: KubeObject, next: NextStage, from: number, retries: number): Promise<void> {
      const { stage } = next
      const uid = object.metadata.uid ?? ''
      const done = await stepper.play(resource, object, stage, from)
      const { result } = done
      if (result !== undefined) made.set(uid, versionOf(result))
      if (done.error === undefined) {
        if (result !== undefined && stage.immediateNextStage) consider(result)
        return
      }
      if (signal.aborted) return
      if (isGone(done.error)) return
      if (!isWorthAnotherTry(done.error)) {
        log.error('A stage could not be played', done.error, {
          stage: stage.name,
          kind: object.kind,
          name: object.metadata.name,
        })
        return
      }
      log.info(1, 'A stage is tried again', {
        stage: stage.name,
        name: object.metadata.name,
        err: messageOf(done.error),
      })
      // What has changed since has a stage of its own.
      if (waiting.has(uid)) return
      const ms = Math.min(RETRY_MS * 2 ** retries, LONGEST_RETRY_MS)
      arm(object, next, ms * (1 + random.float() * 0.2), done.at, retries + 1)
    }

    return {
      added: consider,
      updated: (_: KubeObject, object: KubeObject) => consider(object),
      deleted(object: KubeObject) {
        const uid = object.metadata.uid ?? ''
        waiting.get(uid)?.timer.cancel()
        waiting.delete(uid)
        made.delete(uid)
        if (resource.group === '' && resource.resource === 'pods') addresses.release(uid)
      },
      consider,
    }
  }

  /** Gives the kinds that are not served. */
  function begin(found: readonly DiscoveredResource[], kinds: ReadonlySet<string>): ReadonlySet<string> {
    const left = new Set<string>()
    for (const name of kinds) {
      const resource = found.find((one) => nameOf(groupVersionOf(one), one.kind) === name)
      if (resource === undefined) {
        left.add(name)
        continue
      }
      const ofKind = stages.filter((stage) => nameOf(stage.groupVersion, stage.kind) === name)
      const { consider, ...handlers } = player(resource, ofKind)
      if (resource.group === '' && resource.resource === 'pods') {
        const pods = informers.informer(PODS, ofPods)
        pods.addHandlers(handlers)
        // Pods may be seen before the Node that they are on.
        nodes.addHandlers({
          added(node) {
            if (!isPlayed(node)) return
            for (const pod of pods.store.list()) if (nodeOf(pod) === node.metadata.name) consider(pod)
          },
        })
      } else if (resource.group === '' && resource.resource === 'nodes') nodes.addHandlers(handlers)
      else informers.informer(resource).addHandlers(handlers)
    }
    return left
  }

  let left: ReadonlySet<string> = new Set(stages.map(({ groupVersion, kind }) => nameOf(groupVersion, kind)))
  left = begin((await client.discover()).everyVersion, left)
  informers.start()
  await informers.whenSynced(signal)
  if (left.size > 0) void later()

  async function later(): Promise<void> {
    for (const name of left)
      log.error(`Stages of ${STAGE_VERSION} are for a kind that is not served`, undefined, { kind: name })
    while (left.size > 0 && !signal.aborted) {
      await sleep(clock, LOOK_AGAIN_MS, signal, {
        label: 'kinds of stages',
        everyMs: LOOK_AGAIN_MS,
        goesOn: true,
      }).catch(() => {})
      if (signal.aborted) return
      try {
        left = begin((await client.discover()).everyVersion, left)
      } catch (error) {
        log.info(1, 'Discovery failed, will retry', { err: messageOf(error) })
      }
    }
  }
}

const nodeOf = (pod: KubeObject): string => specOf(pod as Pod).nodeName ?? ''
const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion ?? 0)
const nameOf = (groupVersion: string, kind: string): string => `${groupVersion} ${kind}`
const groupVersionOf = ({ group, version }: DiscoveredResource): string =>
  group === '' ? version : `${group}/${version}`
const isGone = (error: unknown): boolean => error instanceof StatusError && error.code === 404

/** The server could not, or did not answer; what it refused it refuses again. */
const isWorthAnotherTry = (error: unknown): boolean =>
  error instanceof StatusError ? [429, 503, 504].includes(error.code) : !(error instanceof TypeError)
