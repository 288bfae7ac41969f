/** The file systems of the machine that are on a device, and what has been read and written there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileSystem, fileSystemAt } from './measurements.ts'

export interface DiskUse extends FileSystem {
  /** As it is mounted, such as /dev/sda1. */
  readonly device: string
  readonly usedBytes: number
  readonly input?: DiskTraffic
}

export interface DiskTraffic {
  readonly reads: number
  readonly readsMerged: number
  readonly sectorsRead: number
  readonly readSeconds: number
  readonly writes: number
  readonly writesMerged: number
  readonly sectorsWritten: number
  readonly writeSeconds: number
  /** In flight. */
  readonly current: number
  readonly busySeconds: number
  readonly weightedSeconds: number
}

/** Each device once. `at`: what is told of where it is mounted. */
export function machineDisks(proc = '/proc', at = fileSystemAt): readonly DiskUse[] {
  const traffic = trafficOf(readFileSync(join(proc, 'diskstats'), 'utf8'))
  const found = new Map<string, DiskUse>()
  for (const line of readFileSync(join(proc, 'self/mountinfo'), 'utf8').split('\n')) {
    const [own = '', rest = ''] = line.split(' - ')
    const [, , number = '', , path = ''] = own.split(' ')
    const [, device = ''] = rest.split(' ')
    if (!device.startsWith('/dev/') || found.has(device)) continue
    try {
      const told = at(path.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))))
      const input = traffic.get(number)
      const usedBytes = told.capacityBytes - told.freeBytes
      found.set(device, { ...told, device, usedBytes, ...(input === undefined ? {} : { input }) })
    } catch {
      // Another mount hides it, or it has gone.
    }
  }
  return [...found.values()]
}

/** By the device's numbers. */
function trafficOf(text: string): ReadonlyMap<string, DiskTraffic> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [major, minor, , ...rest] = line.trim().split(/\s+/)
      const [
        reads,
        readsMerged,
        sectorsRead,
        readMs,
        writes,
        writesMerged,
        sectorsWritten,
        writeMs,
        current,
        busyMs,
        weightedMs,
      ] = rest.map(Number)
      if (weightedMs === undefined) return []
      const traffic = {
        ...{ reads: reads!, readsMerged: readsMerged!, sectorsRead: sectorsRead!, readSeconds: readMs! / 1000 },
        ...{
          writes: writes!,
          writesMerged: writesMerged!,
          sectorsWritten: sectorsWritten!,
          writeSeconds: writeMs! / 1000,
        },
        ...{ current: current!, busySeconds: busyMs! / 1000, weightedSeconds: weightedMs / 1000 },
      }
      return [[`${major}:${minor}`, traffic] as const]
    }),
  )
}
