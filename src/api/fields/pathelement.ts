/** Path elements: the keys of FieldsV1, their order, their canonical text, and how error messages print them. */
import type { Json } from '../object.ts'
import { goJson, parseWithKeys } from '../values/json.ts'
import { isMap } from '../values/maps-and-lists.ts'

/** Kubernetes' order of the kinds of path elements: field, key, value, index. */
const rank: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 }

/** Compares as Go compares strings: by UTF-8 bytes, which is by code points. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    const xHigh = x >= 0xd800 && x <= 0xdfff
    const yHigh = y >= 0xd800 && y <= 0xdfff
    if (xHigh !== yHigh) return xHigh ? 1 : -1
    return x - y
  }
  return a.length - b.length
}

const valueRank = (value: Json | undefined): number => {
  if (typeof value === 'number' || typeof value === 'bigint') return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'boolean') return 2
  if (Array.isArray(value)) return 3
  return value === null || value === undefined ? 5 : 4
}

/** Orders scalars as structured merge orders values: numbers, strings, booleans, then the rest. */
export function compareValues(a: Json | undefined, b: Json | undefined): number {
  const byKind = valueRank(a) - valueRank(b)
  if (byKind !== 0) return byKind
  if (typeof a === 'string') return compareText(a, b as string)
  if (typeof a === 'object') return compareText(JSON.stringify(a), JSON.stringify(b))
  if (a === b) return 0
  return (a as number) < (b as number) ? -1 : 1
}

export function comparePathElements(a: string, b: string): number {
  const kind = a.charAt(0)
  if (kind !== b.charAt(0)) return (rank[kind] ?? -1) - (rank[b.charAt(0)] ?? -1)
  if (kind === 'f' || kind === '.') return compareText(a, b)
  if (kind === 'i') return Number(a.slice(2)) - Number(b.slice(2))
  const left = parseWithKeys(a.slice(2)) as Json
  const right = parseWithKeys(b.slice(2)) as Json
  if (kind === 'v') return compareValues(left, right)
  const leftFields = Object.entries(left as object) as [string, Json][]
  const rightFields = Object.entries(right as object) as [string, Json][]
  for (let i = 0; i < leftFields.length && i < rightFields.length; i++) {
    const byName = compareText(leftFields[i]![0], rightFields[i]![0])
    if (byName !== 0) return byName
    const byValue = compareValues(leftFields[i]![1], rightFields[i]![1])
    if (byValue !== 0) return byValue
  }
  return leftFields.length - rightFields.length
}

/** The canonical text of a path element a client wrote, or undefined when it is none. */
export function canonicalPathElement(text: string): string | undefined {
  const body = text.slice(2)
  switch (text.slice(0, 2)) {
    case 'f:':
      return text
    case 'i:':
      return /^-?\d{1,15}$/.test(body) ? `i:${Number(body)}` : undefined
    case 'v:':
    case 'k:': {
      let value: Json
      try {
        value = parseWithKeys(body) as Json
      } catch {
        return undefined
      }
      if (text.startsWith('v:')) return `v:${goJson(value)}`
      if (!isMap(value)) return undefined
      const fields = Object.entries(value).sort(([a], [b]) => compareText(a, b))
      return `k:{${fields.map(([name, key]) => `${JSON.stringify(name)}:${goJson(key)}`).join(',')}}`
    }
    default:
      return undefined
  }
}

/** As conflict messages print it: `.spec`, `[name="c"]`, `[="x"]`, `[3]`. */
export function printPathElement(element: string): string {
  const body = element.slice(2)
  switch (element.charAt(0)) {
    case 'f':
      return `.${body}`
    case 'i':
      return `[${body}]`
    case 'v':
      return `[=${body}]`
    default: {
      const fields = Object.entries(parseWithKeys(body) as object)
      return `[${fields.map(([name, value]) => `${name}=${printKey(value)}`).join(',')}]`
    }
  }
}

/** A key that is no scalar, as structured merge prints values: a map's fields stand side by side, without a mark between them. */
function printKey(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(printKey).join(',')}]`
  if (!isMap(value)) return JSON.stringify(value)
  return Object.entries(value)
    .map(([name, field]) => `${name}=${printKey(field as Json)}`)
    .join('')
}

export function printPath(path: readonly string[]): string {
  return path.map(printPathElement).join('')
}
