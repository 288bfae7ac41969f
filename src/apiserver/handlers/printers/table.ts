/**
 * printers: the Tables that `kubectl get` shows (API concept: receiving resources as Tables). Columns are data (columns.json,
 * by group, version and resource), cells come from one small function per resource. A resource without one shows name
 * and age, as custom resources without columns do.
 */
import type { StorageClass } from '../../../api/generated/types.ts'
import type { Json, KubeObject } from '../../../api/object.ts'
import { defaultStorageClassOf } from '../../../api/objects/default-class.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import type { Clock } from '../../../base/clock.ts'
import type { TablePrinter } from '../../registry/endpoint.ts'
import type { PrintTable } from '../context.ts'
import { ownMetadata } from '../own-metadata.ts'
import { byPrecedence, clusterPrinters } from './cluster.ts'
import columnData from './columns.json' with { type: 'json' }
import { corePrinters } from './core.ts'
import { printerByPaths } from './custom-resource-columns.ts'
import { age } from './format.ts'
import { podRowConditions, printPod } from './pod-row.ts'
import type { Printer } from './printer.ts'
import { workloadPrinters } from './workload-rows.ts'

type Column = readonly [name: string, type: string, format: string, priority: number, description: number]

interface Columns {
  readonly descriptions: readonly string[]
  readonly columns: { readonly [resource: string]: readonly Column[] }
}

const printers: Readonly<Record<string, Printer>> = {
  '/pods': printPod,
  ...corePrinters,
  ...workloadPrinters,
  ...clusterPrinters,
}

/** What the rows of a kind have beside their cells. */
const extras: Readonly<Record<string, Pick<TablePrinter, 'conditions' | 'markedOf' | 'order'>>> = {
  '/pods': { conditions: podRowConditions },
  'flowcontrol.apiserver.k8s.io/flowschemas': { order: byPrecedence },
  // The one that claims are given.
  'storage.k8s.io/storageclasses': { markedOf: (objects) => defaultStorageClassOf(objects as StorageClass[]) },
}

export function tablePrinterOf(row: ResourceRow): TablePrinter {
  const columns = columnsOf(row)
  if (row.columns.some(({ jsonPath }) => jsonPath !== undefined)) return { columns, print: printerByPaths(row.columns) }
  const key = `${row.group}/${row.resource}`
  return { columns, print: printers[key] ?? nameAndAge, ...extras[key] }
}

const nameAndAge: Printer = (object, nowMs) => [
  object.metadata.name ?? '',
  age(object.metadata.creationTimestamp, nowMs),
]

const NAME_DESCRIPTION = 0

function columnsOf(row: ResourceRow): readonly Json[] {
  const { descriptions, columns } = columnData as unknown as Columns
  const known = columns[`${row.group}/${row.version}/${row.resource}`]
  if (known)
    return known.map(([name, type, format, priority, description]) => ({
      name,
      type,
      format,
      description: descriptions[description] ?? '',
      priority,
    }))
  const columnsOfAny = row.columns.length
    ? row.columns
    : [
        {
          name: 'Name',
          type: 'string',
          format: 'name',
          description: descriptions[NAME_DESCRIPTION] ?? '',
          priority: 0,
        },
        { name: 'Age', type: 'date', format: '', description: '', priority: 0 },
      ]
  return columnsOfAny.map(({ name, type, format, description = '', priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }))
}

/** `clock` gives the ages. */
export function createTablePrinter(clock: Clock): PrintTable {
  return ({ printer, objects, metadata, apiVersion, includeObject, withColumns, isList }) => {
    const { columns, print, conditions, markedOf } = printer
    const now = clock.now()
    const marked = isList ? markedOf?.(objects) : undefined
    const rows = objects.map((object) => {
      const cells = print(object, now)
      const rowConditions = conditions?.(object)
      return {
        cells: object === marked ? [`${cells[0]} (default)`, ...cells.slice(1)] : cells,
        ...(rowConditions ? { conditions: rowConditions } : {}),
        ...included(object, includeObject, apiVersion),
      }
    })
    return {
      kind: 'Table',
      apiVersion,
      metadata: metadata as KubeObject['metadata'],
      // Later events of a watch: the columns went out with the first.
      columnDefinitions: withColumns ? columns : null,
      rows,
    }
  }
}

function included(object: KubeObject, what: 'None' | 'Metadata' | 'Object', apiVersion: string): { object?: unknown } {
  switch (what) {
    case 'None':
      return { object: null }
    case 'Object':
      return { object }
    case 'Metadata':
      return { object: { kind: 'PartialObjectMetadata', apiVersion, metadata: ownMetadata(object) } }
  }
}
