/** What a pod's resize may change (KEP-1287): processors and memory of containers that are there, and of the pod. */
import { type FieldError, forbiddenField, invalid } from '../errors/field-errors.ts'
import type { Container, Pod, PodSpec, ResourceRequirements } from '../generated/types.ts'
import { qosClass } from '../objects/qos.ts'
import { same } from './common.ts'
import { validatePodMetadataAndSpec } from './pods.ts'

const RESIZED: readonly string[] = ['cpu', 'memory']
const LISTS = ['containers', 'initContainers'] as const
const KINDS = ['requests', 'limits'] as const

const UNRESIZABLE: readonly { readonly name: string; is(pod: Pod): boolean }[] = [
  { name: 'windows', is: ({ spec }) => spec?.os?.name === 'windows' },
  { name: 'static', is: ({ metadata }) => metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined },
]

export function validatePodResize(pod: Pod, old: Pod): FieldError[] {
  const [kind] = UNRESIZABLE.filter(({ is }) => is(old))
  if (kind !== undefined) return [forbiddenField('[]', `${kind.name} pods cannot be resized`)]
  const errors = validatePodMetadataAndSpec(pod)
  const spec: Partial<PodSpec> = pod.spec ?? {}
  const before: Partial<PodSpec> = old.spec ?? {}
  if (qosClass(spec) !== (old.status?.qosClass ?? qosClass(before)))
    errors.push(invalid('spec', old.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'))
  if (!isSupported(old)) errors.push(forbiddenField('spec', 'Pod running on node without support for resize'))
  podLevelChanges(spec.resources, before.resources, errors)
  const others = LISTS.flatMap((list) => otherContainers(list, spec[list] ?? [], before[list] ?? []))
  errors.push(...others)
  if (others.length === 0) errors.push(...changes(spec, before))
  return errors
}

/** A kubelet that resizes tells of the resources that containers run with. */
function isSupported({ status }: Pod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running)
  return running === undefined || (running.resources !== undefined && running.resources !== null)
}

function otherContainers(list: string, now: readonly Container[], before: readonly Container[]): FieldError[] {
  if (now.length !== before.length)
    return [forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`)]
  return now.flatMap(({ name }, i) =>
    name === before[i]!.name
      ? []
      : [forbiddenField(`spec.${list}[${i}].name`, `${list} may not be renamed or reordered on resize`)],
  )
}

function podLevelChanges(
  now: ResourceRequirements | undefined,
  before: ResourceRequirements | undefined,
  errors: FieldError[],
): void {
  if (before !== undefined) removals('spec.resources', 'pod-level resource', now, before, errors)
  if (!same(unsized(now), unsized(before)))
    errors.push(forbiddenField('spec', 'only cpu and memory resources are mutable at pod-level'))
}

/** Of containers that are the same. */
function changes(spec: Partial<PodSpec>, before: Partial<PodSpec>): FieldError[] {
  const errors: FieldError[] = []
  for (const list of LISTS)
    for (const [i, container] of (spec[list] ?? []).entries())
      removals(`spec.${list}[${i}].resources`, 'resource', container.resources, before[list]![i]!.resources, errors)
  const isBegun = spec.resources !== undefined && before.resources === undefined && same(spec.resources, {})
  if (isBegun || spec.containers?.some((container, i) => !sameButForSize(container, before.containers![i]!)))
    errors.push(forbiddenField('spec', 'only cpu and memory resources are mutable'))
  for (const [i, container] of (spec.initContainers ?? []).entries())
    if (!sameButForSize(container, before.initContainers![i]!))
      errors.push(
        forbiddenField(
          `spec.initContainers[${i}]`,
          'only cpu and memory resources for init or sidecar containers are mutable',
        ),
      )
  return errors
}

function removals(
  path: string,
  what: string,
  now: ResourceRequirements | undefined,
  before: ResourceRequirements | undefined,
  errors: FieldError[],
): void {
  for (const kind of KINDS) {
    const isRemoved = (name: string) => before?.[kind]?.[name] !== undefined && now?.[kind]?.[name] === undefined
    if (RESIZED.some(isRemoved)) errors.push(forbiddenField(`${path}.${kind}`, `${what} ${kind} cannot be removed`))
  }
}

function sameButForSize(now: Container, before: Container): boolean {
  const rest = (container: Container) => ({ ...container, resources: unsized(container.resources) })
  return same(rest(now), rest(before))
}

function unsized(resources: ResourceRequirements | undefined): object {
  const { requests, limits, ...rest } = resources ?? {}
  const others = (list: Readonly<Record<string, unknown>> | undefined) =>
    Object.fromEntries(Object.entries(list ?? {}).filter(([name]) => !RESIZED.includes(name)))
  return { ...rest, requests: others(requests), limits: others(limits) }
}
