/**
 * What a server knows of one row of its scheme, made once (endpoints/): handlers and the store hold it instead of asking the
 * row what it is. Built-in kinds and custom resources are two ways to make one.
 *
 * An object of a resource is met in three versions: as it is stored, as requests for it are worked on (strategies, built-in
 * admission, managedFields), and as the row's own version shows it. A built-in kind is worked on as it is stored, a custom
 * resource in the version of the request, which its rules are written for.
 */
import type { KubeObject } from '../../api/object.ts'
import type { StoredObject } from '../../api/request.ts'
import type { StructSchema } from '../../api/schema/schema.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import type { FieldError } from '../../api/validation/errors.ts'
import type { ServedForm } from '../cache/entry.ts'
import type { Strategy } from './strategy.ts'

type Objects = readonly KubeObject[]

export interface ResourceEndpoint {
  readonly row: ResourceRow
  readonly strategy: Strategy
  readonly served: ServedVersion
  readonly worked: WorkedVersion
}

/** The version in which an object is shown to those who ask for the row. */
export interface ServedVersion {
  /** The form in which caches keep it; undefined when it is shown as it is stored. */
  readonly form: ServedForm | undefined
  /** Whether the definition's webhook is asked for objects that are stored in another version. */
  readonly byWebhook: boolean
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
  kindOf(object: KubeObject): { readonly group: string; readonly kind: string }
  /** The object as it will be read again once it has been stored. */
  settled(object: KubeObject): KubeObject
  /** A settled object as it is written. @throws StatusError 500 when a webhook fails */
  asStored(object: KubeObject): KubeObject | Promise<KubeObject>
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
