/** The class of claims and ingresses that name none: of several that are marked as default the newest, of those the first by name. */
import type { IngressClass, PersistentVolumeClaim, StorageClass } from '../generated/types.ts'
import type { KubeObject } from '../object.ts'

const STORAGE_MARKS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]
const INGRESS_MARKS = ['ingressclass.kubernetes.io/is-default-class']

export const defaultStorageClassOf = (classes: readonly StorageClass[]): StorageClass | undefined =>
  newestMarked(classes, STORAGE_MARKS)

export const defaultIngressClassOf = (classes: readonly IngressClass[]): IngressClass | undefined =>
  newestMarked(classes, INGRESS_MARKS)

function newestMarked<T extends Pick<KubeObject, 'metadata'>>(
  classes: readonly T[],
  marks: readonly string[],
): T | undefined {
  return classes
    .filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === 'true'))
    .sort((a, b) => {
      const [one, other] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
      return one === other ? ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1) : one < other ? 1 : -1
    })[0]
}

/** The empty name is one too: that of no class. */
export const namesClass = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  spec?.storageClassName !== undefined ||
  metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined

export const withClass = (claim: PersistentVolumeClaim, { metadata }: StorageClass): PersistentVolumeClaim => ({
  ...claim,
  spec: { ...claim.spec, storageClassName: metadata.name ?? '' },
})
