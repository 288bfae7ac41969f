/**
 * The control groups of pods: PARENT/QOS/podUID, with the pod's limits where every container has one. The runtime makes the containers'
 * groups below. Both versions of cgroups are known; with version 1 only the hierarchies that are mounted are written.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { qosClass } from '../../api/objects/qos.ts'
import { type Pod, specOf, uidOf } from '../pod.ts'
import { type LimitSettings, OWN_LIMITS, type PodResources, podResources } from './cpu-shares-and-memory-limits.ts'

const MOUNT = '/sys/fs/cgroup'

export interface Cgroups {
  readonly version: 1 | 2
  /** What the runtime is given as the pod's cgroup parent. */
  parentOf(pod: Pod): string
  /** Makes the pod's group, or holds it to what the pod is given now. `hasOwnCpus`: CPU time is no limit for it. */
  make(pod: Pod, hasOwnCpus?: boolean): void
  /**
   * Holds all pods together to this. @returns false where that cannot be: slices of systemd have no such limit
   * @throws Error that names the group and what could not be written
   */
  holdAll(given: PodResources): boolean
  /** Where the group of all pods is, from the top of the hierarchy. */
  readonly podsGroup: string
  /** Where the pod's group is, from the top of the hierarchy. */
  groupOf(pod: Pod): string
  /** How many processes the pod has; 0 where its group is not to be seen. */
  processesOf(pod: Pod): number
  /**
   * Of a pod whose containers have ended. Processes that are left in it, of which the runtime knows nothing more, are killed; until they are
   * gone the group stays.
   */
  remove(uid: string): void
  /** Pods that have groups. systemd removes slices by itself. */
  known(): readonly string[]
  /** Everything of this cluster, as `remove`. */
  removeAll(): void
}

/** `driver`: what makes groups below: `systemd` has other names for them. */
export function createCgroups(
  cluster: string,
  driver: 'cgroupfs' | 'systemd',
  mount = MOUNT,
  limits: LimitSettings = OWN_LIMITS,
): Cgroups {
  const version = existsSync(join(mount, 'cgroup.controllers')) ? 2 : 1
  const top = `skiff-${cluster}`
  const trees = () => (version === 2 ? [mount] : hierarchies(mount))
  const nameOf = (uid: string) => `pod${uid.replace(/[^\w-]/g, '')}`
  const qosOf = (pod: Pod) => qosClass(specOf(pod)).toLowerCase()
  const pathOf = (pod: Pod) => {
    const qos = qosOf(pod)
    if (driver === 'cgroupfs') return `/${top}/${qos}/${nameOf(uidOf(pod))}`
    // Each dash in a slice's name is a level above it.
    return `${top.replaceAll('-', '_')}-${qos}-${nameOf(uidOf(pod)).replaceAll('-', '_')}.slice`
  }
  const groupOf = (pod: Pod) => (driver === 'cgroupfs' ? pathOf(pod) : `/${slicePath(pathOf(pod))}`)
  /** A class of pods is given CPU time as all of its pods together asked for, those that asked for nothing the least there is. */
  const weigh = (tree: string, qos: string) => {
    const all = join(tree, top, qos)
    for (const [file, least, most] of WEIGHTS) {
      if (!existsSync(join(all, file))) continue
      const asked = qos === 'besteffort' ? [] : groupsIn(all).map((name) => numberIn(join(all, name, file)))
      const sum = asked.reduce((total, one) => total + one, 0)
      writeIfThere(join(all, file), String(Math.min(most, Math.max(least, sum))))
    }
  }
  return {
    version,
    parentOf: pathOf,
    podsGroup: driver === 'cgroupfs' ? `/${top}` : `/${slicePath(`${top.replaceAll('-', '_')}.slice`)}`,
    groupOf,
    make(pod, hasOwnCpus) {
      // systemd makes slices by itself when the runtime asks for them.
      if (driver === 'systemd') return
      const resources = podResources(pod, limits, hasOwnCpus)
      for (const tree of trees()) {
        const own = join(tree, pathOf(pod))
        const controller = version === 2 ? 'all' : tree.slice(mount.length + 1)
        if (version === 2) delegate(mount, pathOf(pod))
        if (!LIMITED.has(controller) && !(controller === 'pids' && limits.pids !== undefined)) continue
        mkdirSync(own, { recursive: true })
        for (const [file, value] of settings(controller, resources, limits.pids)) writeIfThere(join(own, file), value)
        weigh(tree, qosOf(pod))
      }
    },
    holdAll(given) {
      if (driver === 'systemd') return false
      const problems: string[] = []
      for (const tree of trees()) {
        const controller = version === 2 ? 'all' : tree.slice(mount.length + 1)
        if (version === 2) delegate(mount, top)
        if (!LIMITED.has(controller)) continue
        mkdirSync(join(tree, top), { recursive: true })
        for (const [file, value] of settings(controller, given)) {
          const error = writeIfThere(join(tree, top, file), value)
          // Where nothing is limited there need be no such limit.
          if (error !== undefined && !UNLIMITED.has(value))
            problems.push(`unable to set ${file} to ${value}: ${error.code}`)
        }
      }
      if (problems.length > 0) throw new Error(`["${top}"]: ${problems.join(', ')}`)
      return true
    },
    processesOf(pod) {
      for (const tree of trees()) {
        const own = join(tree, groupOf(pod))
        if (existsSync(own)) return processesIn(own).length
      }
      return 0
    },
    remove(uid) {
      for (const tree of trees())
        for (const qos of CLASSES) {
          const own = join(tree, top, qos, nameOf(uid))
          if (!existsSync(own)) continue
          for (const pid of processesIn(own)) kill(pid)
          removeTree(own)
          weigh(tree, qos)
        }
    },
    known() {
      const names = trees().flatMap((tree) => CLASSES.flatMap((qos) => groupsIn(join(tree, top, qos))))
      return [...new Set(names.filter((name) => name.startsWith('pod')).map((name) => name.slice('pod'.length)))]
    },
    removeAll() {
      for (const tree of trees()) {
        const all = join(tree, top)
        for (const pid of processesIn(all)) kill(pid)
        removeTree(all)
      }
    },
  }
}

const CLASSES = ['guaranteed', 'burstable', 'besteffort']

const WEIGHTS = [
  ['cpu.shares', 2, 262_144],
  ['cpu.weight', 1, 10_000],
] as const

function numberIn(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    // It has gone meanwhile.
    return 0
  }
}

function groupsIn(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}

/** `a-b.slice` lies in `a.slice`. */
function slicePath(name: string): string {
  const parts = name.replace(/\.slice$/, '').split('-')
  return parts.map((_, at) => `${parts.slice(0, at + 1).join('-')}.slice`).join('/')
}

/** Of a group and those below it; 0 stands for one that this process's namespace does not have. */
function processesIn(directory: string): readonly number[] {
  try {
    const own = readFileSync(join(directory, 'cgroup.procs'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    return [...own.map(Number), ...below.flatMap(({ name }) => processesIn(join(directory, name)))]
  } catch {
    // It has gone meanwhile.
    return []
  }
}

function kill(pid: number): void {
  if (pid === 0 || pid === process.pid) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

const LIMITED = new Set(['all', 'memory', 'cpu', 'cpu,cpuacct'])

function hierarchies(mount: string): string[] {
  if (!existsSync(mount)) return []
  return readdirSync(mount)
    .filter((name) => statSync(join(mount, name)).isDirectory())
    .map((name) => join(mount, name))
}

/** In version 2 a group gives its children only the controllers that it names. */
function delegate(mount: string, path: string): void {
  let at = mount
  for (const name of path.split('/').filter((part) => part !== '')) {
    for (const controller of ['cpu', 'memory', 'pids'])
      writeIfThere(join(at, 'cgroup.subtree_control'), `+${controller}`)
    at = join(at, name)
    mkdirSync(at, { recursive: true })
  }
  for (const controller of ['cpu', 'memory', 'pids']) writeIfThere(join(at, 'cgroup.subtree_control'), `+${controller}`)
}

export function settings(controller: string, pod: PodResources, pids?: number): readonly (readonly [string, string])[] {
  const { shares, quota, period, memory } = pod
  const ofProcesses = pids === undefined ? [] : [['pids.max', String(pids)] as const]
  switch (controller) {
    case 'pids':
      return ofProcesses
    case 'memory':
      return [['memory.limit_in_bytes', String(memory ?? -1)]]
    case 'cpu':
    case 'cpu,cpuacct':
      return [
        ['cpu.shares', String(shares)],
        ...(period === undefined ? [] : [['cpu.cfs_period_us', String(period)] as const]),
        ['cpu.cfs_quota_us', String(quota ?? -1)],
      ]
    default:
      return [
        // Shares go from 2 to 262,144, weights from 1 to 10,000.
        ['cpu.weight', String(Math.floor(1 + ((shares - 2) * 9999) / 262142))],
        ['cpu.max', [quota ?? 'max', ...(period === undefined ? [] : [period])].join(' ')],
        ['memory.max', memory === undefined ? 'max' : String(memory)],
        ...ofProcesses,
      ]
  }
}

const UNLIMITED = new Set(['max', '-1'])
/** Of a controller that this kernel lacks, or that is not given to this group. */
const REFUSALS = new Set(['ENOENT', 'EINVAL', 'EACCES', 'EBUSY', 'EROFS', 'EOPNOTSUPP'])

/** @returns why it could not be. @throws what has nothing to do with the group */
function writeIfThere(file: string, value: string): NodeJS.ErrnoException | undefined {
  try {
    writeFileSync(file, value, { flag: 'r+' })
    return undefined
  } catch (error) {
    const refusal = error as NodeJS.ErrnoException
    if (REFUSALS.has(refusal.code ?? '')) return refusal
    throw error
  }
}

/** Groups go by rmdir alone, from within. */
function removeTree(directory: string): void {
  if (!existsSync(directory)) return
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) removeTree(join(directory, entry.name))
  try {
    rmdirSync(directory)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EBUSY' && code !== 'ENOENT') throw error
  }
}
