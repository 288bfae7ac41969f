/**
 * How large a value of a selector or template is. Values are shared, so that a few words can make one that is small here and endless once it is
 * written out: what stands in several places counts in each.
 */

/** Of one value: as large as an object that a cluster stores may be, and some more. */
export const HEAVIEST = 4_000_000

/** By object: none changes once it is there. */
const known = new WeakMap<object, number>()

/** Characters, names and items. @throws RangeError for what is nested too deep for the stack */
export function characterWeight(value: unknown): number {
  if (typeof value === 'string') return value.length + 1
  if (typeof value !== 'object' || value === null) return 1
  const before = known.get(value)
  if (before !== undefined) return before
  let weight = 1
  if (Array.isArray(value)) for (const item of value) weight += characterWeight(item)
  else for (const [name, item] of Object.entries(value)) weight += name.length + characterWeight(item)
  known.set(value, weight)
  return weight
}
