/**
 * Priority: a pod's priority is what its PriorityClass says (or the default class, or 0), never what its author wrote; and
 * only one class is the default (API concept: pod priority and preemption).
 */

import type { Pod, PodSpec, PriorityClass } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../plugin.ts'
import { isPod, refused, withSpec } from './pods.ts'

const GROUP = 'scheduling.k8s.io'

export const priority: AdmissionPluginFactory = (reads, host) => {
  const generation = host.generationOf([{ group: GROUP, resource: 'priorityclasses' }])
  let knownAt = -1
  let known: PriorityClass | undefined
  const defaultClass = () => {
    const now = generation()
    if (now !== knownAt) known = findDefaultClass(reads)
    knownAt = now
    return known
  }
  return {
    name: 'Priority',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    mutate(attributes) {
      const object = attributes.object!
      if (!isPod(attributes)) return object
      if (attributes.operation === 'UPDATE') return keep(object, attributes)
      return compute(attributes, object, reads, defaultClass)
    },
    validate({ endpoint, subresource, object }) {
      const { row } = endpoint
      if (row.group !== GROUP || row.resource !== 'priorityclasses' || subresource !== '') return
      const priorityClass = object as PriorityClass | undefined
      if (!priorityClass?.globalDefault) return
      const other = defaultClass()
      if (other === undefined || other.metadata.name === priorityClass.metadata.name) return
      throw refused(
        { endpoint, name: priorityClass.metadata.name ?? '' } as AdmissionAttributes,
        `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
      )
    },
  }
}

/** An update that leaves the fields out means the old values. */
function keep(pod: Pod, { oldObject, endpoint: { parts } }: AdmissionAttributes): KubeObject {
  const old: Pod | undefined = oldObject
  const before: Partial<PodSpec> = old?.spec ?? {}
  const kept: Record<string, unknown> = {}
  for (const field of ['priority', 'preemptionPolicy'] as const)
    if (pod.spec![field] === undefined && before[field] !== undefined) kept[field] = before[field]
  return Object.keys(kept).length === 0 ? pod : withSpec(pod, kept, parts)
}

/** The default class; of several (a race) the lowest. */
function findDefaultClass(reads: CacheReads): PriorityClass | undefined {
  let found: PriorityClass | undefined
  for (const candidate of reads.list<PriorityClass>(GROUP, 'priorityclasses'))
    if (candidate.globalDefault && (found === undefined || candidate.value < found.value)) found = candidate
  return found
}

function compute(
  attributes: AdmissionAttributes,
  pod: Pod,
  reads: CacheReads,
  defaultClass: () => PriorityClass | undefined,
): KubeObject | Promise<KubeObject> {
  const name: string = pod.spec!.priorityClassName ?? ''
  if (name === '') return apply(attributes, pod, defaultClass())
  const found = reads.get<PriorityClass>(GROUP, 'priorityclasses', '', name)
  if (found) return apply(attributes, pod, found)
  return reads.getLive<PriorityClass>(GROUP, 'priorityclasses', '', name).then((live) => {
    if (live === undefined) throw refused(attributes, `no PriorityClass with name ${name} was found`)
    return apply(attributes, pod, live)
  })
}

function apply(attributes: AdmissionAttributes, pod: Pod, priorityClass: PriorityClass | undefined): KubeObject {
  const spec = pod.spec!
  const value = priorityClass?.value ?? 0
  const policy = priorityClass?.preemptionPolicy ?? 'PreemptLowerPriority'
  if (spec.priority !== undefined && spec.priority !== value)
    throw refused(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    )
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy)
    throw refused(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    )
  const named = priorityClass && !spec.priorityClassName ? { priorityClassName: priorityClass.metadata.name ?? '' } : {}
  return withSpec(pod, { priority: value, preemptionPolicy: policy, ...named }, attributes.endpoint.parts)
}
