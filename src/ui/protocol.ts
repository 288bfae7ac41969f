/**
 * What the server and its page say to each other: JSON with nothing in it that a browser or a reader would take for something else
 * (base/plain-text.ts). Types alone, for both sides.
 */
import type { Plan, PlannedObject } from '../inspect/plan/plan.ts'
import type { Timeline, TimelineStep } from '../inspect/timeline/timeline-types.ts'
import type { Verdict } from '../inspect/why/finding.ts'
import type { WayOut } from '../inspect/why/ways-out.ts'

export type { Plan, PlannedObject, Timeline, TimelineStep, Verdict }

/** Names an object to the server. */
export interface ObjectName {
  readonly group: string
  readonly version: string
  /** Plural. */
  readonly resource: string
  /** '' for what is in no namespace. */
  readonly namespace: string
  readonly name: string
}

export interface Owner {
  readonly uid: string
  readonly kind: string
  readonly name: string
  /** Whether it is the one that manages the object. */
  readonly controller: boolean
  /** Whether a foreground deletion of the owner waits for the object. */
  readonly blocks: boolean
}

/** How well it is: what can be seen of pods and nodes alone. */
export type Health = 'well' | 'waiting' | 'failing'

export interface SceneObject extends ObjectName {
  readonly uid: string
  readonly kind: string
  /** As kubectl abbreviates the kind; absent where it does not. */
  readonly short?: string
  readonly created: string
  /** metav1.Time: when it was marked as deleted; absent: it is not. */
  readonly deleted?: string
  readonly graceSeconds?: number
  /** Of a namespace those of its spec too. */
  readonly finalizers: readonly string[]
  readonly owners: readonly Owner[]
  /** Of pods and nodes, as kubectl shows it: `Running 1/1`, `NotReady, cordoned`. */
  readonly state?: string
  readonly health?: Health
  /** Of a pod: the node it is on. */
  readonly node?: string
  /** Of a node: how its pods run. */
  readonly nature?: 'simulated' | 'kwok' | 'real'
}

/** One event of the stream at api/watch. */
export interface SceneChange {
  /** What was there before counts no more. */
  readonly reset?: true
  /** More of the first state is to come. */
  readonly partial?: true
  readonly put: readonly SceneObject[]
  /** By uid. */
  readonly gone: readonly string[]
  /** Kinds that are not shown, and why. */
  readonly unseen?: readonly { readonly kind: string; readonly why: string }[]
}

export interface SessionInfo {
  readonly csrf: string
  /** Host and port of the API server. */
  readonly cluster: string
  /** The context's. */
  readonly namespace: string
  readonly version: string
}

/** An object that a cause speaks of. */
export interface ChainObject {
  readonly group: string
  readonly resource: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

export interface ChainLink {
  readonly sentence: string
  /** Of a last cause. */
  readonly verdict?: Verdict
  readonly inferred?: boolean
  readonly objects: readonly ChainObject[]
  readonly next: readonly ChainLink[]
}

export interface Why {
  readonly object: ChainObject
  readonly state: 'there' | 'deleting' | 'missing' | 'not-visible' | 'unreadable'
  readonly since?: string
  readonly verdict: Verdict
  /** The verdict in words. */
  readonly words: string
  readonly stuck: boolean
  readonly inferred: boolean
  readonly sentence: string
  readonly responsible: string
  readonly chain: ChainLink
  readonly waysOut: readonly WayOut[]
  readonly unseen: readonly { readonly what: string; readonly why: string }[]
}

/** All that is being deleted, worst first. */
export interface SurveyShown {
  readonly items: readonly Omit<Why, 'chain' | 'waysOut' | 'unseen'>[]
  /** So many more are like those. */
  readonly alike: number
}

export const CASCADES = ['background', 'foreground', 'orphan'] as const
export type Cascade = (typeof CASCADES)[number]

export interface DeleteQuestion extends ObjectName {
  readonly uid: string
  readonly cascade: Cascade
  /** Default: the object's own. */
  readonly gracePeriodSeconds?: number
}

export interface Deleted {
  /** What the server said of it. */
  readonly message: string
}

/** A step of a replay: what an object was after it. */
export interface ReplayStep {
  readonly id: string
  /** metav1.MicroTime */
  readonly time: string
  readonly uid: string
  readonly what: string
  readonly by: string
  readonly why: string
  readonly inferred: boolean
  /** The object that the step which led to it is about. */
  readonly cause?: string
  readonly waitedMs?: number
  readonly after: 'there' | 'going' | 'gone'
  readonly finalizers: readonly string[]
}

export interface Replay {
  readonly title: string
  readonly source: Timeline['source']
  readonly objects: readonly SceneObject[]
  readonly steps: readonly ReplayStep[]
}

/** Cascades that can be replayed, newest first. */
export interface Endings {
  readonly source: Timeline['source']
  readonly items: readonly {
    readonly object: PlannedObject
    readonly state: Timeline['state']
    readonly time: string
    readonly steps: number
    readonly objects: number
  }[]
}

/** What is told of one object: nothing of its contents. */
export interface ObjectDetails {
  readonly labels: readonly (readonly [string, string])[]
  /** Those that have written fields of it, with the time of their last write. */
  readonly managers: readonly { readonly manager: string; readonly what: string; readonly time: string }[]
  readonly resourceVersion: string
}

export interface Problem {
  readonly message: string
}
