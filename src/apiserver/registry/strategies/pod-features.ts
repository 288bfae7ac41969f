/**
 * Fields of pods that are behind features which are off: they are decoded, owned by who sent them, and dropped before
 * anything else looks at them. Called by this folder's table for every kind that has a pod's spec.
 */
import type { Fields, KubeObject } from '../../../api/object.ts'
import type { Strategy } from '../strategy.ts'

const LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const

/** Without lifecycle.stopSignal (ContainerStopSignals, alpha). The same object when there is none. */
export function withoutDisabledFields(spec: Fields): Fields {
  let kept = spec
  for (const list of LISTS) {
    const containers: readonly Fields[] | undefined = spec[list]
    if (!containers?.some((container) => container['lifecycle']?.stopSignal !== undefined)) continue
    kept = { ...kept, [list]: containers.map(withoutStopSignal) }
  }
  return kept
}

function withoutStopSignal(container: Fields): Fields {
  if (container['lifecycle']?.stopSignal === undefined) return container
  const { stopSignal: _, ...hooks } = container['lifecycle']
  const { lifecycle: __, ...rest } = container
  return Object.keys(hooks).length === 0 ? rest : { ...rest, lifecycle: hooks }
}

/** The object with what `change` makes of the value at `path`; the same one when that is the same. */
function changedAt(object: Fields, path: readonly string[], change: (spec: Fields) => Fields): Fields {
  const [field, ...rest] = path
  if (field === undefined) return change(object)
  const inner: Fields | undefined = object[field]
  if (inner === undefined || inner === null) return object
  const changed = changedAt(inner, rest, change)
  return changed === inner ? object : { ...object, [field]: changed }
}

/** The strategy of a kind whose pod spec stands at `path`. */
export function withPodFeatures<S extends Strategy>(strategy: S, ...path: readonly string[]): S {
  const drop = (object: KubeObject) => changedAt(object, path, withoutDisabledFields) as KubeObject
  const { prepareForCreate, prepareForUpdate } = strategy
  return {
    ...strategy,
    prepareForCreate: (object, context) => prepareForCreate?.(drop(object), context) ?? drop(object),
    prepareForUpdate: (object, old, context) => prepareForUpdate?.(drop(object), old, context) ?? drop(object),
  }
}
