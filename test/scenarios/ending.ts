/** How a scenario ends. */
import type { JsonObject } from '../../src/api/object.ts'
import { type State, sorted } from './recording.ts'
import { withoutGenerated } from './variation.ts'

/** What is left of everything that changed: which objects, and all that they say. */
export function endOf(states: readonly State[]): readonly string[] {
  const last = new Map<string, State>()
  for (const state of states) {
    const { name } = state.object['metadata'] as { name: string }
    last.set(`${state.resource} ${name}`, state)
  }
  return [...last]
    .map(([key, { type, object }]) => `${key} ${type === 'DELETED' ? 'gone' : JSON.stringify(sorted(ending(object)))}`)
    .map(withoutGenerated)
    .sort()
}

/** The generation of a slice tells how often it was written, as pods' changes fell together. */
function ending(object: JsonObject): JsonObject {
  if (object['kind'] !== 'EndpointSlice') return object
  const { generation: _, ...metadata } = object['metadata'] as JsonObject
  return { ...object, metadata }
}
