/**
 * What is known of a node in namespaces outside of them, and how it is ended by whichever process: its first process is killed, which ends all
 * that runs in it with its mounts and its network; what is left on the machine are control groups and directories.
 */
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import { takeOverRecords } from '../../kubelet/images/pull-records.ts'
import { createCgroups } from '../../kubelet/machine/cgroups.ts'
import { mountedBelow } from '../../kubelet/machine/mounts.ts'
import { readRecord } from '../../kubelet/machine/node-record.ts'
import { startedAt } from '../directory.ts'
import type { NodeDirectories } from './messages.ts'

/** A process by its pid and when it started: a pid alone may be another's later. */
export interface ProcessId {
  readonly pid: number
  readonly started: string
}

export interface NamespacesRecord {
  readonly nodeName: string
  readonly directories: NodeDirectories
  /** The one that waits for the first process of the node, and that first process, once it is there. */
  readonly processes: readonly ProcessId[]
}

const FILE = 'namespaces.json'
const PATIENCE_MS = 10_000
const LOOK_AGAIN_MS = 20

export const processId = (pid: number): ProcessId => ({ pid, started: startedAt(pid) })
const isAlive = ({ pid, started }: ProcessId) => started !== '' && startedAt(pid) === started

export function writeNamespaces(record: NamespacesRecord): void {
  mkdirSync(record.directories.kept, { recursive: true, mode: 0o700 })
  writeFileSync(join(record.directories.kept, FILE), `${JSON.stringify(record)}\n`, { mode: 0o600 })
}

/** Of all nodes in namespaces that run, or have been left by a process that was killed. */
export const namespacedNodes = (dataDir: string): readonly NamespacesRecord[] =>
  globSync(join(dataDir, 'nodes', '*', FILE)).flatMap((file) => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as NamespacesRecord
    } catch {
      return []
    }
  })

/** Where its containerd listens, seen from outside. */
export const containerdEndpoint = ({ directories }: Pick<NamespacesRecord, 'directories'>): string =>
  `unix://${directories.run}/containerd/containerd.sock`

export const isRunning = ({ processes }: NamespacesRecord): boolean => processes.some(isAlive)

/**
 * Ends what runs of the node. `forGood`: its pods' volumes and logs go too; else they are there for a next life of it, as after a machine lost
 * its power. @throws Error with what stays
 */
export async function endNode(
  { clock }: Pick<Runtime, 'clock'>,
  record: NamespacesRecord,
  forGood: boolean,
): Promise<void> {
  const { nodeName, processes, directories } = record
  // The last one first: what waits for it ends with it, when all of the namespace has ended.
  for (const one of processes.toReversed()) if (isAlive(one)) kill(one.pid)
  for (const from = clock.monotonic(); processes.some(isAlive); await sleep(clock, LOOK_AGAIN_MS))
    if (clock.monotonic() - from > PATIENCE_MS) throw new Error(`the processes of node ${nodeName} do not end`)
  const left = readRecord(directories.node)
  if (left !== undefined) createCgroups(left.cluster, left.cgroupDriver).removeAll()
  if (forGood) takeOverRecords(directories.node, directories.kept)
  for (const directory of [directories.run, ...(forGood ? [directories.node] : [])]) {
    if (mountedBelow(directory).length > 0) throw new Error(`something is still mounted below ${directory}`)
    rmSync(directory, { recursive: true, force: true })
  }
  removeEmpty(dirname(directories.run))
  if (forGood) rmSync(join(directories.kept, FILE), { force: true })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It has ended since it was looked at, as what waits for the first process does.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function removeEmpty(directory: string): void {
  if (existsSync(directory) && readdirSync(directory).length === 0) rmdirSync(directory)
}
