/**
 * What a resource's author writes; the generic store does the rest. Objects are of the storage
 * version, of the kind's type; every function is pure: it returns a new object (or the same one) and never mutates.
 */
import type { FieldError } from '../../api/errors/field-errors.ts'
import type { ServiceCIDR } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Parts } from '../../api/parts.ts'
import type { UserInfo } from '../../api/request.ts'
import type { Random } from '../../base/random.ts'
import type { ServiceNetwork } from './allocators/service-network.ts'

export interface StrategyContext {
  readonly user: UserInfo
  readonly namespace: string
  /** metav1.Time of this request, and milliseconds. */
  readonly now: string
  readonly nowMs: number
  readonly dryRun: boolean
  /** '' or the subresource the request is for. */
  readonly subresource: string
  /** Whether deletes leave work to the garbage collector. Default: true. */
  readonly collectsGarbage?: boolean
  /** What the resource's endpoint remembers of specs. */
  readonly parts: Parts
  /** apiVersion of the request's path (`events.k8s.io/v1`): events are held to different rules by each group. */
  readonly requestApiVersion?: string
  /** The labels of the request's namespace, by which some kinds allow what others forbid. */
  namespaceLabels(): Readonly<Record<string, string>>
  /** Adds a Warning to the answer, whatever becomes of the request. */
  warn?(message: string): void
}

/** What allocation may look at: chance, and what the stored Services hold (as of every write answered). */
export interface Pools {
  readonly random: Random
  readonly network: ServiceNetwork
  /** What requests under way have taken, by address and by port. */
  readonly reserved: Set<string>
  services(): readonly KubeObject[]
  serviceCidrs(): readonly ServiceCIDR[]
}

/** The object with what was allocated for it; `finish` once its write is visible or has failed. */
export interface Begun {
  readonly object: KubeObject
  finish(): void
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly orphanDependents?: boolean
  readonly propagationPolicy?: string
  readonly dryRun?: readonly string[]
  /** Only for objects that cannot be decoded any more; all others refuse it. */
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean
}

export interface Strategy<T extends KubeObject = KubeObject> {
  /** Takes from shared pools before anything is prepared or validated (services). Throws a StatusError to refuse. */
  /** What begins takes something from a pool that all servers of the cluster share: two of them may not take the same. */
  readonly takesFromPools?: boolean
  beginCreate?(object: T, context: StrategyContext, pools: Pools): Begun
  beginUpdate?(object: T, old: T, context: StrategyContext, pools: Pools): Begun
  /** Defaults that need the time of the request: set on what was sent, before its fields are counted as the sender's. */
  timedDefaults?(object: T, now: string): KubeObject
  prepareForCreate?(object: T, context: StrategyContext): KubeObject
  /** Metadata is judged only where `validate` finds nothing: the kind's own rules do not look at it. */
  readonly metadataLast?: boolean
  /** The name's rule is one that the type declares: told after the kind's own rules. */
  readonly nameDeclared?: boolean
  /** What a new object may not ask for, told before everything else. */
  validateAccess?(object: T, context: StrategyContext): readonly FieldError[]
  /** Rules of the kind; object-meta rules are the store's. */
  validate?(object: T, context: StrategyContext): readonly FieldError[]
  warningsOnCreate?(object: T, context: StrategyContext): readonly string[]
  canonicalize?(object: T): KubeObject
  /** Defaults that each read finds anew in what is stored without them. `next` without them is another stored form than one with them. */
  defaultsOnRead?(object: T): KubeObject
  /** PUT of a name that is not there creates it. */
  readonly allowCreateOnUpdate?: boolean
  /** An apply of this subresource creates what is not there, as an apply of the object itself always does. */
  readonly allowCreateOnApply?: boolean
  /** Whether a PUT without resourceVersion overwrites. Default true, as for most kinds. */
  readonly allowUnconditionalUpdate?: boolean
  /** What the kind counts as a change includes fields that are dropped afterwards, since their feature is off. */
  readonly countsDisabledFields?: boolean
  prepareForUpdate?(object: T, old: T, context: StrategyContext): KubeObject
  validateUpdate?(object: T, old: T, context: StrategyContext): readonly FieldError[]
  warningsOnUpdate?(object: T, old: T, context: StrategyContext): readonly string[]
  /** Paths (as fieldsV1 paths: ['f:status']) that a write to this endpoint never owns. */
  readonly resetFields?: readonly (readonly string[])[]
  /** Graceful kinds (pods): the grace period to use, or undefined for deletion at once. */
  gracePeriod?(object: T, options: DeleteOptions): number | undefined
  /** A delete that removes the object is answered with it instead of a Status of Success. */
  readonly returnDeletedObject?: boolean
  /** Why none may delete the object of this name, whether or not it is there. The deletion of a collection does not ask. */
  whyUndeletable?(name: string): string | undefined
  /** Said of every deletion that is asked for, whether or not there is something to delete. */
  warningsOnDelete?(options: DeleteOptions): readonly string[]
  /**
   * Kinds whose deletion begins with a step of their own (Namespace, CustomResourceDefinition): the object to write instead
   * of the generic marking, the same object when it was marked before, or undefined for the generic way.
   */
  beginDeletion?(object: T, options: DeleteOptions, context: StrategyContext): KubeObject | undefined
  /** How such a kind begins to say that a precondition does not hold, where it has words of its own for it. */
  readonly preconditionFailed?: string
  /** Finalizers that are none of its metadata's (namespaces: spec.finalizers). */
  ownFinalizers?(object: T): readonly string[]
  /** Whether an object without finalizers may go (namespaces: spec.finalizers is empty). Default: yes. */
  mayRemove?(object: T): boolean
  readonly defaultGarbageCollectionPolicy?: 'OrphanDependents' | 'DeleteDependents' | 'Unsupported'
  /** Kinds that expire (events): seconds until storage forgets the object, counted from its last write. */
  timeToLiveSeconds?(object: T): number | undefined
  /** What field selectors may name besides metadata.name and metadata.namespace. */
  selectableFields?(object: T): Readonly<Record<string, string>>
  /** Those of them that Kubernetes' watch cache has an index of: what a page of a list looks at, and so whether more follow, is of one value. */
  readonly indexedFields?: readonly string[]
  /** Kinds that Kubernetes' API server keeps no watch cache of (events). */
  readonly isListedFromStore?: boolean
  /** Those of them that a selector may name, where that depends on the API group that the request names. */
  readonly fieldLabels?: readonly string[] | ((group: string) => readonly string[])
  /** The error's text for a field label that a selector may not name. Default: `field label not supported: …`. */
  fieldLabelProblem?(label: string): string
  /** The rules of .../status: same shape, used instead of this one for that subresource. */
  readonly status?: Omit<Strategy<T>, 'status'>
  /** Other subresources that write the object (pods/ephemeralcontainers, namespaces/finalize, …). */
  readonly subresources?: Readonly<Record<string, Omit<Strategy<T>, 'status' | 'subresources'>>>
  /** The kind's Name rule; default: DNS-1123 subdomain. Returns messages. */
  validateName?(name: string, prefix: boolean): readonly string[]
  /** Which rules of new names an update is held to as well, in the order of their errors. Default: finalizers. */
  readonly metaOnUpdate?: readonly ('finalizers' | 'generateName')[]
  /** False where a finalizer needs no domain (definitions, custom resources). Default true. */
  readonly standardFinalizersOnly?: boolean
}
