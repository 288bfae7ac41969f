/** Two topology spread constraints may not stand for the same key and the same consequence. */
import type { Fields } from '../object.ts'
import { duplicate, type FieldError } from './errors.ts'

export function sameSpread(constraints: readonly Fields[], i: number, path: string, errors: FieldError[]): void {
  const { topologyKey, whenUnsatisfiable } = constraints[i]!
  const twins = constraints.filter(
    (c, j) => j > i && c['topologyKey'] === topologyKey && c['whenUnsatisfiable'] === whenUnsatisfiable,
  )
  for (const _ of twins)
    errors.push(duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`))
}
