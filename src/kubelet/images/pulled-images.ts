/**
 * Images that this node pulled: only those may be removed again, since on a machine with other users of its container runtime all others
 * belong to those users. Kept in a file, so that a kubelet that starts anew still knows, also after the node was taken down: the images stay.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { ContainerRuntime } from '../runtimes/runtime.ts'

export interface PulledImages {
  ids(): readonly string[]
  has(id: string): boolean
  add(id: string): void
  delete(id: string): void
}

/** The same runtime; what it pulls, and had not before, is noted. */
export function notingPulls(containerRuntime: ContainerRuntime, pulled: PulledImages): ContainerRuntime {
  const idsThere = async () => new Set((await containerRuntime.listImages?.())?.map(({ id }) => id))
  return {
    ...containerRuntime,
    async pullImage(image, annotations, signal, credentials) {
      const before = await idsThere()
      const answer = await containerRuntime.pullImage(image, annotations, signal, credentials)
      const id = (await containerRuntime.imageStatus(image, annotations))?.id
      if (id !== undefined && !before.has(id)) pulled.add(id)
      return answer
    },
  }
}

export function pulledImages(file: string): PulledImages {
  const ids = new Set(read(file))
  const write = () => {
    writeFileSync(`${file}.new`, `${JSON.stringify([...ids])}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  return {
    ids: () => [...ids],
    has: (id) => ids.has(id),
    add(id) {
      if (ids.has(id)) return
      ids.add(id)
      write()
    },
    delete(id) {
      if (ids.delete(id)) write()
    },
  }
}

/** A file that cannot be read tells of none: then nothing is removed. */
function read(file: string): readonly string[] {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(found) ? found.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}
