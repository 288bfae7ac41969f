/** `pod-resources/kubelet.sock` of the kubelet's directory: the services by which agents ask what pods have. */
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { nameOf, namespaceOf } from '../pod.ts'
import { servePrivately } from '../server/local-socket.ts'
import { LOCAL_RATE, limited, rateLimit } from '../server/rate-limit.ts'
import { allocatableResources, type PodResourcesSources, podResourcesOf } from './pod-resources.ts'

interface GetRequest {
  readonly pod_name: string
  readonly pod_namespace: string
}

/** `root`: the kubelet's directory. Ends with the signal. @throws Error when the socket cannot be made */
export async function servePodResources(
  clock: Clock,
  root: string,
  sources: PodResourcesSources,
  signal: AbortSignal,
): Promise<void> {
  const mayCome = rateLimit(clock, LOCAL_RATE)
  const list = () => ({ pod_resources: sources.activePods().map((pod) => podResourcesOf(sources, pod)) })
  const get = ({ pod_name: name, pod_namespace: namespace }: GetRequest) => {
    const pod = [...sources.pods()].find((one) => nameOf(one) === name && namespaceOf(one) === namespace)
    if (pod === undefined) throw new Error(`pod ${name} in namespace ${namespace} not found`)
    return { pod_resources: podResourcesOf(sources, pod) }
  }
  const services = [
    {
      proto: 'podresources',
      name: 'v1.PodResourcesLister',
      methods: {
        List: limited(mayCome, list),
        GetAllocatableResources: limited(mayCome, () => allocatableResources(sources)),
        Get: limited(mayCome, get),
      },
    },
    {
      proto: 'podresources-v1alpha1',
      name: 'v1alpha1.PodResourcesLister',
      methods: { List: limited(mayCome, list) },
    },
  ]
  await servePrivately(join(root, 'pod-resources', 'kubelet.sock'), services, signal)
}
