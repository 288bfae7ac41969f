/** Two topology spread constraints may not stand for the same key and the same consequence. */
import { duplicate, type FieldError } from '../errors/field-errors.ts'
import type { Fields } from '../object.ts'

const kindOf = ({ topologyKey, whenUnsatisfiable }: Fields): string => JSON.stringify([topologyKey, whenUnsatisfiable])

/** For each constraint by its index: whether a later one is the same is told of it, once. */
export function sameSpread(constraints: readonly Fields[]): (i: number, path: string, errors: FieldError[]) => void {
  const last = new Map(constraints.map((constraint, i) => [kindOf(constraint), i]))
  return (i, path, errors) => {
    const constraint = constraints[i] as Fields
    if (last.get(kindOf(constraint)) === i) return
    const { topologyKey, whenUnsatisfiable } = constraint
    errors.push(duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`))
  }
}
