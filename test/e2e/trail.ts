/** What a watch saw of one object, as a list of what changed: every intermediate state is in it. */
import type { Any, Seen } from '../kubectl.ts'

/**
 * Each event about `name` after the one with `since` (an object's resourceVersion), as `MODIFIED path path`: the fields that
 * differ from the event before, two names deep, without resourceVersion and managedFields, which change with every write.
 */
export function trail(seen: readonly Seen[], name: string, since: string): string[] {
  const events = seen.filter(({ object }) => object.metadata.name === name)
  const from = events.findIndex(({ object }) => object.metadata.resourceVersion === since)
  if (from < 0) throw new Error(`no event of ${name} has resourceVersion ${since}`)
  return events.slice(from + 1).map(({ type, object }, index) => {
    const before = events[from + index]?.object
    return [type, ...changed(before, object)].join(' ')
  })
}

/** The same without events in which only the status changed. */
export const trailOfMeta = (seen: readonly Seen[], name: string, since: string): string[] =>
  trail(seen, name, since).filter((line) => !/^MODIFIED( status\S*)+$/.test(line))

export function changed(before: Any, after: Any): string[] {
  const skipped = new Set(['metadata.resourceVersion', 'metadata.managedFields'])
  const paths = new Set<string>()
  for (const part of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[part], after[part]]
    if (!isMap(old) || !isMap(now)) {
      if (!same(old, now)) paths.add(part)
      continue
    }
    for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
      if (!same(old[name], now[name])) paths.add(`${part}.${name}`)
    }
  }
  return [...paths].filter((path) => !skipped.has(path)).sort()
}

const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

function same(one: Any, other: Any): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => same(one[key], other[key]))
}

export const versionOf = ({ object }: Seen): number => Number(object.metadata.resourceVersion)
