/**
 * Which users of the host stand for those of a pod with `hostUsers: false` (API concept: user namespaces): a range of 65,536 for each, which
 * no other pod of the node has. Kept in a file with the pod, so that a kubelet that starts anew still knows.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasOwnUsers } from '../../api/objects/host-users.ts'
import type { Random } from '../../base/random.ts'
import { type Pod, specOf, uidOf } from '../pod.ts'
import type { IdMapping, UserNamespace } from '../runtimes/cri/messages.ts'
import { makeDirectories, type PodDirectories } from './pod-directories.ts'

export interface UserNamespaces {
  /** Of a pod with the host's users too. A range that it has not is chosen. @throws Error where none is left, or the file is damaged */
  of(pod: Pod): UserNamespace
  /** Its range may be another pod's: its directory is gone. */
  forget(uid: string): void
}

const LENGTH = 65_536
/** The first range is the host's own; in the last is the id that stands for none. */
const FIRST = 1
const LAST = 65_534
const HOST: UserNamespace = { mode: 'NODE' }

export function createUserNamespaces(random: Random, directories: PodDirectories): UserNamespaces {
  const ranges = new Map<string, number>()
  const fileOf = (uid: string) => join(directories.pod(uid), 'userns')
  let areRead = false

  /** @throws Error */
  function read(uid: string): void {
    const file = fileOf(uid)
    if (!existsSync(file)) return
    const { uidMappings } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly uidMappings?: readonly { readonly hostId?: unknown }[]
    }
    const first = uidMappings?.[0]?.hostId
    if (typeof first !== 'number' || first % LENGTH !== 0 || first / LENGTH < FIRST || first / LENGTH > LAST)
      throw new Error(`${file} names no range of users`)
    ranges.set(uid, first / LENGTH)
  }

  function choose(): number {
    const taken = new Set(ranges.values())
    const count = LAST - FIRST + 1
    const from = Math.floor(random.float() * count)
    for (let step = 0; step < count; step++) {
      const range = FIRST + ((from + step) % count)
      if (!taken.has(range)) return range
    }
    throw new Error('no range of users is left for another pod')
  }

  function allocate(uid: string): number {
    const range = choose()
    const mappings = [{ hostId: range * LENGTH, containerId: 0, length: LENGTH }]
    makeDirectories(directories.pod(uid))
    writeFileSync(fileOf(uid), JSON.stringify({ uidMappings: mappings, gidMappings: mappings }), { mode: 0o600 })
    ranges.set(uid, range)
    return range
  }

  return {
    of(pod) {
      if (!hasOwnUsers(specOf(pod))) return HOST
      if (!areRead) for (const uid of directories.known()) read(uid)
      areRead = true
      const range = ranges.get(uidOf(pod)) ?? allocate(uidOf(pod))
      const mappings: readonly IdMapping[] = [{ host_id: range * LENGTH, container_id: 0, length: LENGTH }]
      return { mode: 'POD', uids: mappings, gids: mappings }
    },
    forget: (uid) => void ranges.delete(uid),
  }
}
