/** Defaults of resource lists: quantities are kept in thousandths at the finest. */
import type { Fields } from '../object.ts'
import { formatQuantity, parseQuantity } from '../values/quantity.ts'
import type { Defaulter } from './rule.ts'

const MILLI = 1_000_000n

function roundUpToMilli(text: string): string {
  const { nanos, format } = parseQuantity(text)
  const rest = nanos % MILLI
  if (rest === 0n) return text
  return formatQuantity({ nanos: nanos - rest + (rest > 0n ? MILLI : -MILLI), format })
}

function resourceList(value: Fields): Fields | undefined {
  let added: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const text = value[key]
    if (typeof text !== 'string' || !/[nu]$|e-/.test(text)) continue
    const rounded = roundUpToMilli(text)
    if (rounded === text) continue
    added ??= {}
    Object.defineProperty(added, key, { value: rounded, enumerable: true })
  }
  return added
}

export const quantityMapDefaults: Readonly<Record<string, Defaulter>> = { 'v1.ResourceList': resourceList }
