/**
 * The topology manager (KEP-693): asks what gives containers CPUs, memory and devices where it could, decides on which NUMA nodes a container
 * or a whole pod is to have all of it, refuses pods where the policy wants that, and has it given. Asked while a pod is admitted.
 */
import { messageOf } from '../../base/errors.ts'
import { type Container, initContainersOf, type Pod, specOf } from '../pod.ts'
import type { AdmissionRefusal } from '../pod-admission.ts'
import { choicesOf, mergeHints, type NumaDistances, singleNodeChoices } from './merge-hints.ts'
import { AdmissionError, type HintProvider, type NumaMask, type TopologyHints } from './topology-hints.ts'
import type { TopologyPolicyOptions } from './topology-options.ts'

export const TOPOLOGY_POLICIES = ['none', 'best-effort', 'restricted', 'single-numa-node'] as const
export type TopologyPolicy = (typeof TOPOLOGY_POLICIES)[number]

export interface TopologySettings {
  readonly policy: TopologyPolicy
  readonly scope: 'container' | 'pod'
  readonly options: TopologyPolicyOptions
}

export interface TopologyManager {
  /** Has the pod's containers given what they ask for. Why that cannot be; a promise where others have to be asked first. */
  admit(pod: Pod): AdmissionOutcome
}

export type AdmissionOutcome = AdmissionRefusal | undefined | Promise<AdmissionRefusal | undefined>

const NOT_TOGETHER: AdmissionRefusal = {
  reason: 'TopologyAffinityError',
  message: 'Resources cannot be allocated with Topology locality',
}

/** `providers`: in the order in which they give. @throws Error where the policy is not for this machine */
export function createTopologyManager(
  { policy, scope, options }: TopologySettings,
  distances: NumaDistances,
  providers: readonly HintProvider[],
): TopologyManager {
  if (policy !== 'none' && distances.nodes.length > options.mostNodes)
    throw new Error(`failed to run Kubelet: unsupported on machines with more than ${options.mostNodes} NUMA Nodes`)

  /** Undefined: the pod is refused. */
  function affinityOf(hints: readonly TopologyHints[]): { readonly affinity: NumaMask | undefined } | undefined {
    const all = choicesOf(hints)
    const isSingle = policy === 'single-numa-node'
    const best = mergeHints(isSingle ? singleNodeChoices(all) : all, distances, options.prefersClosestNodes)
    if (policy !== 'best-effort' && !best.preferred) return undefined
    const everywhere = distances.nodes.reduce((mask, node) => mask | (1 << node), 0)
    return { affinity: isSingle && best.affinity === everywhere ? undefined : best.affinity }
  }

  function steps(pod: Pod): readonly (() => void | Promise<void>)[] {
    let ofPod: ReturnType<typeof affinityOf>
    const affinityFor = (container: Container) => {
      if (policy === 'none') return { affinity: undefined }
      if (scope === 'container') return affinityOf(providers.map((provider) => provider.hints(pod, container)))
      ofPod ??= affinityOf(providers.map((provider) => provider.podHints(pod)))
      return ofPod
    }
    return [...initContainersOf(pod), ...specOf(pod).containers].flatMap((container) => {
      let found: ReturnType<typeof affinityOf>
      return providers.map((provider, at) => () => {
        if (at === 0) found = affinityFor(container)
        if (found === undefined) throw new AdmissionError(NOT_TOGETHER.reason, NOT_TOGETHER.message)
        return provider.allocate(pod, container, found.affinity)
      })
    })
  }

  return {
    admit(pod) {
      const all = steps(pod)
      const goOn = (from: number): AdmissionOutcome => {
        for (let at = from; at < all.length; at++)
          try {
            const under = all[at]?.()
            if (under !== undefined) return under.then(() => goOn(at + 1), refusalOf)
          } catch (error) {
            return refusalOf(error)
          }
        return undefined
      }
      return goOn(0)
    },
  }
}

function refusalOf(error: unknown): AdmissionRefusal {
  if (error instanceof AdmissionError) return { reason: error.reason, message: error.message }
  return {
    reason: 'UnexpectedAdmissionError',
    message: `Allocate failed due to ${messageOf(error)}, which is unexpected`,
  }
}
