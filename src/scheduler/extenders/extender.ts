/**
 * Extenders: servers that are asked over HTTP which of the nodes that passed the filters a pod may have, how good they are, which pods may
 * make room, and to bind it (API concept: scheduler extenders, extender/v1). What is asked and what an answer means; how it travels is
 * another's (http-extender.ts).
 */

import type { Node, Pod } from '../../api/generated/types.ts'
import type { Fields } from '../../api/object.ts'
import { goJson, parseJson, plainOf } from '../../api/values/json.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { NodeRefusal } from '../filters.ts'
import type { NodeInfo } from '../node-info.ts'
import type { PodInfo } from '../pod-info.ts'
import type { Candidate } from '../preemption.ts'

export interface ExtenderSettings {
  readonly urlPrefix: string
  /** The last parts of the URLs; an empty one is not asked for. */
  readonly filterVerb: string
  readonly prioritizeVerb: string
  readonly preemptVerb: string
  readonly bindVerb: string
  readonly weight: number
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

export interface Extender {
  readonly settings: ExtenderSettings
  /** POSTs the JSON there. @throws what a user can be told */
  post(url: string, body: string): Promise<{ readonly status: number; readonly text: string }>
}

/** The answer, parsed. @throws what a user can be told */
async function ask({ settings, post }: Extender, verb: string, args: object): Promise<unknown> {
  const url = `${settings.urlPrefix.replace(/\/+$/, '')}/${verb}`
  const { status, text } = await post(url, goJson(args))
  if (status !== 200) throw new Error(`failed ${verb} with extender at URL ${url}, code ${status}`)
  if (text.trim() === '') throw new Error('EOF')
  return plainOf(parseJson(text))
}

/** `extenderOf`: default over HTTP. */
export async function extendersOf(
  runtime: Runtime,
  settings: readonly ExtenderSettings[],
  extenderOf?: (settings: ExtenderSettings) => Extender,
): Promise<readonly Extender[]> {
  if (settings.length === 0 || extenderOf !== undefined) return settings.flatMap((one) => extenderOf?.(one) ?? [])
  const { httpExtender } = await import('./http-extender.ts')
  return settings.map((one) => httpExtender(runtime, one))
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

/** Each looks at what those before it have left. @throws what one that is not ignorable fails with */
export async function filteredBy(
  extenders: readonly Extender[],
  { pod }: PodInfo,
  nodes: readonly NodeInfo[],
): Promise<Narrowed> {
  let fitting = nodes
  const refusals = new Map<NodeInfo, NodeRefusal>()
  for (const extender of extenders) {
    const { filterVerb, ignorable } = extender.settings
    if (filterVerb === '' || fitting.length === 0) continue
    try {
      const answer = await ask(extender, filterVerb, nodeArguments(extender, pod, fitting))
      const error = field(answer, 'Error')
      if (typeof error === 'string' && error !== '') throw new Error(error)
      const kept = nodesIn(extender, answer, fitting)
      const byName = new Map(fitting.map((node) => [node.name, node]))
      const refuse = (hard: boolean, reasons: unknown) => {
        for (const [name, why] of Object.entries((reasons ?? {}) as Readonly<Record<string, unknown>>)) {
          const node = byName.get(name)
          const before = node && refusals.get(node)
          if (node === undefined || before?.hard === true) continue
          refusals.set(node, { reasons: [...(before?.reasons ?? []), String(why)], hard, plugin: 'Extender' })
        }
      }
      refuse(true, field(answer, 'FailedAndUnresolvableNodes'))
      refuse(false, field(answer, 'FailedNodes'))
      fitting = kept
    } catch (error) {
      if (!ignorable) throw error
    }
  }
  return { fitting, refusals }
}

function nodesIn({ settings }: Extender, answer: unknown, asked: readonly NodeInfo[]): readonly NodeInfo[] {
  const names = settings.nodeCacheCapable ? field(answer, 'NodeNames') : undefined
  const listed =
    names ?? listOf(field(field(answer, 'Nodes'), 'items')).map((node) => field(field(node, 'metadata'), 'name'))
  const byName = new Map(asked.map((node) => [node.name, node]))
  return listOf(listed).map((name) => {
    const node = byName.get(String(name))
    if (node === undefined)
      throw new Error(
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
      ask(extender, extender.settings.prioritizeVerb, nodeArguments(extender, pod, nodes)).catch(() => []),
    ),
  )
  const scores = new Map<string, number>()
  for (const [i, answer] of answers.entries())
    for (const entry of listOf(answer)) {
      const host = String(field(entry, 'Host'))
      const score = Number(field(entry, 'Score') ?? 0) * (asked[i]?.settings.weight ?? 0) * SCALE
      scores.set(host, (scores.get(host) ?? 0) + score)
    }
  return scores
}

/** The nodes, and the pods on them, that the extenders let make room. @throws what one that is not ignorable fails with */
export async function candidatesLeftBy(
  extenders: readonly Extender[],
  { pod }: PodInfo,
  candidates: readonly Candidate[],
): Promise<readonly Candidate[]> {
  let left = candidates
  for (const extender of extenders) {
    const { preemptVerb, ignorable } = extender.settings
    if (preemptVerb === '' || left.length === 0) continue
    try {
      const answer = await ask(extender, preemptVerb, preemptionArguments(extender, pod, left))
      left = victimsIn(extender, answer, candidates)
    } catch (error) {
      if (!ignorable) throw error
    }
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

function victimsIn({ settings }: Extender, answer: unknown, candidates: readonly Candidate[]): readonly Candidate[] {
  const told = Object.entries((field(answer, 'NodeNameToMetaVictims') ?? {}) as Readonly<Record<string, unknown>>)
  return told.flatMap(([name, chosen]) => {
    const candidate = candidates.find(({ node }) => node.name === name)
    if (candidate === undefined) throw new Error(`nodeinfo not found for node name "${name}"`)
    const { node } = candidate
    const victims = listOf(field(chosen, 'Pods')).map((one) => {
      const uid = String(field(one, 'UID'))
      const victim = [...node.pods.values()].find((present) => present.uid === uid)
      if (victim === undefined)
        throw new Error(
          `extender: ${settings.urlPrefix} claims to preempt pod (UID: &{${uid}}) on node: ${name}, but the pod is not found on that node`,
        )
      return victim
    })
    if (victims.length > 0) return { node, victims, violations: Number(field(chosen, 'NumPDBViolations') ?? 0) }
    if (settings.ignorable) return []
    throw new Error(`expected at least one victim pod on node "${name}"`)
  })
}

/** The one that binds the pod in the scheduler's place. */
export const binderAmong = (extenders: readonly Extender[]): Extender | undefined =>
  extenders.find(({ settings }) => settings.bindVerb !== '')

/** Whether it did: undefined, or why not. @throws what one that is not ignorable fails with */
export async function boundBy(extender: Extender, { pod, uid }: PodInfo, node: string): Promise<boolean> {
  const { namespace = '', name = '' } = pod.metadata
  const { bindVerb, ignorable } = extender.settings
  try {
    const answer = await ask(extender, bindVerb, { PodName: name, PodNamespace: namespace, PodUID: uid, Node: node })
    const error = field(answer, 'Error')
    if (typeof error === 'string' && error !== '') throw new Error(error)
    return true
  } catch (error) {
    if (ignorable) return false
    throw new ExtenderError(messageOf(error), { cause: error })
  }
}

/** An extender's failure is told as it is, without the plugin in whose place it stood. */
export class ExtenderError extends Error {}

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

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Names of fields are read as Go reads them: in any case. */
function field(of: unknown, name: string): unknown {
  if (typeof of !== 'object' || of === null) return undefined
  const own = of as Fields
  if (Object.hasOwn(own, name)) return own[name] ?? undefined
  const key = Object.keys(own).find((other) => other.toLowerCase() === name.toLowerCase())
  return key === undefined ? undefined : (own[key] ?? undefined)
}
