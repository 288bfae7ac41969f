/** A container's environment: its own variables, fields of the pod, keys of ConfigMaps and Secrets. */
import type { ConfigMap, EnvVar, FileKeySelector, Secret } from '../api/generated/types.ts'
import type { References } from './configmaps-and-secrets.ts'
import { type PodPlace, podField, resourceField } from './downward-api.ts'
import { envFileValue } from './env-file.ts'
import { type Container, containerNamed, namespaceOf, type Pod, specOf } from './pod.ts'
import { expanded } from './variable-expansion.ts'

type Environment = Record<string, string>

export interface EnvironmentSources extends PodPlace {
  /** Where services are found, for what the container does not name itself. */
  readonly services?: Readonly<Record<string, string>>
  readonly allocatable?: Readonly<Record<string, string>>
  /** What a file of variables in one of the pod's volumes says, and where it is. Absent where nothing is run. @throws EnvFileError */
  readonly volumeFile?: (volume: string, path: string) => { readonly text: string; readonly file: string }
}

/** @throws Error with the message that the container's waiting state shows, when something referred to is missing */
export async function environmentOf(
  pod: Pod,
  container: Container,
  references: References,
  place: EnvironmentSources,
): Promise<Readonly<Environment>> {
  const { services = {} } = place
  const env: Environment = Object.create(null)
  const namespace = namespaceOf(pod)
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const ref = configMapRef ?? secretRef
    if (ref === undefined) continue
    const source = configMapRef !== undefined ? 'configmap' : 'secret'
    const object = await lookUp(references, source, namespace, ref.name ?? '', ref.optional)
    for (const key of Object.keys(object?.data ?? {}))
      env[prefix + key] = dataOf(object as ConfigMap | Secret, source, key) ?? ''
  }
  for (const variable of container.env ?? []) {
    const value = await valueOfVariable(pod, container, variable, references, place)
    if (value === undefined) continue
    const known = (name: string) => env[name] ?? (Object.hasOwn(services, name) ? services[name] : undefined)
    env[variable.name] = variable.valueFrom === undefined ? expanded(value, known) : value
  }
  for (const [name, value] of Object.entries(services)) env[name] ??= value
  return env
}

async function valueOfVariable(
  pod: Pod,
  container: Container,
  { value, valueFrom }: EnvVar,
  references: References,
  place: EnvironmentSources,
): Promise<string | undefined> {
  if (valueFrom === undefined) return value ?? ''
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom
  if (fieldRef !== undefined) return podField(pod, fieldRef.fieldPath, place)
  if (resourceFieldRef !== undefined) {
    const named = resourceFieldRef.containerName
    const defaultLimits = { ...place.allocatable, ...specOf(pod).resources?.limits }
    return resourceField((named && containerNamed(pod, named)) || container, resourceFieldRef, defaultLimits)
  }
  if (fileKeyRef !== undefined) return place.volumeFile === undefined ? '' : valueInFile(fileKeyRef, place.volumeFile)
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

function valueInFile(
  { volumeName, path, key, optional }: FileKeySelector,
  read: NonNullable<EnvironmentSources['volumeFile']>,
): string | undefined {
  const { text, file } = read(volumeName, path)
  const found = envFileValue(text, key)
  if (found === undefined && optional !== true)
    throw new Error(`environment variable key ${JSON.stringify(key)} not found in file ${JSON.stringify(file)}`)
  return found
}

async function lookUp(
  references: References,
  source: 'configmap' | 'secret',
  namespace: string,
  name: string,
  optional: boolean | undefined,
): Promise<ConfigMap | Secret | undefined> {
  const object = await (source === 'configmap'
    ? references.configMap(namespace, name)
    : references.secret(namespace, name))
  if (object === undefined && optional !== true) throw new Error(`${source} ${JSON.stringify(name)} not found`)
  return object
}

function dataOf({ data = {} }: ConfigMap | Secret, source: 'configmap' | 'secret', key: string): string | undefined {
  if (!Object.hasOwn(data, key)) return undefined
  return source === 'secret' ? Buffer.from(data[key]!, 'base64').toString() : data[key]
}
