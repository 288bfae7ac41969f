/** The versions of a built-in kind: worked on as it is stored, shown by conversions that are pure functions. */
import { apiVersionOf, type KubeObject, parseApiVersion, type SpecAndStatus } from '../../api/object.ts'
import type { Parts } from '../../api/parts.ts'
import type { StoredObject } from '../../api/request.ts'
import { storedForm } from '../../api/schema/stored.ts'
import { canonicalPart } from '../../api/schema/walk.ts'
import type { ResourceRow, Scheme } from '../../api/scheme/resource.ts'
import { internalError } from '../../api/status.ts'
import { validateDeclared } from '../../api/validation/declared.ts'
import type { CacheEntry, ServedForm } from '../cache/entry.ts'
import { convertAutoscaling } from '../conversions/autoscaling.ts'
import { convertDevices } from '../conversions/devices.ts'
import { convertEvent } from '../conversions/events.ts'
import { withoutDisabledFields } from '../registry/disabled-fields.ts'
import type { ResourceEndpoint } from '../registry/endpoint.ts'

/** Gives an object of the kind in another version; pure. */
type Convert = (object: KubeObject, toApiVersion: string) => KubeObject

/** By kind: of the built-in API, these have more than one served version. */
const CONVERTERS: Readonly<Record<string, Convert>> = {
  HorizontalPodAutoscaler: convertAutoscaling,
  Event: convertEvent,
  ResourceClaim: convertDevices,
  ResourceClaimTemplate: convertDevices,
  ResourceSlice: convertDevices,
}

/** Kinds of these groups differ between their versions by name alone, but for those above. */
const RENAMED: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'certificates.k8s.io',
  'resource.k8s.io',
  'storagemigration.k8s.io',
])

function convert(object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object
  const converter = Object.hasOwn(CONVERTERS, object.kind) ? CONVERTERS[object.kind] : undefined
  if (converter === undefined && RENAMED.has(parseApiVersion(apiVersion).group)) return { ...object, apiVersion }
  if (converter === undefined)
    throw internalError(`no conversion of ${object.kind} from ${object.apiVersion} to ${apiVersion}`)
  return converter(object, apiVersion)
}

const isPrerelease = ({ version }: ResourceRow): boolean => /\d(?:alpha|beta)\d/.test(version)

const itself = <T>(value: T): T => value

export function builtinVersions(
  row: ResourceRow,
  scheme: Scheme,
  parts: Parts,
): Pick<ResourceEndpoint, 'served' | 'worked'> {
  const own = apiVersionOf(row.group, row.version)
  const stored = apiVersionOf(row.storageGroup, row.storageVersion)
  /** The storage version is the hub of conversion. */
  const isHub = own === stored
  const form: ServedForm | undefined = isHub ? undefined : { name: own, convert: (object) => convert(object, own) }
  const shown = (entry: StoredObject): StoredObject => (form === undefined ? entry : (entry as CacheEntry).as(form))
  const toOwn = isHub ? itself : (object: KubeObject) => convert(object, own)
  const toStored = isHub ? itself : (object: KubeObject) => convert(object, stored)
  const sibling = (apiVersion: string): ResourceRow | undefined => {
    const { group, version } = parseApiVersion(apiVersion)
    const found = scheme.findKind(group, version, row.kind)
    return found?.storagePrefix === row.storagePrefix ? found : undefined
  }
  // What is worked on is of the storage version: the rules of versions before that one are the same, and for what they call it.
  const rules = isPrerelease(row)
    ? (scheme.findKind(row.storageGroup, row.storageVersion, row.kind)?.schema ?? row.schema)
    : row.schema
  return {
    served: {
      form,
      byWebhook: false,
      replaced: undefined,
      wholeItems: false,
      listMetadata: itself,
      takesBack: false,
      entry: shown,
      entries: isHub ? itself : (entries) => entries.map(shown),
      objects: isHub ? itself : (objects) => objects.map(toOwn),
      object: toOwn,
      now: toOwn,
    },
    worked: {
      ofRequest: toStored,
      asRequested: toOwn,
      admitted: toStored,
      ofStored: itself,
      enabled: (object, old) => withoutDisabledFields(object, old, rules, parts),
      declaredErrors: (object, old) => validateDeclared(object, old, rules, parts),
      kindOf: () => ({
        group: row.storageGroup,
        kind: row.kind,
        repeatsCauses: row.group === 'apiextensions.k8s.io',
      }),
      // The row's own schema has to be that of what is stored.
      settled:
        !isHub || row.storedAsJson
          ? itself
          : (object) => storedForm(withCanonicalSpec(object, row, parts), row.schema, parts),
      asStored: itself,
      isDivisible: () => true,
      comparisonMisfits: () => [],
      refusesOthers: false,
      hasOthers: () => scheme.sharing(row).length > 1,
      otherSchema: (apiVersion) => sibling(apiVersion)?.schema,
      inOther(object, apiVersion) {
        if (object.apiVersion === apiVersion) return object
        return sibling(apiVersion) === undefined ? undefined : convert(object, apiVersion)
      },
    },
  }
}

/** What the server changed in a spec that recurs may stand in any order: the form in which it will be met again is made once. */
function withCanonicalSpec(object: SpecAndStatus, { schema }: ResourceRow, parts: Parts): KubeObject {
  const { spec } = object
  const declared = schema.byName.get('spec')?.schema
  if (declared?.type !== 'struct') return object
  const canonical = canonicalPart(spec, declared, parts)
  return canonical === spec ? object : { ...object, spec: canonical }
}
