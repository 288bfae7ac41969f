/**
 * What a server knows of one row of its scheme, made once (endpoints/): handlers and the store hold it instead of asking the
 * row what it is. Built-in kinds and custom resources are two ways to make one.
 *
 * An object of a resource is met in three versions: as it is stored, as requests for it are worked on (strategies, built-in
 * admission, managedFields), and as the row's own version shows it. A built-in kind is worked on as it is stored, a custom
 * resource in the version of the request, which its rules are written for.
 */

import type { ExpectedKind } from '../../api/codec/body-source.ts'
import type { Decoded, DecodeOptions } from '../../api/codec/decode.ts'
import type { FaultyKind, FieldError } from '../../api/errors/field-errors.ts'
import type { ReplicasOf } from '../../api/fields/scale.ts'
import type { Misfit } from '../../api/fields/validate.ts'
import type { Scale } from '../../api/generated/types.ts'
import type { JournalTexts } from '../../api/journal-texts.ts'
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import type { Parts } from '../../api/parts.ts'
import type { RequestBody, StoredObject } from '../../api/request.ts'
import type { StructSchema } from '../../api/schema/schema.ts'
import type { FieldProblem } from '../../api/schema/strict-problem.ts'
import type { ResourceRow, SubresourceRow } from '../../api/scheme/resource.ts'
import type { StatusError } from '../../api/status.ts'
import type { ServedForm } from '../cache/entry.ts'
import type { Strategy } from './strategy.ts'

type Objects = readonly KubeObject[]

export interface ListMetadata {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export interface ResourceEndpoint extends ShownKind {
  readonly row: ResourceRow
  readonly strategy: Strategy
  readonly served: ServedVersion
  readonly worked: WorkedVersion
  readonly reader: KindReader
  /** What is remembered of specs that recur. */
  readonly parts: Parts
  /** Its records in the journal of deletions, as text. */
  readonly journalTexts: JournalTexts
  /** Of the row, or of the kind of one of its subresources (`Scale`, `Binding`), which is a built-in one. */
  readerOf(kind: ResourceRow | SubresourceRow): KindReader
  readonly scale: ScaledResource
  readonly routing: VerbRouting | undefined
  /** Given as a warning with every answer. */
  readonly deprecated: string | undefined
}

/** How a kind is shown in Tables (API concept: receiving resources as Tables). */
export interface TablePrinter {
  /** As a Table's columnDefinitions. */
  readonly columns: readonly Json[]
  /** In the order of the columns; `nowMs` gives the ages. */
  readonly print: (object: KubeObject, nowMs: number) => readonly Json[]
  /** What a row has beside its cells. */
  readonly conditions?: (object: KubeObject) => readonly Json[] | undefined
  /** The one in a list that is marked; alone none is. */
  readonly markedOf?: (objects: Objects) => KubeObject | undefined
  /** The rows of a list, or of a page of it, are in this order. */
  readonly order?: (one: KubeObject, other: KubeObject) => number
}

/** A kind that objects are shown as. */
export interface ShownKind {
  /** Made when it is first asked for, the same every time. */
  printer(): TablePrinter
  /** Whether its objects have a form in protobuf. */
  hasMessage(): boolean
  /** The refusal of metadata that was asked for by the name of a list of an object, or by that of an object of a list. */
  noSuchMetadata(asList: boolean): StatusError
}

export interface PatchedRead {
  readonly object: KubeObject
  readonly unknown: readonly FieldProblem[]
}

/** How what clients send of a kind is read. */
export interface KindReader extends ExpectedKind {
  /** Canonical, without defaults that only built-in kinds have. @throws StatusError 400, 415 */
  decode(body: RequestBody | undefined, options: DecodeOptions): Decoded
  /** With the defaults of its version's types. */
  defaulted(object: KubeObject): KubeObject
  /** An object that has nothing but metadata, as its type writes it: with the fields that are written though they are empty. */
  written(object: KubeObject): KubeObject
  /** What a create or an update takes of an object that was sent. */
  taken(object: KubeObject): KubeObject
  /**
   * An applied object that `decode` refused with this error, as Kubernetes' conversion to a Go type takes it; or why it takes none.
   * @throws the error of a kind that is not converted
   */
  converted(object: KubeObject, error: unknown): KubeObject | { readonly misfit: string }
  /** With its fields in the order in which messages print them. */
  inFieldOrder(object: KubeObject): KubeObject
  /** What a decoder takes for an object that a patch made, and the fields that it does not know in it. */
  asPatched(object: KubeObject): PatchedRead
  /**
   * An apply configuration of a policy that fits the schema, as the conversion to Kubernetes' own types takes its numbers.
   * @throws MutationError for a fraction where a whole number belongs
   */
  fitted(configuration: JsonObject): Json
  /** What becomes of fields that a policy's patch makes and the kind does not declare: refused, or left out. */
  readonly undeclared: 'Strict' | 'Ignore'
  /** In Kubernetes its objects have an apiVersion and kind only once a patch was applied, which counts as a change. */
  readonly gainsKind: boolean
  /** Its schema has merge keys: there are strategic merges. */
  readonly mergesStrategically: boolean
  /** The refusal of a patch of a type that it does not take. */
  unsupportedPatch(): StatusError
}

/**
 * One handler takes all paths of the resource, by the verb of the request's info: whether a name stands in the path is not the
 * route's business, nor what stands behind a subresource. These are its refusals.
 */
export interface VerbRouting {
  noSubresource(name: string): StatusError
  notAllowed(verb: string): StatusError
}

/** A resource seen as autoscaling/v1 Scale, where it has that subresource. */
export interface ScaledResource {
  /** @throws StatusError 500 when a custom resource does not say how many replicas it wants */
  of(object: KubeObject): KubeObject
  /** The same, where one that does not say it wants none. */
  lenientlyOf(object: KubeObject): KubeObject
  withReplicas(object: KubeObject, replicas: number): KubeObject
  /** Where its versions keep their wanted replicas. */
  readonly replicasOf: ReplicasOf
  /** The rules of the Scale itself, beside those of the resource. @throws StatusError 422 */
  validate(scale: Scale): void
  /** What is told of a Scale in a body that cannot be read. */
  refusal(error: unknown): unknown
  /** Whether Kubernetes can take what managers of the resource's own versions applied to its Scale. */
  readonly isConvertible: boolean
}

/** The version in which an object is shown to requests for the row. */
export interface ServedVersion {
  /** The form in which caches keep it; undefined when it is shown as it is stored. */
  readonly form: ServedForm | undefined
  /** Whether the definition's webhook is asked for objects that are stored in another version. */
  readonly byWebhook: boolean
  /** Aborted when its objects have come to be served otherwise, or no longer: watches end. undefined: never. */
  readonly replaced: AbortSignal | undefined
  /** Whether the items of a list say what kind and version they are. */
  readonly wholeItems: boolean
  /** A list's metadata as it is written. */
  listMetadata(metadata: ListMetadata): ListMetadata
  /** Whether the other half of admission can be shown an object in this version and give it back in the version `requested`. */
  readonly takesBack: boolean
  /**
   * What storage holds, as it is shown.
   * @throws StatusError 500 when a webhook fails, naming what cannot be read
   */
  entry(stored: StoredObject): StoredObject | Promise<StoredObject>
  /** The same of a list: a webhook is asked once. */
  entries(stored: readonly StoredObject[]): readonly StoredObject[] | Promise<readonly StoredObject[]>
  /** Objects of any version of the kind. */
  objects(objects: Objects): Objects | Promise<Objects>
  object(object: KubeObject): KubeObject | Promise<KubeObject>
  /** The same without a webhook: for what cannot wait. */
  now(object: KubeObject): KubeObject
}

/** The version in which it is worked on. */
export interface WorkedVersion {
  /** From the version of the request. */
  ofRequest(object: KubeObject): KubeObject | Promise<KubeObject>
  /** And back. */
  asRequested(object: KubeObject): KubeObject | Promise<KubeObject>
  /** What admission made of one, in any version. */
  admitted(object: KubeObject): KubeObject | Promise<KubeObject>
  /** What storage holds. @throws whatever a webhook's failure is */
  ofStored(object: KubeObject): KubeObject | Promise<KubeObject>
  /** The object without the fields of features that are off. */
  enabled(object: KubeObject, old?: KubeObject): KubeObject
  /** What is wrong with it by the rules that its types declare. */
  declaredErrors(object: KubeObject, old?: KubeObject): readonly FieldError[]
  /** The kind that an error names. */
  kindOf(object: KubeObject): FaultyKind
  /** The object as it will be read again once it has been stored. */
  settled(object: KubeObject): KubeObject
  /** A settled object as it is written. @throws StatusError 500 when a webhook fails */
  asStored(object: KubeObject): KubeObject | Promise<KubeObject>
  /** Whether an object can be divided into fields, which is asked before its values are judged. */
  isDivisible(object: KubeObject): boolean
  /** Why what another version made of an object cannot be compared; none for objects of Go types. */
  comparisonMisfits(object: KubeObject, schema: StructSchema): readonly Misfit[]
  /** Whether it is a mistake to name a version that the kind does not have. */
  readonly refusesOthers: boolean
  /** Whether the kind has versions other than the row's. */
  hasOthers(): boolean
  /** The schema of the kind in another version; undefined when it has no such version. */
  otherSchema(apiVersion: string): StructSchema | undefined
  /**
   * The object in another version, as managedFields compare it: what that version has no field for stays. undefined when the
   * kind has no such version.
   */
  inOther(object: KubeObject, apiVersion: string): KubeObject | undefined | Promise<KubeObject>
}
