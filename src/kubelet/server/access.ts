/**
 * The rights that a kubelet's server asks of its clients, as kubeadm sets kubelets up: clients with a certificate of the cluster's authority or a token that the API
 * server knows, and what they may do is the API server's answer to a SubjectAccessReview for nodes/SUBRESOURCE (API concept: kubelet
 * authentication and authorization). Answers are kept for a moment.
 */

import { createHash, X509Certificate } from 'node:crypto'
import type { SubjectAccessReview, TokenReview } from '../../api/generated/types.ts'
import type { ApiRequest, UserInfo } from '../../api/request.ts'
import { ANONYMOUS_USER } from '../../api/users.ts'
import type { Clock } from '../../base/clock.ts'
import { createExpiringMap } from '../../base/expiring-map.ts'
import type { Client } from '../../client/client.ts'

export interface Access {
  /** Undefined: the client is not known. */
  user(request: ApiRequest): Promise<UserInfo | undefined>
  /** The first subresource that the user may use as the request asks; undefined: none. */
  allowed(user: UserInfo, request: ApiRequest): Promise<string | undefined>
}

/** How long what the API server said is kept, in milliseconds. */
export interface AccessTimes {
  readonly tokenMs: number
  readonly allowedMs: number
  readonly deniedMs: number
}

/** Which clients are known, and what decides what they may do. */
export interface AccessRules {
  /** A client that shows nothing of itself is system:anonymous. */
  readonly anonymous: boolean
  /** The API server is asked about tokens; otherwise they say nothing. */
  readonly tokens: boolean
  /** Each client that is known may do everything (authorization.mode AlwaysAllow). */
  readonly allowsAll: boolean
}

const USUAL_RULES: AccessRules = { anonymous: false, tokens: true, allowsAll: false }

/** kubelet's defaults. */
const USUAL_TIMES: AccessTimes = { tokenMs: 120_000, allowedMs: 300_000, deniedMs: 30_000 }
const MOST_KEPT = 1000

export function createAccess(
  clock: Clock,
  client: Client,
  nodeName: string,
  times = USUAL_TIMES,
  { anonymous, tokens, allowsAll } = USUAL_RULES,
): Access {
  const users = createExpiringMap<UserInfo | undefined>(clock, MOST_KEPT)
  const answers = createExpiringMap<boolean>(clock, MOST_KEPT)

  async function userOfToken(token: string): Promise<UserInfo | undefined> {
    const review: TokenReview = {
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: { token },
    }
    const reviews = client.resource<TokenReview>({
      group: 'authentication.k8s.io',
      version: 'v1',
      resource: 'tokenreviews',
    })
    const { authenticated, user } = (await reviews.create(review)).status ?? {}
    if (authenticated !== true || typeof user?.username !== 'string') return undefined
    const { username, uid, groups = [], extra } = user
    return { name: username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) }
  }

  async function mayUse(user: UserInfo, verb: string, subresource: string): Promise<boolean> {
    const { name, groups, uid, extra } = user
    const review: SubjectAccessReview = {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        user: name,
        groups: [...groups],
        ...(uid === undefined ? {} : { uid }),
        ...(extra === undefined ? {} : { extra }),
        resourceAttributes: { verb, group: '', version: 'v1', resource: 'nodes', subresource, name: nodeName },
      },
    }
    const key = JSON.stringify([name, groups, uid, extra, verb, subresource])
    const known = answers.get(key)
    if (known !== undefined) return known.value
    const reviews = client.resource<SubjectAccessReview>({
      group: 'authorization.k8s.io',
      version: 'v1',
      resource: 'subjectaccessreviews',
    })
    const allowed = (await reviews.create(review)).status?.allowed === true
    answers.set(key, allowed, allowed ? times.allowedMs : times.deniedMs)
    return allowed
  }

  return {
    async user({ connection, headers }) {
      const { peerCertificate, certificateError } = connection ?? {}
      if (peerCertificate !== undefined) return userOfCertificate(peerCertificate)
      const token = tokens ? /^bearer (\S+)$/i.exec(headers['authorization'] ?? '')?.[1] : undefined
      // What a certificate does not prove a token may; but a client that shows one is never anonymous.
      if (token === undefined) return anonymous && certificateError === undefined ? ANONYMOUS_USER : undefined
      const key = createHash('sha256').update(token).digest('hex')
      const known = users.get(key)
      if (known !== undefined) return known.value
      const user = await userOfToken(token)
      users.set(key, user, user === undefined ? 0 : times.tokenMs)
      return user
    },
    async allowed(user, { method, path }) {
      if (allowsAll) return subresourcesOf(path)[0]
      const verb = VERBS[method] ?? ''
      for (const subresource of subresourcesOf(path)) if (await mayUse(user, verb, subresource)) return subresource
      return undefined
    },
  }
}

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** What a path counts as: the exact one first, and `proxy`, which is for everything that has no other. */
export function subresourcesOf(path: string): readonly string[] {
  const [, first = ''] = path.split('/')
  switch (first) {
    case 'stats':
    case 'metrics':
    case 'checkpoint':
    case 'statusz':
      return [first]
    case 'flagz':
      return ['configz']
    case 'logs':
      return ['log']
    case 'pods':
    case 'runningpods':
      return ['pods', 'proxy']
    case 'healthz':
    case 'configz':
      return [first, 'proxy']
    default:
      return ['proxy']
  }
}

/** As the API server reads it: of several common names the last. undefined without one: it names no user. */
export function userOfCertificate(der: Uint8Array): UserInfo | undefined {
  const { CN, O } = new X509Certificate(der).toLegacyObject().subject as {
    readonly CN?: string | readonly string[]
    readonly O?: string | readonly string[]
  }
  const list = (value: string | readonly string[] | undefined) => (value === undefined ? [] : [value].flat())
  const name = list(CN).at(-1)
  return name === undefined || name === '' ? undefined : { name, groups: [...list(O), 'system:authenticated'] }
}
