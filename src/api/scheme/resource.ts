/** scheme: what is served, a row for each resource in each of its versions. Here is what a row says; made by scheme.ts. */
import type { StructSchema } from '../schema/schema.ts'
import type { Structural } from '../schema/structural/structural.ts'

export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description?: string
  readonly priority: number
  /** Where its cells are found; undefined where the kind has a printer of its own. */
  readonly jsonPath?: string
}

/** What a version of a custom resource's definition adds to its row. */
export interface CustomVersion {
  /** undefined when the definition gives no schema. */
  readonly structural: Structural | undefined
  /** The definition is being deleted: nothing new comes in. */
  readonly terminating: boolean
  /** A version that the definition names, served or not; undefined for any other. */
  schemasOf(version: string): VersionSchemas | undefined
  readonly status: boolean
  readonly scale: ScalePaths | undefined
  /** What field selectors may name, besides the name and namespace (`.spec.mode`). */
  readonly selectableFields: readonly string[]
  /** Given with every answer of this version. */
  readonly deprecationWarning: string | undefined
  readonly conversion: 'None' | 'Webhook'
  /** Aborted when the definition's objects have come to be served otherwise, or no longer: watches end. */
  readonly replaced: AbortSignal
}

/**
 * The schema of one version of a custom resource, in both forms, and where it keeps what a Scale shows; undefined: the
 * definition gives none.
 */
export interface VersionSchemas {
  readonly structural: Structural | undefined
  readonly schema: StructSchema
  readonly scale: ScalePaths | undefined
}

/** Where a custom resource keeps what autoscaling/v1 Scale shows. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath: string
}

/** One served resource in one version: what discovery lists and a path names. */
export interface ResourceRow {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  /** As discovery prints them, sorted. */
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** As discovery gives it; empty when the resource is not stored. */
  readonly storageVersionHash: string
  readonly listKind: string
  readonly schema: StructSchema
  /** Where it is stored: /registry/<storagePrefix>/[namespace/]name. '' when it is not (reviews). */
  readonly storagePrefix: string
  /** The group written to storage: the row's own, except for events.k8s.io, whose events are stored as core/v1 ones. */
  readonly storageGroup: string
  /** The version written to storage; the hub of conversion, and what strategies and built-in admission see. */
  readonly storageVersion: string
  /** Kubernetes keeps its objects as JSON, where empty lists and maps last; all others as protobuf. */
  readonly storedAsJson: boolean
  /** A request for one of its objects is a request in the namespace of that name (namespaces). */
  readonly isOwnNamespace: boolean
  /** Whether ResourceQuotas may count its objects: those in namespaces, but for events. */
  readonly chargesQuota: boolean
  readonly columns: readonly PrinterColumn[]
  /** The Go type of its objects, as messages name it. */
  readonly goType: string
  readonly openApi: OpenApiIdentity
  /** Discovery leaves the group and version of a kind to be understood where they are the resource's own. */
  readonly impliesKind: boolean
  /** In the order in which discovery tells of them. */
  readonly discoveredSubresources: readonly SubresourceRow[]
  readonly subresources: readonly SubresourceRow[]
  /** Custom resources only: their bodies, defaults and values are judged by it. */
  readonly custom?: CustomVersion
}

/** What OpenAPI calls its kind, and where it has it from. */
export interface OpenApiIdentity {
  /** `io.k8s.api.core.v1.Pod` */
  readonly definition: string
  /** Of a kind that no published schema tells of, but its CustomResourceDefinition. */
  readonly byDefinition?: {
    /** What the definition says of how its objects are served, as a hash: documents made of rows with the same one are the same. */
    readonly digest: string
    /** What field selectors may name, as JSON paths. */
    readonly selectableFields: readonly string[]
  }
}

export interface SubresourceRow {
  /** `status`, `scale`, `binding`, `token`, `eviction`, … */
  readonly name: string
  readonly group: string
  readonly version: string
  /** The kind read and written there (`Scale`, `Binding`, or the parent's). */
  readonly kind: string
  readonly verbs: readonly string[]
  readonly schema: StructSchema
}

export interface Scheme {
  /** undefined when nothing of that name is served. */
  find(group: string, version: string, resource: string): ResourceRow | undefined
  findKind(group: string, version: string, kind: string): ResourceRow | undefined
  /** Every row. For what happens at a start, or seldom: it costs the number of rows. */
  rows(): readonly ResourceRow[]
  /** What is served now, by group. */
  groups(): ReadonlyMap<string, SchemeGroup>
  /** Of the versions in which a resource is stored, the row that came first. */
  stored(group: string, resource: string): ResourceRow | undefined
  /** Rows of the same objects: other versions of the resource, and Events of the other group. None of what is not stored. */
  sharing(row: ResourceRow): readonly ResourceRow[]
  /** Rises whenever rows change (custom resources come and go). */
  readonly generation: number
}

export interface SchemeGroup {
  readonly name: string
  /** The scheme's generation when a row of this group changed last: the same number means the same rows. */
  readonly generation: number
  readonly versions: readonly string[]
  /** Those of a version; none of one that is not served. */
  rows(version: string): readonly ResourceRow[]
}
