/** What the order in which components get their turns decides about their writes, beyond what variation.ts says of all. */
import type { Json } from '../../src/api/object.ts'

export interface Exception {
  /** Whose writes to what: how `user verb uri` begins. */
  readonly writes: string
  /** So many fewer than recorded, at most; of statuses all but one, where this is not said. */
  readonly less?: number
  /** So many more than recorded, at most. */
  readonly more?: number
  /** Fields of a status that tell how many, or which, were seen so far; none is more than the highest number recorded of that kind of write. */
  readonly counts?: readonly string[]
  /** So many statuses, at most, differ in these from the recorded one that each is like. */
  readonly between?: number
  /** Bodies that are none of the recorded ones. */
  readonly also?: readonly Json[]
  /** The only play that shows some part of it, and in few orders. */
  readonly rareIn?: string
  readonly why: string
}

const pods = '/api/v1/namespaces/$NS/pods/'
const slices = '/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices/'
const unbound = 'pod has unbound immediate PersistentVolumeClaims. not found'
const going = 'persistentvolumeclaim "d-s-0" is being deleted. not found'
const elsewhere =
  "2 node(s) didn't match PersistentVolume's node affinity. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."

/** The first that fits holds. Each part of each has to occur in some scenario. */
export const exceptions: readonly Exception[] = [
  {
    writes: `generic-garbage-collector delete ${slices}`,
    more: 1,
    also: [
      {
        preconditions: { resourceVersion: '<rv>', uid: '<uid EndpointSlice s-<5>>' },
        propagationPolicy: 'Background',
      },
    ],
    why: 'the Endpoints that own the slice have gone, and the controller that would delete it has not yet seen it',
  },
  {
    writes: 'endpointslicemirroring-controller delete ',
    less: 1,
    why: 'the collector was faster',
  },
  {
    writes: 'generic-garbage-collector delete ',
    less: 1,
    more: 2,
    why: 'the collector looks at an object again before it has seen that it goes, as recorded of Kubernetes too',
  },
  {
    writes: 'job-controller update ',
    more: 1,
    counts: ['ready', 'active'],
    between: 2,
    rareIn: 'job-goes-orphaning',
    why: 'a pod is seen to be ready before it is seen to have ended; of several pods that are orphaned, one is seen to be so first',
  },
  {
    writes: 'daemon-set-controller update ',
    more: 2,
    counts: ['currentNumberScheduled', 'updatedNumberScheduled'],
    between: 3,
    why: 'of several pods that come and go, some are seen first',
  },
  {
    writes: `daemon-set-controller patch ${pods}`,
    more: 1,
    why: 'it adopts again before it has seen that it has',
  },
  {
    writes: 'statefulset-controller update ',
    more: 2,
    counts: ['replicas', 'readyReplicas', 'availableReplicas', 'currentReplicas', 'updatedReplicas'],
    between: 2,
    why: 'of several pods that come, become ready and go, some are seen first',
  },
  {
    writes: 'deployment-controller update ',
    more: 2,
    counts: ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'],
    between: 3,
    why: 'of two sets that change, one is seen first',
  },
  {
    writes: 'replicaset-controller update ',
    more: 1,
    counts: ['replicas', 'fullyLabeledReplicas'],
    between: 1,
    why: 'of several pods that come, some are seen first',
  },
  {
    writes: `replicaset-controller patch ${pods}loose`,
    less: 2,
    why: 'the pod may lose its label before it is adopted: then it is not released either',
  },
  {
    writes: 'disruption-controller update ',
    more: 3,
    counts: ['expectedPods', 'currentHealthy'],
    between: 3,
    why: 'each pod that comes, and each that becomes ready, is counted by itself, as seen of Kubernetes too',
  },
  {
    writes: 'apiserver update /api/v1/namespaces/$NS/resourcequotas/q/status',
    less: 3,
    why: 'what the quota controller has counted need not be counted by admission',
  },
  {
    writes: `kube-scheduler patch ${pods}p/status`,
    less: 1,
    more: 1,
    between: 1,
    also: [
      {
        status: {
          conditions: [
            {
              type: 'PodScheduled',
              status: 'False',
              reason: 'Unschedulable',
              message: `0/2 nodes are available: ${unbound}`,
              lastProbeTime: null,
              lastTransitionTime: '<time>',
              observedGeneration: 1,
            },
          ],
        },
      },
      {
        status: {
          '$setElementOrder/conditions': [{ type: 'PodScheduled' }],
          conditions: [{ type: 'PodScheduled', message: `0/2 nodes are available: ${elsewhere}` }],
        },
      },
    ],
    why: 'the pod is looked at again after what it waits for, or before its claim is bound',
  },
  {
    writes: `kube-scheduler patch ${pods}s-0/status`,
    more: 1,
    also: [
      {
        status: {
          '$setElementOrder/conditions': [{ type: 'PodScheduled' }],
          conditions: [{ type: 'PodScheduled', message: `0/2 nodes are available: ${going}` }],
        },
      },
    ],
    rareIn: 'statefulset-claims-deleted',
    why: 'the pod waits for its claim, and is looked at again when that goes before the pod does',
  },
  {
    writes: 'statefulset-controller create /apis/apps/v1/namespaces/$NS/controllerrevisions',
    more: 1,
    why: 'a set that waits for its dependents makes its revision anew each time that the collector has taken it',
  },
  {
    writes: 'namespace-controller deletecollection ',
    less: 1,
    why: 'the content may have gone before it looks again',
  },
  { writes: 'node-controller ', less: 1, why: 'the node may be gone before it is found silent' },
]
