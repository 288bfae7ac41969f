/**
 * DefaultStorageClass and DefaultIngressClass: what names no class gets the one marked as default. Of several default
 * storage classes the newest counts; several default ingress classes are refused.
 */
import type { Ingress, IngressClass, PersistentVolumeClaim, StorageClass } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

const marked = (annotations: readonly string[]) => (object: KubeObject) =>
  annotations.some((annotation) => object.metadata.annotations?.[annotation] === 'true')

const isDefaultStorageClass = marked([
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
])
const isDefaultIngressClass = marked(['ingressclass.kubernetes.io/is-default-class'])

export const defaultStorageClass: AdmissionPluginFactory = (reads) => ({
  name: 'DefaultStorageClass',
  handles: (operation) => operation === 'CREATE',
  mutate({ object, row, subresource }) {
    const claim: PersistentVolumeClaim = object!
    if (row.group !== '' || row.resource !== 'persistentvolumeclaims' || subresource !== '') return claim
    const named =
      claim.spec?.storageClassName !== undefined ||
      claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined
    if (named) return claim
    const newest = [...reads.list<StorageClass>('storage.k8s.io', 'storageclasses')]
      .filter(isDefaultStorageClass)
      .sort((a, b) => {
        const [one, other] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
        return one === other ? ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1) : one < other ? 1 : -1
      })[0]
    return newest ? { ...claim, spec: { ...claim.spec, storageClassName: newest.metadata.name } } : claim
  },
})

export const defaultIngressClass: AdmissionPluginFactory = (reads) => ({
  name: 'DefaultIngressClass',
  handles: (operation) => operation === 'CREATE',
  mutate(attributes) {
    const { row, subresource } = attributes
    const ingress: Ingress = attributes.object!
    if (row.group !== 'networking.k8s.io' || row.resource !== 'ingresses' || subresource !== '') return ingress
    if (ingress.spec?.ingressClassName !== undefined) return ingress
    if (ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return ingress
    const defaults = reads.list<IngressClass>('networking.k8s.io', 'ingressclasses').filter(isDefaultIngressClass)
    if (defaults.length > 1)
      throw refused(attributes, `${defaults.length} default IngressClasses were found, only 1 allowed`)
    const [only] = defaults
    return only ? { ...ingress, spec: { ...ingress.spec, ingressClassName: only.metadata.name } } : ingress
  },
})
