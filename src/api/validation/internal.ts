/**
 * Values as Kubernetes' messages print them when it holds them in its internal types: Go field names, every field of the
 * struct, nil for what is not there. Also the difference of two such values, as immutability errors show it.
 */
import type { Fields, Json } from '../object.ts'
import { schemaOf } from '../schema/builtin.ts'
import type { Field, Schema, StructSchema } from '../schema/schema.ts'

/** The internal form of a value of this definition (`io.k8s.api.core.v1.ServicePort`). */
export function internalForm(definition: string, value: Fields | undefined | null): Json {
  return structForm(schemaOf(definition), value ?? {})
}

function structForm(schema: StructSchema, value: Fields): Json {
  const out: { [key: string]: Json } = {}
  for (const field of schema.fields) {
    if (field.goName === 'ObjectMeta' || field.name === 'metadata') {
      Object.assign(out, metadataForm(value[field.name]))
      continue
    }
    // Embedded, like metadata: under its JSON name, and only when it says something.
    if (schema.byName.has('metadata') && (field.name === 'kind' || field.name === 'apiVersion')) {
      if (value[field.name]) out[field.name] = value[field.name]
      continue
    }
    out[field.goName] = fieldForm(field, value[field.name])
  }
  return out
}

/** Embedded metadata keeps its JSON names and leaves out what is empty. */
function metadataForm(metadata: Fields | undefined): { [key: string]: Json } {
  const out: { [key: string]: Json } = {}
  for (const [key, value] of Object.entries(metadata ?? {}))
    Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true })
  return out
}

function fieldForm(field: Field, value: Json | undefined): Json {
  if (value === undefined || value === null) return field.pointer ? null : zeroForm(field.schema)
  return valueForm(field.schema, value)
}

function valueForm(schema: Schema, value: Json): Json {
  if (schema.type === 'struct') {
    if (schema.definition.startsWith('io.k8s.apimachinery.')) return value
    return structForm(schema, value as Fields)
  }
  if (schema.type === 'list') return (value as readonly Json[]).map((item) => valueForm(schema.items, item))
  if (schema.type === 'map') {
    const out: { [key: string]: Json } = {}
    for (const key of Object.keys(value as Fields).sort())
      Object.defineProperty(out, key, {
        value: valueForm(schema.values, (value as Fields)[key]),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    return out
  }
  return value
}

function zeroForm(schema: Schema): Json {
  switch (schema.type) {
    case 'struct':
      return schema.definition.startsWith('io.k8s.apimachinery.') ? {} : structForm(schema, {})
    case 'list':
    case 'map':
    case 'any':
    case 'bytes':
    case 'time':
    case 'microTime':
      return null
    case 'boolean':
      return false
    case 'int32':
    case 'int64':
    case 'number':
    case 'intOrString':
      return 0
    case 'quantity':
      return '0'
    default:
      return ''
  }
}

/**
 * The lines that differ between two values printed one field a line, with three lines around each place: hunks of a
 * unified diff without file names. Each line ends with a newline; empty when they are equal.
 */
export function difference(before: Json, after: Json): string {
  const left = JSON.stringify(before, null, 1).split('\n')
  const right = JSON.stringify(after, null, 1).split('\n')
  const edits = lineEdits(left, right)
  const hunks: string[] = []
  const CONTEXT = 3
  let at = 0
  while (at < edits.length) {
    if (edits[at]!.kind === ' ') {
      at++
      continue
    }
    const start = Math.max(0, at - CONTEXT)
    let end = at
    for (let quiet = 0, i = at; i < edits.length && quiet <= CONTEXT * 2; i++) {
      if (edits[i]!.kind === ' ') quiet++
      else {
        quiet = 0
        end = i
      }
    }
    const stop = Math.min(edits.length, end + 1 + CONTEXT)
    const slice = edits.slice(start, stop)
    const range = (line: number, count: number) => (count === 1 ? `${line}` : `${line},${count}`)
    const oldCount = slice.filter((e) => e.kind !== '+').length
    const newCount = slice.filter((e) => e.kind !== '-').length
    const oldLine = edits.slice(0, start).filter((e) => e.kind !== '+').length + 1
    const newLine = edits.slice(0, start).filter((e) => e.kind !== '-').length + 1
    hunks.push(
      `@@ -${range(oldLine, oldCount)} +${range(newLine, newCount)} @@\n${slice.map((e) => `${e.kind}${e.text}\n`).join('')}`,
    )
    at = stop
  }
  return hunks.join('')
}

interface Edit {
  readonly kind: ' ' | '-' | '+'
  readonly text: string
}

/** A shortest edit script by longest common subsequence; common ends are cut off first, so the table stays small. */
function lineEdits(left: readonly string[], right: readonly string[]): readonly Edit[] {
  let head = 0
  while (head < left.length && head < right.length && left[head] === right[head]) head++
  let tail = 0
  while (
    tail < left.length - head &&
    tail < right.length - head &&
    left[left.length - 1 - tail] === right[right.length - 1 - tail]
  )
    tail++
  const a = left.slice(head, left.length - tail)
  const b = right.slice(head, right.length - tail)
  const keep = (lines: readonly string[]): Edit[] => lines.map((text) => ({ kind: ' ', text }))
  return [...keep(left.slice(0, head)), ...middleEdits(a, b), ...keep(left.slice(left.length - tail))]
}

/** Above this many cells the two middles are shown as wholly different: a bound on the work a request can ask for. */
const MAX_CELLS = 4_000_000

function middleEdits(a: readonly string[], b: readonly string[]): readonly Edit[] {
  const removed = (text: string): Edit => ({ kind: '-', text })
  const added = (text: string): Edit => ({ kind: '+', text })
  if (a.length * b.length > MAX_CELLS) return [...a.map(removed), ...b.map(added)]
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const edits: Edit[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      edits.push({ kind: ' ', text: a[i]! })
      i++
      j++
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) edits.push(removed(a[i++]!))
    else edits.push(added(b[j++]!))
  }
  return [...edits, ...a.slice(i).map(removed), ...b.slice(j).map(added)]
}
