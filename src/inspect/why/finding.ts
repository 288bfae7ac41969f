/**
 * What `why` finds: a chain of links from an object to the last causes. A link waits for those in `next`; one without them is a last
 * cause and carries a verdict. The verdict of the whole is that of its worst last cause.
 */

export interface ObjectRef {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  /** '' for what is in no namespace. */
  readonly namespace: string
  readonly name: string
  readonly uid?: string
}

/** From harmless to hopeless. */
export const VERDICTS = ['not-stuck', 'will-end', 'slow', 'nobody', 'refused', 'cannot-end'] as const
export type Verdict = (typeof VERDICTS)[number]

export interface ServiceRef {
  readonly namespace: string
  readonly name: string
  /** What is wrong with it; '' when nothing is known to be. */
  readonly problem: string
}

/** What takes a finalizer away. */
export interface FinalizerOwner {
  readonly name: string
  /** The workload that it runs in, a component of Kubernetes, or a program outside of the cluster that left signs of life. */
  readonly as: 'workload' | 'component' | 'outside'
  readonly workload?: ObjectRef
  /** The service account that its pods run as. */
  readonly account?: { readonly namespace: string; readonly name: string }
  /** By what it was found. */
  readonly evidence: string
}

/** Of what a namespace holds: pods go first; what is left goes now where there are none, and next where there are some. */
export type ContentTurn = 'first' | 'now' | 'next'

export type Cause =
  | { readonly kind: 'not-deleted'; readonly note: string }
  | { readonly kind: 'gone'; readonly note: string }
  | {
      readonly kind: 'marked'
      readonly object: ObjectRef
      /** When it was deleted (its deletionTimestamp less the grace period). */
      readonly since: string
      readonly graceSeconds: number
      readonly finalizers: readonly string[]
    }
  | { readonly kind: 'grace-period'; readonly object: ObjectRef; readonly node: string; readonly ends: string }
  | {
      readonly kind: 'finalizer'
      readonly object: ObjectRef
      readonly finalizer: string
      /** The software that it belongs to and what it stands for, where that is known. */
      readonly controller: string
      readonly does: string
      /** Among those of the spec, as namespaces have them. */
      readonly inSpec?: true
      readonly setBy?: string
      readonly setAt?: string
    }
  | {
      readonly kind: 'controller-at-work'
      readonly controller: FinalizerOwner
      readonly on: string
      /** The last that it said of the object, since that was deleted. */
      readonly says?: string
    }
  | {
      readonly kind: 'controller-missing'
      readonly finalizer: string
      readonly controller: string
      readonly looked: readonly string[]
    }
  | { readonly kind: 'controller-not-running'; readonly controller: FinalizerOwner; readonly reason: string }
  /** It runs, and was told to serve other namespaces alone. */
  | {
      readonly kind: 'controller-elsewhere'
      readonly controller: FinalizerOwner
      readonly namespace: string
      readonly serves: readonly string[]
      /** The flag or variable that tells it so. */
      readonly by: string
    }
  | {
      readonly kind: 'controller-not-leading'
      readonly controller: FinalizerOwner
      readonly lease: string
      readonly renewed: string
    }
  | {
      readonly kind: 'controller-forbidden'
      readonly controller: FinalizerOwner
      readonly account: string
      readonly verb: string
      readonly resource: string
    }
  | {
      readonly kind: 'controller-failing'
      readonly controller: string
      readonly source: 'Event' | 'condition' | 'log' | 'status'
      readonly reason: string
      readonly message: string
      readonly at?: string
    }
  /** It is there, has nothing to wait for, and has done nothing. */
  | { readonly kind: 'overdue'; readonly controller: string; readonly since: string }
  | { readonly kind: 'needs-missing'; readonly controller: string; readonly what: string; readonly named: string }
  /** `by`: the annotation or field that tells the controller to leave the object alone. */
  | { readonly kind: 'paused'; readonly controller: string; readonly by: string }
  | { readonly kind: 'lost-owner'; readonly object: ObjectRef; readonly owner: string; readonly note: string }
  /** The garbage collector cannot ask for the owner that a reference names: no kind of that version is served. */
  | { readonly kind: 'unserved-owner'; readonly object: ObjectRef; readonly owner: string; readonly apiVersion: string }
  /** What is in no namespace names an owner that is in one: the garbage collector leaves it alone, and the owner waits for it. */
  | { readonly kind: 'misplaced-owner'; readonly object: ObjectRef; readonly owner: ObjectRef }
  | {
      readonly kind: 'namespace-terminating'
      readonly namespace: string
      readonly controller: string
      readonly message: string
    }
  | { readonly kind: 'blocking-dependent'; readonly dependent: ObjectRef; readonly count: number }
  /** A part of an object whose controller waits for it: what the object owns, its spec names, or was made for its end. */
  | { readonly kind: 'part'; readonly part: ObjectRef; readonly how: 'owned' | 'named' | 'made' }
  | { readonly kind: 'owner-cycle'; readonly objects: readonly ObjectRef[] }
  | { readonly kind: 'in-use'; readonly by: ObjectRef; readonly how: string; readonly isDeleted: boolean }
  | { readonly kind: 'attachment'; readonly attachment: ObjectRef; readonly node: string; readonly driver: string }
  | { readonly kind: 'driver-missing'; readonly driver: string; readonly node: string; readonly part: string }
  | { readonly kind: 'volume-missing'; readonly volume: string }
  | {
      readonly kind: 'silent-node'
      readonly node: string
      readonly since: string
      readonly message: string
      /** What is on it, where that is no pod: a program on the node has to end it. */
      readonly what?: string
    }
  | { readonly kind: 'missing-node'; readonly node: string }
  | {
      readonly kind: 'kubelet-failing'
      readonly node: string
      readonly what: 'container' | 'sandbox' | 'volume' | 'runtime' | 'other'
      readonly reason: string
      readonly message: string
      readonly at?: string
    }
  | { readonly kind: 'kubelet-at-work'; readonly node: string; readonly note: string }
  | {
      readonly kind: 'namespace-content'
      readonly namespace: string
      readonly resource: string
      /** One of them, in words. */
      readonly singular: string
      readonly count: number
      readonly finalizers: readonly string[]
      readonly turn: ContentTurn
    }
  | {
      readonly kind: 'instances'
      readonly definition: string
      readonly count: number
      readonly finalizers: readonly string[]
    }
  | {
      readonly kind: 'api-unavailable'
      readonly apiService: string
      readonly service?: ServiceRef
      readonly reason: string
      readonly message: string
    }
  | {
      readonly kind: 'conversion-webhook'
      readonly definition: string
      readonly service?: ServiceRef
      readonly message: string
    }
  | {
      readonly kind: 'admission-refuses'
      readonly by: 'webhook' | 'policy' | 'server'
      readonly name: string
      readonly operation: string
      readonly message: string
      readonly service?: ServiceRef
      readonly configuration?: string
      /** Only a controller's words tell of it, and the write at which this object hangs it is not asked about. */
      readonly isElsewhere?: true
    }
  | { readonly kind: 'put-back'; readonly finalizer: string; readonly by: readonly string[] }
  | {
      readonly kind: 'budget'
      readonly budget: ObjectRef
      readonly pod: ObjectRef
      readonly node: string
      readonly message: string
    }
  | { readonly kind: 'drain'; readonly node: string; readonly note: string }
  | { readonly kind: 'unreadable'; readonly object: string; readonly isDecryption: boolean; readonly message: string }
  | { readonly kind: 'unseen'; readonly what: string; readonly why: string }
  | { readonly kind: 'more'; readonly what: string }

interface WaitingLink {
  readonly cause: Cause
  readonly inferred: boolean
  readonly next: readonly [Link, ...Link[]]
}
interface LastLink {
  readonly cause: Cause
  readonly inferred: boolean
  readonly verdict: Verdict
  readonly next: readonly []
}
export type Link = WaitingLink | LastLink

/** A last cause. `inferred`: it was not told, it follows from what was seen (or not seen). */
export function lastLink(verdict: Verdict, cause: Cause, inferred = false): Link {
  return { cause, inferred, verdict, next: [] }
}

/** A link that waits for others; `otherwise` stands where nothing is found that it would wait for. */
export function waitingLink(cause: Cause, next: readonly Link[], otherwise: () => Link): Link {
  const [first, ...rest] = next
  return { cause, inferred: false, next: first === undefined ? [otherwise()] : [first, ...rest] }
}

export function verdictOf(link: Link): Verdict {
  return lastCause(link).verdict
}

const rank = (verdict: Verdict) => VERDICTS.indexOf(verdict)

/** The worst last cause; of equals the one that is known rather than inferred, then the first. */
export function lastCause(link: Link): LastLink {
  if ('verdict' in link) return link
  const causes = link.next.map(lastCause)
  return causes.reduce((worst, one) => {
    const worse = rank(one.verdict) - rank(worst.verdict)
    return worse > 0 || (worse === 0 && worst.inferred && !one.inferred) ? one : worst
  })
}

/** The links from here to the worst last cause, both included. */
export function pathToCause(link: Link): readonly Link[] {
  const last = lastCause(link)
  const search = (at: Link): readonly Link[] | undefined => {
    if (at === last) return [at]
    for (const next of at.next) {
      const rest = search(next)
      if (rest !== undefined) return [at, ...rest]
    }
    return undefined
  }
  return search(link) ?? [link]
}

export const compareVerdicts = (a: Verdict, b: Verdict): number => rank(a) - rank(b)
