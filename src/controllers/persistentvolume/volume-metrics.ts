/** What the volume binder tells of volumes and claims, under kube-controller-manager's names, counted when it is asked for. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts'
import { classOf } from '../../api/objects/best-volume-for-claim.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Store } from '../../client/store.ts'

export interface VolumesAndClaims {
  readonly volumes: Store<PersistentVolume>
  readonly claims: Store<PersistentVolumeClaim>
}

type Series = readonly [number, ...string[]]

/** Until the signal says that the binder works no more. */
export function boundVolumeMetrics(
  { metrics }: Pick<Runtime, 'metrics'>,
  { volumes, claims }: VolumesAndClaims,
  signal: AbortSignal,
): void {
  if (metrics === undefined) return
  const sampled = (name: string, help: string, labels: readonly string[], sample: () => Iterable<Series>) =>
    metrics.sampled(`pv_collector_${name}`, help, labels, () => (signal.aborted ? [] : sample()))
  const isBound = ({ status }: PersistentVolume | PersistentVolumeClaim) => status?.phase === 'Bound'
  const classLabels = ['storage_class']
  const claimLabels = ['namespace', 'storage_class', 'volume_attributes_class']
  for (const [state, wanted] of [
    ['bound', true],
    ['unbound', false],
  ] as const) {
    sampled(`${state}_pv_count`, `Volumes that are ${state}.`, classLabels, () =>
      counted(
        volumes.list().filter((volume) => isBound(volume) === wanted),
        (volume) => [classOf(volume)],
      ),
    )
    sampled(`${state}_pvc_count`, `Claims that are ${state}.`, claimLabels, () =>
      counted(
        claims.list().filter((claim) => isBound(claim) === wanted),
        (claim) => [claim.metadata.namespace ?? '', classOf(claim), claim.spec?.volumeAttributesClassName ?? ''],
      ),
    )
  }
  sampled('total_pv_count', 'Volumes that there are.', ['plugin_name', 'volume_mode'], () =>
    counted(volumes.list(), ({ spec }) => [pluginOf(spec), spec?.volumeMode ?? 'Filesystem']),
  )
}

/** Those kinds of volumes that kube-controller-manager has plugins for. */
const pluginOf = (spec: PersistentVolume['spec']): string =>
  spec?.hostPath !== undefined ? 'kubernetes.io/host-path' : spec?.nfs !== undefined ? 'kubernetes.io/nfs' : 'N/A'

function counted<T>(objects: readonly T[], labelsOf: (object: T) => readonly string[]): Iterable<Series> {
  const counts = new Map<string, [number, ...string[]]>()
  for (const object of objects) {
    const labels = labelsOf(object)
    const key = labels.join('\u0000')
    const known = counts.get(key)
    if (known === undefined) counts.set(key, [1, ...labels])
    else known[0]++
  }
  return counts.values()
}
