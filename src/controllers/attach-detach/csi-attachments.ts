/**
 * CSI attach: a VolumeAttachment is made for a volume and a node, and the driver's external attacher says in its status how that went;
 * its deletion asks for the opposite, and its end is the answer.
 */
import type { VolumeAttachment } from '../../api/generated/types.ts'
import { isAlreadyExists, isNotFound } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import type { Informer } from '../../client/informer.ts'
import { attachmentNameOf, type CsiVolume } from './attachment-plugins.ts'

const TIMEOUT_MS = 120_000

export const attachmentsResource = { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattachments' }

export interface CsiAttachments {
  /** Resolves when the volume is attached. Rejects with what the attacher says, and after two minutes. */
  attach(volume: CsiVolume, persistentVolume: string, nodeName: string): Promise<void>
  /** Resolves when the VolumeAttachment is gone. */
  detach(volume: CsiVolume, nodeName: string): Promise<void>
}

/** Undefined: not yet. @throws why it never will be */
type Judge = (attachment: VolumeAttachment | undefined) => true | undefined

export function createCsiAttachments(
  runtime: Runtime,
  client: Client,
  informer: Informer<VolumeAttachment>,
  signal: AbortSignal,
): CsiAttachments {
  const resource = client.resource<VolumeAttachment>(attachmentsResource)
  const waiting = new Map<string, Set<() => void>>()
  const changed = ({ metadata }: VolumeAttachment) => {
    for (const look of [...(waiting.get(metadata.name ?? '') ?? [])]) look()
  }
  informer.addHandlers({ added: changed, updated: (_, attachment) => changed(attachment), deleted: changed })

  /** `first`: as the API server has answered; the informer may be behind it. */
  function until(name: string, first: VolumeAttachment | undefined, judge: Judge, late: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const looks = waiting.get(name) ?? new Set()
      waiting.set(name, looks)
      const end = (settle: () => void) => {
        timer.cancel()
        looks.delete(look)
        if (looks.size === 0) waiting.delete(name)
        signal.removeEventListener('abort', stop)
        settle()
      }
      const judged = (attachment: VolumeAttachment | undefined) => {
        try {
          if (judge(attachment)) end(resolve)
        } catch (error) {
          end(() => reject(error))
        }
      }
      const look = () => judged(informer.store.get(name))
      const stop = () => end(() => reject(signal.reason))
      const timer = runtime.clock.setTimer(TIMEOUT_MS, 'volume attachment', () => end(() => reject(new Error(late))))
      signal.addEventListener('abort', stop)
      looks.add(look)
      judged(first)
    })
  }

  return {
    async attach(volume, persistentVolume, nodeName) {
      const name = attachmentNameOf(volume, nodeName)
      const late = `timed out waiting for external-attacher of ${volume.driver} CSI driver to attach volume ${volume.handle}`
      let attachment = informer.store.get(name)
      if (attachment === undefined) {
        const body: VolumeAttachment = {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'VolumeAttachment',
          metadata: { name },
          spec: { attacher: volume.driver, nodeName, source: { persistentVolumeName: persistentVolume } },
          status: { attached: false },
        }
        attachment = await resource.create(body).catch((error) => {
          if (isAlreadyExists(error)) return resource.get(name)
          throw error
        })
      }
      await until(name, attachment, attachedOr, late)
    },
    async detach(volume, nodeName) {
      const name = attachmentNameOf(volume, nodeName)
      const late = `timed out waiting for external-attacher of ${volume.driver} CSI driver to detach volume ${volume.handle}`
      try {
        await resource.delete(name)
        await until(name, await resource.get(name), goneOr, late)
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    },
  }
}

const attachedOr: Judge = (attachment) => {
  if (attachment === undefined) return undefined
  if (attachment.metadata.deletionTimestamp !== undefined) throw new Error('volume attachment is being deleted')
  if (attachment.status?.attached) return true
  const { message } = attachment.status?.attachError ?? {}
  if (message !== undefined) throw new Error(message)
  return undefined
}

const goneOr: Judge = (attachment) => {
  if (attachment === undefined) return true
  const { message } = attachment.status?.detachError ?? {}
  if (message !== undefined) throw new Error(message)
  return undefined
}
