/** `pod-resources/kubelet.sock` of the kubelet's directory: the services by which agents ask what pods have. */

import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import type { Metrics } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import { tokenBucket } from '../../base/token-bucket.ts'
import { nameOf, namespaceOf, type Pod, specOf } from '../pod.ts'
import { servePrivately } from '../server/local-socket.ts'
import { LOCAL_RATE, limited } from '../server/rate-limit.ts'
import { allocatableResources, type PodResourcesSources, podResourcesOf } from './pod-resources.ts'

interface GetRequest {
  readonly pod_name: string
  readonly pod_namespace: string
}

/** By the last part of their metrics' names. */
const ENDPOINTS = { list: 'List', get: 'Get', get_allocatable: 'GetAllocatableResources' } as const

/** `root`: the kubelet's directory. Ends with the signal. @throws Error when the socket cannot be made */
export async function servePodResources(
  { clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>,
  root: string,
  sources: PodResourcesSources,
  signal: AbortSignal,
): Promise<void> {
  const mayCome = tokenBucket(clock, LOCAL_RATE)
  const list = () => ({ pod_resources: sources.activePods().map((pod) => podResourcesOf(sources, pod)) })
  /** Before there were sidecars. */
  const listOld = () => ({
    pod_resources: sources.activePods().map((pod) => podResourcesOf(sources, withoutInit(pod))),
  })
  const get = ({ pod_name: name, pod_namespace: namespace }: GetRequest) => {
    const pod = sources.activePods().find((one) => nameOf(one) === name && namespaceOf(one) === namespace)
    if (pod === undefined) throw new Error(`pod ${name} in namespace ${namespace} not found`)
    return { pod_resources: podResourcesOf(sources, pod) }
  }
  const [v1, old] = [counted(metrics, 'v1'), counted(metrics, 'v1alpha1')]
  const services = [
    {
      proto: 'podresources',
      name: 'v1.PodResourcesLister',
      methods: {
        List: limited(mayCome, list, v1('list')),
        GetAllocatableResources: limited(mayCome, () => allocatableResources(sources), v1('get_allocatable')),
        Get: limited(mayCome, get, v1('get')),
      },
    },
    {
      proto: 'podresources-v1alpha1',
      name: 'v1alpha1.PodResourcesLister',
      methods: { List: limited(mayCome, listOld, old('list')) },
    },
  ]
  await servePrivately(join(root, 'pod-resources', 'kubelet.sock'), services, signal)
}

const withoutInit = (pod: Pod): Pod => ({ ...pod, spec: { ...specOf(pod), initContainers: [] } })

/** A kubelet's metrics of its calls. */
function counted(metrics: Metrics | undefined, version: string) {
  const prefix = 'kubelet_pod_resources_endpoint'
  const all = metrics?.counter(`${prefix}_requests_total`, 'Calls of the pod resources API.', ['server_api_version'])
  return (endpoint: keyof typeof ENDPOINTS) => {
    const method = ENDPOINTS[endpoint]
    const of = (what: string, help: string) =>
      metrics?.counter(`${prefix}_${what}_${endpoint}`, help, ['server_api_version']).child(version)
    const requests = of('requests', `Calls of ${method} of the pod resources API.`)
    const errors = of('errors', `Calls of ${method} of the pod resources API that failed.`)
    return (code: status) => {
      all?.child(version).add()
      requests?.add()
      if (code !== status.OK) errors?.add()
    }
  }
}
