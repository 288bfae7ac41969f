/**
 * What leads to what in scenarios S1 to S8, as docs/deletion.md says it and the recordings show it: each step's writer and changes, the step
 * before it, and whether that is known. Written by hand.
 */
const pod = 'pods/a-565f7894b6-'

/** By scenario; `P` is the end of the pod's name. */
export const EXPECTED: Readonly<Record<string, (p: string) => readonly string[]>> = {
  'S1-orphan': () => [
    'user: deployments.apps/a marked, finalizer orphan added <- begins (known)',
    'generic-garbage-collector: replicasets.apps/a-565f7894b6 owner Deployment a taken off <- deployments.apps/a marked, finalizer orphan added (known)',
    'generic-garbage-collector: deployments.apps/a finalizer orphan taken off, removed <- replicasets.apps/a-565f7894b6 owner Deployment a taken off (known)',
  ],
  'S2-background': (p) => [
    'user: deployments.apps/a removed <- begins (known)',
    'generic-garbage-collector: replicasets.apps/a-565f7894b6 removed <- deployments.apps/a removed (known)',
    `generic-garbage-collector: ${pod}${p} marked, grace period 30 s <- replicasets.apps/a-565f7894b6 removed (known)`,
    `kwok: ${pod}${p} grace period shortened to 0 s <- ${pod}${p} marked, grace period 30 s (inferred)`,
    `kwok: ${pod}${p} removed <- ${pod}${p} grace period shortened to 0 s (known)`,
  ],
  'S3-foreground': (p) => [
    'user: deployments.apps/a marked, finalizer foregroundDeletion added <- begins (known)',
    'generic-garbage-collector: replicasets.apps/a-565f7894b6 marked, finalizer foregroundDeletion added <- deployments.apps/a marked, finalizer foregroundDeletion added (known)',
    `generic-garbage-collector: ${pod}${p} marked, grace period 30 s <- replicasets.apps/a-565f7894b6 marked, finalizer foregroundDeletion added (known)`,
    `kwok: ${pod}${p} grace period shortened to 0 s <- ${pod}${p} marked, grace period 30 s (inferred)`,
    `kwok: ${pod}${p} removed <- ${pod}${p} grace period shortened to 0 s (known)`,
    `generic-garbage-collector: replicasets.apps/a-565f7894b6 finalizer foregroundDeletion taken off, removed <- ${pod}${p} removed (known)`,
    'generic-garbage-collector: deployments.apps/a finalizer foregroundDeletion taken off, removed <- replicasets.apps/a-565f7894b6 finalizer foregroundDeletion taken off, removed (known)',
  ],
  'S4-ignores-sigterm': () => [
    'user: pods/p marked, grace period 4 s <- begins (known)',
    'kubelet: pods/p grace period shortened to 0 s <- pods/p marked, grace period 4 s (known)',
    'kubelet: pods/p removed <- pods/p grace period shortened to 0 s (known)',
  ],
  'S4-forced': () => ['user: pods/p marked <- begins (known)', 'user: pods/p removed <- pods/p marked (known)'],
  'S5-finalizer-pod': () => [
    'user: pods/b2 marked, grace period 30 s <- begins (known)',
    'kwok: pods/b2 grace period shortened to 0 s <- pods/b2 marked, grace period 30 s (inferred)',
    'user: pods/b2 finalizer kubernetes taken off, removed <- begins (known)',
  ],
  'S5-real-node': () => [
    'user: pods/b2 marked, grace period 4 s <- begins (known)',
    'kubelet: pods/b2 grace period shortened to 0 s <- pods/b2 marked, grace period 4 s (known)',
    'user: pods/b2 finalizer kubernetes taken off, removed <- begins (known)',
  ],
}

/** ConfigMaps; `gc` wrote all but what begins. */
export const EXPECTED_OF_GRAPHS: Readonly<Record<string, readonly string[]>> = {
  'S8-virtual-owner': ['child removed <- begins (inferred)'],
  'S8-owner-uid-differs': ['child removed <- begins (inferred)'],
  'S8-owner-in-other-namespace': ['child removed <- begins (inferred)'],
  'S8-two-owners-one-goes': ['a removed <- begins (known)', 'child owner ConfigMap a taken off <- a removed (known)'],
  'S8-two-owners-one-foreground': [
    'a marked, finalizer foregroundDeletion added <- begins (known)',
    'child owner ConfigMap a taken off <- a marked, finalizer foregroundDeletion added (known)',
    'a finalizer foregroundDeletion taken off, removed <- child owner ConfigMap a taken off (known)',
  ],
  'S8-cycle-foreground': [
    'a marked, finalizer foregroundDeletion added <- begins (known)',
    'b owner ConfigMap a is no longer blocked by it <- a marked, finalizer foregroundDeletion added (inferred)',
    'a finalizer foregroundDeletion taken off, removed <- b owner ConfigMap a is no longer blocked by it (known)',
    'b removed <- a finalizer foregroundDeletion taken off, removed (inferred)',
  ],
  'S8-non-blocking-foreground': [
    'a marked, finalizer foregroundDeletion added <- begins (known)',
    'a finalizer foregroundDeletion taken off, removed <- a marked, finalizer foregroundDeletion added (known)',
    'b marked <- a finalizer foregroundDeletion taken off, removed (inferred)',
  ],
  'S8-blocking-with-finalizer': [
    'a marked, finalizer foregroundDeletion added <- begins (known)',
    'b marked <- a marked, finalizer foregroundDeletion added (known)',
    'b finalizer example.com/f taken off, removed <- begins (known)',
    'a finalizer foregroundDeletion taken off, removed <- b finalizer example.com/f taken off, removed (known)',
  ],
}
