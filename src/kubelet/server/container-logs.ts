/** GET containerLogs/NAMESPACE/POD/CONTAINER: a container's log, from its file, or from what a simulated one has printed. */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Kubelet } from '../kubelet.ts'
import { type LogOptions, logOptions, UnreadableOption } from '../logs/log-options.ts'
import { type PrintedQuery, readPrinted } from '../logs/printed-log.ts'
import { readLog } from '../logs/read-log.ts'
import { containerNamed, nameOf, type Pod, uidOf } from '../pod.ts'
import { Refused } from './refused.ts'

export interface PodOfKubelet {
  readonly kubelet: Kubelet
  readonly pod: Pod
}

/** `find` is asked once the query is understood. @throws Refused */
export async function containerLog(
  runtime: Runtime,
  find: () => PodOfKubelet,
  container: string,
  { query, signal }: ApiRequest,
): Promise<ApiResponse> {
  const options = optionsOf(query, runtime.clock.now())
  const { kubelet, pod } = find()
  const name = nameOf(pod)
  if (containerNamed(pod, container) === undefined)
    throw new Refused(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`)
  const uid = uidOf(pod)
  const own = () => kubelet.runtimeStatus(uid).containers.filter(({ metadata }) => metadata.name === container)
  const wantsPrevious = query.get('previous') === 'true'
  const [latest, before] = own()
  const waiting = kubelet
    .podStatus(uid)
    ?.containerStatuses?.find((status) => status.name === container && status.lastState?.terminated !== undefined)
  // What has ended and waits for its next start is the last that was, and the one before, too.
  const previous = before ?? (latest?.state === 'exited' && waiting?.state?.waiting !== undefined ? latest : undefined)
  const status = wantsPrevious ? previous : latest
  const where = `container ${JSON.stringify(container)} in pod ${JSON.stringify(name)}`
  if (status === undefined && wantsPrevious) throw new Refused(400, `previous terminated ${where} not found`)
  const { simulated } = kubelet.containerRuntime
  const isThere =
    simulated === undefined ? (status?.logPath ?? '') !== '' : status !== undefined && status.state !== 'created'
  if (status === undefined || !isThere) {
    const reason = waitingReason(kubelet.podStatus(uid), container)
    throw new Refused(
      400,
      reason === undefined ? `${where} is not available` : `${where} is waiting to start: ${reason}`,
    )
  }
  const { id, logPath = '' } = status
  const isRunning = () => own().some((one) => one.id === id && (one.state === 'running' || one.state === 'created'))
  if (simulated === undefined)
    return answer(readLog({ clock: runtime.clock, path: logPath, isRunning, signal }, options))
  // What cannot be read is refused before an answer begins.
  await simulated.printed(id, { tail: 0 })
  const printed = (asked: PrintedQuery) => simulated.printed(id, asked)
  return answer(readPrinted({ printed, changed: () => simulated.printsMore(id, signal), signal }, options))
}

const answer = (chunks: AsyncIterable<Uint8Array>): ApiResponse => ({
  kind: 'stream',
  status: 200,
  contentType: 'text/plain',
  chunks,
})

/** @throws Refused */
function optionsOf(query: URLSearchParams, now: number): LogOptions {
  try {
    return logOptions(query, now)
  } catch (error) {
    if (error instanceof UnreadableOption) throw new Refused(400, '{"message": "Unable to decode query."}')
    if (error instanceof RangeError) throw new Refused(422, '{"message": "Invalid request."}')
    throw error
  }
}

/** undefined: nothing is known of the container, as in a pod that the node did not take. */
function waitingReason(status: ReturnType<Kubelet['podStatus']>, container: string): string | undefined {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {}
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
  const own = all.find(({ name }) => name === container)
  if (own === undefined) return undefined
  const { waiting } = own.state ?? {}
  switch (waiting?.reason) {
    case 'ErrImagePull':
      return "image can't be pulled"
    case 'ImagePullBackOff':
      return 'trying and failing to pull image'
    default:
      return waiting?.reason ?? 'ContainerCreating'
  }
}
