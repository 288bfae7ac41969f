/** What is seen of a cluster from outside, of which a journal can be made. */
import type { Holds, KeptRecord } from '../../api/journal.ts'
import type { ChangeWriter, TimelineObject } from './timeline-types.ts'

/** One state of an object, as a watch told it. */
export interface SeenState {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: TimelineObject
  readonly revision: number
  /** When it was seen, in milliseconds since the epoch. */
  readonly time: number
  readonly holds: Holds
  /** Of managedFields: that wrote last. */
  readonly lastManager?: string
}

export interface RecordedRecord extends KeptRecord {
  readonly by: ChangeWriter
}

/** An Event that names a controller and what it deleted. */
export interface TellingEvent {
  readonly reason: string
  readonly message: string
  /** `reportingComponent` or `source.component`. */
  readonly component: string
  readonly namespace: string
  /** Name and kind of what it is about. */
  readonly name: string
  readonly kind: string
}
