/** Printer columns of custom resources: cells by JSON path. */
import { asJson, type Json, type KubeObject } from '../../../api/object.ts'
import { findAll, type JsonPath, parseJsonPath } from '../../../api/objects/json-path.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { jsonText } from '../../../api/values/json.ts'
import { age } from './format.ts'
import type { Printer } from './printer.ts'

const made = new WeakMap<ResourceRow, Printer>()

/** The printer of a custom resource: its name, then a cell per column of its definition. */
export function customPrinter(row: ResourceRow): Printer {
  let printer = made.get(row)
  if (printer === undefined) {
    const columns = row.columns.slice(1).map(({ type }, i) => cellOf(type, row.custom?.columnPaths[i] ?? ''))
    printer = (object, nowMs) => [object.metadata.name ?? '', ...columns.map((cell) => cell(object, nowMs))]
    made.set(row, printer)
  }
  return printer
}

function cellOf(type: string, text: string): (object: KubeObject, nowMs: number) => Json {
  let path: JsonPath
  try {
    path = parseJsonPath(text)
  } catch {
    return () => null
  }
  return (object, nowMs) => {
    const [value] = findAll(path, asJson(object))
    if (value === undefined) return null
    return cell(type, value, nowMs)
  }
}

function cell(type: string, value: Json, nowMs: number): Json {
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'string':
      return text(value)
    case 'date': {
      if (typeof value !== 'string') return null
      if (value === '') return '<unknown>'
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : age(value, nowMs)
    }
    default:
      return null
  }
}

function text(value: Json): string {
  if (typeof value === 'string') return value
  return typeof value === 'object' ? jsonText(value) : String(value)
}
