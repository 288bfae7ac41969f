/**
 * Extenders: servers that are asked over HTTP which of the nodes that passed the filters a pod may have, how good they are, which pods may
 * make room, and to bind it (API concept: scheduler extenders, extender/v1). What is asked and what an answer means; how it travels is
 * another's (http-extender.ts).
 */

import type { Node, Pod } from '../../api/generated/types.ts'
import { goJson } from '../../api/values/json.ts'
import { messageOf } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { NodeRefusal } from '../filters.ts'
import type { NodeInfo } from '../node-info.ts'
import type { PodInfo } from '../pod-info.ts'
import type { Candidate } from '../preemption.ts'
import {
  type AnswerForm,
  type AnswerOf,
  BINDING_RESULT,
  FILTER_RESULT,
  HOST_PRIORITIES,
  PREEMPTION_RESULT,
  readAnswer,
} from './answers.ts'

export interface ExtenderSettings {
  readonly urlPrefix: string
  /** The last parts of the URLs; an empty one is not asked for. */
  readonly filterVerb: string
  readonly prioritizeVerb: string
  readonly preemptVerb: string
  readonly bindVerb: string
  readonly weight: number
  /** Not above zero: it may take as long as it will. */
  readonly timeoutMs: number
  /** It knows nodes and pods itself: they are told by name and uid. */
  readonly nodeCacheCapable: boolean
  /** Only pods that ask for one of these are its concern; empty: all pods. */
  readonly managedResources: ReadonlySet<string>
  /** Where it fails the scheduler goes on without it. */
  readonly ignorable: boolean
  /** Of an https URL: PEM texts. */
  readonly tls: ExtenderTls
}

export interface ExtenderTls {
  readonly insecure: boolean
  readonly serverName?: string
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** How one is asked. */
export interface ExtenderServer {
  readonly settings: ExtenderSettings
  /** POSTs the JSON there. @throws what a user can be told */
  post(url: string, body: string): Promise<{ readonly status: number; readonly text: string }>
}

export interface Extender extends ExtenderServer {
  readonly log: Logger
}

/** An extender's failure is told as it is, without the plugin in whose place it stood. */
export class ExtenderError extends Error {}

/** @throws ExtenderError */
async function ask<T>({ settings, post }: Extender, verb: string, args: object, answer: AnswerForm<T>): Promise<T> {
  const url = `${settings.urlPrefix.replace(/\/+$/, '')}/${verb}`
  const body = goJson(args)
  try {
    const { status, text } = await post(url, body)
    if (status !== 200) throw new Error(`failed ${verb} with extender at URL ${url}, code ${status}`)
    return readAnswer(answer, text)
  } catch (cause) {
    throw new ExtenderError(messageOf(cause), { cause })
  }
}

/** `otherwise`: what comes of an extender's failure where that is no reason to give up; it is logged then. */
async function orElse<T>(extender: Extender, otherwise: T, consulted: () => Promise<T>): Promise<T> {
  try {
    return await consulted()
  } catch (error) {
    if (!(error instanceof ExtenderError)) throw error
    const { log, settings } = extender
    log.info(0, 'An extender failed and is passed over', { extender: settings.urlPrefix, err: error.message })
    return otherwise
  }
}

/** @throws ExtenderError what one that is not ignorable fails with */
const unlessIgnorable = <T>(extender: Extender, otherwise: T, consulted: () => Promise<T>): Promise<T> =>
  extender.settings.ignorable ? orElse(extender, otherwise, consulted) : consulted()

/** `serverOf`: default over HTTP. */
export async function extendersOf(
  runtime: Runtime,
  settings: readonly ExtenderSettings[],
  serverOf?: (settings: ExtenderSettings) => ExtenderServer,
): Promise<readonly Extender[]> {
  if (settings.length === 0) return []
  const overHttp = serverOf === undefined ? (await import('./http-extender.ts')).httpExtender : undefined
  return settings.flatMap((one) => {
    const server = serverOf?.(one) ?? overHttp?.(runtime, one)
    return server === undefined ? [] : [{ ...server, log: runtime.log }]
  })
}

/** Nodes that the extenders leave, and why they refuse others. */
export interface Narrowed {
  readonly fitting: readonly NodeInfo[]
  readonly refusals: ReadonlyMap<NodeInfo, NodeRefusal>
}

/** Those that have a say about the pod. */
export function extendersFor(extenders: readonly Extender[], pod: Pod): readonly Extender[] {
  if (extenders.length === 0) return extenders
  const { containers = [], initContainers = [] } = pod.spec ?? {}
  const asked = new Set(
    [...containers, ...initContainers].flatMap(({ resources }) => [
      ...Object.keys(resources?.requests ?? {}),
      ...Object.keys(resources?.limits ?? {}),
    ]),
  )
  return extenders.filter(
    ({ settings: { managedResources } }) =>
      managedResources.size === 0 || [...managedResources].some((name) => asked.has(name)),
  )
}

/** Each looks at what those before it have left. @throws ExtenderError what one that is not ignorable fails with */
export async function filteredBy(
  extenders: readonly Extender[],
  { pod }: PodInfo,
  nodes: readonly NodeInfo[],
): Promise<Narrowed> {
  let fitting = nodes
  const refusals = new Map<NodeInfo, NodeRefusal>()
  for (const extender of extenders) {
    const { filterVerb } = extender.settings
    if (filterVerb === '' || fitting.length === 0) continue
    const asked = fitting
    fitting = await unlessIgnorable(extender, asked, async () => {
      const answer = await ask(extender, filterVerb, nodeArguments(extender, pod, asked), FILTER_RESULT)
      if (answer.Error !== '') throw new ExtenderError(answer.Error)
      const kept = nodesIn(extender, answer, asked)
      const byName = new Map(asked.map((node) => [node.name, node]))
      const refuse = (hard: boolean, reasons: ReadonlyMap<string, string>) => {
        for (const [name, why] of reasons) {
          const node = byName.get(name)
          const before = node && refusals.get(node)
          if (node === undefined || before?.hard === true) continue
          refusals.set(node, { reasons: [...(before?.reasons ?? []), why], hard, plugin: 'Extender' })
        }
      }
      refuse(true, answer.FailedAndUnresolvableNodes)
      refuse(false, answer.FailedNodes)
      return kept
    })
  }
  return { fitting, refusals }
}

function nodesIn(
  { settings }: Extender,
  { NodeNames, Nodes }: AnswerOf<typeof FILTER_RESULT>,
  asked: readonly NodeInfo[],
): readonly NodeInfo[] {
  const listed =
    (settings.nodeCacheCapable ? NodeNames : undefined) ?? (Nodes?.items ?? []).map(({ metadata }) => metadata.name)
  const byName = new Map(asked.map((node) => [node.name, node]))
  return listed.map((name) => {
    const node = byName.get(name)
    if (node === undefined)
      throw new ExtenderError(
        `extender "${settings.urlPrefix}" claims a filtered node "${name}" which is not found in the input node list`,
      )
    return node
  })
}

/** An extender's scores go to 10, a plugin's to 100. */
const SCALE = 10

/** What to add to the nodes' scores, by name. One that fails adds nothing. */
export async function prioritizedBy(
  extenders: readonly Extender[],
  { pod }: PodInfo,
  nodes: readonly NodeInfo[],
): Promise<ReadonlyMap<string, number>> {
  const asked = extenders.filter(({ settings }) => settings.prioritizeVerb !== '')
  const answers = await Promise.all(
    asked.map((extender) =>
      orElse(extender, [], () =>
        ask(extender, extender.settings.prioritizeVerb, nodeArguments(extender, pod, nodes), HOST_PRIORITIES),
      ),
    ),
  )
  const scores = new Map<string, number>()
  for (const [i, answer] of answers.entries())
    for (const { Host, Score } of answer)
      scores.set(Host, (scores.get(Host) ?? 0) + Score * (asked[i]?.settings.weight ?? 0) * SCALE)
  return scores
}

/** The nodes, and the pods on them, that the extenders let make room. @throws ExtenderError what one that is not ignorable fails with */
export async function candidatesLeftBy(
  extenders: readonly Extender[],
  { pod }: PodInfo,
  candidates: readonly Candidate[],
): Promise<readonly Candidate[]> {
  let left = candidates
  for (const extender of extenders) {
    const { preemptVerb } = extender.settings
    if (preemptVerb === '' || left.length === 0) continue
    const asked = left
    left = await unlessIgnorable(extender, asked, async () => {
      const answer = await ask(extender, preemptVerb, preemptionArguments(extender, pod, asked), PREEMPTION_RESULT)
      return victimsIn(extender, answer, candidates)
    })
  }
  return left
}

function preemptionArguments({ settings }: Extender, pod: Pod, candidates: readonly Candidate[]): object {
  const byNode = (told: (victim: PodInfo) => object) =>
    Object.fromEntries(
      candidates.map(({ node, victims, violations }) => [
        node.name,
        { Pods: victims.map(told), NumPDBViolations: violations },
      ]),
    )
  return {
    Pod: wirePod(pod),
    NodeNameToVictims: settings.nodeCacheCapable ? null : byNode((victim) => wirePod(victim.pod)),
    NodeNameToMetaVictims: settings.nodeCacheCapable ? byNode(({ uid }) => ({ UID: uid })) : null,
  }
}

function victimsIn(
  { settings }: Extender,
  { NodeNameToMetaVictims }: AnswerOf<typeof PREEMPTION_RESULT>,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  return [...NodeNameToMetaVictims].flatMap(([name, chosen]) => {
    const candidate = candidates.find(({ node }) => node.name === name)
    if (candidate === undefined) throw new ExtenderError(`nodeinfo not found for node name "${name}"`)
    const { node } = candidate
    const victims = (chosen?.Pods ?? []).map((one) => {
      const uid = one?.UID ?? ''
      const victim = [...node.pods.values()].find((present) => present.uid === uid)
      if (victim === undefined)
        throw new ExtenderError(
          `extender: ${settings.urlPrefix} claims to preempt pod (UID: &{${uid}}) on node: ${name}, but the pod is not found on that node`,
        )
      return victim
    })
    if (victims.length > 0) return { node, victims, violations: chosen?.NumPDBViolations ?? 0 }
    if (settings.ignorable) return []
    throw new ExtenderError(`expected at least one victim pod on node "${name}"`)
  })
}

/** The one that binds the pod in the scheduler's place. */
export const binderAmong = (extenders: readonly Extender[]): Extender | undefined =>
  extenders.find(({ settings }) => settings.bindVerb !== '')

/** Whether it did: false where an ignorable one failed. @throws ExtenderError what another one fails with */
export function boundBy(extender: Extender, { pod, uid }: PodInfo, node: string): Promise<boolean> {
  const { namespace = '', name = '' } = pod.metadata
  return unlessIgnorable(extender, false, async () => {
    const args = { PodName: name, PodNamespace: namespace, PodUID: uid, Node: node }
    const answer = await ask(extender, extender.settings.bindVerb, args, BINDING_RESULT)
    if (answer.Error !== '') throw new ExtenderError(answer.Error)
    return true
  })
}

function nodeArguments({ settings }: Extender, pod: Pod, nodes: readonly NodeInfo[]): object {
  return {
    Pod: wirePod(pod),
    Nodes: settings.nodeCacheCapable ? null : { metadata: {}, items: nodes.map(({ node }) => wireNode(node as Node)) },
    NodeNames: settings.nodeCacheCapable ? nodes.map(({ name }) => name) : null,
  }
}

/** kube-scheduler keeps no managedFields of pods. */
function wirePod({ apiVersion: _, kind: __, metadata, ...pod }: Pod): object {
  const { managedFields: ___, ...meta } = metadata
  return { metadata: meta, ...pod }
}

const wireNode = ({ apiVersion: _, kind: __, ...node }: Node): object => node
