/**
 * Between the versions a resource is served in and the one in which it is stored. Built-in kinds are worked on in the storage
 * version; custom resources in the version of the request, which their rules are written for.
 */
import { structured } from '../api/codec/custom.ts'
import { apiVersionOf, type KubeObject, parseApiVersion } from '../api/object.ts'
import { prune } from '../api/schema/structural/prune.ts'
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

type Objects = readonly KubeObject[]

export interface Conversion {
  /** Objects as the row's version shows them. */
  served(objects: Objects, row: ResourceRow): Objects | Promise<Objects>
  /** The same without a webhook: for what cannot wait. */
  now(objects: Objects, row: ResourceRow): Objects
  /** Objects as they are stored. */
  stored(objects: Objects, row: ResourceRow): Objects | Promise<Objects>
  /**
   * An object of the row's kind in another version, as managedFields compare it: what that version has no field for stays.
   * undefined when the kind has no such version.
   */
  other(object: KubeObject, row: ResourceRow, apiVersion: string): KubeObject | undefined | Promise<KubeObject>
  hasOtherVersions(row: ResourceRow): boolean
  /** The row's version as the caches keep it; one per row. */
  view(row: ResourceRow): Representation
}

export function createConversion(scheme: Scheme, webhook: WebhookConversion): Conversion {
  const views = new WeakMap<ResourceRow, Representation>()
  const to = (objects: Objects, apiVersion: string): Objects => objects.map((object) => convert(object, apiVersion))
  return {
    hasOtherVersions(row) {
      // Entries may be of a version that the definition has given up.
      if (row.custom !== undefined) return true
      return scheme.sharing(row).length > 1
    },
    served(objects, row) {
      const apiVersion = apiVersionOf(row.group, row.version)
      if (row.custom === undefined) return isHub(row) ? objects : to(objects, apiVersion)
      const read = objects.map((object) => asRead(object, row))
      if (row.custom.conversion !== 'Webhook') return read.map((object) => renamed(object, row, row.version))
      if (read.every((object) => object.apiVersion === apiVersion)) return read
      return webhook(row, read, apiVersion).then((made) => made.map((object) => pruned(object, row, row.version)))
    },
    now(objects, row) {
      if (row.custom !== undefined) return objects.map((object) => renamed(asRead(object, row), row, row.version))
      return isHub(row) ? objects : to(objects, apiVersionOf(row.group, row.version))
    },
    stored(objects, row) {
      const apiVersion = apiVersionOf(row.storageGroup, row.storageVersion)
      if (row.custom === undefined) return isHub(row) ? objects : to(objects, apiVersion)
      if (row.custom.conversion !== 'Webhook') return objects.map((object) => renamed(object, row, row.storageVersion))
      if (objects.every((object) => object.apiVersion === apiVersion)) return objects
      return webhook(row, objects, apiVersion).then((made) =>
        made.map((object) => pruned(object, row, row.storageVersion)),
      )
    },
    other(object, row, apiVersion) {
      if (object.apiVersion === apiVersion) return object
      const { group, version } = parseApiVersion(apiVersion)
      if (row.custom !== undefined) {
        if (group !== row.group || row.custom.schemasOf(version) === undefined) return undefined
        if (row.custom.conversion !== 'Webhook') return { ...object, apiVersion }
        return webhook(row, [object], apiVersion).then(([made]) => made as KubeObject)
      }
      const found = scheme.findKind(group, version, row.kind)
      return found?.storagePrefix === row.storagePrefix ? convert(object, apiVersion) : undefined
    },
    view(row) {
      let view = views.get(row)
      if (view === undefined) {
        const apiVersion = apiVersionOf(row.group, row.version)
        view = {
          name: apiVersion,
          convert:
            row.custom === undefined
              ? (object) => convert(object, apiVersion)
              : (object) => renamed(asRead(object, row), row, row.version),
        }
        views.set(row, view)
      }
      return view
    },
  }
}

const isForeign = (object: KubeObject, row: ResourceRow): boolean =>
  // What a patch made of another kind is left for validation to refuse.
  object.kind !== row.kind || parseApiVersion(object.apiVersion).group !== row.group

/** A stored custom resource as its own version has it now: pruned and defaulted by a schema that may have changed since. */
function asRead(object: KubeObject, row: ResourceRow): KubeObject {
  const schema = row.custom?.schemasOf(parseApiVersion(object.apiVersion).version)?.structural
  if (schema === undefined || isForeign(object, row)) return object
  const { kind, apiVersion, metadata, ...fields } = object
  const next = structured(fields, schema)
  return next === fields ? object : { kind, apiVersion, metadata, ...next }
}

/** Conversion None: another apiVersion, and nothing that its version does not know. */
function renamed(object: KubeObject, row: ResourceRow, version: string): KubeObject {
  const apiVersion = apiVersionOf(row.group, version)
  if (object.apiVersion === apiVersion || isForeign(object, row)) return object
  return pruned({ ...object, apiVersion }, row, version)
}

function pruned(object: KubeObject, row: ResourceRow, version: string): KubeObject {
  const schema = row.custom?.schemasOf(version)?.structural
  if (schema === undefined) return object
  const { kind, apiVersion, metadata, ...fields } = object
  const next = prune(fields, schema)
  return next === fields ? object : { kind, apiVersion, metadata, ...next }
}

function convert(object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object
  const converter = Object.hasOwn(BUILTIN, object.kind) ? BUILTIN[object.kind] : undefined
  if (converter === undefined)
    throw internalError(`no conversion of ${object.kind} from ${object.apiVersion} to ${apiVersion}`)
  return converter(object, apiVersion)
}
