/**
 * Fields of features that are off by default: they are decoded, owned by their sender, and dropped before the strategy looks
 * at the object. A field is kept where the stored object already uses its feature (API concept: feature gates). Create and update
 * call this for every built-in kind.
 */
import type { Fields, Json, KubeObject } from '../../api/object.ts'
import { noParts, type Parts } from '../../api/parts.ts'
import type { Schema, StructSchema } from '../../api/schema/schema.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'

const CORE = 'io.k8s.api.core.v1'
const DEVICES = 'io.k8s.api.resource.v1'

interface DisabledField {
  readonly definition: string
  readonly field: string
  /** The feature gate that is off; or the feature that Kubernetes has removed. */
  readonly feature: string
  /** A struct that holds nothing else goes with the field. */
  readonly withEmptyParent?: boolean
  /** Only in objects of this kind. */
  readonly kind?: string
  /** Another field of the feature being in use does not keep this one. */
  readonly alone?: boolean
}

/** What is in use with a field: its feature, or the field alone. */
const useOf = ({ definition, field, feature, alone }: DisabledField): string =>
  alone === true ? `${definition}.${field}` : feature

const of = (feature: string, ...fields: readonly (readonly [definition: string, field: string])[]) =>
  fields.map(([definition, field]): DisabledField => ({ definition, field, feature }))

export const DISABLED_FIELDS: readonly DisabledField[] = [
  { definition: `${CORE}.Lifecycle`, field: 'stopSignal', feature: 'ContainerStopSignals', withEmptyParent: true },
  ...of('H2CContainerProbe', [`${CORE}.HTTPGetAction`, 'protocol']),
  ...of('GRPCContainerProbeTLS', [`${CORE}.GRPCAction`, 'mode']),
  ...of('VolumeBindMountOptions', [`${CORE}.VolumeMount`, 'bindMountOptions']),
  ...of('EvictionRequestAPI', [`${CORE}.PodSpec`, 'evictionResponders']),
  ...of('GenericWorkload', [`${CORE}.PodSpec`, 'schedulingGroup']),
  ...of('EmptyDirVolumeMode', [`${CORE}.EmptyDirVolumeSource`, 'mode']),
  ...of(
    'AtomicWriteVolumeUserFields',
    [`${CORE}.ConfigMapVolumeSource`, 'defaultUser'],
    [`${CORE}.SecretVolumeSource`, 'defaultUser'],
    [`${CORE}.DownwardAPIVolumeSource`, 'defaultUser'],
    [`${CORE}.ProjectedVolumeSource`, 'defaultUser'],
    [`${CORE}.KeyToPath`, 'user'],
    [`${CORE}.DownwardAPIVolumeFile`, 'user'],
    [`${CORE}.ServiceAccountTokenProjection`, 'user'],
    [`${CORE}.ClusterTrustBundleProjection`, 'user'],
    [`${CORE}.PodCertificateProjection`, 'user'],
  ),
  ...of('ImageVolumeWithDigest', [`${CORE}.VolumeMountStatus`, 'volumeStatus']),
  ...of(
    'DRANodeAllocatableResources',
    [`${CORE}.PodStatus`, 'nodeAllocatableResourceClaimStatuses'],
    [`${DEVICES}.Device`, 'nodeAllocatableResources'],
  ),
  ...of('CSIVolumeHealth', [`${CORE}.PodStatus`, 'volumeHealth']),
  {
    definition: `${CORE}.PersistentVolumeClaimStatus`,
    field: 'healthStatus',
    feature: 'CSIVolumeHealth',
    kind: 'PersistentVolumeClaim',
  },
  ...of('InPlacePodVerticalScalingSchedulerPreemption', [`${CORE}.NodeSpec`, 'podPreemptionPolicy']),
  ...of('DynamicKubeletConfig', [`${CORE}.NodeSpec`, 'configSource'], [`${CORE}.NodeStatus`, 'config']),
  ...of('WorkloadWithJob', ['io.k8s.api.batch.v1.JobSpec', 'scheduling']),
  ...of(
    'CoordinatedLeaderElection',
    ['io.k8s.api.coordination.v1.LeaseSpec', 'strategy'],
    ['io.k8s.api.coordination.v1.LeaseSpec', 'preferredHolder'],
  ).map((one) => ({ ...one, alone: true })),
  ...of(
    'DRADerivedAttributes',
    [`${DEVICES}.ExactDeviceRequest`, 'derivedAttributes'],
    [`${DEVICES}.DeviceSubRequest`, 'derivedAttributes'],
  ),
  ...of(
    'DRAListTypeAttributes',
    [`${DEVICES}.DeviceAttribute`, 'bools'],
    [`${DEVICES}.DeviceAttribute`, 'ints'],
    [`${DEVICES}.DeviceAttribute`, 'strings'],
    [`${DEVICES}.DeviceAttribute`, 'versions'],
  ),
  ...of('DRADeviceCompatibilityGroups', [`${DEVICES}.DeviceCounterConsumption`, 'compatibilityGroups']),
  ...of('DRAPartitionableDevicesType', [`${DEVICES}.ResourceSliceSpec`, 'partitionTypeAttribute']),
  ...of(
    'DRAOptionalNodeOperations',
    [`${DEVICES}.ResourceSliceSpec`, 'skipNodeOperations'],
    [`${DEVICES}.DeviceRequestAllocationResult`, 'skipNodeOperations'],
  ),
]

const byDefinition = Map.groupBy(DISABLED_FIELDS, ({ definition }) => definition)

/** What a type has of disabled fields: its own, and the fields below which there are some. */
interface Plan {
  readonly own: readonly DisabledField[]
  readonly below: readonly {
    readonly field: string
    readonly schema: Schema
    /** Whether a new object's value for it uses no feature that is off, whatever its kind: asked of parts that recur. */
    readonly isPlain: (part: object) => boolean
  }[]
}

const plans = new Map<string, Plan>()

function planOf(schema: StructSchema): Plan {
  return getOrInsertComputed(plans, schema.definition, (definition) => ({
    own: byDefinition.get(definition) ?? [],
    below: schema.fields.flatMap(({ name, schema: inner }) =>
      leadsToDisabled(inner, new Set([definition])) ? [{ field: name, schema: inner, isPlain: isPlain(inner) }] : [],
    ),
  }))
}

function leadsToDisabled(schema: Schema, seen: Set<string>): boolean {
  if (schema.type === 'list') return leadsToDisabled(schema.items, seen)
  if (schema.type === 'map') return leadsToDisabled(schema.values, seen)
  if (schema.type !== 'struct' || seen.has(schema.definition)) return false
  seen.add(schema.definition)
  return byDefinition.has(schema.definition) || schema.fields.some((one) => leadsToDisabled(one.schema, seen))
}

/**
 * The object without the disabled fields that `old` does not use; the same object when there are none. What the two share is
 * not looked at: there is nothing new in it.
 */
export function withoutDisabledFields(
  object: KubeObject,
  old: KubeObject | undefined,
  schema: StructSchema,
  parts: Parts = noParts,
): KubeObject {
  const found = new Set<string>()
  collect(object, old, schema, object.kind, found, parts)
  if (found.size === 0) return object
  const inUse = new Set<string>()
  if (old !== undefined) collect(old, undefined, schema, object.kind, inUse)
  const dropped = found.difference(inUse)
  return dropped.size === 0 ? object : (without(object, schema, object.kind, dropped) as KubeObject)
}

const isPlain = (schema: Schema) => (part: object) => {
  const found = new Set<string>()
  collect(part as Json, undefined, schema, undefined, found)
  return found.size === 0
}

/**
 * Adds the features that `value` uses and the same value of the old object is not known to use. `kind` is undefined for any; `parts`
 * are those of the object itself: further down there are none.
 */
function collect(
  value: Json,
  old: Json | undefined,
  schema: Schema,
  kind: string | undefined,
  found: Set<string>,
  parts?: Parts,
): void {
  if (value === old || typeof value !== 'object' || value === null) return
  if (schema.type === 'list') {
    if (Array.isArray(value)) for (const item of value) collect(item, undefined, schema.items, kind, found)
  } else if (schema.type === 'map') {
    for (const item of Object.values(value as Fields)) collect(item, undefined, schema.values, kind, found)
  } else if (schema.type === 'struct') {
    const fields = value as Fields
    const plan = planOf(schema)
    for (const one of plan.own) if (fields[one.field] !== undefined && isOf(one, kind)) found.add(useOf(one))
    for (const { field, schema: inner, isPlain } of plan.below) {
      const value: Json | undefined = fields[field]
      if (value === undefined || parts?.holds(value, isPlain)) continue
      collect(value, (old as Fields | undefined)?.[field], inner, kind, found)
    }
  }
}

const isOf = ({ kind }: DisabledField, of: string | undefined): boolean =>
  kind === undefined || of === undefined || kind === of

function without(value: Json, schema: Schema, kind: string, dropped: ReadonlySet<string>): Json {
  if (typeof value !== 'object' || value === null) return value
  if (schema.type === 'list') {
    if (!Array.isArray(value)) return value
    const items = value.map((item) => without(item, schema.items, kind, dropped))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (schema.type === 'map')
    return withFields(value as Fields, Object.keys(value), (_, inner) => without(inner, schema.values, kind, dropped))
  if (schema.type !== 'struct') return value
  const { own, below } = planOf(schema)
  const gone = own.filter((one) => dropped.has(useOf(one)) && isOf(one, kind)).map(({ field }) => field)
  const schemas = new Map(below.map(({ field, schema }) => [field, schema]))
  return withFields(value as Fields, [...gone, ...schemas.keys()], (name, inner) => {
    if (gone.includes(name)) return undefined
    const next = without(inner, schemas.get(name)!, kind, dropped)
    return next !== inner && goesWhenEmpty(schemas.get(name)!) && Object.keys(next as Fields).length === 0
      ? undefined
      : next
  })
}

const goesWhenEmpty = (schema: Schema): boolean =>
  schema.type === 'struct' &&
  (byDefinition.get(schema.definition)?.some(({ withEmptyParent }) => withEmptyParent === true) ?? false)

/** The same fields in the same order, with what `change` makes of those named: undefined removes one. */
function withFields(
  fields: Fields,
  names: readonly string[],
  change: (name: string, value: Json) => Json | undefined,
): Fields {
  const changed = names.flatMap((name) => {
    const value = fields[name]
    if (value === undefined) return []
    const next = change(name, value)
    return next === value ? [] : [[name, next] as const]
  })
  if (changed.length === 0) return fields
  const changes = new Map<string, Json | undefined>(changed)
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const next = changes.has(name) ? changes.get(name) : value
      return next === undefined ? [] : [[name, next]]
    }),
  )
}
