/** A custom resource seen as autoscaling/v1 Scale, by the paths of its definition. */
import { fieldSetOfPaths } from '../../api/fields/fieldset.ts'
import type { ReplicasOf } from '../../api/fields/scale.ts'
import { asJson, asKubeObject, type Json, type JsonObject, type KubeObject, parseApiVersion } from '../../api/object.ts'
import { dottedPath } from '../../api/objects/json-path.ts'
import { scaleWith } from '../../api/objects/scale.ts'
import type { CustomVersion, ResourceRow, ScalePaths } from '../../api/scheme/resource.ts'
import { badRequest, internalError, isBadRequest } from '../../api/status.ts'
import type { ScaledResource } from '../registry/endpoint.ts'
import { nested } from './strategy.ts'

/** Asked only where the definition's version has that subresource. */
export function customScale(row: ResourceRow, custom: CustomVersion): ScaledResource {
  const paths = custom.scale ?? NO_PATHS
  return {
    of: (object) => customScaleOf(object, paths),
    lenientlyOf: (object) => customScaleOf(object, paths, 0),
    withReplicas: (object, replicas) => withCustomReplicas(object, paths, replicas),
    replicasOf: customReplicas(row.group, custom),
    // Its own rules say what it may be scaled to.
    validate: () => {},
    // Kubernetes has no words for what is wrong with such a Scale.
    refusal: (error) =>
      isBadRequest(error)
        ? badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"', error)
        : error,
    isConvertible: false,
  }
}

const NO_PATHS: ScalePaths = { specReplicasPath: '', statusReplicasPath: '', labelSelectorPath: '' }

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
function customReplicas(group: string, { schemasOf }: Pick<CustomVersion, 'schemasOf'>): ReplicasOf {
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
