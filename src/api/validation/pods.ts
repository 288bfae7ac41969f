/**
 * Pod and PodSpec: the rules that hold wherever pods are made, and those of pods themselves. Called by the strategies of
 * pods and of everything with a pod template.
 */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../errors/field-errors.ts'
import type { Pod, PodSpec } from '../generated/types.ts'
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../names/name-formats.ts'
import { containerResourceName, resourceQuantity } from '../names/resource-names.ts'
import type { Fields, ObjectMeta } from '../object.ts'
import { isMirrorPod } from '../objects/mirror-pods.ts'
import { podLimits, podRequests } from '../objects/pod-requests.ts'
import { noParts, type Parts } from '../parts.ts'
import { validateAffinity, validateTolerations, validateTopologySpread } from './affinity.ts'
import { validateHostProcess, validatePodSecurityContext } from './container-security.ts'
import { type PodFacts, validateContainers, validateEphemeralContainers, validateInitContainers } from './containers.ts'
import { validateEnvFiles } from './environment.ts'
import { internalForm } from './internal.ts'
import { validateLabels } from './labels.ts'
import { validateAnnotationsMatchFields, validatePodAnnotations } from './pod-annotations.ts'
import { validateDnsConfig, validateDnsPolicy, validateHostAliases } from './pod-network.ts'
import { validateOs } from './pod-os.ts'
import { validatePodResources } from './resources.ts'
import { validateVolumes } from './volumes.ts'

/** Rules of a new pod (its metadata's are the store's). */
export function validatePod(pod: Pod, parts: Parts = noParts): FieldError[] {
  const errors = validatePodMetadataAndSpec(pod, false, parts)
  const spec: Partial<PodSpec> = pod.spec ?? {}
  if (spec.ephemeralContainers?.length)
    errors.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'))
  if (spec.nodeName && spec.schedulingGates?.length)
    errors.push(forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'))
  validateAnnotationsMatchFields(pod.metadata.annotations, spec, 'spec', errors)
  return errors
}

/** What holds for a pod at its creation and at every update. */
export function validatePodMetadataAndSpec(pod: Pod, isUpdate = false, parts: Parts = noParts): FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<PodSpec> = pod.spec ?? {}
  validatePodAnnotations(pod.metadata.annotations, spec, 'metadata.annotations', errors)
  if (isMirrorPod(pod) || !parts.holds(spec, isFaultless)) errors.push(...specErrors(spec, pod.metadata, isUpdate))
  return errors
}

/** Whether nothing is wrong with a pod's spec, whatever the pod's name and whether it is new. */
const isFaultless = (spec: Fields): boolean =>
  !spec['volumes']?.some((volume: Fields) => volume['ephemeral']) && specErrors(spec, {}, false).length === 0

function specErrors(spec: Fields, metadata: ObjectMeta, isUpdate: boolean): readonly FieldError[] {
  const errors: FieldError[] = []
  validatePodSpec(spec, metadata, 'spec', errors)
  if (!spec['serviceAccountName'])
    forbidTokens(spec, isUpdate ? ['serviceAccountToken'] : ['serviceAccountToken', 'podCertificate'], errors)
  for (const list of ['containers', 'initContainers'] as const)
    spec[list]?.forEach((container: Fields, i: number) => {
      const image: string = container['image'] ?? ''
      if (image !== image.trim())
        errors.push(invalid(`spec.${list}[${i}].image`, image, 'must not have leading or trailing whitespace'))
    })
  return errors
}

function forbidTokens(spec: Fields, kinds: readonly string[], errors: FieldError[]): void {
  spec['volumes']?.forEach((volume: Fields, i: number) => {
    volume['projected']?.sources?.forEach((source: Fields, j: number) => {
      for (const kind of kinds)
        if (source[kind])
          errors.push(
            forbiddenField(
              `spec.volumes[${i}].projected.sources[${j}].${kind}`,
              'must not be specified when serviceAccountName is not set',
            ),
          )
    })
  })
}

/** In the order in which rules about all containers go through them. */
const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never']

/** PodSpec, in a pod or a template. `metadata` is the pod's or the template's. */
export function validatePodSpec(spec: Fields, metadata: ObjectMeta, path: string, errors: FieldError[]): void {
  const at = (field: string) => `${path}.${field}`
  const volumes = validateVolumes(spec['volumes'] ?? [], metadata.name ?? '', at('volumes'), errors)
  const claims = new Set<string>((spec['resourceClaims'] ?? []).flatMap((claim: Fields) => claim['name'] || []))
  if (!isMirrorPod({ metadata })) validateResourceClaims(spec['resourceClaims'] ?? [], at('resourceClaims'), errors)
  else if (spec['resourceClaims']?.length)
    errors.push(forbiddenField('[]', 'static pods do not support resource claims'))
  const facts: PodFacts = { spec, volumes, claims }
  validateContainers(spec['containers'] ?? [], at('containers'), facts, errors)
  validateInitContainers(spec['initContainers'] ?? [], at('initContainers'), facts, errors)
  validateEphemeralContainers(spec['ephemeralContainers'] ?? [], at('ephemeralContainers'), facts, errors)
  if (spec['resources'] && spec['os']?.name === 'windows')
    errors.push(forbiddenField(at('resources'), 'may not be set for a windows pod'))
  else if (spec['resources']) {
    const { resources: _, overhead: _o, ...bare } = spec
    validatePodResources(
      spec,
      { requests: podRequests(bare), limits: podLimits(bare) },
      claims,
      at('resources'),
      errors,
    )
  }
  validateHostNetwork(spec, path, errors)
  const restart: string = spec['restartPolicy'] ?? ''
  if (restart === '') errors.push(required(at('restartPolicy')))
  else if (!RESTART_POLICIES.includes(restart))
    errors.push(notSupported(at('restartPolicy'), restart, RESTART_POLICIES))
  validateDnsPolicy(spec['dnsPolicy'] ?? '', at('dnsPolicy'), errors)
  validateLabels(spec['nodeSelector'], at('nodeSelector'), errors)
  validatePodSecurityContext(spec, at('securityContext'), errors)
  validateAffinity(spec['affinity'], at('affinity'), errors)
  validateDnsConfig(spec['dnsConfig'], spec['dnsPolicy'] ?? '', at('dnsConfig'), errors)
  ;(spec['readinessGates'] ?? []).forEach((gate: Fields, i: number) => {
    const type: string = gate['conditionType'] ?? ''
    for (const message of qualifiedName(type))
      errors.push(invalid(`${at('readinessGates')}[${i}].conditionType`, type, message))
  })
  validateSchedulingGates(spec['schedulingGates'] ?? [], at('schedulingGates'), errors)
  validateTopologySpread(spec['topologySpreadConstraints'], at('topologySpreadConstraints'), errors)
  validateHostProcess(spec, path, errors)
  validateHostUsers(spec, path, errors)
  validateHostnameOverride(spec, at('hostnameOverride'), errors)
  named(spec['serviceAccountName'], dns1123Subdomain, at('serviceAccountName'), errors)
  named(spec['nodeName'], dns1123Subdomain, at('nodeName'), errors)
  const deadline: number | undefined = spec['activeDeadlineSeconds'] ?? undefined
  if (deadline !== undefined && (deadline < 1 || deadline > 2147483647))
    errors.push(invalid(at('activeDeadlineSeconds'), deadline, 'must be between 1 and 2147483647, inclusive'))
  named(spec['hostname'], dns1123Label, at('hostname'), errors)
  named(spec['subdomain'], dns1123Label, at('subdomain'), errors)
  validateTolerations(spec['tolerations'] ?? [], at('tolerations'), errors)
  validateHostAliases(spec['hostAliases'], at('hostAliases'), errors)
  named(spec['priorityClassName'], dns1123Subdomain, at('priorityClassName'), errors)
  if (spec['runtimeClassName'] !== undefined && spec['runtimeClassName'] !== null)
    for (const message of dns1123Subdomain(spec['runtimeClassName']))
      errors.push(invalid(at('runtimeClassName'), spec['runtimeClassName'], message))
  const preemption: string | undefined = spec['preemptionPolicy'] ?? undefined
  if (preemption !== undefined) {
    if (preemption === '') errors.push(required(at('preemptionPolicy')))
    else if (preemption !== 'PreemptLowerPriority' && preemption !== 'Never')
      errors.push(notSupported(at('preemptionPolicy'), preemption, ['PreemptLowerPriority', 'Never']))
  }
  for (const [name, amount] of Object.entries<string>(spec['overhead'] ?? {})) {
    containerResourceName(name, `${at('overhead')}.limits[${name}]`, errors)
    resourceQuantity(name, amount, `${at('overhead')}.limits[${name}]`, errors)
  }
  validateOs(spec, path, errors)
  validateFilesOfVariables(spec, path, errors)
}

function validateFilesOfVariables(spec: Partial<PodSpec>, path: string, errors: FieldError[]): void {
  for (const list of CONTAINER_LISTS)
    spec[list]?.forEach((container, i) => {
      validateEnvFiles(container.env ?? [], `${path}.${list}[${i}].env`, spec.volumes ?? [], errors)
    })
}

function named(
  value: string | undefined,
  format: (text: string) => readonly string[],
  path: string,
  errors: FieldError[],
): void {
  if (value) for (const message of format(value)) errors.push(invalid(path, value, message))
}

/** In the host's network every port of a container is a port of the host. */
function validateHostNetwork(spec: Fields, path: string, errors: FieldError[]): void {
  if (!spec['hostNetwork']) return
  for (const list of ['containers', 'initContainers'] as const)
    spec[list]?.forEach((container: Fields, i: number) => {
      ;(container['ports'] ?? []).forEach((port: Fields, j: number) => {
        if (port['hostPort'] && port['hostPort'] !== port['containerPort'])
          errors.push(
            invalid(
              `${path}.${list}[${i}].ports[${j}].hostPort`,
              port['hostPort'],
              'must match `containerPort` when `hostNetwork` is true',
            ),
          )
      })
    })
}

export function validateHostUsers(spec: Partial<PodSpec>, path: string, errors: FieldError[]): void {
  if (spec.hostUsers !== false) return
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const)
    if (spec[field])
      errors.push(forbiddenField(`${path}.${field.replace(/^host(?=PID|IPC)/, 'Host')}`, 'when `hostUsers` is false'))
  for (const list of CONTAINER_LISTS)
    spec[list]?.forEach((container, i) => {
      if (container.volumeDevices?.length)
        errors.push(forbiddenField(`${path}.${list}[${i}].volumeDevices`, 'when `hostUsers` is false'))
    })
}

/** What a kernel takes as a host's name, in bytes. */
const LONGEST_HOSTNAME = 64

/** The name of a pod's own host: there is none in the node's network. */
function validateHostnameOverride(spec: Partial<PodSpec>, path: string, errors: FieldError[]): void {
  const name: string | undefined = spec.hostnameOverride
  if (name === undefined) return
  for (const field of ['setHostnameAsFQDN', 'hostNetwork'] as const)
    if (spec[field]) errors.push(forbiddenField(path, `may not be specified when ${field} is true`))
  if (Buffer.byteLength(name) > LONGEST_HOSTNAME) errors.push(tooLong(path, LONGEST_HOSTNAME))
  for (const message of dns1123Subdomain(name)) errors.push(invalid(path, name, message))
}

function validateSchedulingGates(gates: readonly Fields[], path: string, errors: FieldError[]): void {
  const seen = new Set<string>()
  gates.forEach((gate, i) => {
    const name: string = gate['name'] ?? ''
    for (const message of qualifiedName(name)) errors.push(invalid(`${path}[${i}]`, name, message))
    if (seen.has(name)) errors.push(duplicate(`${path}[${i}]`, name))
    seen.add(name)
  })
}

function validateResourceClaims(claims: readonly Fields[], path: string, errors: FieldError[]): void {
  const seen = new Set<string>()
  claims.forEach((claim, i) => {
    const at = `${path}[${i}]`
    const name: string = claim['name'] ?? ''
    const messages = dns1123Label(name)
    if (seen.has(name)) errors.push(duplicate(`${at}.name`, name))
    seen.add(name)
    if (name === '') errors.push(required(`${at}.name`))
    else for (const message of messages) errors.push(invalid(`${at}.name`, name, message))
    const { resourceClaimName, resourceClaimTemplateName } = claim
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined)
      errors.push(
        invalid(
          at,
          internalForm('io.k8s.api.core.v1.PodResourceClaim', claim),
          'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
        ),
      )
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined)
      errors.push(
        invalid(
          at,
          internalForm('io.k8s.api.core.v1.PodResourceClaim', claim),
          'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
        ),
      )
    for (const field of ['resourceClaimName', 'resourceClaimTemplateName'] as const)
      if (claim[field] !== undefined)
        for (const message of dns1123Subdomain(claim[field]))
          errors.push(invalid(`${at}.${field}`, claim[field], message))
  })
}
