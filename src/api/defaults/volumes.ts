/** Defaults of volumes and of what is projected into them. */
import type { Fields } from '../object.ts'
import { pullPolicy } from './pods.ts'
import { type Defaulter, missing, unset } from './rule.ts'

const core = (name: string) => `io.k8s.api.core.v1.${name}`

/** Files are 0644 unless something else is said. */
const fileMode: Defaulter = (value) => missing(value, { defaultMode: 0o644 })

function volume(value: Fields): Fields | undefined {
  for (const name in value) if (name !== 'name' && value[name] !== undefined && value[name] !== null) return undefined
  return { emptyDir: {} }
}

export const volumeDefaults: Readonly<Record<string, Defaulter>> = {
  [core('Volume')]: volume,
  [core('SecretVolumeSource')]: fileMode,
  [core('ConfigMapVolumeSource')]: fileMode,
  [core('DownwardAPIVolumeSource')]: fileMode,
  [core('ProjectedVolumeSource')]: fileMode,
  [core('ServiceAccountTokenProjection')]: (value) => missing(value, { expirationSeconds: 3600 }),
  [core('HostPathVolumeSource')]: (value) => missing(value, { type: '' }),
  [core('AzureDiskVolumeSource')]: (value) =>
    unset(value, { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' }),
  [core('ImageVolumeSource')]: (value) =>
    value['pullPolicy'] ? undefined : { pullPolicy: pullPolicy(value['reference']) },
}
