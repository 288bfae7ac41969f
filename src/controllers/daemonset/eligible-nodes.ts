/** Which nodes a DaemonSet's pods belong on (API concept: how daemon pods are scheduled), and the pod for a node. */
import type { Fields, KubeObject } from '../../api/object.ts'
import { TEMPLATE_GENERATION } from '../../api/objects/annotated-fields.ts'
import { selectsNode } from '../../api/objects/node-affinity.ts'
import { toleratesTaint } from '../../api/objects/taints.ts'
import { podFromTemplate } from '../pods/pod.ts'

export const hashLabel = 'controller-revision-hash'
const generationLabel = 'pod-template-generation'

/** A daemon's node may be in trouble: the daemon stays. */
const tolerations: readonly Fields[] = [
  ['not-ready', 'NoExecute'],
  ['unreachable', 'NoExecute'],
  ['disk-pressure', 'NoSchedule'],
  ['memory-pressure', 'NoSchedule'],
  ['pid-pressure', 'NoSchedule'],
  ['unschedulable', 'NoSchedule'],
].map(([name, effect]) => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect }))
const hostNetworkToleration: Fields = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
}

export interface Placement {
  /** A pod is to be made there. */
  readonly runs: boolean
  /** One that is there may stay. */
  readonly stays: boolean
}

export function placementOn(set: KubeObject, node: KubeObject): Placement {
  const spec: Fields = set['spec'].template.spec
  const named = !spec['nodeName'] || spec['nodeName'] === node.metadata.name
  if (!named || !selectsNode(spec, node)) return { runs: false, stays: false }
  const tolerated = tolerationsOf(spec)
  const untolerated = ((node['spec']?.taints ?? []) as readonly Fields[]).filter(
    (taint) => !tolerated.some((toleration) => toleratesTaint(toleration, taint)),
  )
  const repels = (...effects: readonly string[]) => untolerated.some(({ effect }) => effects.includes(effect))
  return { runs: !repels('NoSchedule', 'NoExecute'), stays: !repels('NoExecute') }
}

/** The template's own and those that every daemon has. */
function tolerationsOf(spec: Fields): readonly Fields[] {
  const own: readonly Fields[] = spec['tolerations'] ?? []
  const added = spec['hostNetwork'] === true ? [...tolerations, hostNetworkToleration] : tolerations
  const same = (a: Fields, b: Fields) =>
    ['key', 'effect', 'operator', 'value'].every((name) => (a[name] ?? '') === (b[name] ?? ''))
  return [
    ...own.map((toleration) => added.find((other) => same(other, toleration)) ?? toleration),
    ...added.filter((toleration) => !own.some((other) => same(other, toleration))),
  ]
}

/** The node a pod is on, or made for; undefined for a pod that was made for none. */
export function nodeOf(pod: KubeObject): string | undefined {
  const { nodeName, affinity } = pod['spec']
  if (nodeName) return nodeName
  const terms: readonly Fields[] =
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  for (const term of terms) {
    for (const { key, operator, values } of (term['matchFields'] ?? []) as readonly Fields[]) {
      if (key === 'metadata.name' && operator === 'In' && values?.length === 1) return values[0]
    }
  }
  return undefined
}

/** The pod is left to the scheduler, which may put it on this node only. */
export function podFor(set: KubeObject, node: string, hash: string): KubeObject {
  const pod = podFromTemplate(set['spec'].template, set)
  const generation = templateGeneration(set)
  const { affinity, ...spec } = pod['spec'] as Fields
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }]
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: {
        ...pod.metadata.labels,
        [hashLabel]: hash,
        ...(generation === undefined ? {} : { [generationLabel]: generation }),
      },
    },
    spec: {
      ...spec,
      tolerations: tolerationsOf(spec) as never,
      affinity: {
        ...affinity,
        nodeAffinity: {
          ...affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
        },
      },
    },
  }
}

const templateGeneration = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[TEMPLATE_GENERATION]

/** Made of the set's present template. */
export function isUpdated(set: KubeObject, pod: KubeObject, hash: string): boolean {
  const labels = pod.metadata.labels ?? {}
  const generation = templateGeneration(set)
  return labels[hashLabel] === hash || (generation !== undefined && labels[generationLabel] === generation)
}
