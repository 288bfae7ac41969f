/**
 * timeline: the end of an object told step by step: what was written, by which component, what led to it, and how long each step waited
 * (docs/timeline.md). It is made of a journal: that of a cluster of skiff, or one that was recorded while watching another. Called by the
 * command and by the page; knows no sockets, and changes nothing.
 */
import type { DeletionAsked } from '../../api/journal.ts'
import type { OwnerReference } from '../../api/object.ts'

export interface TimelineObject {
  readonly group: string
  readonly resource: string
  readonly kind: string
  /** '' where the kind has none. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** What one write changed of what holds an object. */
export type TimelineChange =
  | { readonly type: 'marked'; readonly deletionTimestamp: string; readonly gracePeriodSeconds: number | undefined }
  | {
      readonly type: 'grace-shortened'
      readonly deletionTimestamp: string
      readonly gracePeriodSeconds: number | undefined
    }
  | { readonly type: 'finalizer-added'; readonly finalizer: string }
  | { readonly type: 'finalizer-removed'; readonly finalizer: string }
  | { readonly type: 'owner-added'; readonly owner: OwnerReference }
  | { readonly type: 'owner-removed'; readonly owner: OwnerReference }
  /** As it is now: above all whether it blocks. */
  | { readonly type: 'owner-changed'; readonly owner: OwnerReference }
  | { readonly type: 'removed' }

/**
 * known: it follows from what the API server keeps of the two writes. inferred: the writer's habits and the order of writes say so.
 */
export type Certainty = 'known' | 'inferred'

export interface ChangeWriter {
  /**
   * The component, by the name that its user has: `generic-garbage-collector`, `kubelet`, `namespace-controller`, `kube-scheduler`;
   * `user` for what is no part of the control plane, '' where nothing tells.
   */
  readonly component: string
  readonly user: string
  readonly userAgent: string
  /** Of updates and patches. */
  readonly fieldManager?: string
  readonly certainty: Certainty
}

export interface StepCause {
  /** The id of the step that led to this one; absent where it begins here, or the journal does not hold it. */
  readonly step?: string
  readonly certainty: Certainty
  /** In words. */
  readonly why: string
  /** Since the step that led to it; absent without one. */
  readonly waitedMs?: number
}

/** One write, or one of the two that a request made in a row. */
export interface TimelineStep {
  /** Of this timeline alone. */
  readonly id: string
  readonly revision: number
  /** metav1.MicroTime, by the cluster's clock. */
  readonly time: string
  readonly object: TimelineObject
  readonly changes: readonly TimelineChange[]
  readonly by: ChangeWriter
  readonly request: {
    readonly verb: string
    readonly subresource: string
    readonly auditId?: string
    /** Of a delete. */
    readonly options?: DeletionAsked
  }
  readonly cause: StepCause
}

export interface Timeline {
  readonly apiVersion: 'timeline.skiff.dev/v1'
  readonly kind: 'Timeline'
  readonly source: 'journal' | 'recording'
  readonly object: TimelineObject
  /** As its last step left it. */
  readonly state: 'gone' | 'deleting' | 'there'
  /** Others that had its kind, namespace and name, by uid, oldest first. */
  readonly others: readonly string[]
  /** Whether the whole cascade is told, or the object's own steps and those that led to them. */
  readonly cascade: boolean
  /** In the order of their revisions. */
  readonly steps: readonly TimelineStep[]
}
