/** An etcd whose `auth` is enabled lets its clients do what their roles say. */
import { StoreError } from '../storage.ts'
import { tellsProgress, type Watching } from './changes.ts'

export const withoutRights = (error: Error, { members, keys }: Watching): StoreError => {
  const prefix = keys.all.key.toString()
  const all =
    members.version === undefined || tellsProgress(members.version)
      ? ''
      : ', and to read every key, since it is older than 3.4.31 or 3.5.13 and cannot say how far a watch of some is'
  return new StoreError(
    `etcd at ${members.address} refuses what this client asks (${error.message}): give its role the right to read and write the keys that begin with ${prefix} and the key compact_rev_key${all}`,
    { cause: error },
  )
}
