/** Printer columns of custom resources: cells by JSON path. */
import { asJson, type Json, type KubeObject } from '../../../api/object.ts'
import { findAll, type JsonPath, parseJsonPath } from '../../../api/objects/json-path.ts'
import type { PrinterColumn } from '../../../api/scheme/resource.ts'
import { jsonText } from '../../../api/values/json.ts'
import { age } from './format.ts'
import type { Printer } from './printer.ts'

/** The printer of a row whose columns say where their cells are found. */
export function printerByPaths(columns: readonly PrinterColumn[]): Printer {
  const cells = columns.map(({ type, jsonPath = '' }) => cellOf(type, jsonPath))
  return (object, nowMs) => cells.map((cell) => cell(object, nowMs))
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
