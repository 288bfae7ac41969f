/** A container's environment: its own variables, fields of the pod, keys of ConfigMaps and Secrets. */
import type { EnvVar } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { type Container, namespaceOf, type Pod, specOf } from './pod.ts'
import type { References } from './references.ts'

type Environment = Record<string, string>

export interface PodPlace {
  readonly hostIP: string
  readonly podIPs: readonly string[]
}

/** @throws Error with the message that the container's waiting state shows, when something referred to is missing */
export async function environmentOf(
  pod: Pod,
  container: Container,
  references: References,
  place: PodPlace,
): Promise<Readonly<Environment>> {
  const env: Environment = Object.create(null)
  const namespace = namespaceOf(pod)
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const ref = configMapRef ?? secretRef
    if (ref === undefined) continue
    const source = configMapRef !== undefined ? 'configmap' : 'secret'
    const object = await lookUp(references, source, namespace, ref.name ?? '', ref.optional)
    for (const key of Object.keys((object?.['data'] ?? {}) as object))
      env[prefix + key] = dataOf(object as KubeObject, source, key) ?? ''
  }
  for (const variable of container.env ?? []) {
    const value = await valueOfVariable(pod, container, variable, references, place)
    if (value !== undefined) env[variable.name] = value
  }
  return env
}

async function valueOfVariable(
  pod: Pod,
  container: Container,
  { value, valueFrom }: EnvVar,
  references: References,
  place: PodPlace,
): Promise<string | undefined> {
  if (valueFrom === undefined) return value ?? ''
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom
  if (fieldRef !== undefined) return podField(pod, fieldRef.fieldPath, place)
  if (resourceFieldRef !== undefined) {
    const [side = '', name = ''] = resourceFieldRef.resource.split('.')
    return side === 'limits' || side === 'requests' ? (container.resources?.[side]?.[name] ?? '0') : '0'
  }
  const ref = configMapKeyRef ?? secretKeyRef
  if (ref === undefined) return ''
  const source = configMapKeyRef !== undefined ? 'configmap' : 'secret'
  const object = await lookUp(references, source, namespaceOf(pod), ref.name ?? '', ref.optional)
  if (object === undefined) return undefined
  const found = dataOf(object, source, ref.key)
  if (found === undefined && ref.optional !== true) {
    const kind = source === 'configmap' ? 'ConfigMap' : 'Secret'
    throw new Error(`couldn't find key ${ref.key} in ${kind} ${namespaceOf(pod)}/${ref.name}`)
  }
  return found
}

async function lookUp(
  references: References,
  source: 'configmap' | 'secret',
  namespace: string,
  name: string,
  optional: boolean | undefined,
): Promise<KubeObject | undefined> {
  const object = await (source === 'configmap'
    ? references.configMap(namespace, name)
    : references.secret(namespace, name))
  if (object === undefined && optional !== true) throw new Error(`${source} ${JSON.stringify(name)} not found`)
  return object
}

function dataOf(object: KubeObject, source: 'configmap' | 'secret', key: string): string | undefined {
  const data = (object['data'] ?? {}) as Readonly<Record<string, string>>
  if (!Object.hasOwn(data, key)) return undefined
  return source === 'secret' ? Buffer.from(data[key]!, 'base64').toString() : data[key]
}

function podField(pod: Pod, path: string, { hostIP, podIPs }: PodPlace): string {
  const { metadata } = pod
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (subscript !== null) {
    const map = metadata[subscript[1] as 'labels' | 'annotations'] ?? {}
    return Object.hasOwn(map, subscript[2]!) ? map[subscript[2]!]! : ''
  }
  switch (path) {
    case 'metadata.name':
      return metadata.name ?? ''
    case 'metadata.namespace':
      return metadata.namespace ?? ''
    case 'metadata.uid':
      return metadata.uid ?? ''
    case 'spec.nodeName':
      return specOf(pod).nodeName ?? ''
    case 'spec.serviceAccountName':
      return specOf(pod).serviceAccountName ?? ''
    case 'status.hostIP':
    case 'status.hostIPs':
      return hostIP
    case 'status.podIP':
      return podIPs[0] ?? ''
    case 'status.podIPs':
      return podIPs.join(',')
    default:
      return ''
  }
}
