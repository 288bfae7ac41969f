/** What is accepted of pods, but told to the user: what is deprecated, does nothing, or is likely a mistake. */
import type {
  DaemonSet,
  Deployment,
  Job,
  Pod,
  PodSpec,
  PodTemplateSpec,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '../generated/types.ts'
import { dns1123Label } from '../names/name-formats.ts'
import type { Fields, Given, KubeObject } from '../object.ts'
import { noParts, type Parts } from '../parts.ts'
import { isWholeInThousandths } from '../values/quantity.ts'
import { same } from './common.ts'
import { volumeWarnings } from './pod-volume-warnings.ts'
import { addressWarnings, fractional, isBytes, NODE_LABELS, termWarnings } from './warnings.ts'

export function podWarnings(pod: Pod, old?: Pod, parts: Parts = noParts): string[] {
  const warnings: string[] = []
  if (!old) {
    const messages = dns1123Label(pod.metadata.name ?? '')
    if (messages.length)
      warnings.push(
        `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
      )
  }
  if (old && same(pod.spec, old.spec)) return warnings
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

/** Warnings of a kind with a template at spec.template, at an update: only when the template changed. */
export function podTemplateUpdateWarnings(object: WithTemplate, old: WithTemplate): string[] {
  const now = object.spec?.template
  const before = old.spec?.template
  return same(now, before) ? [] : podTemplateWarnings(now, 'spec.template')
}

export function podTemplateWarnings(template: PodTemplateSpec | undefined, path: string): string[] {
  if (!template) return []
  return specWarnings(template.spec ?? {}, template.metadata?.annotations, `${path}.spec`, `${path}.metadata`, true)
}

const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'

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
  for (const key of Object.keys(annotations ?? {}).sort()) warnings.push(...annotationWarnings(key, metadata))
  warnings.push(...volumeWarnings(spec, path))
  const aliases: readonly Fields[] = spec['hostAliases'] ?? []
  warnings.push(...repeated(aliases, 'ip', `${path}.hostAliases`))
  const secrets: readonly Fields[] = spec['imagePullSecrets'] ?? []
  warnings.push(...repeated(secrets, 'name', `${path}.imagePullSecrets`))
  secrets.forEach((secret, i) => {
    if (!secret['name']) warnings.push(`${path}.imagePullSecrets[${i}].name: invalid empty name ""`)
  })
  if (isTemplate) warnings.push(...appArmorWarnings(spec, annotations ?? {}, metadata))
  warnings.push(...containerWarnings(spec, path))
  for (const [name, text] of Object.entries<string>(spec['overhead'] ?? {}))
    if (isBytes(name) && !isWholeInThousandths(text)) warnings.push(fractional(`${path}.overhead[${name}]`, text))
  if (spec['terminationGracePeriodSeconds'] < 0)
    warnings.push(
      `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    )
  warnings.push(...portWarnings(spec, path), ...termSelectorWarnings(spec, path))
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

/** Containers whose AppArmor profile stands only in the old annotation. */
export function appArmorWarnings(
  spec: Fields,
  annotations: Readonly<Record<string, string>>,
  path: string,
): readonly string[] {
  const warnings: string[] = []
  if (!Object.keys(annotations).some((key) => key.startsWith(APPARMOR))) return warnings
  eachContainer(spec, '', (container) => {
    const key = `${APPARMOR}${container['name']}`
    if (Object.hasOwn(annotations, key) && !container['securityContext']?.appArmorProfile)
      warnings.push(`${path}.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`)
  })
  return warnings
}

function annotationWarnings(key: string, path: string): string[] {
  if (
    key === 'seccomp.security.alpha.kubernetes.io/pod' ||
    key.startsWith('container.seccomp.security.alpha.kubernetes.io/')
  )
    return [`${path}.annotations[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`]
  if (key === 'scheduler.alpha.kubernetes.io/critical-pod')
    return [`${path}.annotations[${key}]: non-functional in v1.16+; use the "priorityClassName" field instead`]
  return []
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

function eachContainer(spec: Fields, path: string, visit: (container: Fields, path: string) => void): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const)
    spec[list]?.forEach((container: Fields, i: number) => {
      visit(container, `${path}.${list}[${i}]`)
    })
}

function containerWarnings(spec: Fields, path: string): string[] {
  const warnings: string[] = []
  eachContainer(spec, path, (container, at) => {
    for (const side of ['limits', 'requests'] as const)
      for (const name of ['memory', 'ephemeral-storage']) {
        const text: string | undefined = container['resources']?.[side]?.[name]
        if (text !== undefined && !isWholeInThousandths(text))
          warnings.push(fractional(`${at}.resources.${side}[${name}]`, text))
      }
    const seen = new Map<string, Fields>()
    container['env']?.forEach((variable: Fields, i: number) => {
      const earlier = seen.get(variable['name'])
      if (earlier) {
        const hidden = typeof variable['value'] === 'string' && variable['value'].includes(`$(${variable['name']})`)
        if (!hidden)
          warnings.push(
            `${at}.env[${i}]: hides previous definition of ${JSON.stringify(variable['name'])}, which may be dropped when using apply`,
          )
      }
      seen.set(variable['name'], variable)
    })
  })
  return warnings
}

/** Warnings are advice: of more ports than these only the first are compared, for the work grows with the square. */
const MOST_COMPARED = 200

/** Ports that cannot be reached as they are meant, container by container. */
function portWarnings(spec: Fields, path: string): string[] {
  const warnings: string[] = []
  const named = new Map<string, string>()
  const defined: { readonly key: string; readonly at: string }[] = []
  eachContainer(spec, path, (container, at) => {
    const init = at.includes('initContainers')
    container['ports']?.forEach((port: Fields, i: number) => {
      const here = `${at}.ports[${i}]`
      const { name = '', hostPort = 0, containerPort = 0, protocol = '', hostIP = '' } = port
      if (hostIP !== '' && hostPort === 0)
        warnings.push(
          `${here}: hostIP set without hostPort: {Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`,
        )
      if (init) return
      const key = `${protocol}/${containerPort}/${hostPort}/${hostIP}`
      if (defined.length < MOST_COMPARED) {
        for (const earlier of defined)
          if (earlier.key === key) warnings.push(`${here}: duplicate port definition with ${earlier.at}`)
        defined.push({ key, at: here })
      }
      if (name === '') return
      const first = named.get(name)
      if (first === undefined) named.set(name, here)
      else if (!first.startsWith(`${at}.`))
        warnings.push(
          `${here}: duplicate port name ${JSON.stringify(name)} with ${first}, services and probes that select ports by name will use ${first}`,
        )
    })
  })
  return warnings
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
