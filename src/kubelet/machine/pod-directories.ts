/**
 * Where a node keeps what belongs to its pods: under ROOT/pods/UID what a kubelet keeps there too, under ROOT/memory what may not
 * reach a disk (secrets, tokens), and their logs where every kubelet has them, in /var/log/pods, or elsewhere (podLogsDir).
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nameOf, namespaceOf, type Pod, uidOf } from '../pod.ts'
import { mountedBelow, mountMemory } from './mounts.ts'

const LOGS = '/var/log/pods'

export interface PodDirectories {
  readonly root: string
  /** One file system in memory for all that is secret. */
  readonly memory: string
  readonly pods: string
  pod(uid: string): string
  volume(uid: string, plugin: string, name: string): string
  secret(uid: string, name: string): string
  subPaths(uid: string): string
  /** Of one container: what it leaves when it ends. */
  termination(uid: string, container: string): string
  logs(pod: Pod): string
  /** Pods that have left something. */
  known(): readonly string[]
  /** Volumes alone: of a pod that has ended, what people may still ask for stays. Nothing may be mounted below. */
  removeVolumes(uid: string): void
  /** Nothing may be mounted below. */
  remove(uid: string): void
}

export function podDirectories(root: string, podLogs = LOGS): PodDirectories {
  const pods = join(root, 'pods')
  const memory = join(root, 'memory')
  const pod = (uid: string) => join(pods, plain(uid))
  return {
    root,
    memory,
    pods,
    pod,
    volume: (uid, plugin, name) => join(pod(uid), 'volumes', `kubernetes.io~${plugin}`, plain(name)),
    secret: (uid, name) => join(memory, plain(uid), plain(name)),
    subPaths: (uid) => join(pod(uid), 'volume-subpaths'),
    termination: (uid, container) => join(pod(uid), 'containers', plain(container)),
    logs: (one) => join(podLogs, `${plain(namespaceOf(one))}_${plain(nameOf(one))}_${plain(uidOf(one))}`),
    known: () => [...new Set([...list(pods), ...list(memory)])],
    removeVolumes(uid) {
      refuseMounts(pod(uid))
      for (const name of ['volumes', 'volume-subpaths']) rmSync(join(pod(uid), name), { recursive: true, force: true })
      rmSync(join(memory, plain(uid)), { recursive: true, force: true })
    },
    remove(uid) {
      refuseMounts(pod(uid))
      rmSync(pod(uid), { recursive: true, force: true })
      rmSync(join(memory, plain(uid)), { recursive: true, force: true })
      for (const name of list(podLogs))
        if (name.endsWith(`_${uid}`)) rmSync(join(podLogs, name), { recursive: true, force: true })
    },
  }
}

/**
 * What holds the pods' own directories, and the file system of all that is secret. Volumes are open to any user, for containers that run
 * as one and reach them by bind mounts: of the machine's other users none passes these directories, those of an earlier start neither.
 */
export async function makePrivateDirectories({ pods, memory }: Pick<PodDirectories, 'pods' | 'memory'>): Promise<void> {
  for (const path of [pods, memory]) mkdirSync(path, { recursive: true, mode: 0o750 })
  if (!mountedBelow(memory).includes(memory)) await mountMemory(memory, '0750')
  for (const path of [pods, memory]) chmodSync(path, 0o750)
}

/** What is removed with a mount below would be files of the host. @throws Error */
function refuseMounts(directory: string): void {
  if (existsSync(directory) && mountedBelow(realpathSync(directory)).length > 0)
    throw new Error(`something is still mounted below ${directory}`)
}

/** Names of API objects are such; what is not leads nowhere. @throws Error */
/** A name as that of a file or folder. @throws Error for one that would lead elsewhere */
export function plain(name: string): string {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(name)) throw new Error(`${JSON.stringify(name)} cannot name a directory`)
  return name
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

export function makeDirectories(...paths: readonly string[]): void {
  for (const path of paths) mkdirSync(path, { recursive: true, mode: 0o755 })
}

/** A file that containers use: of this mode whatever the umask of the process is, as it would be on any node. */
export function writeForContainers(path: string, content: string, mode: number): void {
  writeFileSync(path, content)
  chmodSync(path, mode)
}
