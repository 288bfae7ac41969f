/** What /proc tells of processes: their network, what they have open. What has ended has nothing. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

export interface OpenFiles {
  readonly descriptors: number
  readonly sockets: number
  /** How many the first process may have open; undefined where there is no limit, or no process. */
  readonly most?: number
}

export function openFilesOf(pids: readonly number[], proc = '/proc'): OpenFiles {
  let descriptors = 0
  let sockets = 0
  for (const pid of pids) {
    const folder = join(proc, String(pid), 'fd')
    for (const name of namesIn(folder)) {
      descriptors += 1
      if (linkOf(join(folder, name)).startsWith('socket:')) sockets += 1
    }
  }
  const [first] = pids
  const most = first === undefined ? '' : textOf(join(proc, String(first), 'limits'))
  const limit = /^Max open files\s+(\d+)/m.exec(most)?.[1]
  return { descriptors, sockets, ...(limit === undefined ? {} : { most: Number(limit) }) }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}

export interface InterfaceUse {
  readonly name: string
  readonly receive: readonly [bytes: number, packets: number, errors: number, dropped: number]
  readonly transmit: readonly [bytes: number, packets: number, errors: number, dropped: number]
}

/** Of the network that the process has; loopback and the ends of pods' links are left out. */
export function interfacesOf(pid: number, proc = '/proc'): readonly InterfaceUse[] {
  return textOf(join(proc, String(pid), 'net/dev'))
    .split('\n')
    .flatMap((line) => {
      const [, name = '', rest = ''] = /^\s*([^\s:]+):\s*(.*)$/.exec(line) ?? []
      const values = rest.split(/\s+/).map(Number)
      if (name === '' || name === 'lo' || name.startsWith('veth') || values.length < 12) return []
      const four = (from: number) => [values[from]!, values[from + 1]!, values[from + 2]!, values[from + 3]!] as const
      return [{ name, receive: four(0), transmit: four(8) }]
    })
}
