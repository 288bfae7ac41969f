/** What may change of a pod: by a plain update, and through status and ephemeralcontainers. */
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import type {
  Container,
  HostIP,
  NodeAffinity,
  Pod,
  PodCondition,
  PodExtendedResourceClaimStatus,
  PodIP,
  PodResourceClaimStatus,
  PodSpec,
  PodStatus,
  Toleration,
} from '../generated/types.ts'
import { dns1123Subdomain, qualifiedName } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { noParts, type Parts } from '../parts.ts'
import { asGiven } from '../schema/canonical.ts'
import { familyOf } from '../values/ip.ts'
import { address } from './address.ts'
import { same } from './common.ts'
import { validateEphemeralContainers } from './containers.ts'
import { printedDifference } from './difference.ts'
import { validateEnvFiles } from './environment.ts'
import { internalForm } from './internal.ts'
import { validatePodAnnotations, validatePodAnnotationsUpdate } from './pod-annotations.ts'
import { validateHostUsers, validatePodMetadataAndSpec } from './pods.ts'
import { validateVolumes } from './volumes.ts'

const SPEC = 'io.k8s.api.core.v1.PodSpec'
const EPHEMERAL = 'io.k8s.api.core.v1.EphemeralContainer'
const UNCHANGEABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

const ANNOTATIONS = 'metadata.annotations'

function validateAnnotationChanges(pod: Pod, old: Pod, errors: FieldError[]): void {
  if (pod.metadata.annotations === old.metadata.annotations) return
  validatePodAnnotationsUpdate(pod.metadata.annotations, old.metadata.annotations, ANNOTATIONS, errors)
  validatePodAnnotations(pod.metadata.annotations, pod.spec ?? {}, ANNOTATIONS, errors)
}

export function validatePodUpdate(pod: Pod, old: Pod, parts: Parts = noParts): FieldError[] {
  if (pod.spec === old.spec) {
    // The very spec that was accepted before: labels and annotations are all that can have changed.
    const errors: FieldError[] = []
    validatePodAnnotations(pod.metadata.annotations, pod.spec ?? {}, ANNOTATIONS, errors)
    validateAnnotationChanges(pod, old, errors)
    return errors
  }
  const errors = validatePodMetadataAndSpec(pod, true, parts)
  const spec: Partial<PodSpec> = pod.spec ?? {}
  const before: Partial<PodSpec> = old.spec ?? {}
  validateAnnotationChanges(pod, old, errors)
  for (const list of ['containers', 'initContainers'] as const) {
    const changed = validateContainerSet(spec?.[list] ?? [], before?.[list] ?? [], `spec.${list}`, errors)
    if (changed) return errors
  }
  if (validateDeadline(spec, before, errors)) return errors
  if (before.schedulingGates?.length || spec.schedulingGates?.length) validateGates(spec, before, errors)
  validateAddedTolerations(spec, before, errors)
  const compared = withUnchangeable(spec, before, errors)
  if (!same(compared, before))
    errors.push(
      forbiddenField(
        'spec',
        `${UNCHANGEABLE}\n${printedDifference(internalForm(SPEC, before), internalForm(SPEC, compared))}`,
      ),
    )
  return errors
}

function validateContainerSet(
  now: readonly Fields[],
  before: readonly Fields[],
  path: string,
  errors: FieldError[],
): boolean {
  if (now.length !== before.length) {
    errors.push(forbiddenField(path, 'pod updates may not add or remove containers'))
    return true
  }
  return false
}

/** True when it may not be so, and nothing else is looked at. */
function validateDeadline(spec: Partial<PodSpec>, before: Partial<PodSpec>, errors: FieldError[]): boolean {
  const now: number | undefined = spec.activeDeadlineSeconds ?? undefined
  const was: number | undefined = before.activeDeadlineSeconds ?? undefined
  const path = 'spec.activeDeadlineSeconds'
  const known = errors.length
  if (now !== undefined) {
    if (now < 0 || now > 2147483647) errors.push(invalid(path, now, 'must be between 0 and 2147483647, inclusive'))
    else if (was !== undefined && was < now)
      errors.push(invalid(path, now, 'must be less than or equal to previous value'))
    return errors.length > known
  }
  if (was !== undefined) errors.push(invalid(path, null, 'must not update from a positive integer to nil value'))
  return false
}

/** Gates are only ever taken away. */
function validateGates(spec: Partial<PodSpec>, before: Partial<PodSpec>, errors: FieldError[]): void {
  const known = new Set<string>((before.schedulingGates ?? []).map((gate) => gate.name))
  ;(spec.schedulingGates ?? []).forEach((gate, i) => {
    if (!known.has(gate.name))
      errors.push(
        forbiddenField(
          `spec.schedulingGates[${i}].name`,
          `only deletion is allowed, but found new scheduling gate '${gate.name}'`,
        ),
      )
  })
}

function validateAddedTolerations(spec: Partial<PodSpec>, before: Partial<PodSpec>, errors: FieldError[]): void {
  const now: readonly Toleration[] = spec.tolerations ?? []
  for (const old of before.tolerations ?? []) {
    const kept = now.some((toleration) =>
      same({ ...toleration, tolerationSeconds: undefined }, { ...old, tolerationSeconds: undefined }),
    )
    if (!kept) {
      errors.push(
        forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'),
      )
      return
    }
  }
}

/** The new spec with everything that may change set back to what it was: what then differs is refused. */
function withUnchangeable(spec: Partial<PodSpec>, before: Partial<PodSpec>, errors: FieldError[]): Fields {
  const compared: Record<string, unknown> = { ...spec }
  const restore = (field: string) => {
    if ((before as Fields)[field] === undefined) delete compared[field]
    else compared[field] = (before as Fields)[field]
  }
  for (const list of ['containers', 'initContainers'] as const)
    if (spec[list])
      compared[list] = spec[list].map((container: Container, i: number) => ({
        ...container,
        image: before[list]?.[i]?.image,
      }))
  restore('activeDeadlineSeconds')
  restore('tolerations')
  if (before.terminationGracePeriodSeconds! < 0 && spec.terminationGracePeriodSeconds === 1)
    restore('terminationGracePeriodSeconds')
  restore('schedulingGates')
  if (before.schedulingGates?.length) {
    gatedChanges(spec, before, compared, errors)
  }
  return compared
}

/** While a pod is gated it may still be directed elsewhere, but only more narrowly (KEP-3838). */
function gatedChanges(
  spec: Partial<PodSpec>,
  before: Partial<PodSpec>,
  compared: Record<string, unknown>,
  errors: FieldError[],
): void {
  const selector: Fields = spec.nodeSelector ?? {}
  if (!Object.entries(before.nodeSelector ?? {}).every(([key, value]) => selector[key] === value))
    errors.push(
      invalid(
        'spec.nodeSelector',
        asGiven(spec, 'nodeSelector', {}),
        'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      ),
    )
  if (before.nodeSelector === undefined) delete compared['nodeSelector']
  else compared['nodeSelector'] = before.nodeSelector
  const now: NodeAffinity | undefined = spec.affinity?.nodeAffinity
  const was: NodeAffinity | undefined = before.affinity?.nodeAffinity
  if (!same(now, was)) {
    narrowedNodes(now, was, errors)
    const { nodeAffinity: _, ...others } = spec.affinity ?? {}
    const affinity = was === undefined ? others : { ...others, nodeAffinity: was }
    if (before.affinity === undefined && Object.keys(affinity).length === 0) delete compared['affinity']
    else compared['affinity'] = affinity
  }
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'

/** Terms may be added where there were none; to each of those that are there requirements may be added at the end. */
function narrowedNodes(now: NodeAffinity | undefined, was: NodeAffinity | undefined, errors: FieldError[]): void {
  const before: readonly Fields[] = was?.[REQUIRED]?.nodeSelectorTerms ?? []
  if (before.length === 0) return
  const path = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`
  const terms: readonly Fields[] = now?.[REQUIRED]?.nodeSelectorTerms ?? []
  const form = (term: Fields) => internalForm('io.k8s.api.core.v1.NodeSelectorTerm', term)
  if (terms.length !== before.length) {
    const shown = terms.length > 0 ? terms.map(form) : asGiven(now?.[REQUIRED], 'nodeSelectorTerms', [])
    errors.push(invalid(path, shown, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'))
    return
  }
  terms.forEach((term, i) => {
    const added = ['matchExpressions', 'matchFields'].every((field) =>
      (before[i]![field] ?? []).every((requirement: Fields, j: number) => same(requirement, term[field]?.[j])),
    )
    if (!added)
      errors.push(invalid(`${path}[${i}]`, form(term), 'only additions are allowed (no mutations or deletions)'))
  })
}

export function validatePodStatusUpdate(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = []
  validateAnnotationChanges(pod, old, errors)
  const status: Partial<PodStatus> = pod.status ?? {}
  const before: Partial<PodStatus> = old.status ?? {}
  validateConditionTypes(status.conditions ?? [], errors)
  validateNomination(pod, status, before, errors)
  if ((status.observedGeneration ?? 0) < 0)
    errors.push(invalid('status.observedGeneration', status.observedGeneration, 'must be a non-negative integer'))
  if (before.qosClass && status.qosClass !== before.qosClass)
    errors.push(invalid('status.qosClass', status.qosClass ?? '', 'field is immutable'))
  const policy: string = pod.spec?.restartPolicy ?? ''
  for (const list of ['containerStatuses', 'initContainerStatuses'] as const)
    validateRestarts(status?.[list] ?? [], before?.[list] ?? [], policy, list, pod, errors)
  validateClaimStatuses(pod, status, errors)
  validateExtendedClaim(pod, status.extendedResourceClaimStatus, errors)
  validatePodIPs(status, errors)
  validateHostIPs(status, errors)
  validateDeviceHealth(status, errors)
  return errors
}

/** Kubernetes names the field as its Go type does. */
function validateConditionTypes(conditions: readonly PodCondition[], errors: FieldError[]): void {
  conditions.forEach(({ type = '' }, i) => {
    for (const message of qualifiedName(type)) errors.push(invalid(`status.conditions[${i}].Type`, type, message))
  })
}

/** hostIP is the first of hostIPs. */
function validateHostIPs(status: Partial<PodStatus>, errors: FieldError[]): void {
  const sent: readonly HostIP[] = status.hostIPs ?? []
  if (sent.length === 0) return
  const first: string = sent[0]!.ip ?? ''
  if (first !== (status.hostIP ?? '')) errors.push(invalid('status.hostIPs[0].ip', first, 'must be equal to `hostIP`'))
  sent.forEach(({ ip = '' }, i) => {
    address(ip, `status.hostIPs[${i}]`, errors, { root: status })
  })
}

function validateClaimStatuses(pod: Pod, status: Partial<PodStatus>, errors: FieldError[]): void {
  const claims = pod.spec?.resourceClaims ?? []
  const told: readonly PodResourceClaimStatus[] = status.resourceClaimStatuses ?? []
  told.forEach(({ name = '' }, i) => {
    if (!claims.some((claim) => claim.name === name))
      errors.push(
        invalid(
          `status.resourceClaimStatuses[${i}].name`,
          name,
          'must match the name of an entry in `spec.resourceClaims`',
        ),
      )
  })
}

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown']

/** What is told of a container's devices (KEP-4680). */
function validateDeviceHealth(status: Partial<PodStatus>, errors: FieldError[]): void {
  for (const list of ['containerStatuses', 'initContainerStatuses'] as const)
    for (const [i, { allocatedResourcesStatus = [] }] of ((status[list] ?? []) as readonly Fields[]).entries())
      for (const [j, { resources = [] }] of (allocatedResourcesStatus as readonly Fields[]).entries())
        for (const [k, { health = '' }] of (resources as readonly Fields[]).entries())
          if (!HEALTH.includes(health)) {
            const at = `status.${list}[${i}].allocatedResourcesStatus[${j}].resources[${k}].health`
            errors.push(notSupported(at, health, HEALTH))
          }
}

/** The claim that stands for a pod's extended resources names the pod's containers (KEP-5004). */
function validateExtendedClaim(
  pod: Pod,
  claim: PodExtendedResourceClaimStatus | undefined,
  errors: FieldError[],
): void {
  if (claim === undefined) return
  const spec: Partial<PodSpec> = pod.spec ?? {}
  const names = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ name }) => name)
  const { requestMappings: mappings = [], resourceClaimName: claimName = '' } = claim
  const path = 'status.extendedResourceClaimStatus'
  if (mappings.length === 0)
    errors.push(required(`${path}.requestMappings`, 'at least one request mapping is required'))
  mappings.forEach(({ containerName = '' }, i) => {
    if (!names.includes(containerName))
      errors.push(
        invalid(
          `${path}.requestMappings[${i}].containerName`,
          containerName,
          'must match the name of an entry in spec.initContainers.name or spec.containers.name',
        ),
      )
  })
  for (const message of dns1123Subdomain(claimName))
    errors.push(invalid(`${path}.resourceClaimName`, claimName, message))
}

function validateNomination(
  pod: Pod,
  status: Partial<PodStatus>,
  before: Partial<PodStatus>,
  errors: FieldError[],
): void {
  const nominated: string = status.nominatedNodeName ?? ''
  if (nominated === '') return
  const path = 'status.nominatedNodeName'
  for (const message of dns1123Subdomain(nominated)) errors.push(invalid(path, nominated, message))
  if (pod.spec?.nodeName && nominated !== (before.nominatedNodeName ?? ''))
    errors.push(forbiddenField(path, 'may not be set on pods that are already bound to a node'))
}

/** podIP alone counts as the first of podIPs. */
function validatePodIPs(status: Partial<PodStatus>, errors: FieldError[]): void {
  const sent: readonly PodIP[] = status.podIPs ?? []
  const ips: readonly string[] = sent.length > 0 ? sent.map((entry) => entry.ip ?? '') : [status.podIP ?? '']
  if (sent.length === 0 && ips[0] === '') return
  const before = errors.length
  ips.forEach((ip, i) => {
    address(ip, `status.podIPs[${i}]`, errors, { root: status })
  })
  if (errors.length > before || ips.length < 2) return
  const families = new Set(ips.map(familyOf))
  if (ips.length > 2 || families.size < ips.length)
    errors.push(
      invalid(
        'status.podIPs',
        ips.map((ip) => ({ IP: ip })),
        'may specify no more than one IP for each IP family',
      ),
    )
}

/** A container that has ended for good does not run again. */
function validateRestarts(
  now: readonly Fields[],
  before: readonly Fields[],
  policy: string,
  list: string,
  pod: Pod,
  errors: FieldError[],
): void {
  if (policy === 'Always') return
  for (const old of before) {
    const ended: Fields | undefined = old['state']?.terminated
    if (!ended) continue
    if (ended['exitCode'] !== 0 && policy === 'OnFailure') continue
    const container: Container | undefined = pod.spec?.[
      list === 'containerStatuses' ? 'containers' : 'initContainers'
    ]?.find((c) => c.name === old['name'])
    if (container?.restartPolicy || container?.restartPolicyRules?.length) continue
    const i = now.findIndex((status) => status['name'] === old['name'])
    if (i >= 0 && !now[i]!['state']?.terminated)
      errors.push(forbiddenField(`status.${list}[${i}].state`, 'may not be transitioned to non-terminated state'))
  }
}

export function validateEphemeralContainersUpdate(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<PodSpec> = pod.spec ?? {}
  const volumes = validateVolumes(spec.volumes ?? [], pod.metadata.name ?? '', 'spec.volumes', [])
  const claims = new Set<string>((spec.resourceClaims ?? []).map((claim) => claim.name ?? ''))
  const now = spec.ephemeralContainers ?? []
  validateEphemeralContainers(now, 'spec.ephemeralContainers', { spec, volumes, claims }, errors)
  validateHostUsers(spec, 'spec', errors)
  now.forEach((container, i) => {
    validateEnvFiles(container.env ?? [], `spec.ephemeralContainers[${i}].env`, spec.volumes ?? [], errors)
  })
  for (const before of old.spec?.ephemeralContainers ?? []) {
    const kept = now.find((container) => container.name === before.name)
    if (!kept)
      errors.push(
        forbiddenField(
          'spec.ephemeralContainers',
          `existing ephemeral containers ${JSON.stringify(before.name)} may not be removed\n`,
        ),
      )
    else if (!same(kept, before))
      errors.push(
        forbiddenField(
          'spec.ephemeralContainers',
          `existing ephemeral containers ${JSON.stringify(before.name)} may not be changed\n${printedDifference(internalForm(EPHEMERAL, before), internalForm(EPHEMERAL, kept))}`,
        ),
      )
  }
  return errors
}
