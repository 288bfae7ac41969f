/** What a kubelet's server does in a container at once, without a session: POST run/… and checkpoint/… */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { messageOf } from '../../base/errors.ts'
import { containerNamed, nameOf, namespaceOf, uidOf } from '../pod.ts'
import { latestContainer } from '../pod-cache.ts'
import type { PodOfKubelet } from './container-logs.ts'
import { jsonAnswer, Refused, textAnswer } from './refused.ts'

/** How long a runtime may take for a checkpoint where the request does not say, in seconds: no time of its own. */
const NO_TIMEOUT = '0'

/** The command is `cmd`, its words parted by spaces. @throws Refused */
export async function runInContainer(
  { kubelet, pod }: PodOfKubelet,
  container: string,
  { query, signal }: ApiRequest,
): Promise<ApiResponse> {
  const { real } = kubelet.containerRuntime
  const latest = latestContainer(kubelet.runtimeStatus(uidOf(pod)), container)
  if (latest === undefined) throw new Refused(500, `container not found (${JSON.stringify(container)})`)
  if (real === undefined) throw new Refused(501, 'this node runs no containers')
  const command = (query.get('cmd') ?? '').split(' ')
  const { stdout, stderr, exitCode } = await real.run(latest.id, command, signal).catch((error) => {
    throw new Refused(500, messageOf(error), undefined, error)
  })
  if (exitCode === 0) return textAnswer(200, stdout + stderr)
  throw new Refused(500, `command '${command.join(' ')}' exited with ${exitCode}: ${stderr}`)
}

/** Of a container's processes, into an archive below the kubelet's directory. @throws Refused */
export async function checkpoint(
  { kubelet, pod }: PodOfKubelet,
  container: string,
  { query }: ApiRequest,
  directory: string | undefined,
  time: string,
): Promise<ApiResponse> {
  if (containerNamed(pod, container) === undefined) throw new Refused(404, `container ${container} does not exist`)
  const { real } = kubelet.containerRuntime
  const latest = latestContainer(kubelet.runtimeStatus(uidOf(pod)), container)
  const whole = `${nameOf(pod)}_${namespaceOf(pod)}-${container}-${time}`
  const timeout = query.get('timeout') ?? NO_TIMEOUT
  if (!/^\d+$/.test(timeout)) throw new Refused(500, 'cannot parse value of timeout parameter')
  try {
    if (directory === undefined || real === undefined || latest === undefined)
      throw new Error('container is not running')
    // What a process had in memory is nothing for others to read.
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const location = join(directory, `checkpoint-${whole}.tar`)
    await real.checkpoint(latest.id, location, Number(timeout))
    return jsonAnswer({ items: [location] })
  } catch (error) {
    const where = `${namespaceOf(pod)}/${nameOf(pod)}/${container}`
    throw new Refused(500, `checkpointing of ${where} failed (${messageOf(error)})`, undefined, error)
  }
}
