/** A node as it is measured: how its namespaces are entered, and what its processes use. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface NodePlace {
  /** Runs to its end in the node's namespaces. @throws Error with what it says when it fails */
  run(command: string, ...args: readonly string[]): string
  start(command: string, ...args: readonly string[]): ChildProcess
  /** Of the node's own processes: seconds of processor time, and MiB that are resident. */
  usage(): { readonly cpuSeconds: number; readonly residentMiB: number; readonly processes: number }
}

/** A hundredth of a second. */
const TICKS = 100
const PAGE_MIB = 4096 / 1024 / 1024

/** `pid`: of a process in the node's namespaces. `pattern`: what the command lines of its processes have in them. */
export function nodePlace(pid: number, pattern: RegExp): NodePlace {
  const inside = ['-t', String(pid), '-m', '-n', '--']
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` }
  const network = networkOf(pid)
  const processes = () =>
    readdirSync('/proc').filter((id) => /^\d+$/.test(id) && networkOf(id) === network && pattern.test(commandOf(id)))
  return {
    run(command, ...args) {
      const { status, stdout, stderr } = spawnSync('nsenter', [...inside, command, ...args], { encoding: 'utf8', env })
      if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
      return stdout
    },
    start: (command, ...args) =>
      spawn('nsenter', [...inside, command, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] }),
    usage() {
      let [cpuSeconds, residentMiB] = [0, 0]
      const own = processes()
      for (const id of own) {
        const fields = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
        cpuSeconds += (Number(fields[11]) + Number(fields[12])) / TICKS
        residentMiB += Number(fields[21]) * PAGE_MIB
      }
      return { cpuSeconds, residentMiB, processes: own.length }
    },
  }
}

function networkOf(pid: number | string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`)
  } catch {
    return ''
  }
}

function commandOf(pid: string): string {
  const file = `/proc/${pid}/cmdline`
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\0', ' ') : ''
  } catch {
    return ''
  }
}

/** Seconds that all processors of the machine have worked. */
export function machineSeconds(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .map(Number)
  return (user + nice + system + irq + soft) / TICKS
}
