/** Writes of scenarios that depend on the order in which components get their turns, beyond what variation.ts says of all. */
import type { Json } from '../../src/api/object.ts'

export interface Exception {
  /** Whose writes to what: how `user verb uri` begins. */
  readonly writes: string
  /** So many fewer than recorded, at most; of statuses all but one, where this is not said. */
  readonly less?: number
  /** So many more than recorded, at most. */
  readonly more?: number
  /** Counts of a status that may be other than in the recorded one that it is like: by field, the highest. */
  readonly counts?: Readonly<Record<string, number>>
  /** Bodies that are none of the recorded ones. */
  readonly also?: readonly Json[]
  readonly why: string
}

const job = '/apis/batch/v1/namespaces/$NS/jobs/'
const collectorDeletes = 'generic-garbage-collector delete '
const pods = '/api/v1/namespaces/$NS/pods/'

const unbound = 'pod has unbound immediate PersistentVolumeClaims. not found'
const elsewhere =
  "2 node(s) didn't match PersistentVolume's node affinity. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."

const readyFirst = (name: string): Exception => ({
  writes: `job-controller update ${job}${name}`,
  more: 1,
  counts: { ready: 1 },
  why: 'the pod is seen to be ready before it is seen to have succeeded',
})
const daemons = (more: number, counts: number): Exception => ({
  writes: 'daemon-set-controller update /apis/apps/v1/namespaces/$NS/daemonsets/d/status',
  ...(more === 0 ? {} : { more }),
  counts: { currentNumberScheduled: counts, updatedNumberScheduled: counts },
  why: 'of two pods that come, or of one that goes and one that comes, one is seen first',
})
const stateful = (counts: Readonly<Record<string, number>>, why: string): Exception => ({
  writes: 'statefulset-controller update /apis/apps/v1/namespaces/$NS/statefulsets/s/status',
  more: 1,
  counts,
  why,
})
const counted = (less: number): Exception => ({
  writes: 'apiserver update /api/v1/namespaces/$NS/resourcequotas/q/status',
  less,
  why: 'what the quota controller has counted need not be counted by admission',
})

/** By scenario. Each has to occur in some order. */
export const exceptions: Readonly<Record<string, readonly Exception[]>> = {
  'cronjob-fires': [readyFirst('cj-')],
  'cronjob-missed': [readyFirst('cj-')],
  'job-suspend-resume': [readyFirst('j/')],
  'job-ttl': [readyFirst('j/')],
  'job-goes-foreground': [
    {
      writes: `${collectorDeletes}${pods}j-<5>`,
      more: 2,
      why: 'the collector looks at the pods again before it has seen that they go; seen of Kubernetes too, each pod twice',
    },
  ],
  'S3-foreground': [
    {
      writes: `${collectorDeletes}${pods}`,
      less: 1,
      why: 'recorded twice, as the collector had not seen yet that the pod goes',
    },
    {
      writes: `${collectorDeletes}/apis/apps/v1/namespaces/$NS/replicasets/`,
      more: 1,
      why: 'the collector looks at the set again before it has seen that it goes',
    },
  ],
  daemonset: [{ writes: `${collectorDeletes}${pods}`, less: 1, why: 'one was recorded twice, not seen yet to go' }],
  'S9-namespace-delete': [
    { writes: collectorDeletes, less: 1, why: 'the namespace controller deletes what the collector would' },
    {
      writes: `namespace-controller deletecollection ${pods.slice(0, -1)}`,
      less: 1,
      why: 'the pods may have gone before it looks again',
    },
  ],
  'statefulset-claims-deleted': [
    {
      writes: `${collectorDeletes}/api/v1/namespaces/$NS/persistentvolumeclaims/`,
      more: 1,
      why: 'the collector looks at the claim again before it has seen that it goes',
    },
    stateful({ replicas: 1, currentReplicas: 1, updatedReplicas: 1 }, 'the set is there still when its pod has gone'),
  ],
  'statefulset-history': [stateful({ replicas: 1, updatedReplicas: 1 }, 'the new pod is seen before it is ready')],
  'statefulset-max-unavailable': [
    stateful({ replicas: 3, updatedReplicas: 3 }, 'of several pods that come, some are seen first'),
  ],
  'statefulset-parallel': [
    stateful({ availableReplicas: 3, readyReplicas: 3 }, 'of several pods that become ready, some are seen first'),
  ],
  'statefulset-succeeded': [stateful({}, 'the pod that has ended is seen before it is deleted')],
  'daemonset-create': [daemons(0, 2)],
  'daemonset-rolling-update': [daemons(2, 2)],
  'daemonset-node-selector': [daemons(1, 1)],
  'daemonset-on-delete': [daemons(1, 1)],
  'daemonset-rollback': [daemons(1, 1)],
  'daemonset-adopts': [
    { writes: `daemon-set-controller patch ${pods}`, more: 1, why: 'it adopts again before it has seen that it has' },
  ],
  'deployment-rolling-update': [
    {
      writes: 'deployment-controller update /apis/apps/v1/namespaces/$NS/deployments/a/status',
      more: 1,
      counts: { replicas: 4, updatedReplicas: 3 },
      why: 'of two sets that change, one is seen first',
    },
  ],
  'pdb-status': [
    {
      writes: 'disruption-controller update ',
      more: 3,
      counts: { expectedPods: 2, currentHealthy: 2 },
      why: 'each pod that comes, and each that becomes ready, is counted by itself',
    },
  ],
  'mirror-follows': [
    {
      writes: 'endpointslicemirroring-controller delete ',
      less: 1,
      why: 'the collector may be faster: the Endpoints that own the slice have gone',
    },
    {
      writes: `${collectorDeletes}/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices/`,
      more: 1,
      also: [
        {
          preconditions: { resourceVersion: '<rv>', uid: '<uid EndpointSlice s-<5>>' },
          propagationPolicy: 'Background',
        },
      ],
      why: 'the Endpoints that own the slice have gone',
    },
  ],
  'service-endpoints': [
    {
      writes: 'endpointslice-controller update ',
      less: 1,
      why: 'the pod may have gone before it is seen not to be ready',
    },
  ],
  'quota-usage': [counted(2)],
  'quota-replenished': [counted(3)],
  'statefulset-quota': [counted(1)],
  'consumer-elsewhere': [
    {
      writes: `kube-scheduler patch ${pods}p/status`,
      less: 1,
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
      why: 'the pod may be looked at before its claim is bound',
    },
  ],
  'only-node-goes-silent': [
    { writes: 'node-controller ', less: 1, why: 'the node may be gone before it is found silent' },
  ],
}
