/** The storage class of claims that name none: of several that are marked as default the newest. */
import type { PersistentVolumeClaim, StorageClass } from '../generated/types.ts'

const marks = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']

export function defaultStorageClassOf(classes: readonly StorageClass[]): StorageClass | undefined {
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
