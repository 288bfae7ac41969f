/** Ends a real node: its containers, mounts, control groups, network, images and files, whichever process began it. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { removeLabelledImages } from '../images/containerd-store.ts'
import { connect } from '../runtimes/cri/connection.ts'
import { createCriRuntime } from '../runtimes/cri/cri-runtime.ts'
import { guestOverride, withdrawDelay } from '../shutdown/logind.ts'
import { createCgroups } from './cgroups.ts'
import { mountedBelow, unmountBelow } from './mounts.ts'
import { MADE_BY_SKIFF, readRecord } from './node-record.ts'
import { podDirectories } from './pod-directories.ts'
import { removeNetwork } from './pod-network.ts'

/** How long containers have between SIGTERM and SIGKILL. */
const LAST_GRACE_SECONDS = 2
const MOST_ROUNDS = 5
/** What was killed takes a moment to go. */
const LOOK_AGAIN_MS = 200

/**
 * Ends everything of the node of this directory, whichever process began it. What is not there is passed over. `keep` takes out of the
 * directory what is to outlive it; where that fails all else ends, and the directory stays. @throws Error
 */
export async function takeDownNode(runtime: Runtime, directory: string, keep = () => {}): Promise<void> {
  const record = readRecord(directory)
  if (record === undefined) return
  const { cluster, nodeName, endpoint, sandboxImage } = record
  const connection = connect(runtime.clock, endpoint, 'runtime')
  const failures: string[] = []
  const attempt = async (task: () => unknown) => {
    try {
      await task()
    } catch (error) {
      failures.push(messageOf(error))
    }
  }
  try {
    const containerRuntime = createCriRuntime(runtime, {
      connection,
      cluster,
      nodeName,
      terminationMessage: async () => '',
      family: 'IPv4',
    })
    await attempt(async () => {
      // What was asked for just before the end may be made only now.
      for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
        const running = (await containerRuntime.listContainers({})).filter(({ state }) => state === 'running')
        await Promise.all(
          running.map(({ id }) => attempt(() => containerRuntime.stopContainer(id, LAST_GRACE_SECONDS))),
        )
        const sandboxes = await containerRuntime.listPodSandboxes({})
        if (sandboxes.length === 0) break
        await Promise.all(sandboxes.map(({ id }) => attempt(() => containerRuntime.removePodSandbox(id))))
      }
    })
    const directories = podDirectories(directory)
    for (const uid of directories.known())
      await attempt(async () => {
        await unmountBelow(directories.pod(uid))
        if (mountedBelow(directories.pod(uid)).length === 0) directories.remove(uid)
      })
    if (existsSync(directories.memory)) await attempt(() => unmountBelow(directories.memory))
    const plugins = join(directory, 'plugins')
    if (existsSync(plugins)) await attempt(() => unmountBelow(plugins))
    const groups = createCgroups(cluster, record.cgroupDriver)
    await attempt(async () => {
      for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
        groups.removeAll()
        if (groups.known().length === 0) break
        await sleep(runtime.machineClock, LOOK_AGAIN_MS)
      }
    })
    await attempt(() => removeNetwork(record))
    const override = guestOverride(cluster)
    if (existsSync(override)) await attempt(() => withdrawDelay(override, { clock: runtime.machineClock }))
    if (sandboxImage !== undefined)
      await attempt(() => removeLabelledImages(runtime, endpoint, [MADE_BY_SKIFF, cluster]))
  } finally {
    connection.close()
  }
  await attempt(keep)
  if (failures.length > 0) throw new Error(`of the node something is left: ${failures.join('; ')}`)
  rmSync(directory, { recursive: true, force: true })
}
