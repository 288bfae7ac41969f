/** What a real node notes of itself in its directory, so that another process can take it down or start it again. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseIPRange } from '../../api/objects/ip-range.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { FoundRuntime } from './machine-requirements.ts'
import { type NetworkRecord, networkBefore } from './pod-network.ts'

/** The label of images that skiff has made for a cluster. */
export const MADE_BY_SKIFF = 'skiff.dev/made-for'

export interface RecordedOptions {
  readonly runtime: Runtime
  readonly nodeName: string
  readonly found: FoundRuntime
  /** The node's own directory. */
  readonly directory: string
  /** Where Services have their addresses: one of each family that they have. */
  readonly serviceRanges: readonly string[]
  /** Of one that keeps its containers when it is taken down by force: hexadecimal digits. Default: by chance, until it is taken down. */
  readonly cluster?: string
}

/** What a later process must know to take the node down. */
export interface NodeRecord extends NetworkRecord {
  readonly nodeName: string
  readonly endpoint: string
  readonly runtimeName: string
  readonly cgroupDriver: 'cgroupfs' | 'systemd'
  readonly sandboxImage?: string
}

/** Undefined: there was no node in this directory. */
export function readRecord(directory: string): NodeRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, 'node.json'), 'utf8')) as NodeRecord
  } catch {
    return undefined
  }
}

/** Written anew at each start; what an earlier one has chosen stays. */
export function recordOf({ runtime, found, directory, nodeName, cluster, serviceRanges }: RecordedOptions): NodeRecord {
  mkdirSync(directory, { recursive: true, mode: 0o750 })
  const earlier = readRecord(directory)
  const record: NodeRecord = {
    cluster: cluster ?? earlier?.cluster ?? Buffer.from(runtime.random.bytes(4)).toString('hex'),
    ...networkBefore(
      serviceRanges.flatMap((range) => parseIPRange(range)?.family ?? []),
      earlier,
    ),
    nodeName,
    endpoint: found.endpoint,
    runtimeName: found.name,
    configurationDirectory: found.configurationDirectory,
    cgroupDriver: found.cgroupDriver,
    ...(found.sandboxImage === undefined ? {} : { sandboxImage: found.sandboxImage }),
  }
  writeFileSync(join(directory, 'node.json'), `${JSON.stringify(record)}\n`)
  return record
}
