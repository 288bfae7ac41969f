/**
 * Brings the actual state to the desired one, volume by volume: detaches what no pod of a node wants, once the kubelet has it in use no
 * longer, and attaches what pods want, a volume for one node alone only when no other has it.
 */
import type { Node, Pod } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events.ts'
import type { Informer } from '../../client/informer.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { ActualState, Attachment } from './actual-state.ts'
import { csiVolumeOf } from './attachment-plugins.ts'
import type { CsiAttachments } from './csi-attachments.ts'
import type { DesiredState, WantedVolume } from './desired-state.ts'
import { multiAttachMessage } from './multi-attach.ts'
import type { NodeReports } from './node-reports.ts'
import { createOperations } from './operations.ts'

export interface ReconcilerParts {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodes: Informer<Node>
  readonly desired: DesiredState
  readonly actual: ActualState
  readonly reports: NodeReports
  readonly csi: CsiAttachments
  readonly recorder: EventRecorder
  readonly settings: AttachDetachSettings
}

export interface AttachDetachSettings {
  /** A volume that a node not ready still has in use is detached after this time all the same. Default: six minutes. */
  readonly unmountTimeoutMs?: number
  /** It is not. */
  readonly isForcedDetachOff?: boolean
}

export interface Reconciler {
  /** Something about this volume has changed. */
  enqueue(uniqueName: string): void
  readonly operations: ReturnType<typeof createOperations>
  run(signal: AbortSignal): void
}

const UNMOUNT_TIMEOUT_MS = 6 * 60_000
const WORKERS = 10
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'
const NODES = { group: '', version: 'v1', resource: 'nodes' }

export function createReconciler(parts: ReconcilerParts): Reconciler {
  const { runtime, client, nodes, desired, actual, reports, csi, recorder, settings } = parts
  const log = runtime.log.named('attachdetach-controller')
  const queue = createWorkQueue<string>(runtime, 'attachdetach')
  const operations = createOperations(runtime)
  const unmountTimeoutMs = settings.unmountTimeoutMs ?? UNMOUNT_TIMEOUT_MS

  async function sync(uniqueName: string): Promise<void> {
    for (const [nodeName, attachment] of [...actual.nodesOf(uniqueName)])
      if (desired.wanted(uniqueName, nodeName) === undefined) await detachFrom(uniqueName, nodeName, attachment)
    for (const [nodeName, wanted] of [...desired.nodesOf(uniqueName)]) attachTo(uniqueName, nodeName, wanted)
  }

  /** True when an operation that failed must wait before it is tried again. */
  function mustWait(uniqueName: string, nodeName: string): boolean {
    const ms = operations.waitOf(uniqueName, nodeName)
    if (ms > 0) queue.addAfter(uniqueName, ms)
    return ms > 0
  }

  async function detachFrom(uniqueName: string, nodeName: string, attachment: Attachment): Promise<void> {
    if (operations.isPending(uniqueName, nodeName)) return
    const now = runtime.clock.monotonic()
    attachment.detachSinceMs ??= now
    const leftMs = attachment.detachSinceMs + unmountTimeoutMs - now
    const node = nodes.store.get(nodeName)
    const isForced = leftMs <= 0 && !isReady(node) && settings.isForcedDetachOff !== true
    const isSafe = isForced || isOutOfService(node)
    if (attachment.isMounted && !isSafe) {
      if (leftMs > 0) queue.addAfter(uniqueName, leftMs)
      return
    }
    if (mustWait(uniqueName, nodeName)) return
    // It stays off the list while detaching it is tried again.
    if (attachment.isReported)
      try {
        await reports.write(nodeName, () => {
          attachment.isReported = false
        })
      } catch (error) {
        attachment.isReported = true
        throw error
      }
    // A pod may have come for it meanwhile, and its kubelet has been told that it is not attached.
    start(uniqueName, nodeName, async () => {
      try {
        if (!isSafe) await checkUnused(uniqueName, nodeName)
        const volume = csiVolumeOf(uniqueName)
        if (volume !== undefined) await csi.detach(volume, nodeName)
      } catch (error) {
        log.info(2, 'DetachVolume.Detach failed', { volume: uniqueName, node: nodeName, err: messageOf(error) })
        throw error
      }
      actual.detached(uniqueName, nodeName)
    })
  }

  /** The informer may be behind. @throws while the kubelet has it in use */
  async function checkUnused(uniqueName: string, nodeName: string): Promise<void> {
    try {
      const node = await client.resource<Node>(NODES).get(nodeName)
      if (node.status?.volumesInUse?.includes(uniqueName)) throw new Error(`${uniqueName} is in use by ${nodeName}`)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  function attachTo(uniqueName: string, nodeName: string, wanted: WantedVolume): void {
    const { volume } = wanted
    if (volume.isShared ? operations.isPending(uniqueName, nodeName) : operations.isAnyPending(uniqueName)) return
    const present = actual.get(uniqueName, nodeName)
    if (present?.state === 'attached') {
      present.detachSinceMs = undefined
      if (!present.isReported) {
        present.isReported = true
        reports.changed(nodeName)
      }
      return
    }
    const others = [...actual.nodesOf(uniqueName)].filter(
      ([other, { state }]) => other !== nodeName && state === 'attached',
    )
    if (!volume.isShared && others.length > 0) {
      if (!wanted.multiAttachTold) tellMultiAttach(uniqueName, nodeName, wanted)
      wanted.multiAttachTold = true
      return
    }
    if (mustWait(uniqueName, nodeName)) return
    const pods = [...wanted.pods.values()]
    start(uniqueName, nodeName, async () => {
      try {
        const csiVolume = csiVolumeOf(uniqueName)
        if (csiVolume !== undefined) await csi.attach(csiVolume, volume.name, nodeName)
      } catch (error) {
        actual.uncertain(uniqueName, nodeName)
        const message = `AttachVolume.Attach failed for volume "${volume.name}" : ${messageOf(error)}`
        if (!isEnding) for (const pod of pods) tell(pod, 'Warning', 'FailedAttachVolume', message)
        throw error
      }
      actual.attached(uniqueName, nodeName, '')
      const message = `AttachVolume.Attach succeeded for volume "${volume.name}" `
      for (const pod of pods) tell(pod, 'Normal', 'SuccessfulAttachVolume', message)
      reports.changed(nodeName)
    })
  }

  let isEnding = false
  const start = (uniqueName: string, nodeName: string, task: () => Promise<void>) =>
    operations.start(uniqueName, nodeName, task, () => {
      if (!isEnding) queue.add(uniqueName)
    })

  const tell = (pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string) =>
    recorder.event({ ...pod, apiVersion: 'v1', kind: 'Pod' }, type, reason, message)

  function tellMultiAttach(uniqueName: string, nodeName: string, { volume, pods }: WantedVolume): void {
    const elsewhere = [...desired.nodesOf(uniqueName)].filter(([other]) => other !== nodeName)
    const users = elsewhere.flatMap(([, wanted]) => [...wanted.pods.values()])
    for (const pod of pods.values())
      tell(pod, 'Warning', 'FailedAttachVolume', multiAttachMessage(volume.name, pod.metadata.namespace ?? '', users))
  }

  return {
    enqueue: (uniqueName) => queue.add(uniqueName),
    operations,
    run(signal) {
      signal.addEventListener('abort', () => {
        isEnding = true
      })
      runWorkers(runtime, queue, WORKERS, sync, signal)
      reports.run(signal)
    },
  }
}

const isReady = (node: Node | undefined): boolean =>
  node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

const isOutOfService = (node: Node | undefined): boolean =>
  node?.spec?.taints?.some(({ key, effect }) => key === OUT_OF_SERVICE && effect === 'NoExecute') ?? false
