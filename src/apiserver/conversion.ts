/** Between the versions a resource is served in and the one in which it is stored. */
import { structured } from '../api/codec/custom.ts'
import { apiVersionOf, type KubeObject, parseApiVersion } from '../api/object.ts'
import type { ResourceRow, Scheme } from '../api/scheme/resource.ts'
import { internalError } from '../api/status.ts'
import type { Representation } from './cache/entry.ts'
import { convertAutoscaling } from './conversions/autoscaling.ts'
import { convertEvent } from './conversions/events.ts'
import type { WebhookConversion } from './customresources/webhook.ts'
import { isHub } from './handlers/respond.ts'

/** Gives an object of the kind in another version; pure. */
export type Convert = (object: KubeObject, toApiVersion: string) => KubeObject

/** By kind: of the built-in API, these have more than one served version. */
const BUILTIN: Readonly<Record<string, Convert>> = {
  HorizontalPodAutoscaler: convertAutoscaling,
  Event: convertEvent,
}

export interface Conversion {
  /** Objects as the row's version shows them. */
  served(objects: readonly KubeObject[], row: ResourceRow): readonly KubeObject[] | Promise<readonly KubeObject[]>
  /** The same without a webhook: for what cannot wait. */
  now(objects: readonly KubeObject[], row: ResourceRow): readonly KubeObject[]
  /** Objects as they are stored. */
  stored(objects: readonly KubeObject[], row: ResourceRow): readonly KubeObject[] | Promise<readonly KubeObject[]>
  storedNow(objects: readonly KubeObject[], row: ResourceRow): readonly KubeObject[]
  hasOtherVersions(row: ResourceRow): boolean
  /** The row's version as the caches keep it; one per row. */
  view(row: ResourceRow): Representation
}

export function createConversion(scheme: Scheme, webhook: WebhookConversion): Conversion {
  const views = new WeakMap<ResourceRow, Representation>()
  const to = (objects: readonly KubeObject[], apiVersion: string): readonly KubeObject[] =>
    objects.map((object) => convert(object, apiVersion))
  let counted: { generation: number; byPrefix: ReadonlyMap<string, number> } | undefined
  return {
    hasOtherVersions(row) {
      if (counted?.generation !== scheme.generation) {
        const byPrefix = new Map<string, number>()
        for (const { storagePrefix } of scheme.rows())
          byPrefix.set(storagePrefix, (byPrefix.get(storagePrefix) ?? 0) + 1)
        counted = { generation: scheme.generation, byPrefix }
      }
      return row.storagePrefix !== '' && (counted.byPrefix.get(row.storagePrefix) ?? 0) > 1
    },
    served(objects, row) {
      if (row.custom === undefined) return isHub(row) ? objects : to(objects, apiVersionOf(row.group, row.version))
      const finish = (converted: readonly KubeObject[]) => converted.map((object) => convertCustom(object, row))
      if (row.custom.conversion !== 'Webhook') return finish(objects)
      return webhook(row, objects, apiVersionOf(row.group, row.version)).then(finish)
    },
    now(objects, row) {
      if (row.custom !== undefined) return objects.map((object) => convertCustom(object, row))
      return isHub(row) ? objects : to(objects, apiVersionOf(row.group, row.version))
    },
    stored(objects, row) {
      const apiVersion = apiVersionOf(row.storageGroup, row.storageVersion)
      if (row.custom === undefined) return isHub(row) ? objects : to(objects, apiVersion)
      if (row.custom.conversion !== 'Webhook') return objects.map((object) => storedCustom(object, row))
      return webhook(row, objects, apiVersion)
    },
    storedNow(objects, row) {
      if (row.custom !== undefined) return objects.map((object) => storedCustom(object, row))
      return isHub(row) ? objects : to(objects, apiVersionOf(row.storageGroup, row.storageVersion))
    },
    view(row) {
      let view = views.get(row)
      if (view === undefined) {
        const apiVersion = apiVersionOf(row.group, row.version)
        view = {
          name: apiVersion,
          convert:
            row.custom === undefined ? (object) => convert(object, apiVersion) : (object) => convertCustom(object, row),
        }
        views.set(row, view)
      }
      return view
    },
  }
}

/** A custom resource as the row's version has it: pruned and defaulted by that version's schema. */
function convertCustom(object: KubeObject, row: ResourceRow): KubeObject {
  const { group } = parseApiVersion(object.apiVersion)
  // What a patch made of another kind is left for validation to refuse.
  if (object.kind !== row.kind || group !== row.group) return object
  const apiVersion = apiVersionOf(row.group, row.version)
  const schema = row.custom?.structural
  const { kind, apiVersion: _, metadata, ...fields } = object
  const next = schema === undefined ? fields : structured(fields, schema)
  if (next === fields && object.apiVersion === apiVersion) return object
  return { kind, apiVersion, metadata, ...next }
}

/** A custom resource in the version that is stored. */
function storedCustom(object: KubeObject, row: ResourceRow): KubeObject {
  const { group } = parseApiVersion(object.apiVersion)
  const apiVersion = apiVersionOf(row.storageGroup, row.storageVersion)
  return object.kind !== row.kind || group !== row.group || object.apiVersion === apiVersion
    ? object
    : { ...object, apiVersion }
}

function convert(object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object
  const converter = Object.hasOwn(BUILTIN, object.kind) ? BUILTIN[object.kind] : undefined
  if (converter === undefined)
    throw internalError(`no conversion of ${object.kind} from ${object.apiVersion} to ${apiVersion}`)
  return converter(object, apiVersion)
}
