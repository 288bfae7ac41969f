/** StorageObjectInUseProtection: volumes, claims and volume classes carry a finalizer from birth, so that what is used stays. */
import type { AdmissionPluginFactory } from '../plugin.ts'

const finalizers: Readonly<Record<string, string>> = {
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
}

export const storageObjectInUseProtection: AdmissionPluginFactory = () => ({
  name: 'StorageObjectInUseProtection',
  handles: (operation) => operation === 'CREATE',
  mutate({ object, endpoint, subresource }) {
    const { row } = endpoint
    const finalizer = subresource === '' ? finalizers[`${row.group}/${row.resource}`] : undefined
    const present = object!.metadata.finalizers ?? []
    if (finalizer === undefined || present.includes(finalizer)) return object!
    return { ...object!, metadata: { ...object!.metadata, finalizers: [...present, finalizer] } }
  },
})
