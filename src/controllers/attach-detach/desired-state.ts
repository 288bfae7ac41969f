/** The desired state of the world: which volumes pods want on which nodes. */
import type { Pod } from '../../api/generated/types.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { objectKey } from '../../client/store.ts'
import type { AttachableVolume } from './attachable-volumes.ts'

export interface WantedVolume {
  readonly volume: AttachableVolume
  /** By key. */
  readonly pods: Map<string, Pod>
  /** Pods have been told that another node has it. */
  multiAttachTold: boolean
}

export interface DesiredState {
  /** All that the pod wants on its node, which may be nothing. Returns the names of the volumes for which that is a change. */
  set(pod: Pod, nodeName: string, volumes: readonly AttachableVolume[]): readonly string[]
  /** The same for a pod that wants nothing any more. */
  remove(podKey: string): readonly string[]
  /** By node. */
  nodesOf(uniqueName: string): ReadonlyMap<string, WantedVolume>
  wanted(uniqueName: string, nodeName: string): WantedVolume | undefined
}

const NONE: ReadonlyMap<string, WantedVolume> = new Map()

export function createDesiredState(): DesiredState {
  const byVolume = new Map<string, Map<string, WantedVolume>>()
  const byPod = new Map<string, { readonly nodeName: string; readonly volumes: ReadonlySet<string> }>()

  function leave(podKey: string, uniqueName: string, nodeName: string): void {
    const nodes = byVolume.get(uniqueName)
    const wanted = nodes?.get(nodeName)
    wanted?.pods.delete(podKey)
    if (wanted?.pods.size === 0) nodes?.delete(nodeName)
    if (nodes?.size === 0) byVolume.delete(uniqueName)
  }

  const desired: DesiredState = {
    set(pod, nodeName, volumes) {
      const key = objectKey(pod)
      const before = byPod.get(key)
      const now = new Set(volumes.map(({ uniqueName }) => uniqueName))
      const changed: string[] = []
      for (const name of before?.volumes ?? [])
        if (before?.nodeName !== nodeName || !now.has(name)) {
          leave(key, name, before?.nodeName ?? '')
          changed.push(name)
        }
      for (const volume of volumes) {
        const nodes = getOrInsertComputed(byVolume, volume.uniqueName, () => new Map<string, WantedVolume>())
        const wanted = getOrInsertComputed(nodes, nodeName, () => ({ volume, pods: new Map(), multiAttachTold: false }))
        if (!wanted.pods.has(key)) changed.push(volume.uniqueName)
        wanted.pods.set(key, pod)
      }
      if (now.size > 0) byPod.set(key, { nodeName, volumes: now })
      else byPod.delete(key)
      return changed
    },
    remove(podKey) {
      const before = byPod.get(podKey)
      if (before === undefined) return []
      byPod.delete(podKey)
      for (const name of before.volumes) leave(podKey, name, before.nodeName)
      return [...before.volumes]
    },
    nodesOf: (uniqueName) => byVolume.get(uniqueName) ?? NONE,
    wanted: (uniqueName, nodeName) => byVolume.get(uniqueName)?.get(nodeName),
  }
  return desired
}
