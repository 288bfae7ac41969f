/** A strategy made of what sets a kind apart: its rules, what its generation counts, its status. Called by the tables of kinds. */
import type { FieldError } from '../../api/errors/field-errors.ts'
import { withMetadata } from '../../api/metadata.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { sameAsGiven } from '../../api/schema/canonical.ts'
import { same } from '../../api/validation/common.ts'
import type { Strategy } from '../registry/strategy.ts'
import { nextGeneration, RESETS_SPEC, RESETS_STATUS, withFieldOf } from './common.ts'

/** A PUT must say which version it replaces. */
export const CONDITIONAL = { allowUnconditionalUpdate: false }

export type Validate<T = KubeObject> = { of(object: T): readonly FieldError[] }['of']
type ValidateUpdate<T> = { of(object: T, old: T): readonly FieldError[] }['of']

interface Traits<T extends KubeObject> {
  readonly validate: Validate<T>
  /** Default: the rules of creation. */
  readonly validateUpdate?: ValidateUpdate<T>
  /** The fields whose change makes a new generation; kinds without them have no generation. */
  readonly counts?: readonly string[]
  /** A list or map that is sent empty counts as a change: what is stored has none, so it counts each time. */
  readonly countsEmpty?: boolean
  /** The status of a new object; kinds with one have a status endpoint. */
  readonly status?: Fields
  readonly validateStatus?: ValidateUpdate<T>
  /** A write of the status may not touch labels, annotations, finalizers and owners. */
  readonly statusAlone?: boolean
  readonly more?: Partial<Strategy<T>>
}

export function kind<T extends KubeObject = KubeObject>(traits: Traits<T>): Strategy<T> {
  const { validate, validateUpdate, counts, countsEmpty, status, validateStatus, statusAlone, more } = traits
  return {
    prepareForCreate(object) {
      const first = counts ? withMetadata(object, { generation: 1 }) : object
      return status ? { ...first, status } : first
    },
    validate,
    prepareForUpdate(object, old) {
      const kept = status ? withFieldOf(object, old, 'status') : object
      return counts
        ? nextGeneration(
            kept,
            old,
            counts.some((field) => !(countsEmpty ? sameAsGiven(kept, old, field) : same(kept[field], old[field]))),
          )
        : kept
    },
    validateUpdate: validateUpdate ?? validate,
    ...(status
      ? {
          resetFields: RESETS_STATUS!,
          status: {
            prepareForUpdate: (object, old) => {
              const kept = withFieldOf(object, old, 'spec')
              return statusAlone ? withMetadataOf(kept, old) : kept
            },
            ...(more?.allowUnconditionalUpdate === false ? CONDITIONAL : {}),
            ...(validateStatus ? { validateUpdate: validateStatus } : {}),
            resetFields: statusAlone ? [...RESETS_SPEC!, ['f:metadata']] : RESETS_SPEC!,
          },
        }
      : {}),
    ...more,
  }
}

/** What a write of the status leaves alone where it may only write the status. */
const withMetadataOf = <T extends KubeObject>(object: T, old: T): T => {
  const { labels, annotations, finalizers, ownerReferences } = old.metadata
  return withMetadata(object, { labels, annotations, finalizers, ownerReferences })
}

/** The same is told of a new object and of an updated one. */
export const warned = (tell: (object: KubeObject) => readonly string[]): Partial<Strategy> => ({
  warningsOnCreate: tell,
  warningsOnUpdate: tell,
})
