/** How kubectl's tables write durations, selectors and lists. */
import type { LabelSelector, PodSpec } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** `45s`, `3m20s`, `15m`, `5h2m`, `30h`, `3d4h`, `90d`, `3y40d`: two units at most, coarser the longer it is. */
export function humanDuration(ms: number): string {
  if (ms < -1000) return '<invalid>'
  if (ms < 0) return '0s'
  const two = (unit: number, name: string, rest: number, restName: string) => {
    const whole = Math.floor(ms / unit)
    const remainder = Math.floor((ms % unit) / rest)
    return remainder === 0 ? `${whole}${name}` : `${whole}${name}${remainder}${restName}`
  }
  if (ms < 2 * MINUTE) return `${Math.floor(ms / SECOND)}s`
  if (ms < 10 * MINUTE) return two(MINUTE, 'm', SECOND, 's')
  if (ms < 3 * HOUR) return `${Math.floor(ms / MINUTE)}m`
  if (ms < 8 * HOUR) return two(HOUR, 'h', MINUTE, 'm')
  if (ms < 48 * HOUR) return `${Math.floor(ms / HOUR)}h`
  if (ms < 8 * DAY) return two(DAY, 'd', HOUR, 'h')
  if (ms < 2 * YEAR) return `${Math.floor(ms / DAY)}d`
  if (ms < 8 * YEAR) return two(YEAR, 'y', DAY, 'd')
  return `${Math.floor(ms / YEAR)}y`
}

/** Time since an RFC 3339 text; `<unknown>` when there is none. */
export function age(time: string | undefined | null, nowMs: number): string {
  return time ? humanDuration(nowMs - Date.parse(time)) : UNKNOWN
}

/** A list that may be missing. */
export const listOf = <T>(values: readonly T[] | undefined | null): readonly T[] => values ?? []

export const objectName = (object: KubeObject): string => object.metadata.name ?? ''
/** The zero of Go's time for an object that was never made. */
export const madeAt = (object: KubeObject): string => object.metadata.creationTimestamp ?? '0001-01-01T00:00:00Z'

export const objectAge = (object: KubeObject, nowMs: number): string => age(object.metadata.creationTimestamp, nowMs)

export const NONE = '<none>'
export const UNSET = '<unset>'
export const UNKNOWN = '<unknown>'

/** `a=b,c=d`, sorted; `empty` when there is nothing. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined, empty = NONE): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)
  return pairs.length === 0 ? empty : pairs.sort().join(',')
}

/** A metav1.LabelSelector as text. */
export function formatSelector(selector: LabelSelector | undefined | null): string {
  if (selector === undefined || selector === null) return NONE
  const parts: [string, string][] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => [
    key,
    `${key}=${value}`,
  ])
  for (const { key, operator, values } of selector.matchExpressions ?? [])
    parts.push([key, expression(key, operator, values)])
  if (parts.length === 0) return NONE
  return parts
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(',')
}

function expression(key: string, operator: string, values: readonly string[] | undefined): string {
  const list = `(${[...(values ?? [])].sort().join(',')})`
  switch (operator) {
    case 'In':
      return `${key} in ${list}`
    case 'NotIn':
      return `${key} notin ${list}`
    case 'DoesNotExist':
      return `!${key}`
    default:
      return key
  }
}

/** The first `max` joined by commas, and how many more there are. */
export function firstFew(items: readonly string[], max: number, separator = ','): string {
  const shown = items.slice(0, max).join(separator)
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown
}

export const containerNames = (spec: PodSpec | undefined): string =>
  listOf(spec?.containers)
    .map((container) => container.name)
    .join(',')

export const containerImages = (spec: PodSpec | undefined): string =>
  listOf(spec?.containers)
    .map((container) => container.image)
    .join(',')
