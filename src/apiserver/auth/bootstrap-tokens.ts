/**
 * Bootstrap tokens (API concept: authenticating with bootstrap tokens): `id.secret`, kept in Secrets kube-system/bootstrap-token-ID
 * of type bootstrap.kubernetes.io/token, for nodes that join.
 */

import { timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../api/generated/types.ts'
import type { UserInfo } from '../../api/request.ts'
import type { Clock } from '../../base/clock.ts'
import type { CacheReads } from '../reads.ts'

const SHAPE = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const GROUP = 'system:bootstrappers'

/** undefined when `token` is none, or its Secret does not let it authenticate now. */
export function bootstrapTokenUser(reads: CacheReads, clock: Clock, token: string): UserInfo | undefined {
  const match = SHAPE.exec(token)
  if (match === null) return undefined
  const [, id = '', secret = ''] = match
  const object = reads.get<Secret>('', 'secrets', 'kube-system', `bootstrap-token-${id}`)
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
  if (object.type !== 'bootstrap.kubernetes.io/token') return undefined
  const text = (field: string) => Buffer.from(object.data?.[field] ?? '', 'base64').toString()
  if (text('token-id') !== id || !equal(text('token-secret'), secret)) return undefined
  if (text('usage-bootstrap-authentication') !== 'true') return undefined
  const expiration = text('expiration')
  if (expiration !== '' && !(Date.parse(expiration) > clock.now())) return undefined
  const extra = text('auth-extra-groups')
  const groups = extra === '' ? [] : extra.split(',').map((group) => group.trim())
  if (groups.some((group) => !/^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/.test(group))) return undefined
  return { name: `system:bootstrap:${id}`, groups: [GROUP, ...groups] }
}

function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
