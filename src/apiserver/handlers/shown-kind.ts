/** What a kind looks like to readers: in Tables, in protobuf, and how metadata is refused that was asked for by a wrong name. */
import { hasMessage } from '../../api/codec/protobuf.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { StatusError } from '../../api/status.ts'
import type { ShownKind, TablePrinter } from '../registry/endpoint.ts'
import { tablePrinterOf } from './printers/table.ts'

/** Of a kind with a Go type. */
export function shownKind(row: ResourceRow): ShownKind {
  let printer: TablePrinter | undefined
  return {
    printer() {
      printer ??= tablePrinterOf(row)
      return printer
    },
    hasMessage: () => hasMessage(row.schema),
    noSuchMetadata(asList) {
      const { goType } = row
      const wanted = `you requested PartialObjectMetadata${asList ? 'List' : ''}, but the requested object is`
      const told = `${wanted} ${asList ? `not a list (*${goType})` : `a list (*${goType}List)`}`
      return new StatusError(406, 'NotAcceptable', told)
    },
  }
}

/** Of a kind without one: Kubernetes looks for items in an object that was asked for as a list. */
export function shownCustomKind(row: ResourceRow): ShownKind {
  const kind = shownKind(row)
  return {
    ...kind,
    noSuchMetadata: (asList) =>
      asList ? new StatusError(500, '', 'content is not a list') : kind.noSuchMetadata(asList),
  }
}
