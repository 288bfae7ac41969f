/**
 * serviceaccounts/token: what a TokenRequest may ask for, and the token it gets (API concept: TokenRequest). The handler has
 * decoded and defaulted the object and set its managedFields; nothing is stored.
 */

import { type FieldError, invalid, invalidError } from '../../api/errors/field-errors.ts'
import type {
  BoundObjectReference,
  Node,
  Pod,
  AuthenticationV1TokenRequest as TokenRequest,
  TokenRequestSpec,
} from '../../api/generated/types.ts'
import { pathSegmentName } from '../../api/names/name-formats.ts'
import { type Given, type KubeObject, parseApiVersion } from '../../api/object.ts'
import { badRequest, conflict, notFound } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { CacheReads } from '../reads.ts'
import type { ServiceAccountTokens, TokenSpec } from './service-account-tokens.ts'

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' }
const SHORTEST_SECONDS = 600
const LONGEST_SECONDS = 2 ** 32
/**
 * What kubelets of old ask for. Their pods may never reload the file, so against this API server the token lives a year and
 * its use after the hour is noted.
 */
const RELOADING_SECONDS = 3607
const YEAR_SECONDS = 31_536_000

export interface TokenRequestOptions {
  readonly runtime: Runtime
  readonly reads: CacheReads
  readonly tokens: ServiceAccountTokens
  /** The longest that a token is valid. Default: as long as is asked for. */
  readonly longestSeconds?: number
  /** Whether tokens of pods whose kubelet may be old live for a year. Default: true. */
  readonly extends?: boolean
}

/**
 * `object`: the TokenRequest as decoded. Returns it with metadata of the service account, spec completed and status.token.
 * @throws StatusError 404 for what is not there, 409 for a bound object with another uid, 422 and 400 for what may not be asked
 */
export async function answerTokenRequest(
  { runtime, reads, tokens, longestSeconds = Number.POSITIVE_INFINITY, extends: mayExtend = true }: TokenRequestOptions,
  namespace: string,
  name: string,
  object: Given<TokenRequest>,
  warn: (message: string) => void = () => {},
): Promise<KubeObject> {
  const { metadata } = object
  const serviceAccount = await find(reads, 'serviceaccounts', namespace, name)
  if (metadata.name !== undefined && metadata.name !== '' && metadata.name !== name) {
    const error = invalid('metadata.name', metadata.name, 'must match the service account name if specified')
    throw invalidError(KIND, name, [error])
  }
  if (metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace) {
    const error = invalid(
      'metadata.namespace',
      metadata.namespace,
      'must match the service account namespace if specified',
    )
    throw invalidError(KIND, name, [error])
  }
  if (metadata.uid !== undefined && metadata.uid !== '' && metadata.uid !== serviceAccount.metadata.uid) {
    const message = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${serviceAccount.metadata.uid})`
    throw conflict({ group: KIND.group, resource: KIND.kind }, name, message)
  }
  const spec: Partial<TokenRequestSpec> = object.spec ?? {}
  const { boundObjectRef } = spec
  // Given by default.
  const asked = spec.expirationSeconds!
  const audiences = spec.audiences?.length ? spec.audiences : tokens.apiAudiences
  const errors = checkDuration(asked)
  if (errors.length > 0) throw invalidError(KIND, '', errors)
  if (asked > longestSeconds) warn(`requested expiration of ${asked} seconds shortened to ${longestSeconds} seconds`)
  const seconds = Math.min(asked, longestSeconds)
  const bound = await boundObject(reads, namespace, name, boundObjectRef)
  const forThisServer = audiences.every((audience) => tokens.apiAudiences.includes(audience))
  const extended = mayExtend && bound.pod !== undefined && seconds === RELOADING_SECONDS && forThisServer
  const now = runtime.clock.now()
  const token = tokens.mint({
    ...bound,
    audiences,
    serviceAccount,
    expirationSeconds: extended ? YEAR_SECONDS : seconds,
    ...(extended ? { warnAfterSeconds: seconds } : {}),
  })
  return {
    ...object,
    metadata: {
      ...metadata,
      name,
      namespace,
      ...(serviceAccount.metadata.uid === undefined ? {} : { uid: serviceAccount.metadata.uid }),
      creationTimestamp: formatTime(now),
    },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: boundObjectRef ?? null },
    status: { token, expirationTimestamp: formatTime(now + seconds * 1000) },
  }
}

function checkDuration(seconds: number): FieldError[] {
  if (seconds < SHORTEST_SECONDS) {
    return [invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes')]
  }
  if (seconds > LONGEST_SECONDS) {
    return [invalid('spec.expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds')]
  }
  return []
}

async function boundObject(
  reads: CacheReads,
  namespace: string,
  serviceAccount: string,
  /** null where a request was decoded that names none. */
  reference: BoundObjectReference | undefined | null,
): Promise<Pick<TokenSpec, 'pod' | 'secret' | 'node'>> {
  if (reference === undefined || reference === null) return {}
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference
  // What is no group and version is as good as none; of what is, only the group counts.
  const { group, version } = apiVersion.split('/').length > 2 ? NO_VERSION : parseApiVersion(apiVersion)
  const resource = group === '' ? BINDABLE[kind] : undefined
  if (resource === undefined) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  if (name === '') throw badRequest('Name parameter required.')
  const wrong = pathSegmentName(name)
  if (wrong.length > 0) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${wrong.join(';')}`)
  const object = await find(reads, resource, kind === 'Node' ? '' : namespace, name)
  if (kind === 'Pod' && (object as Pod).spec?.serviceAccountName !== serviceAccount) {
    const message = `cannot bind token for serviceaccount ${JSON.stringify(serviceAccount)} to pod running with different serviceaccount name.`
    throw badRequest(message)
  }
  if (uid !== '' && uid !== object.metadata.uid) {
    const message = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', resource: kind }, name, message)
  }
  const asReference = (node: Node) => ({ name: node.metadata.name ?? '', uid: node.metadata.uid })
  if (kind === 'Secret') return { secret: object }
  if (kind === 'Node') return { node: asReference(object) }
  const nodeName = (object as Pod).spec?.nodeName ?? ''
  if (nodeName === '') return { pod: object }
  const node = reads.get<Node>('', 'nodes', '', nodeName)
  return { pod: object, node: node === undefined ? { name: nodeName, uid: undefined } : asReference(node) }
}

const NO_VERSION = { group: '', version: '' }
const BINDABLE: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  Pod: 'pods',
  Secret: 'secrets',
  Node: 'nodes',
})

async function find(reads: CacheReads, resource: string, namespace: string, name: string): Promise<KubeObject> {
  const object = reads.get('', resource, namespace, name) ?? (await reads.getLive('', resource, namespace, name))
  if (object === undefined) throw notFound({ group: '', resource }, name)
  return object
}
