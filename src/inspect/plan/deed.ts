/** A deed: what is planned, as it is done in a twin. */
import type { Client } from '../../client/client.ts'
import type { ClusterClock } from '../../cluster/clock.ts'
import type { Kinds } from '../kinds.ts'
import type { RefusedRequest } from './plan.ts'
import type { Asks } from './rights.ts'

export interface Doing {
  /** Asks the twin as its administrator. */
  readonly client: Client
  readonly clock: ClusterClock
  readonly kinds: Kinds
  /** An object that the deed deletes itself: its stage has ended when all of these are gone. */
  named(uid: string): void
  /** An object that the deed makes or changes. */
  changed(uid: string): void
  /** Told of each request that would write, before it is made: its caller must have the right to it. */
  asks(request: Asks): void
  /** A request was answered with an error; the deed goes on with the next. */
  refused(refused: RefusedRequest): void
  /** What is asked for at once: in one order, and in another where what chance decides is looked for. */
  inAnyOrder<T>(requests: readonly T[]): readonly T[]
  /** After each request of several that a user makes one after the other: controllers may come between them. */
  between(): Promise<void>
  /** Whether anything has been marked, removed or released since the last time it was asked. */
  progress(): Promise<boolean>
}

export interface DeedStage {
  /** In words: `kubectl delete -f app.yaml`. */
  readonly what: string
  run(doing: Doing): Promise<void>
}

export interface Deed {
  readonly what: string
  /** Each begins when what the one before began has ended, as `kubectl` waits for it. */
  readonly stages: readonly [DeedStage, ...DeedStage[]]
}
