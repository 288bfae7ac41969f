/** RuntimeClass: the class exists, and its overhead and scheduling rules become the pod's (KEP-688). */
import type { Pod, RuntimeClass, Toleration } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { compareQuantities } from '../../../api/values/quantity.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../plugin.ts'
import { isPod, refused, withSpec } from './pods.ts'

type Amounts = Readonly<Record<string, string>>
type Labels = Readonly<Record<string, string>>

export const runtimeClass: AdmissionPluginFactory = (reads) => ({
  name: 'RuntimeClass',
  handles: (operation) => operation === 'CREATE',
  mutate(attributes) {
    const pod: Pod = attributes.object!
    if (!isPod(attributes)) return pod
    const name = pod.spec!.runtimeClassName
    if (name === undefined) return apply(attributes, pod, undefined)
    const found = reads.get<RuntimeClass>('node.k8s.io', 'runtimeclasses', '', name)
    if (found) return apply(attributes, pod, found)
    return reads.getLive<RuntimeClass>('node.k8s.io', 'runtimeclasses', '', name).then((live) => {
      if (live === undefined) throw refused(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
      return apply(attributes, pod, live)
    })
  },
  /** Comes after the pod's own validation: spec.overhead must be what the RuntimeClass says. */
  validate(attributes) {
    if (!isPod(attributes)) return
    const pod: Pod = attributes.object!
    const { runtimeClassName, overhead } = pod.spec!
    if (overhead === undefined) return
    const found =
      runtimeClassName === undefined
        ? undefined
        : reads.get<RuntimeClass>('node.k8s.io', 'runtimeclasses', '', runtimeClassName)
    if (found?.overhead?.podFixed === undefined)
      throw refused(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
  },
})

function apply(attributes: AdmissionAttributes, pod: Pod, found: RuntimeClass | undefined): KubeObject {
  const overhead = found?.overhead?.podFixed
  const given = pod.spec!.overhead
  if (given && overhead && !sameAmounts(given, overhead))
    throw refused(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
  const changes: { overhead?: Amounts; nodeSelector?: Labels; tolerations?: readonly Toleration[] } = {}
  if (overhead && !given) changes.overhead = overhead
  const scheduling = found?.scheduling
  if (scheduling?.nodeSelector) changes.nodeSelector = mergeSelectors(attributes, pod, scheduling.nodeSelector)
  if (scheduling?.tolerations?.length) {
    const present = pod.spec!.tolerations ?? []
    const known = new Set(present.map((toleration) => JSON.stringify(toleration)))
    const added = scheduling.tolerations.filter((t) => !known.has(JSON.stringify(t)))
    if (added.length) changes.tolerations = [...present, ...added]
  }
  return Object.keys(changes).length ? withSpec(pod, changes) : pod
}

function sameAmounts(a: Amounts, b: Amounts): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => b[name] !== undefined && compareQuantities(a[name] as string, b[name]) === 0)
  )
}

function mergeSelectors(attributes: AdmissionAttributes, pod: Pod, wanted: Labels): Labels {
  const present: Labels = pod.spec!.nodeSelector ?? {}
  for (const [key, value] of Object.entries(wanted))
    if (present[key] !== undefined && present[key] !== value)
      throw refused(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${present[key]}`,
      )
  return { ...present, ...wanted }
}
