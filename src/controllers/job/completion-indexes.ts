/** Completion indexes of Indexed jobs: `0,1,4-7` as text, a set as value. */
import type { Pod } from '../../api/generated/types.ts'

export const indexLabel = 'batch.kubernetes.io/job-completion-index'

/** Indexes at or beyond `completions` no longer count. */
export function parseIndexes(text: string, completions: number): Set<number> {
  const indexes = new Set<number>()
  for (const part of text === '' ? [] : text.split(',')) {
    const [first, last = first] = part.split('-').map(Number) as [number, number?]
    for (let index = first; index <= last && index < completions; index++) indexes.add(index)
  }
  return indexes
}

/** Three or more in a row are a range. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b)
  const parts: string[] = []
  for (let at = 0; at < sorted.length; ) {
    let end = at
    while (sorted[end + 1] === (sorted[end] as number) + 1) end++
    if (end - at >= 2) parts.push(`${sorted[at]}-${sorted[end]}`)
    else for (let single = at; single <= end; single++) parts.push(String(sorted[single]))
    at = end + 1
  }
  return parts.join(',')
}

/** undefined for a pod that carries none, or one that the job no longer has. */
export function indexOf(pod: Pod, completions: number): number | undefined {
  const text = pod.metadata.annotations?.[indexLabel]
  const index = text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)
  return index !== undefined && index < completions ? index : undefined
}

/** The lowest `count` indexes that are neither done nor under way. */
export function pendingIndexes(count: number, taken: ReadonlySet<number>, completions: number): readonly number[] {
  const pending: number[] = []
  for (let index = 0; index < completions && pending.length < count; index++) if (!taken.has(index)) pending.push(index)
  return pending
}
