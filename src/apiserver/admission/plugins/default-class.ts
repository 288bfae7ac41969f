/** DefaultStorageClass and DefaultIngressClass: what names no class gets the one marked as default. */
import type { Ingress, IngressClass, PersistentVolumeClaim, StorageClass } from '../../../api/generated/types.ts'
import {
  defaultIngressClassOf,
  defaultStorageClassOf,
  namesClass,
  withClass,
} from '../../../api/objects/default-class.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'

export const defaultStorageClass: AdmissionPluginFactory = (reads) => ({
  name: 'DefaultStorageClass',
  handles: (operation) => operation === 'CREATE',
  mutate({ object, endpoint, subresource }) {
    const { row } = endpoint
    const claim: PersistentVolumeClaim = object!
    if (row.group !== '' || row.resource !== 'persistentvolumeclaims' || subresource !== '') return claim
    if (namesClass(claim)) return claim
    const found = defaultStorageClassOf(reads.list<StorageClass>('storage.k8s.io', 'storageclasses'))
    return found ? withClass(claim, found) : claim
  },
})

export const defaultIngressClass: AdmissionPluginFactory = (reads) => ({
  name: 'DefaultIngressClass',
  handles: (operation) => operation === 'CREATE',
  mutate(attributes) {
    const { endpoint, subresource } = attributes
    const { row } = endpoint
    const ingress: Ingress = attributes.object!
    if (row.group !== 'networking.k8s.io' || row.resource !== 'ingresses' || subresource !== '') return ingress
    if (ingress.spec?.ingressClassName !== undefined) return ingress
    if (ingress.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return ingress
    const found = defaultIngressClassOf(reads.list<IngressClass>('networking.k8s.io', 'ingressclasses'))
    return found ? { ...ingress, spec: { ...ingress.spec, ingressClassName: found.metadata.name } } : ingress
  },
})
