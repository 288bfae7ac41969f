/** What is accepted of pods, but told to the user: what is deprecated, does nothing, or is likely a mistake. */
import type {
  Container,
  ContainerPort,
  DaemonSet,
  Deployment,
  EphemeralContainer,
  Job,
  Pod,
  PodSpec,
  PodTemplateSpec,
  ReplicaSet,
  ReplicationController,
  SeccompProfile,
  StatefulSet,
} from '../generated/types.ts'
import { dns1123Label } from '../names/name-formats.ts'
import type { Fields, Given, KubeObject } from '../object.ts'
import { APPARMOR_ANNOTATION, appArmorProfileOf } from '../objects/apparmor-annotation.ts'
import { noParts, type Parts } from '../parts.ts'
import { isWholeInThousandths } from '../values/quantity.ts'
import { same } from './common.ts'
import { volumeWarnings } from './pod-volume-warnings.ts'
import { addressWarnings, fractional, isBytes, NODE_LABELS, termWarnings } from './warnings.ts'

export function podWarnings(pod: Pod, parts: Parts = noParts): string[] {
  const warnings: string[] = []
  const messages = dns1123Label(pod.metadata.name ?? '')
  if (messages.length)
    warnings.push(
      `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
    )
  const spec: Partial<PodSpec> = pod.spec ?? {}
  const { annotations } = pod.metadata
  return [
    ...warnings,
    ...(annotations ? specWarnings(spec, annotations, 'spec', 'metadata', false) : parts.once(spec, bareWarnings)),
  ]
}

/** Of a pod without annotations. */
const bareWarnings = (spec: Fields) => specWarnings(spec, undefined, 'spec', 'metadata', false)

/** The name of what makes pods becomes part of theirs. */
export function podNameWarnings(object: KubeObject): string[] {
  const messages = dns1123Label(object.metadata.name ?? '')
  return messages.length === 0
    ? []
    : [
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
      ]
}

type WithTemplate = Deployment | ReplicaSet | ReplicationController | Given<DaemonSet | StatefulSet | Job>

/** Warnings of a kind with a template at spec.template, at an update: only with a new generation, whatever made it. */
export const podTemplateUpdateWarnings = (object: WithTemplate, old: WithTemplate): string[] =>
  object.metadata.generation === old.metadata.generation
    ? []
    : podTemplateWarnings(object.spec?.template, 'spec.template')

/** DaemonSets count the generations of their templates apart. */
export const daemonSetUpdateWarnings = (object: Given<DaemonSet>, old: Given<DaemonSet>): string[] =>
  same(object.spec?.template, old.spec?.template) ? [] : podTemplateWarnings(object.spec?.template, 'spec.template')

export function podTemplateWarnings(template: PodTemplateSpec | undefined, path: string): string[] {
  if (!template) return []
  return specWarnings(template.spec ?? {}, template.metadata?.annotations, `${path}.spec`, `${path}.metadata`, true)
}

function specWarnings(
  spec: Fields,
  annotations: Readonly<Record<string, string>> | undefined,
  path: string,
  metadata: string,
  isTemplate: boolean,
): string[] {
  const warnings: string[] = []
  for (const key of Object.keys(spec['nodeSelector'] ?? {}).sort())
    if (Object.hasOwn(NODE_LABELS, key)) warnings.push(`${path}.nodeSelector[${key}]: ${NODE_LABELS[key]}`)
  warnings.push(...affinityWarnings(spec, path))
  spec['topologySpreadConstraints']?.forEach((constraint: Fields, i: number) => {
    const key = constraint['topologyKey'] ?? ''
    if (Object.hasOwn(NODE_LABELS, key))
      warnings.push(`${path}.topologySpreadConstraints[${i}].topologyKey: ${key} is ${NODE_LABELS[key]}`)
    if (!constraint['labelSelector'])
      warnings.push(
        `${path}.topologySpreadConstraints[${i}].labelSelector: a null labelSelector results in matching no pod`,
      )
  })
  for (const [key, words] of UNHEARD)
    if (annotations?.[key] !== undefined) warnings.push(`${metadata}.annotations[${key}]: ${words}`)
  warnings.push(...volumeWarnings(spec, path))
  const aliases: readonly Fields[] = spec['hostAliases'] ?? []
  warnings.push(...repeated(aliases, 'ip', `${path}.hostAliases`))
  const secrets: readonly Fields[] = spec['imagePullSecrets'] ?? []
  warnings.push(...repeated(secrets, 'name', `${path}.imagePullSecrets`))
  secrets.forEach((secret, i) => {
    if (!secret['name']) warnings.push(`${path}.imagePullSecrets[${i}].name: invalid empty name ""`)
  })
  for (const [name, text] of Object.entries<string>(spec['overhead'] ?? {}))
    if (isBytes(name) && !isWholeInThousandths(text)) warnings.push(fractional(`${path}.overhead[${name}]`, text))
  if (annotations)
    warnings.push(...seccompWarnings(spec['securityContext']?.seccompProfile, SECCOMP_OF_POD, annotations, metadata))
  eachContainer(spec, path, (container, at) => {
    if (annotations) {
      const key = `${SECCOMP_OF_CONTAINER}${container.name}`
      warnings.push(...seccompWarnings(container.securityContext?.seccompProfile, key, annotations, metadata))
      if (isTemplate) warnings.push(...appArmorWarning(container, spec, annotations, metadata))
    }
    warnings.push(...containerWarnings(container, at))
  })
  warnings.push(...portWarnings(spec, path))
  if (spec['terminationGracePeriodSeconds'] < 0)
    warnings.push(
      `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    )
  warnings.push(...termSelectorWarnings(spec, path))
  spec['dnsConfig']?.nameservers?.forEach((server: string, i: number) => {
    warnings.push(...addressWarnings(server, `${path}.dnsConfig.nameservers[${i}]`))
  })
  aliases.forEach(({ ip = '' }, i) => {
    warnings.push(...addressWarnings(ip, `${path}.hostAliases[${i}].ip`))
  })
  return warnings
}

/** Entries whose `field` an earlier one has. */
function repeated(list: readonly Fields[], field: string, path: string): string[] {
  const seen = new Set<string>()
  return list.flatMap((entry, i) => {
    const value: string = entry[field] ?? ''
    if (seen.has(value)) return [`${path}[${i}].${field}: duplicate ${field} ${JSON.stringify(value)}`]
    seen.add(value)
    return []
  })
}

/** A pod's containers whose AppArmor profile stands only in the old annotation. */
export function appArmorWarnings(
  spec: Partial<PodSpec>,
  annotations: Readonly<Record<string, string>>,
  path: string,
): readonly string[] {
  const warnings: string[] = []
  if (spec.os?.name === 'windows') return warnings
  eachContainer(spec, '', (container) => {
    warnings.push(...appArmorWarning(container, spec, annotations, path))
  })
  return warnings
}

/** Equal to nothing that an annotation can say. */
const NO_PROFILE = {}

function appArmorWarning(
  container: AnyContainer,
  spec: Partial<PodSpec>,
  annotations: Readonly<Record<string, string>>,
  path: string,
): readonly string[] {
  const key = `${APPARMOR_ANNOTATION}${container.name}`
  if (!Object.hasOwn(annotations, key) || container.securityContext?.appArmorProfile) return []
  if (same(appArmorProfileOf(annotations[key]!), spec.securityContext?.appArmorProfile ?? NO_PROFILE)) return []
  return [`${path}.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`]
}

/** Annotations that once did something. */
const UNHEARD = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
] as const

const SECCOMP_OF_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_OF_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'

/** A seccomp profile that stands in the old annotation of a pod or container alone. */
function seccompWarnings(
  profile: SeccompProfile | undefined,
  key: string,
  annotations: Readonly<Record<string, string>>,
  metadata: string,
): readonly string[] {
  if (!Object.hasOwn(annotations, key) || profile) return []
  return [`${metadata}.annotations[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`]
}

function affinityWarnings(spec: Fields, path: string): string[] {
  const warnings: string[] = []
  const node: Fields = spec['affinity']?.nodeAffinity ?? {}
  node['requiredDuringSchedulingIgnoredDuringExecution']?.nodeSelectorTerms?.forEach((term: Fields, i: number) => {
    warnings.push(
      ...termWarnings(
        term,
        `${path}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${i}]`,
      ),
    )
  })
  node['preferredDuringSchedulingIgnoredDuringExecution']?.forEach((term: Fields, i: number) => {
    warnings.push(
      ...termWarnings(
        term['preference'],
        `${path}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`,
      ),
    )
  })
  return warnings
}

type AnyContainer = Container | EphemeralContainer

function eachContainer(
  spec: Partial<PodSpec>,
  path: string,
  visit: (container: AnyContainer, path: string) => void,
): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const)
    spec[list]?.forEach((container, i) => {
      visit(container, `${path}.${list}[${i}]`)
    })
}

function containerWarnings(container: AnyContainer, at: string): string[] {
  const warnings: string[] = []
  for (const side of ['limits', 'requests'] as const)
    for (const name of ['memory', 'ephemeral-storage']) {
      const text: string | undefined = container.resources?.[side]?.[name]
      if (text !== undefined && !isWholeInThousandths(text))
        warnings.push(fractional(`${at}.resources.${side}[${name}]`, text))
    }
  const seen = new Set<string>()
  container.env?.forEach(({ name, value }, i) => {
    if (seen.has(name)) {
      const hidden = typeof value === 'string' && value.includes(`$(${name})`)
      if (!hidden)
        warnings.push(
          `${at}.env[${i}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
        )
    }
    seen.add(name)
  })
  return warnings
}

/** Warnings are advice: of more ports than these only the first are compared, for the work grows with the square. */
const MOST_COMPARED = 200

/** Ports that cannot be reached as they are meant, container by container. */
function portWarnings(spec: Fields, path: string): string[] {
  const warnings: string[] = []
  const names: { readonly name: string; readonly here: string; readonly at: string }[] = []
  const named = new Map<string, string>()
  const defined: { readonly port: ContainerPort; readonly at: string }[] = []
  eachContainer(spec, path, (container, at) => {
    container.ports?.forEach((port, i) => {
      const here = `${at}.ports[${i}]`
      const { name = '', hostPort = 0, containerPort = 0, protocol = '', hostIP = '' } = port
      if (hostIP !== '' && hostPort === 0)
        warnings.push(
          `${here}: hostIP set without hostPort: {Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`,
        )
      if (defined.length < MOST_COMPARED) {
        for (const earlier of defined) {
          const clash = clashOf(earlier.port, port)
          if (clash !== undefined) warnings.push(`${here}: ${clash} port definition with ${earlier.at}`)
        }
        defined.push({ port, at: here })
      }
      if (name !== '') names.push({ name, here, at })
    })
  })
  for (const { name, here, at } of names) {
    const first = named.get(name)
    if (first === undefined) named.set(name, here)
    else if (!first.startsWith(`${at}.`))
      warnings.push(
        `${here}: duplicate port name ${JSON.stringify(name)} with ${first}, services and probes that select ports by name will use ${first}`,
      )
  }
  return warnings
}

/** How two ports of a pod's containers get in each other's way. */
function clashOf(earlier: ContainerPort, later: ContainerPort): string | undefined {
  const { protocol, containerPort, hostPort = 0, hostIP = '' } = earlier
  if (protocol !== later.protocol || containerPort !== later.containerPort) return undefined
  const { hostPort: laterPort = 0, hostIP: laterIp = '' } = later
  if (hostPort === laterPort && hostIP === laterIp) return 'duplicate'
  if (hostPort === 0 || laterPort === 0) return 'overlapping'
  return hostPort === laterPort && (hostIP === '' || laterIp === '') ? 'dangerously ambiguous' : undefined
}

/** Terms of pod affinity that choose no pod. */
function termSelectorWarnings(spec: Fields, path: string): string[] {
  const warnings: string[] = []
  const check = (term: Fields | undefined, at: string) => {
    if (term && !term['labelSelector'])
      warnings.push(`${at}.labelSelector: a null labelSelector results in matching no pod`)
  }
  for (const side of ['podAffinity', 'podAntiAffinity']) {
    const affinity: Fields = spec['affinity']?.[side] ?? {}
    const at = `${path}.affinity.${side}`
    affinity['requiredDuringSchedulingIgnoredDuringExecution']?.forEach((term: Fields, i: number) => {
      check(term, `${at}.requiredDuringSchedulingIgnoredDuringExecution[${i}]`)
    })
    affinity['preferredDuringSchedulingIgnoredDuringExecution']?.forEach((weighted: Fields, i: number) => {
      const here = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm`
      check(weighted['podAffinityTerm'] ?? {}, here)
    })
  }
  return warnings
}
