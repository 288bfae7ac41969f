/** `pods-api/pods-api.sock` of the kubelet's directory (KEP-4188): the pods themselves, for what runs beside the kubelet, whether or not an API server answers. */

import { join } from 'node:path'
import { type ServerWritableStream, status } from '@grpc/grpc-js'
import { encodeMessage } from '../../api/codec/protobuf.ts'
import { asJson } from '../../api/object.ts'
import { schemaOf } from '../../api/schema/builtin.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import { tokenBucket } from '../../base/token-bucket.ts'
import type { Pod } from '../pod.ts'
import { codeName } from '../runtimes/cri/connection.ts'
import { servePrivately } from '../server/local-socket.ts'
import { CallError, LOCAL_RATE, limited } from '../server/rate-limit.ts'
import type { PodEvent, PodViews } from './pod-views.ts'

export interface PodsServiceOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'metrics'>
  /** The kubelet's directory. */
  readonly root: string
  /** Undefined until all are known that the node has. */
  readonly pods: () => Omit<PodViews, 'changed'> | undefined
  readonly signal: AbortSignal
}

type WatchMessage =
  | { readonly type: PodEvent['type']; readonly pod: Uint8Array }
  | { readonly type: 'INITIAL_SYNC_COMPLETE' }
type WatchCall = ServerWritableStream<object, WatchMessage>

const POD = schemaOf('io.k8s.api.core.v1.Pod')
const VERSION = 'v1alpha1'
/** Of events a client may leave so many unread. */
const MOST_WAITING = 100

const messageOf = (pod: Pod): Uint8Array => encodeMessage(asJson(pod), POD)

/** Ends with the signal. @throws Error when the socket cannot be made */
export async function servePods({ runtime, root, pods, signal }: PodsServiceOptions): Promise<void> {
  const mayCome = tokenBucket(runtime.clock, LOCAL_RATE)
  const count = counted(runtime.metrics)
  const dropped = runtime.metrics?.counter(
    'kubelet_pod_watch_events_dropped_total',
    'Events of pods that a watch had no room for.',
  )
  const known = () => {
    const all = pods()
    if (all === undefined) throw new CallError(status.FAILED_PRECONDITION, 'Kubelet is initializing')
    return all
  }
  const get = ({ podUID: uid }: { readonly podUID: string }) => {
    const pod = known().get(uid)
    if (pod === undefined) throw new CallError(status.NOT_FOUND, `pod with UID ${uid} not found`)
    return { pod: messageOf(pod) }
  }
  const watched = count('watch')
  const methods = {
    ListPods: limited(mayCome, () => ({ pods: known().list().map(messageOf) }), count('list')),
    GetPod: limited(mayCome, get, count('get')),
    WatchPods(call: WatchCall) {
      try {
        watch(known(), call, watched, () => dropped?.child().add())
      } catch (error) {
        watched(error instanceof CallError ? error.code : status.UNKNOWN)
        call.emit('error', error)
      }
    },
  }
  const service = { proto: 'pods', name: `${VERSION}.Pods`, methods }
  await servePrivately(join(root, 'pods-api', 'pods-api.sock'), [service], signal)
}

/** All that are there, and then what becomes of them, until the client goes or reads too little. */
function watch(
  pods: Pick<PodViews, 'list' | 'watch'>,
  call: WatchCall,
  over: (code: status) => void,
  dropped: () => void,
): void {
  let waiting = 0
  const write = (message: WatchMessage) => {
    waiting++
    call.write(message, () => void waiting--)
  }
  for (const pod of pods.list()) write({ type: 'ADDED', pod: messageOf(pod) })
  write({ type: 'INITIAL_SYNC_COMPLETE' })
  const most = waiting + MOST_WAITING
  let isOver = false
  const end = (code: status) => {
    if (isOver) return
    isOver = true
    stop()
    over(code)
  }
  const stop = pods.watch(({ type, pod }) => {
    if (waiting < most) return write({ type, pod: messageOf(pod) })
    dropped()
    end(status.RESOURCE_EXHAUSTED)
    call.emit('error', new CallError(status.RESOURCE_EXHAUSTED, 'the events are not read as fast as they come'))
  })
  for (const event of ['close', 'cancelled']) call.once(event, () => end(status.CANCELLED))
}

/** A kubelet's metrics of its calls. */
function counted(metrics: Metrics | undefined) {
  const labels = ['server_api_version', 'status_code']
  const all = metrics?.counter('kubelet_pod_requests_total', 'Calls of the pods API.', labels)
  return (endpoint: 'list' | 'get' | 'watch') => {
    const own = metrics?.counter(
      `kubelet_pod_requests_${endpoint}_total`,
      `Calls of the pods API: ${endpoint}.`,
      labels,
    )
    return (code: status) => {
      for (const family of [all, own]) family?.child(VERSION, codeName(code)).add()
    }
  }
}
