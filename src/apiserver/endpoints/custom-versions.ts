/**
 * The versions of a custom resource: worked on in the version of the request, shown as its definition now has it, which may
 * have changed since it was written. A version that differs from the stored one in nothing but its name is served from the
 * same bytes; what only the definition's webhook can convert is asked of it.
 */
import { structured } from '../../api/codec/custom.ts'
import { isDivisible, misfitsOf } from '../../api/fields/validate.ts'
import { apiVersionOf, asJson, type KubeObject, parseApiVersion } from '../../api/object.ts'
import type { StoredObject } from '../../api/request.ts'
import { prune, prunesAlike, sortedKeys } from '../../api/schema/structural/prune-and-default.ts'
import type { CustomVersion, ResourceRow } from '../../api/scheme/resource.ts'
import { jsonText } from '../../api/values/json.ts'
import { type CacheEntry, encodedObject, type ServedForm } from '../cache/entry.ts'
import { type UnreadableValue, undecodable, unreadableList, unreadableObject } from '../cache/unreadable.ts'
import type { WebhookConversion } from '../customresources/conversion-webhook.ts'
import type { ResourceEndpoint } from '../registry/endpoint.ts'

const itself = <T>(value: T): T => value

/** The forms of one definition's versions, by version: rows of one definition share them. */
export type FormsOfDefinition = Map<string, ServedForm>

export function customVersions(
  row: ResourceRow,
  custom: CustomVersion,
  webhook: WebhookConversion,
  forms: FormsOfDefinition,
): Pick<ResourceEndpoint, 'served' | 'worked'> {
  const own = apiVersionOf(row.group, row.version)
  const stored = apiVersionOf(row.group, row.storageVersion)
  const byWebhook = custom.conversion === 'Webhook'
  const form = formOf(row, custom, row.version, forms)
  const head = headOf(row, own)

  const show = (objects: readonly KubeObject[]): readonly KubeObject[] | Promise<readonly KubeObject[]> => {
    const read = objects.map((object) => asRead(object, row, custom))
    if (!byWebhook) return read.map((object) => renamed(object, row, custom, row.version))
    if (read.every((object) => object.apiVersion === own)) return read
    return webhook(row, read, own).then((made) => made.map((object) => pruned(object, custom, row.version)))
  }
  const showOne = (object: KubeObject): KubeObject | Promise<KubeObject> => only(show([object]))
  const store = (object: KubeObject): KubeObject | Promise<KubeObject> => {
    if (!byWebhook) return renamed(object, row, custom, row.storageVersion)
    if (object.apiVersion === stored) return object
    return webhook(row, [object], stored).then(([made]) => pruned(made as KubeObject, custom, row.storageVersion))
  }
  /** undefined when the webhook has to be asked. */
  const kept = (entry: StoredObject): StoredObject | undefined =>
    byWebhook && !(entry as CacheEntry).begins(head) ? undefined : (entry as CacheEntry).as(form)
  const schemasOf = (apiVersion: string) => {
    const { group, version } = parseApiVersion(apiVersion)
    return group === row.group ? custom.schemasOf(version) : undefined
  }
  return {
    served: {
      form,
      byWebhook,
      replaced: custom.replaced,
      wholeItems: true,
      // A list of custom resources has `continue` also where it is empty.
      listMetadata: (metadata) => ({ continue: '', ...metadata }),
      takesBack: true,
      entry(entry) {
        const known = kept(entry)
        if (known !== undefined) return known
        return Promise.resolve(showOne(entry.object)).then(
          (object) => shownEntry(entry, object),
          (error) => {
            throw unreadableObject(entry, undecodable(entry, error))
          },
        )
      },
      entries(entries) {
        const known = entries.map(kept)
        const unknown = entries.filter((_, i) => known[i] === undefined)
        if (unknown.length === 0) return known as readonly StoredObject[]
        return allShown(unknown, row, show).then((shown) => {
          const next = shown.values()
          return entries.map((entry, i) => known[i] ?? shownEntry(entry, next.next().value as KubeObject))
        })
      },
      objects: show,
      object: showOne,
      now: (object) => renamed(asRead(object, row, custom), row, custom, row.version),
    },
    worked: {
      ofRequest: itself,
      asRequested: itself,
      admitted: showOne,
      ofStored: showOne,
      enabled: itself,
      declaredErrors: () => [],
      // A custom resource's own word for it counts, right or wrong.
      kindOf: (object) => ({
        group: parseApiVersion(object.apiVersion).group,
        kind: object.kind,
        repeatsCauses: true,
      }),
      settled: itself,
      asStored: store,
      isDivisible: (object) => isDivisible(asJson(object), row.schema),
      comparisonMisfits: (object, schema) => misfitsOf(asJson(object), schema),
      refusesOthers: true,
      // Entries may be of a version that the definition has given up.
      hasOthers: () => true,
      otherSchema: (apiVersion) => schemasOf(apiVersion)?.schema,
      inOther(object, apiVersion) {
        if (object.apiVersion === apiVersion) return object
        if (schemasOf(apiVersion) === undefined) return undefined
        if (!byWebhook) return { ...object, apiVersion }
        return webhook(row, [object], apiVersion).then(([made]) => made as KubeObject)
      },
    },
  }
}

function only(objects: readonly KubeObject[] | Promise<readonly KubeObject[]>): KubeObject | Promise<KubeObject> {
  return objects instanceof Promise ? objects.then(([one]) => one as KubeObject) : (objects[0] as KubeObject)
}

/** An entry that was converted for one answer. */
function shownEntry({ key, revision }: StoredObject, object: KubeObject): StoredObject {
  return encodedObject(key, revision, object)
}

/** All in one call; when that fails each is asked for, so that the answer names those that cannot be read. */
async function allShown(
  entries: readonly StoredObject[],
  row: ResourceRow,
  show: (objects: readonly KubeObject[]) => readonly KubeObject[] | Promise<readonly KubeObject[]>,
): Promise<readonly KubeObject[]> {
  try {
    return await show(entries.map(({ object }) => object))
  } catch {
    const shown: KubeObject[] = []
    const failures: { key: string; cause: UnreadableValue }[] = []
    for (const stored of entries)
      try {
        shown.push(...(await show([stored.object])))
      } catch (cause) {
        failures.push({ key: stored.key, cause: undecodable(stored, cause) })
      }
    if (failures.length > 0) throw unreadableList(row, failures)
    return shown
  }
}

/** The beginning of an object's JSON, up to metadata. */
const headOf = ({ kind }: ResourceRow, apiVersion: string): Buffer =>
  Buffer.from(`${jsonText({ kind, apiVersion }).slice(0, -1)},`)

function formOf(row: ResourceRow, custom: CustomVersion, version: string, forms: FormsOfDefinition): ServedForm {
  let form = forms.get(version)
  if (form !== undefined) return form
  const name = apiVersionOf(row.group, version)
  const convert = (object: KubeObject) => renamed(asRead(object, row, custom), row, custom, version)
  const isAlike =
    version !== row.storageVersion &&
    prunesAlike(custom.schemasOf(version)?.structural, custom.schemasOf(row.storageVersion)?.structural)
  form = isAlike
    ? {
        name,
        convert,
        like: {
          form: formOf(row, custom, row.storageVersion, forms),
          head: headOf(row, apiVersionOf(row.group, row.storageVersion)),
          ownHead: headOf(row, name),
        },
      }
    : { name, convert }
  forms.set(version, form)
  return form
}

const isForeign = (object: KubeObject, row: ResourceRow): boolean =>
  // What a patch made of another kind is left for validation to refuse.
  object.kind !== row.kind || parseApiVersion(object.apiVersion).group !== row.group

/** A stored custom resource as its own version has it now: pruned and defaulted by a schema that may have changed since. */
function asRead(object: KubeObject, row: ResourceRow, custom: CustomVersion): KubeObject {
  const schema = custom.schemasOf(parseApiVersion(object.apiVersion).version)?.structural
  if (schema === undefined || isForeign(object, row)) return object
  const { kind, apiVersion, metadata, ...fields } = object
  const next = structured(fields, schema)
  return next === fields ? object : { kind, apiVersion, metadata, ...(sortedKeys(next) as typeof fields) }
}

/** Conversion None: another apiVersion, and nothing that its version does not know. */
function renamed(object: KubeObject, row: ResourceRow, custom: CustomVersion, version: string): KubeObject {
  const apiVersion = apiVersionOf(row.group, version)
  if (object.apiVersion === apiVersion || isForeign(object, row)) return object
  return pruned({ ...object, apiVersion }, custom, version)
}

function pruned(object: KubeObject, custom: CustomVersion, version: string): KubeObject {
  const schema = custom.schemasOf(version)?.structural
  if (schema === undefined) return object
  const { kind, apiVersion, metadata, ...fields } = object
  const next = prune(fields, schema)
  return next === fields ? object : { kind, apiVersion, metadata, ...next }
}
