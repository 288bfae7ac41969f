/** A cluster's directory: where things are, which process holds it, and what that process says about itself. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { makeDirectory } from '../base/make-directory.ts'
import { StartError } from './errors.ts'

export interface ClusterDirectory {
  readonly path: string
  readonly store: string
  /** There while `skiff migrate` fills the store. */
  readonly migration: string
  readonly pki: string
  readonly kubeconfig: string
  /** Static pods, where that folder was made. */
  readonly manifests: string
  readonly log: string
  /** Where a manual clock stands. */
  readonly clock: string
  readonly pid: string
  /** What the running cluster says about itself, as JSON. */
  readonly state: string
}

/** Written when the cluster is ready, removed when it stops. */
export interface ClusterState {
  readonly pid: number
  readonly url: string
  /** Where other machines reach it, when that is another URL. */
  readonly advertised?: string
  readonly components: readonly string[]
  readonly nodes: number
  readonly version: string
  /** metav1.Time */
  readonly since: string
  /** The clock is moved by hand. */
  readonly clock?: 'manual'
  /** The controller manager's own port, where it runs. */
  readonly debugUrl?: string
  /** What runs the containers of a node that is real: name, version, endpoint. */
  readonly containerRuntime?: string
}

/** Undefined where there is no home directory: there is no such user on the machine, and HOME is not set. */
export function defaultDirectory(): string | undefined {
  try {
    return join(homedir(), '.skiff', 'default')
  } catch {
    return undefined
  }
}

export function clusterDirectory(path: string): ClusterDirectory {
  const at = resolve(path)
  return {
    path: at,
    store: join(at, 'store'),
    migration: join(at, 'migration.json'),
    pki: join(at, 'pki'),
    kubeconfig: join(at, 'kubeconfig'),
    manifests: join(at, 'manifests'),
    log: join(at, 'log'),
    clock: join(at, 'clock'),
    pid: join(at, 'pid'),
    state: join(at, 'state.json'),
  }
}

/** @throws StartError where `skiff migrate` has not filled the store to its end: half a cluster is none, neither to run nor to copy */
export function refuseHalfFilled({ store, migration }: ClusterDirectory): void {
  if (existsSync(migration))
    throw new StartError(`${store} is half filled: run skiff migrate to its end, or remove that directory`)
}

/** Of a store that was removed, what `skiff migrate` says about it is removed too: it tells nothing of the next one. */
export function forgetMigrationWithoutStore({ store, migration }: ClusterDirectory): void {
  if (!existsSync(store)) rmSync(migration, { force: true })
}

/**
 * The pid of the live process that holds the directory.
 * @throws StartError when that cannot be told: the directory is another user's
 */
export function holder(directory: ClusterDirectory): number | undefined {
  const text = readIfThere(directory.pid)
  if (text === undefined) return undefined
  const [first = '', started = ''] = text.split('\n')
  const pid = Number(first)
  if (!Number.isInteger(pid) || pid <= 0 || !alive(pid)) return undefined
  return started === '' || started === startedAt(pid) ? pid : undefined
}

/** @throws StartError when what it says may not be read */
export function readState(directory: ClusterDirectory): ClusterState | undefined {
  const text = readIfThere(directory.state)
  try {
    return text === undefined ? undefined : (JSON.parse(text) as ClusterState)
  } catch {
    return undefined
  }
}

export function writeState(directory: ClusterDirectory, state: ClusterState): void {
  writeFileSync(`${directory.state}.new`, `${JSON.stringify(state)}\n`, { mode: 0o600 })
  renameSync(`${directory.state}.new`, directory.state)
}

/**
 * Makes the directory this process's own; returns the function that lets it go.
 * @throws StartError when another process holds it, or it cannot be written
 */
export function hold(directory: ClusterDirectory, what: 'a cluster' | 'a node' = 'a cluster'): () => void {
  try {
    makeDirectory(directory.path)
    for (;;) {
      try {
        writeFileSync(directory.pid, `${process.pid}\n${startedAt(process.pid)}\n`, { flag: 'wx', mode: 0o644 })
        break
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const pid = holder(directory)
      if (pid !== undefined) throw new StartError(`${what} already runs in ${directory.path}: pid ${pid}`)
      rmSync(directory.pid, { force: true })
    }
    forgetMigrationWithoutStore(directory)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`cannot write to ${directory.path}: ${messageOf(error)}`, { cause: error })
  }
  rmSync(directory.state, { force: true })
  return () => {
    rmSync(directory.state, { force: true })
    rmSync(directory.pid, { force: true })
  }
}

export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * When a process started, where the system tells it cheaply (Linux: ticks since boot); '' elsewhere. 'ended' for one that
 * only waits to be reaped.
 */
export function startedAt(pid: number): string {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : (fields[19] ?? '')
}

/** @throws StartError when it is there, or may be, and cannot be read */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new StartError(`cannot read ${file}: ${messageOf(error)}`, { cause: error })
  }
}
