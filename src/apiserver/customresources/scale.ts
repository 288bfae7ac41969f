/** A custom resource seen as autoscaling/v1 Scale, by the paths of its definition. */
import { fieldSetOfPaths } from '../../api/fields/fieldset.ts'
import type { ReplicasOf } from '../../api/fields/scale.ts'
import { asJson, asKubeObject, type Json, type JsonObject, type KubeObject, parseApiVersion } from '../../api/object.ts'
import { dottedPath } from '../../api/objects/json-path.ts'
import { scaleWith } from '../../api/objects/scale.ts'
import type { CustomVersion, ScalePaths } from '../../api/scheme/resource.ts'
import { internalError } from '../../api/status.ts'
import { nested } from './strategy.ts'

/**
 * `absent`: how many replicas a resource wants that does not say it.
 *
 * @throws StatusError 500 when it does not say it and there is no `absent`
 */
export function customScaleOf(object: KubeObject, paths: ScalePaths, absent?: number): KubeObject {
  const specReplicas = integerAt(object, paths.specReplicasPath) ?? absent
  if (specReplicas === undefined)
    throw internalError(new Error(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`))
  const selector = paths.labelSelectorPath === '' ? undefined : textAt(object, paths.labelSelectorPath)
  return scaleWith(object, {
    wanted: specReplicas,
    present: integerAt(object, paths.statusReplicasPath) ?? 0,
    selector: selector ?? '',
  })
}

/** The object with its wanted replicas at the definition's path. */
export function withCustomReplicas(object: KubeObject, paths: ScalePaths, replicas: number): KubeObject {
  const names = dottedPath(paths.specReplicasPath) ?? []
  return asKubeObject(set(asJson(object), names, replicas))
}

/** Where the versions of a custom resource keep their wanted replicas, for field management. */
export function customReplicas(group: string, { schemasOf }: Pick<CustomVersion, 'schemasOf'>): ReplicasOf {
  return (apiVersion) => {
    const named = parseApiVersion(apiVersion)
    const version = named.group === group ? schemasOf(named.version) : undefined
    if (version === undefined) return undefined
    const names = version.scale === undefined ? undefined : dottedPath(version.scale.specReplicasPath)
    return names === undefined ? 'none' : (fieldSetOfPaths([names.map((name) => `f:${name}`)]) ?? 'none')
  }
}

function set(object: JsonObject, [name, ...rest]: readonly string[], value: Json): JsonObject {
  if (name === undefined) return object
  const inner = Object.hasOwn(object, name) ? object[name] : undefined
  const below = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as JsonObject) : {}
  return { ...object, [name]: rest.length === 0 ? value : set(below, rest, value) }
}

function integerAt(object: KubeObject, path: string): number | undefined {
  const found = nested(object, path)
  const value = 'value' in found ? found.value : undefined
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined
}

function textAt(object: KubeObject, path: string): string | undefined {
  const found = nested(object, path)
  return 'value' in found && typeof found.value === 'string' ? found.value : undefined
}
