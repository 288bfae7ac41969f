/** Finalizers that are known by name: the controller of each, after what, and what is left behind when they are taken off by hand. */
import { KUBERNETES_FINALIZERS } from './kubernetes-finalizers.ts'
import { SOFTWARE_FINALIZERS } from './software-finalizers.ts'
import { escaped } from './whole-words.ts'

/** What is looked at to see what a finalizer waits for (follow.ts); absent: its controller's own work. */
export type Follow =
  | 'foreground'
  | 'orphan'
  | 'claim'
  | 'reservations'
  | 'volume'
  | 'volume-class'
  | 'addresses'
  | 'copies'
  | 'attachments'
  | 'attachment'
  | 'instances'
  | 'drain'
  | 'owners'
  | 'users'

export interface KnownFinalizer {
  /** The name; a `*` stands for any text. */
  readonly finalizer: string
  /** The resources on which it means this; absent: any. */
  readonly resources?: readonly string[]
  readonly controller: string
  /** A component of Kubernetes, or what the names, images or labels of the workload contain that it runs in. */
  readonly runsIn: 'kube-controller-manager' | 'kube-apiserver' | 'cloud-controller-manager' | readonly string[]
  /** It is put on objects of other software of the same family: what may write those, or is named like them, is not it. */
  readonly isGuest?: true
  /** Of a controller of kube-controller-manager: the service account that it may have. */
  readonly account?: string
  readonly does: string
  /** What stays behind when it is taken off by hand. */
  readonly leaves: string
  readonly follow?: Follow
}

export const KNOWN_FINALIZERS: readonly KnownFinalizer[] = [...KUBERNETES_FINALIZERS, ...SOFTWARE_FINALIZERS]

const patterns = KNOWN_FINALIZERS.map((known) => ({
  known,
  pattern: new RegExp(`^${known.finalizer.split('*').map(escaped).join('.*')}$`),
}))

export function knownFinalizer(finalizer: string, resource: string): KnownFinalizer | undefined {
  return patterns.find(({ known, pattern }) => pattern.test(finalizer) && (known.resources?.includes(resource) ?? true))
    ?.known
}

/** Of a finalizer that means something on other resources alone: which. */
export function meantFor(finalizer: string, resource: string): readonly string[] {
  const known = patterns.filter(({ pattern }) => pattern.test(finalizer)).map((one) => one.known.resources)
  return known.includes(undefined) ? [] : known.flatMap((resources = []) => resources).filter((one) => one !== resource)
}

/** What is left by a finalizer that is taken off by hand, where nothing is known of it. */
export const LEAVES_UNKNOWN = 'whatever its controller would have cleaned up'
