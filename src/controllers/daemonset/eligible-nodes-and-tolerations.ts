/** Which nodes a DaemonSet's pods belong on (API concept: how daemon pods are scheduled), and the pod for a node. */
import type { DaemonSet, Node, Pod, PodSpec, Toleration } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { TEMPLATE_GENERATION } from '../../api/objects/annotated-fields.ts'
import { selectsNode } from '../../api/objects/node-affinity.ts'
import { toleratesTaint } from '../../api/objects/taints.ts'
import { podFromTemplate } from '../pods/pod.ts'

export const revisionHashLabel = 'controller-revision-hash'
const generationLabel = 'pod-template-generation'

/** Daemon pods tolerate the taints of nodes in trouble. */
const tolerations: readonly Toleration[] = [
  existing('not-ready', 'NoExecute'),
  existing('unreachable', 'NoExecute'),
  existing('disk-pressure', 'NoSchedule'),
  existing('memory-pressure', 'NoSchedule'),
  existing('pid-pressure', 'NoSchedule'),
  existing('unschedulable', 'NoSchedule'),
]
const hostNetworkToleration = existing('network-unavailable', 'NoSchedule')

function existing(name: string, effect: string): Toleration {
  return { key: `node.kubernetes.io/${name}`, operator: 'Exists', effect }
}

export interface Placement {
  /** A pod is to be made there. */
  readonly runs: boolean
  /** One that is there may stay. */
  readonly stays: boolean
}

export function placementOn(set: DaemonSet, node: Node): Placement {
  const spec = set.spec!.template.spec!
  const named = !spec.nodeName || spec.nodeName === node.metadata.name
  if (!named || !selectsNode(spec, node)) return { runs: false, stays: false }
  const tolerated = tolerationsOf(spec)
  const untolerated = (node.spec?.taints ?? []).filter(
    (taint) => !tolerated.some((toleration) => toleratesTaint(toleration, taint)),
  )
  const repels = (...effects: readonly string[]) => untolerated.some(({ effect }) => effects.includes(effect))
  return { runs: !repels('NoSchedule', 'NoExecute'), stays: !repels('NoExecute') }
}

/** The template's own and those that every daemon has. */
function tolerationsOf(spec: PodSpec): readonly Toleration[] {
  const own = spec.tolerations ?? []
  const added = spec.hostNetwork === true ? [...tolerations, hostNetworkToleration] : tolerations
  const same = (a: Toleration, b: Toleration) =>
    (['key', 'effect', 'operator', 'value'] as const).every((name) => (a[name] ?? '') === (b[name] ?? ''))
  return [
    ...own.map((toleration) => added.find((other) => same(other, toleration)) ?? toleration),
    ...added.filter((toleration) => !own.some((other) => same(other, toleration))),
  ]
}

/** The node a pod is on, or made for; undefined for a pod that was made for none. */
export function nodeOfDaemonPod(pod: Pod): string | undefined {
  const { nodeName, affinity } = pod.spec!
  if (nodeName) return nodeName
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  for (const term of terms) {
    for (const { key, operator, values } of term.matchFields ?? []) {
      if (key === 'metadata.name' && operator === 'In' && values?.length === 1) return values[0]
    }
  }
  return undefined
}

/** The pod is left to the scheduler, which may put it on this node only. */
export function podFor(set: DaemonSet, node: string, hash: string): Pod {
  const pod = podFromTemplate(set.spec!.template, set)
  const generation = templateGeneration(set)
  const { affinity, ...spec } = pod.spec!
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }]
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: {
        ...pod.metadata.labels,
        [revisionHashLabel]: hash,
        ...(generation === undefined ? {} : { [generationLabel]: generation }),
      },
    },
    spec: {
      ...spec,
      tolerations: tolerationsOf(spec),
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
export function isUpdated(set: DaemonSet, pod: Pod, hash: string): boolean {
  const labels = pod.metadata.labels
  const generation = templateGeneration(set)
  return labels?.[revisionHashLabel] === hash || (generation !== undefined && labels?.[generationLabel] === generation)
}
