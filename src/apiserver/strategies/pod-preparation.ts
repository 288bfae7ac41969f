/** What a new pod's author left to the server: selectors made of the pod's own labels, AppArmor from its annotations. */
import type {
  Affinity,
  AppArmorProfile,
  LabelSelector,
  LabelSelectorRequirement,
  Pod,
  PodAffinityTerm,
  PodSpec,
} from '../../api/generated/types.ts'
import { APPARMOR_ANNOTATION, appArmorProfileOf } from '../../api/objects/apparmor-annotation.ts'
import { same } from '../../api/validation/common.ts'

/** matchLabelKeys and mismatchLabelKeys become requirements on the pod's values of those labels (KEP-3633, KEP-3243). */
export function withMatchLabelKeys(pod: Pod): Pod {
  const labels: Readonly<Record<string, string>> = pod.metadata.labels ?? {}
  const spec = pod.spec
  const changes: { -readonly [Field in keyof PodSpec]?: PodSpec[Field] } = {}
  const affinity = mapAffinity(spec?.affinity, labels)
  if (affinity !== undefined && affinity !== spec?.affinity) changes.affinity = affinity
  const constraints = spec?.topologySpreadConstraints
  const spread = constraints?.map((constraint) => withKeys(constraint, labels, constraint.matchLabelKeys, 'In'))
  if (spread?.some((constraint, i) => constraint !== constraints?.[i])) changes.topologySpreadConstraints = spread
  return Object.keys(changes).length === 0 ? pod : { ...pod, spec: { ...spec!, ...changes } }
}

function mapAffinity(affinity: Affinity | undefined, labels: Readonly<Record<string, string>>): Affinity | undefined {
  if (!affinity) return affinity
  let result = affinity
  for (const side of ['podAffinity', 'podAntiAffinity'] as const) {
    const value = affinity[side]
    if (!value) continue
    const required = mapList(value.requiredDuringSchedulingIgnoredDuringExecution, (term) => ofTerm(term, labels))
    const preferred = mapList(value.preferredDuringSchedulingIgnoredDuringExecution, (weighted) => {
      const term = ofTerm(weighted.podAffinityTerm ?? {}, labels)
      return term === weighted.podAffinityTerm || !weighted.podAffinityTerm
        ? weighted
        : { ...weighted, podAffinityTerm: term }
    })
    if (
      required === value.requiredDuringSchedulingIgnoredDuringExecution &&
      preferred === value.preferredDuringSchedulingIgnoredDuringExecution
    )
      continue
    result = {
      ...result,
      [side]: {
        ...value,
        ...(required ? { requiredDuringSchedulingIgnoredDuringExecution: required } : {}),
        ...(preferred ? { preferredDuringSchedulingIgnoredDuringExecution: preferred } : {}),
      },
    }
  }
  return result
}

function mapList<Item>(list: readonly Item[] | undefined, change: (item: Item) => Item): readonly Item[] | undefined {
  const mapped = list?.map(change)
  return mapped?.some((item, i) => item !== list?.[i]) ? mapped : list
}

function ofTerm(term: PodAffinityTerm, labels: Readonly<Record<string, string>>): PodAffinityTerm {
  return withKeys(withKeys(term, labels, term.matchLabelKeys, 'In'), labels, term.mismatchLabelKeys, 'NotIn')
}

function withKeys<Holder extends { readonly labelSelector?: LabelSelector }>(
  holder: Holder,
  labels: Readonly<Record<string, string>>,
  keys: readonly string[] | undefined,
  operator: 'In' | 'NotIn',
): Holder {
  const selector = holder.labelSelector
  const present = keys?.filter((key) => Object.hasOwn(labels, key)) ?? []
  if (!selector || present.length === 0) return holder
  const matchExpressions: readonly LabelSelectorRequirement[] = [
    ...(selector.matchExpressions ?? []),
    ...present.map((key) => ({ key, operator, values: [labels[key] ?? ''] })),
  ]
  return { ...holder, labelSelector: { ...selector, matchExpressions } }
}

/** Containers whose AppArmor profile stands in the old annotation get it in the field too, where it is not the pod's own. */
export function withAppArmorField(pod: Pod): Pod {
  const annotations = pod.metadata.annotations
  if (!annotations) return pod
  if (!Object.keys(annotations).some((key) => key.startsWith(APPARMOR_ANNOTATION))) return pod
  const spec = pod.spec
  if (spec?.os?.name === 'windows') return pod
  const changes: Record<string, unknown> = {}
  for (const list of ['containers', 'initContainers'] as const) {
    const containers = spec?.[list]
    const changed = containers?.map((container) => {
      const text = annotations[APPARMOR_ANNOTATION + container.name]
      const profile = text === undefined ? undefined : appArmorProfileOf(text)
      if (!profile || container.securityContext?.appArmorProfile || !isFieldValue(profile)) return container
      if (same(profile, spec?.securityContext?.appArmorProfile)) return container
      return { ...container, securityContext: { ...container.securityContext, appArmorProfile: profile } }
    })
    if (changed?.some((container, i) => container !== containers?.[i])) changes[list] = changed
  }
  return Object.keys(changes).length === 0 ? pod : { ...pod, spec: { ...spec!, ...changes } }
}

/** A profile that the field could not have been given stays in the annotation alone. */
function isFieldValue({ type, localhostProfile: name = '' }: AppArmorProfile): boolean {
  return type !== 'Localhost' || (name !== '' && name === name.trim())
}
