/**
 * A recording of what plans are judged by: random graphs on a real cluster, all that a plan reads of them, what is deleted, and what then
 * went, in which order. A file is one batch of graphs, each made several times over, since what chance decides differs between them.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Transport } from '../../src/client/transport.ts'
import type { RecordedRecord } from '../../src/inspect/timeline/seen.ts'
import type { Graph } from '../../test/twin/random-graphs.ts'

export interface RecordedGraph extends Graph {
  readonly seed: number
}

export interface RecordedBatch {
  /** `v1.37.1` */
  readonly version: string
  /** ISO 8601 */
  readonly at: string
  readonly graphs: readonly RecordedGraph[]
  /** Answers to the requests of a plan that reads, by method, path, query and Accept. */
  readonly answers: Readonly<Record<string, RecordedAnswer>>
  /** Each change to what holds the graphs' objects, in the order of their revisions. */
  readonly records: readonly RecordedRecord[]
}

interface RecordedAnswer {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

export function writeBatch(file: string, batch: RecordedBatch): void {
  const half = `${file}.half`
  writeFileSync(half, gzipSync(JSON.stringify(batch), { level: 9 }))
  renameSync(half, file)
}

export const readBatch = (file: string): RecordedBatch => JSON.parse(gunzipSync(readFileSync(file)).toString())

type Request = Parameters<Transport['send']>[0]

const keyOf = ({ method, path, query, headers }: Request) => `${method} ${path}?${query} ${headers['accept'] ?? ''}`

/** The same transport, whose answers are kept. */
export function keepingTransport(transport: Transport, answers: Record<string, RecordedAnswer>): Transport {
  return {
    inProcess: false,
    async send(request) {
      const response = await transport.send(request)
      if (response.kind === 'bytes') {
        const { status, contentType, bytes } = response
        answers[keyOf(request)] = { status, contentType, text: Buffer.concat(bytes).toString() }
      }
      return response
    },
  }
}

/** @throws Error for what was not asked then */
export function replayingTransport({ answers }: RecordedBatch): Transport {
  return {
    inProcess: false,
    async send(request) {
      const answer = answers[keyOf(request)]
      if (answer === undefined) throw new Error(`the recording has no answer to ${keyOf(request)}`)
      const { status, contentType, text } = answer
      return { kind: 'bytes', status, contentType, bytes: [Buffer.from(text)] }
    },
  }
}
