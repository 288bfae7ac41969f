/** What is accepted of pods, but told to the user: what is deprecated, does nothing, or is likely a mistake. */
import type { Fields, KubeObject } from '../object.ts'
import { isWholeInThousandths } from '../objects/quantity.ts'
import { same } from './common.ts'
import { dns1123Label } from './names.ts'
import { fractional, isBytes, NODE_LABELS, OLD_VOLUMES, termWarnings } from './warnings.ts'

export function podWarnings(pod: KubeObject, old?: KubeObject): string[] {
  const warnings: string[] = []
  if (!old) {
    const messages = dns1123Label(pod.metadata.name ?? '')
    if (messages.length)
      warnings.push(
        `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
      )
  }
  if (old && same(pod['spec'], old['spec'])) return warnings
  return [...warnings, ...specWarnings(pod['spec'] ?? {}, pod.metadata.annotations, 'spec', 'metadata')]
}

/** The name of what makes pods becomes part of theirs. */
export function podNameWarnings(object: KubeObject): string[] {
  const messages = dns1123Label(object.metadata.name ?? '')
  return messages.length === 0
    ? []
    : [
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
      ]
}

/** Warnings of a kind with a template at spec.template, at an update: only when the template changed. */
export function podTemplateUpdateWarnings(object: KubeObject, old: KubeObject): string[] {
  const now: Fields | undefined = object['spec']?.template
  const before: Fields | undefined = old['spec']?.template
  return same(now, before) ? [] : podTemplateWarnings(now, 'spec.template')
}

export function podTemplateWarnings(template: Fields | undefined, path: string): string[] {
  if (!template) return []
  return specWarnings(template['spec'] ?? {}, template['metadata']?.annotations, `${path}.spec`, `${path}.metadata`)
}

const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'

function specWarnings(
  spec: Fields,
  annotations: Readonly<Record<string, string>> | undefined,
  path: string,
  metadata: string,
): string[] {
  const warnings: string[] = []
  for (const key of Object.keys(spec['nodeSelector'] ?? {}).sort())
    if (Object.hasOwn(NODE_LABELS, key)) warnings.push(`${path}.nodeSelector[${key}]: ${NODE_LABELS[key]}`)
  warnings.push(...affinityWarnings(spec, path))
  spec['hostAliases']?.forEach((alias: Fields, i: number) => {
    const twin = spec['hostAliases'].findIndex((other: Fields, j: number) => j < i && other['ip'] === alias['ip'])
    if (twin >= 0) warnings.push(`${path}.hostAliases[${i}].ip: duplicate ip ${JSON.stringify(alias['ip'])}`)
  })
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
  warnings.push(...containerWarnings(spec, path))
  warnings.push(...volumeWarnings(spec, path))
  for (const [name, text] of Object.entries<string>(spec['overhead'] ?? {}))
    if (isBytes(name) && !isWholeInThousandths(text)) warnings.push(fractional(`${path}.overhead[${name}]`, text))
  if (spec['terminationGracePeriodSeconds'] < 0)
    warnings.push(
      `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    )
  warnings.push(...duplicatePorts(spec, path))
  return warnings
}

function annotationWarnings(key: string, path: string): string[] {
  if (key.startsWith(APPARMOR)) {
    return [`${path}.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`]
  }
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

function volumeWarnings(spec: Fields, path: string): string[] {
  const warnings: string[] = []
  spec['volumes']?.forEach((volume: Fields, i: number) => {
    for (const kind of Object.keys(OLD_VOLUMES))
      if (volume[kind])
        warnings.push(`${path}.volumes[${i}].${kind === 'storageos' ? 'storageOS' : kind}: ${OLD_VOLUMES[kind]}`)
    const sources: readonly Fields[] | undefined = volume['projected']?.sources
    if (sources?.some((source) => Object.keys(source).length === 0))
      warnings.push(`volume ${JSON.stringify(volume['name'])} (Projected) has no sources provided`)
    const requests: Readonly<Record<string, string>> =
      volume['ephemeral']?.volumeClaimTemplate?.spec?.resources?.requests ?? {}
    for (const [name, text] of Object.entries(requests))
      if (isBytes(name) && !isWholeInThousandths(text))
        warnings.push(
          fractional(`${path}.volumes[${i}].ephemeral.volumeClaimTemplate.spec.resources.requests[${name}]`, text),
        )
  })
  return warnings
}

function duplicatePorts(spec: Fields, path: string): string[] {
  const warnings: string[] = []
  const seen = new Map<string, string>()
  spec['containers']?.forEach((container: Fields, i: number) => {
    container['ports']?.forEach((port: Fields, j: number) => {
      const key = `${port['protocol']}/${port['containerPort']}/${port['hostPort'] ?? 0}/${port['hostIP'] ?? ''}`
      const at = `${path}.containers[${i}].ports[${j}]`
      const earlier = seen.get(key)
      if (earlier) warnings.push(`${at}: duplicate port definition with ${earlier}`)
      else seen.set(key, at)
    })
  })
  return warnings
}
