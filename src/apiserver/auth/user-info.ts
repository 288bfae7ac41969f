/** A user in the words of authentication.k8s.io. */
import type { Fields } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'

export function userInfoOf(user: UserInfo): Fields {
  return {
    ...(user.name === '' ? {} : { username: user.name }),
    ...(user.uid ? { uid: user.uid } : {}),
    ...(user.groups.length ? { groups: user.groups } : {}),
    ...(user.extra && Object.keys(user.extra).length ? { extra: user.extra } : {}),
  }
}
