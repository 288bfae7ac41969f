/** Lists of indexes as a Job's status tells them (KEP-1940): `1,3-5,7`, rising, each below the number of completions. */

type Interval = readonly [first: number, last: number]
export type ParsedIndexes = { readonly intervals: readonly Interval[] } | { readonly problem: string }

const INTEGER = /^[+-]?[0-9]+$/
const LARGEST = 9223372036854775807n

/** The intervals of a list, or what is wrong with it. Without `completions` no index is too large. */
export function parsedIndexes(text: string, completions: number | undefined): ParsedIndexes {
  const intervals: Interval[] = []
  let previous: number | undefined
  for (const fragment of text === '' ? [] : text.split(',')) {
    const parts = fragment.split('-')
    if (parts.length > 2)
      return {
        problem: `the fragment "${fragment}" violates the requirement that an index interval can have at most two parts separated by '-'`,
      }
    const bounds: number[] = []
    for (const part of parts) {
      if (!INTEGER.test(part) || BigInt(part.replace('+', '')) > LARGEST)
        return { problem: `cannot convert string to integer for index: "${part}"` }
      const index = Number(part)
      if (completions !== undefined && index >= completions) return { problem: `too large index: "${part}"` }
      if (previous !== undefined && index <= previous)
        return { problem: `non-increasing order, previous: ${previous}, current: ${index}` }
      previous = index
      bounds.push(index)
    }
    intervals.push([bounds[0]!, bounds.at(-1)!])
  }
  return { intervals }
}

/** The first index that is in both lists; undefined when there is none, or one of them cannot be read. */
export function indexOverlap(a: ParsedIndexes, b: ParsedIndexes): number | undefined {
  if ('problem' in a || 'problem' in b) return undefined
  for (const [first, last] of a.intervals)
    for (const [from, to] of b.intervals) if (first <= to && from <= last) return Math.max(first, from)
  return undefined
}
