/** What a kubelet counts of volumes: how long it takes to set them up and take them down, by the plugin that each is of, and how many there are. */

import type { PersistentVolume, Volume } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { Metrics } from '../../base/metrics.ts'
import { type Pod, uidOf } from '../pod.ts'
import { FIELDS_WITHOUT_SOURCE } from '../volume-source-fields.ts'

export interface VolumeWorkMetrics {
  /** The volume is set up, for the first time or again. `bound`: what its claim is bound to, where that is known. */
  mounting(pod: Pod, volume: Volume, bound: PersistentVolume | undefined, task: () => Promise<void>): Promise<void>
  /** All of the pod's volumes are taken down. */
  unmounting(uid: string, task: () => Promise<void>): Promise<void>
  forget(uid: string): void
}

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600]
const PLUGINS: Readonly<Record<string, string>> = {
  configMap: 'configmap',
  downwardAPI: 'downward-api',
  emptyDir: 'empty-dir',
  hostPath: 'host-path',
  image: 'image',
  local: 'local-volume',
}

/** As Kubernetes names it; undefined for a claim of which that is not known. */
function pluginOf(volume: Volume, bound: PersistentVolume | undefined): string | undefined {
  const { name: _name, persistentVolumeClaim, ephemeral, ...sources } = volume
  const isClaim = persistentVolumeClaim !== undefined || ephemeral !== undefined
  const source = isClaim ? (bound?.spec ?? {}) : sources
  const driver = 'csi' in source ? source.csi?.driver : undefined
  if (driver !== undefined) return `kubernetes.io/csi:${driver}`
  const [kind] = Object.keys(source).filter(
    (key) => typeof source[key as never] === 'object' && !FIELDS_WITHOUT_SOURCE.has(key),
  )
  return kind === undefined ? undefined : `kubernetes.io/${PLUGINS[kind] ?? kind.toLowerCase()}`
}

export function createVolumeWorkMetrics(clock: Clock, metrics: Metrics): VolumeWorkMetrics {
  const seconds = metrics.histogram(
    'storage_operation_duration_seconds',
    'Seconds that work on volumes took, by what it was, how it came out, and the plugin.',
    ['migrated', 'operation_name', 'status', 'volume_plugin'],
    SECONDS,
  )
  const whole = metrics.histogram(
    'volume_operation_total_seconds',
    'Seconds until volumes were set up, by plugin.',
    ['operation_name', 'plugin_name'],
    SECONDS,
  )
  /** By pod and volume: its plugin, and whether it is set up. */
  const volumes = new Map<string, Map<string, { readonly plugin: string; readonly isMounted: boolean }>>()
  metrics.sampled('volume_manager_total_volumes', 'Volumes that pods want, and have.', ['plugin_name', 'state'], () => {
    const counts = new Map<string, { wanted: number; mounted: number }>()
    for (const own of volumes.values())
      for (const { plugin, isMounted } of own.values()) {
        const { wanted, mounted } = counts.get(plugin) ?? { wanted: 0, mounted: 0 }
        counts.set(plugin, { wanted: wanted + 1, mounted: mounted + (isMounted ? 1 : 0) })
      }
    return [...counts].flatMap(([plugin, { wanted, mounted }]) => [
      [mounted, plugin, 'actual_state_of_world'] as const,
      [wanted, plugin, 'desired_state_of_world'] as const,
    ])
  })
  const observe = (operation: string, plugin: string, isDone: boolean, began: number) =>
    seconds
      .child('false', operation, isDone ? 'success' : 'fail-unknown', plugin)
      .observe((clock.monotonic() - began) / 1000)

  return {
    async mounting(pod, volume, bound, task) {
      const began = clock.monotonic()
      const done = (isDone: boolean) => {
        const plugin = pluginOf(volume, bound)
        if (plugin === undefined) return
        const own = volumes.get(uidOf(pod)) ?? new Map<string, { plugin: string; isMounted: boolean }>()
        volumes.set(uidOf(pod), own)
        const before = own.get(volume.name)
        if (before === undefined) observe('verify_controller_attached_volume', plugin, true, clock.monotonic())
        own.set(volume.name, { plugin, isMounted: isDone || before?.isMounted === true })
        observe('volume_mount', plugin, isDone, began)
        if (isDone) whole.child('overall_volume_mount', plugin).observe((clock.monotonic() - began) / 1000)
      }
      try {
        await task()
      } catch (error) {
        done(false)
        throw error
      }
      done(true)
    },
    async unmounting(uid, task) {
      const began = clock.monotonic()
      const mounted = [...(volumes.get(uid)?.values() ?? [])].filter(({ isMounted }) => isMounted)
      const done = (isDone: boolean) => {
        for (const { plugin } of mounted) observe('volume_unmount', plugin, isDone, began)
      }
      try {
        await task()
      } catch (error) {
        done(false)
        throw error
      }
      done(true)
      volumes.delete(uid)
    },
    forget: (uid) => void volumes.delete(uid),
  }
}
