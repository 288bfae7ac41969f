/**
 * plan: what would come of a deed (a delete, a drain, an uninstall, an apply) in a cluster. The deed is done in a twin of it (twin/), in
 * simulated time, by skiff's own controllers, scheduler and kubelets; nothing is written to the source. Called by the command and by the
 * page. A plan is JSON as it stands.
 */
import type { Unseen } from '../cluster-reader.ts'
import type { OutsideServer } from '../twin/outside.ts'
import { type ReadOptions, readCluster, type TwinSource } from '../twin/read-cluster.ts'
import { modelOf, type TwinModel } from '../twin/twin.ts'
import type { Deed } from './deed.ts'
import { type DeleteRequest, deleteDeed, namedTargets, targetNamespaces } from './delete-deed.ts'
import { planOf } from './plan-from-rehearsals.ts'
import type { Forbidden } from './rights.ts'

/** An object of the source, or one that would be made. */
export interface PlannedObject {
  readonly group: string
  /** Plural. */
  readonly resource: string
  readonly kind: string
  /** '' for what is in no namespace. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/**
 * Milliseconds after the deed began: from programs that end as soon as they are asked to, to those that use all of their grace periods.
 * Of what does not depend on that the two are equal.
 */
export interface TimeSpan {
  readonly least: number
  readonly most: number
}

/** An object that is removed. */
export interface Going {
  readonly object: PlannedObject
  /** Place in the order of removals; smaller goes first. */
  readonly order: number
  readonly marked: TimeSpan | undefined
  readonly removed: TimeSpan
  /**
   * The component that asked for its removal first; `user` for the deed itself, `others` for a controller outside of skiff that takes off a
   * finalizer of what was marked before.
   */
  readonly by: string
  readonly why: string
  /** The object by whose end it goes: the uid of another that goes or stays. Absent: the deed itself named it. */
  readonly cause?: string
  /**
   * `either`: it depends on how long programs take to end, or on which of several controllers comes first. `if others act`: on what
   * controllers outside of skiff's do.
   */
  readonly certainty: 'goes' | 'either' | 'if others act'
  /** It may as well go on the other side of its cause: which of the two goes first is chance. */
  readonly isOrderOpen?: boolean
}

/** An object that is marked as deleted and does not go. */
export interface Staying {
  readonly object: PlannedObject
  readonly finalizers: readonly string[]
  /** As `skiff why` would say in the twin: the last cause. */
  readonly verdict: string
  readonly why: string
  readonly responsible: string
  /** Whether it goes when controllers outside of skiff's take their finalizers off. */
  readonly goesIfOthersAct: boolean
  /** It may as well not be marked at all: that is chance. */
  readonly mayLiveOn?: boolean
}

/** An object that lives on, no longer bound to an owner that goes or is marked. It may have others. */
export interface Orphaned {
  readonly object: PlannedObject
  readonly owners: readonly string[]
  /** Whether it goes when controllers outside of skiff's take their finalizers off. */
  readonly goesIfOthersAct: boolean
  /** It may as well stay bound to an owner that stays marked: that is chance. */
  readonly mayKeepOwners?: boolean
}

/** A request of the deed that is answered with an error. */
export interface RefusedRequest {
  /** `pods/web-1`, or the file. */
  readonly what: string
  readonly message: string
  /** There is no such object. */
  readonly isMissing?: true
  /** Its kind was not read: whether there is such an object is not known. */
  readonly isUnread?: true
}

/** What the plan does not know: each with both outcomes. */
export interface OutsideEffect {
  readonly kind: OutsideServer['kind'] | 'finalizer' | 'driver'
  /** The webhook, APIService, finalizer or driver. */
  readonly name: string
  readonly controller: string
  readonly ifItActs: string
  readonly ifNot: string
}

/** A part of the deed that begins only when the one before has ended. */
export interface PlanStage {
  readonly what: string
  /** When it ended; undefined: something holds it, and what waits for it waits for ever, or some of it is refused or was not read. */
  readonly ended: TimeSpan | undefined
  readonly heldBy: readonly string[]
  /** Of what is there; the rest of the stage is done all the same. */
  readonly refused: readonly RefusedRequest[]
}

export interface Plan {
  readonly apiVersion: 'plan.skiff.dev/v1'
  readonly kind: 'Plan'
  readonly deed: string
  /** The source's time when it was read, as metav1.Time. */
  readonly at: string
  /** In the order in which they go. */
  readonly goes: readonly Going[]
  readonly stays: readonly Staying[]
  /** What aggregated API servers hold of the namespaces and owners that go: they delete it when asked, which no twin can rehearse. */
  readonly beyond: readonly PlannedObject[]
  readonly orphaned: readonly Orphaned[]
  /** Made in place of what goes (pods of controllers that live on). */
  readonly appears: readonly PlannedObject[]
  readonly refused: readonly RefusedRequest[]
  /** What of the deed the caller may not do in the source; the rest of the plan is as if it were allowed. */
  readonly forbidden: readonly Forbidden[]
  readonly stages: readonly PlanStage[]
  /** Where stages wait for ever: the order of them in which each would end. */
  readonly endsInOrder?: readonly string[]
  readonly outside: readonly OutsideEffect[]
  /** Of the source: what could not be read. */
  readonly unread: readonly Unseen[]
  /** What was taken for granted. */
  readonly assumed: readonly string[]
}

export interface PlanOptions {
  /** Read Secrets with their values. */
  readonly secrets?: boolean
  /** The namespaces that the deed is about: what may not be listed in all is listed in these. */
  readonly orIn?: readonly string[]
  /** What the deed names one by one: it is read by its name where its kind may not be listed. */
  readonly named?: NonNullable<ReadOptions['named']>
  /** How often the deed is rehearsed again with controllers that come in another order. Default: by the size of what was read, at most 2. */
  readonly orders?: number
}

/**
 * What `kubectl delete` with this request would take with it. Reads the source whole, by GETs and reviews of the caller's own rights,
 * then works in memory.
 * @throws QuestionError for kinds and names that cannot be; Error when the source cannot be asked what it serves
 */
export async function planDelete(source: TwinSource, request: DeleteRequest, options: PlanOptions = {}): Promise<Plan> {
  const model = await readModel(source, {
    orIn: targetNamespaces(request.targets),
    named: namedTargets(request.targets),
    ...options,
  })
  return planIn(source, model, deleteDeed(model.read, request), options)
}

export const readModel = async (source: TwinSource, options: PlanOptions = {}): Promise<TwinModel> =>
  modelOf(await readCluster(source, options))

/** Several plans of one reading: each begins with the cluster as it was read. */
export const planIn = (
  source: TwinSource,
  model: TwinModel,
  deed: Deed,
  options: Pick<PlanOptions, 'orders'> = {},
): Promise<Plan> => planOf(source, model, deed, options.orders)
