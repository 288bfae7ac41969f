/**
 * What a resource's author writes; the generic store does the rest (DESIGN.md, decision 5). Objects are of the storage
 * version; every function is pure: it returns a new object (or the same one) and never mutates.
 */
import type { KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import type { FieldError } from '../../api/validation/errors.ts'

export interface StrategyContext {
  readonly user: UserInfo
  readonly namespace: string
  /** metav1.Time of this request, and milliseconds. */
  readonly now: string
  readonly nowMs: number
  readonly dryRun: boolean
  /** '' or the subresource the request is for. */
  readonly subresource: string
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly orphanDependents?: boolean
  readonly propagationPolicy?: string
  readonly dryRun?: readonly string[]
}

export interface Strategy {
  prepareForCreate?(object: KubeObject, context: StrategyContext): KubeObject
  /** Rules of the kind; object-meta rules are the store's. */
  validate?(object: KubeObject, context: StrategyContext): readonly FieldError[]
  warningsOnCreate?(object: KubeObject, context: StrategyContext): readonly string[]
  canonicalize?(object: KubeObject): KubeObject
  /** PUT of a name that is not there creates it. */
  readonly allowCreateOnUpdate?: boolean
  /** Whether a PUT without resourceVersion overwrites. Default true, as for most kinds. */
  readonly allowUnconditionalUpdate?: boolean
  prepareForUpdate?(object: KubeObject, old: KubeObject, context: StrategyContext): KubeObject
  validateUpdate?(object: KubeObject, old: KubeObject, context: StrategyContext): readonly FieldError[]
  warningsOnUpdate?(object: KubeObject, old: KubeObject, context: StrategyContext): readonly string[]
  /** Paths (as fieldsV1 paths: ['f:status']) that a write to this endpoint never owns. */
  readonly resetFields?: readonly (readonly string[])[]
  /** Graceful kinds (pods): the grace period to use, or undefined for deletion at once. */
  gracePeriod?(object: KubeObject, options: DeleteOptions): number | undefined
  readonly defaultGarbageCollectionPolicy?: 'OrphanDependents' | 'DeleteDependents' | 'Unsupported'
  /** What field selectors may name besides metadata.name and metadata.namespace. */
  selectableFields?(object: KubeObject): Readonly<Record<string, string>>
  /** Field labels supported, for the error of one that is not. */
  readonly fieldLabels?: readonly string[]
  /** The rules of .../status: same shape, used instead of this one for that subresource. */
  readonly status?: Omit<Strategy, 'status'>
  /** Other subresources that write the object (pods/ephemeralcontainers, namespaces/finalize, …). */
  readonly subresources?: Readonly<Record<string, Omit<Strategy, 'status' | 'subresources'>>>
  /** The kind's Name rule; default: DNS-1123 subdomain. Returns messages. */
  validateName?(name: string, prefix: boolean): readonly string[]
}
