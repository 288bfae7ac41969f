/**
 * Images that this node pulled: only those may be removed again, since on a machine with other users of its container runtime all others
 * belong to those users. Kept in a file, since the images outlive the node; what others do meanwhile, or on another machine that the file
 * was copied to, shows in when the runtime has had the image since, to the nanosecond, and in names that no pull of this node brought.
 */
import { readFileSync } from 'node:fs'
import { replaceFile } from '../checkpoint-file.ts'
import type { ContainerRuntime, RuntimeImage } from '../runtimes/runtime.ts'

export interface PulledImages {
  ids(): readonly string[]
  /** Whether it is still what this node pulled, and nothing else. @throws Error when the runtime does not say */
  owns(image: RuntimeImage): Promise<boolean>
  /** `names`: those that the pull has brought. */
  add(id: string, names: readonly string[]): Promise<void>
  delete(id: string): void
}

/** Since when the runtime has an image. Undefined: it does not have it, or does not tell. */
export type ImageTime = (id: string) => Promise<string | undefined>

/** The same runtime; what it pulls, and had not before, is noted. */
export function notingPulls(containerRuntime: ContainerRuntime, pulled: PulledImages): ContainerRuntime {
  const namesThere = async () =>
    new Map(((await containerRuntime.listImages?.()) ?? []).map(({ id, names }) => [id, names] as const))
  return {
    ...containerRuntime,
    async pullImage(image, annotations, signal, credentials) {
      const before = await namesThere()
      const answer = await containerRuntime.pullImage(image, annotations, signal, credentials)
      const id = (await containerRuntime.imageStatus(image, annotations))?.id
      if (id === undefined) return answer
      const others = before.get(id)
      if (others === undefined || pulled.ids().includes(id))
        await pulled.add(
          id,
          ((await namesThere()).get(id) ?? []).filter((name) => !others?.includes(name)),
        )
      return answer
    },
  }
}

interface Noted {
  readonly since?: string
  readonly names: readonly string[]
}

/** What was noted without a time cannot be told from what others brought, once this process has ended. */
export function pulledImages(file: string, imageTime: ImageTime): PulledImages {
  const noted = read(file)
  const write = () => replaceFile(file, `${JSON.stringify(Object.fromEntries(noted))}\n`)
  const forget = (id: string) => {
    if (noted.delete(id)) write()
  }
  return {
    ids: () => [...noted.keys()],
    async owns({ id, names }) {
      const known = noted.get(id)
      if (known === undefined) return false
      const since = await imageTime(id)
      if (since !== known.since) forget(id)
      return since === known.since && names.every((name) => known.names.includes(name))
    },
    async add(id, names) {
      const since = await imageTime(id)
      const known = noted.get(id)
      const all = new Set([...(known?.names ?? []), ...names])
      if (known !== undefined && known.since === since && all.size === known.names.length) return
      // Another time: others have removed it and brought it again, before this pull.
      if (known !== undefined && known.since !== since) noted.delete(id)
      else noted.set(id, { names: [...all], ...(since === undefined ? {} : { since }) })
      write()
    },
    delete: forget,
  }
}

/** A file that cannot be read, or is of a version that noted no times, tells of none: then nothing is removed. */
function read(file: string): Map<string, Noted> {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof found !== 'object' || found === null) return new Map()
    return new Map(Object.entries(found).filter((entry): entry is [string, Noted] => isTimed(entry[1])))
  } catch {
    return new Map()
  }
}

function isTimed(value: unknown): value is Noted {
  if (typeof value !== 'object' || value === null) return false
  const { since, names }: { readonly [Field in keyof Noted]?: unknown } = value
  return typeof since === 'string' && Array.isArray(names) && names.every((name) => typeof name === 'string')
}
