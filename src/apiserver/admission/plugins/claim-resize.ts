/** PersistentVolumeClaimResize: only a bound claim of a class that allows it may ask for more. */
import type { PersistentVolumeClaim, StorageClass } from '../../../api/generated/types.ts'
import { compareQuantities } from '../../../api/values/quantity.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class'

export const persistentVolumeClaimResize: AdmissionPluginFactory = (reads) => ({
  name: 'PersistentVolumeClaimResize',
  handles: (operation) => operation === 'UPDATE',
  validate(attributes) {
    const { endpoint, subresource } = attributes
    const { row } = endpoint
    if (row.group !== '' || row.resource !== 'persistentvolumeclaims' || subresource !== '') return
    const claim: PersistentVolumeClaim | undefined = attributes.object
    const old: PersistentVolumeClaim | undefined = attributes.oldObject
    const wanted = claim?.spec?.resources?.requests?.['storage']
    const had = old?.spec?.resources?.requests?.['storage']
    if (wanted === undefined || compareQuantities(wanted, had ?? '0') <= 0) return
    if (old?.status?.phase !== 'Bound') throw refused(attributes, 'Only bound persistent volume claims can be expanded')
    const name = old.metadata.annotations?.[BETA_CLASS] ?? old.spec?.storageClassName ?? ''
    const found = name === '' ? undefined : reads.get<StorageClass>('storage.k8s.io', 'storageclasses', '', name)
    if (found?.allowVolumeExpansion === true) return
    throw refused(
      attributes,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  },
})
