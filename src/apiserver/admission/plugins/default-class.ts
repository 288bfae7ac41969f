/**
 * DefaultStorageClass and DefaultIngressClass: what names no class gets the one marked as default. Of several default
 * storage classes the newest counts; several default ingress classes are refused.
 */
import type { Ingress, IngressClass, PersistentVolumeClaim, StorageClass } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { defaultStorageClassOf, namesClass, withClass } from '../../../api/objects/default-storage-class.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

const marked = (annotations: readonly string[]) => (object: KubeObject) =>
  annotations.some((annotation) => object.metadata.annotations?.[annotation] === 'true')

const isDefaultIngressClass = marked(['ingressclass.kubernetes.io/is-default-class'])

export const defaultStorageClass: AdmissionPluginFactory = (reads) => ({
  name: 'DefaultStorageClass',
  handles: (operation) => operation === 'CREATE',
  mutate({ object, row, subresource }) {
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
