/** What many strategies share: generations, status kept or taken, templates. Called by the files of this folder only. */
import { withMetadata } from '../../api/metadata.ts'
import type { Fields, KubeObject, SpecAndStatus } from '../../api/object.ts'
import { addInt64 } from '../../api/objects/integers.ts'
import { same } from '../../api/validation/common.ts'
import type { Strategy } from '../registry/strategy.ts'

/** The object with `field` as it stands in `from` (absent there: absent). */
export function withFieldOf<T extends KubeObject>(object: T, from: T, field: string & keyof T): T {
  if (object[field] === from[field]) return object
  const { [field]: _, ...rest } = object
  return (from[field] === undefined ? rest : { ...object, [field]: from[field] }) as T
}

/** A new object: first generation, and a status that only controllers may fill. */
export function createdWith<T extends KubeObject>(object: T, emptyStatus: Fields | undefined): T {
  const first = withMetadata(object, { generation: 1 })
  return emptyStatus === undefined ? first : { ...first, status: emptyStatus }
}

/** The next generation when `changed`. */
export function nextGeneration<T extends KubeObject>(object: T, old: T, changed: boolean): T {
  const generation = addInt64(old.metadata.generation ?? 0, changed ? 1 : 0) as number
  return object.metadata.generation === generation || (generation === 0 && object.metadata.generation === undefined)
    ? object
    : withMetadata(object, { generation })
}

/** The usual life of a kind with spec and status: status written only through /status, generation counting specs. */
export function specAndStatus(emptyStatus: Fields): Required<Pick<Strategy, 'prepareForCreate' | 'prepareForUpdate'>> {
  return {
    prepareForCreate: (object) => createdWith(object, emptyStatus),
    prepareForUpdate(object, old: SpecAndStatus) {
      const kept: SpecAndStatus = withFieldOf(object, old, 'status')
      return nextGeneration(kept, old, !same(kept.spec, old.spec))
    },
  }
}

/** The rules of new names that updates are held to as well, where they are more or fewer than those of finalizers. */
export const JUDGES_FINALIZERS_FIRST = {
  metaOnUpdate: ['finalizers', 'generateName'],
} as const satisfies Partial<Strategy>
export const JUDGES_GENERATE_NAME_FIRST = {
  metaOnUpdate: ['generateName', 'finalizers'],
} as const satisfies Partial<Strategy>
export const JUDGES_GENERATE_NAME_ALONE = { metaOnUpdate: ['generateName'] } as const satisfies Partial<Strategy>
export const JUDGES_NO_NEW_NAMES = { metaOnUpdate: [] } as const satisfies Partial<Strategy>

/** A delete is answered with the object that went. */
export const RETURNED_WHEN_DELETED = { returnDeletedObject: true } as const satisfies Partial<Strategy>

export const RESETS_STATUS: NonNullable<Strategy['resetFields']> = [['f:status']]
export const RESETS_SPEC: NonNullable<Strategy['resetFields']> = [['f:spec']]
