/**
 * Which devices of plugins the containers of pods have, and what their plugins said the runtime is to do for that. Kept in a file, so that a
 * kubelet that starts anew gives none of them to another pod.
 */
import { readFileSync } from 'node:fs'
import { messageOf } from '../../base/errors.ts'
import { replaceFile } from '../checkpoint-file.ts'

/** As a plugin answers for a container. */
export interface ContainerAllocation {
  readonly envs: Readonly<Record<string, string>>
  readonly mounts: readonly {
    readonly container_path: string
    readonly host_path: string
    readonly read_only: boolean
  }[]
  readonly devices: readonly {
    readonly container_path: string
    readonly host_path: string
    readonly permissions: string
  }[]
  readonly annotations: Readonly<Record<string, string>>
  readonly cdi_devices: readonly { readonly name: string }[]
}

export interface GivenDevices {
  readonly podUid: string
  readonly container: string
  readonly resource: string
  readonly ids: readonly string[]
  /** By id: the nodes of memory that it was near to, where its plugin said so. */
  readonly numaNodes?: Readonly<Record<string, readonly number[]>>
  readonly allocation: ContainerAllocation
}

interface Kept {
  readonly given: readonly GivenDevices[]
  /** Resources that plugins have registered for. */
  readonly resources: readonly string[]
}

export interface GivenDevicesFile {
  read(): Kept
  write(kept: Kept): void
}

/** A file that is not there tells of none. `read` @throws Error when it is damaged */
export function givenDevicesFile(file: string): GivenDevicesFile {
  return {
    read() {
      let text: string
      try {
        text = readFileSync(file, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { given: [], resources: [] }
        throw error
      }
      try {
        const kept = JSON.parse(text) as Kept & { readonly version: number }
        if (kept.version !== 1 || !Array.isArray(kept.given) || !Array.isArray(kept.resources))
          throw new Error('it is of another version')
        return kept
      } catch (error) {
        throw new Error(
          `${file}, which tells what devices pods have, cannot be read: ${messageOf(error)}. Drain the node, end its pods and remove the file`,
          { cause: error },
        )
      }
    },
    write(kept) {
      replaceFile(file, `${JSON.stringify({ version: 1, ...kept })}\n`)
    },
  }
}
