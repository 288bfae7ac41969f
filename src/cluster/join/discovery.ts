/**
 * How a machine that joins comes to trust the cluster: it reads kube-public/cluster-info without trusting the server, finds it signed with
 * the token that it was given (KEP-130), finds the authority in it to be the one whose key's hash it was given, and reads it once
 * more from a server whose certificate that authority vouches for.
 */

import { createHash, createHmac, timingSafeEqual, X509Certificate } from 'node:crypto'
import { parse } from 'yaml'
import type { JsonObject } from '../../api/object.ts'
import { asList, asObject, asText } from '../../api/unchecked.ts'
import { certificatesOf } from '../../apiserver/auth/x509.ts'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { createHttpsClient, type HttpsEndpoint } from '../../http/client.ts'
import { limitedText } from '../../http/fetch.ts'
import { StartError } from '../errors.ts'
import type { BootstrapToken } from './bootstrap-token.ts'

export interface Discovered {
  /** A URL. */
  readonly server: string
  /** PEM. */
  readonly ca: string
}

const PATH = '/api/v1/namespaces/kube-public/configmaps/cluster-info'
const HASH = /^sha256:([0-9a-f]{64})$/i
const MAX_BYTES = 1_000_000
const PATIENCE_MS = 30_000
/** Of as many hashes as a server likes to name. */
const MOST_TOLD = 3

/** `sha256:` and the hash of the authority's public key (SubjectPublicKeyInfo, DER), in hex. */
export const authorityHash = (ca: string): string => hashOf(new X509Certificate(ca))

/** @throws for a key that OpenSSL cannot read */
function hashOf({ publicKey }: X509Certificate): string {
  const key = publicKey.export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(key).digest('hex')}`
}

/** undefined for a key that OpenSSL cannot read: it vouches for no server either. */
function hashIn(authority: X509Certificate): string | undefined {
  try {
    return hashOf(authority)
  } catch {
    return undefined
  }
}

/** @throws StartError for what is none */
export function readHash(text: string): string {
  if (!HASH.test(text))
    throw new StartError(
      `--discovery-token-ca-cert-hash ${text} is no hash: it has the form sha256:<64 hexadecimal digits>`,
    )
  return text.toLowerCase()
}

/** `server`: a URL; `hash`: as readHash gives it. @throws StartError in one line */
export async function discoverCluster(
  clock: Clock,
  server: string,
  token: BootstrapToken,
  hash: string,
): Promise<Discovered> {
  const found = await clusterInfoAt(clock, { server, insecureSkipTlsVerify: true }, token)
  const named = authoritiesIn(found.ca, server).map((authority) => ({ authority, hash: hashIn(authority) }))
  // The hash vouches for what has it alone: with the token another authority can be signed beside that.
  const trusted = named.filter((one) => one.hash === hash)
  if (trusted.length === 0)
    throw new StartError(
      `the authority of ${server} has ${hashesTold(named.flatMap((one) => one.hash ?? []))}, not the one that was given: this may be another cluster, or an attacker`,
    )
  const ca = trusted.map(({ authority }) => String(authority)).join('')
  const again = await clusterInfoAt(clock, { server: found.server, ca }, token)
  if (again.ca !== found.ca || again.server !== found.server)
    throw new StartError(`${found.server} tells another cluster-info than ${server} did`)
  return { server: found.server, ca }
}

function hashesTold(hashes: readonly string[]): string {
  if (hashes.length === 0) return 'a key that cannot be read'
  const more = hashes.length - MOST_TOLD
  return `the hash ${hashes.slice(0, MOST_TOLD).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** @throws StartError where there is none, or one that cannot be read */
function authoritiesIn(ca: string, from: string): readonly X509Certificate[] {
  try {
    return certificatesOf(ca)
  } catch (error) {
    throw new StartError(`cluster-info of ${from} names an authority that is none: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

async function clusterInfoAt(clock: Clock, endpoint: HttpsEndpoint, token: BootstrapToken): Promise<Discovered> {
  const { server } = endpoint
  const data = await dataOf(clock, endpoint)
  const text = asText(data['kubeconfig'])
  const signature = asText(data[`jws-kubeconfig-${token.id}`])
  if (signature === '')
    throw new StartError(
      `${server} does not know the token ${token.id}: it may have expired; make one by skiff token create`,
    )
  if (!isSigned(text, signature, token))
    throw new StartError(
      `cluster-info of ${server} is not signed with the token ${token.id}: the token is wrong, or the server`,
    )
  return readClusterInfo(text, server)
}

async function dataOf(clock: Clock, endpoint: HttpsEndpoint): Promise<JsonObject> {
  const { server } = endpoint
  const client = createHttpsClient(endpoint)
  const late = new AbortController()
  const timer = clock.setTimer(PATIENCE_MS, 'cluster-info', () => late.abort(new Error('it does not answer')))
  try {
    const headers = { accept: 'application/json' }
    const answer = await client.send({ method: 'GET', path: PATH, headers, signal: late.signal })
    const text = await limitedText(answer.chunks(), MAX_BYTES)
    if (answer.status === 403 || answer.status === 404)
      throw new StartError(`${server} lets no machine join: run skiff token create there first`)
    if (answer.status !== 200) throw new Error(`it answers ${answer.status}`)
    return asObject(jsonOf(text)['data'])
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`cannot read cluster-info of ${server}: ${messageOf(error)}`, { cause: error })
  } finally {
    timer.cancel()
    client.close()
  }
}

/** Whether the compact JWS, whose payload is left out, is over this text, with this token. */
function isSigned(text: string, signature: string, { id, secret }: BootstrapToken): boolean {
  const [header = '', payload, mac = '', ...more] = String(signature).split('.')
  if (payload !== '' || more.length > 0) return false
  const { alg, kid } = jsonOf(Buffer.from(header, 'base64url').toString())
  if (alg !== 'HS256' || kid !== id) return false
  const signed = `${header}.${Buffer.from(text).toString('base64url')}`
  const wanted = createHmac('sha256', secret).update(signed).digest()
  const given = Buffer.from(mac, 'base64url')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

/** An object without fields for what is none. */
function jsonOf(text: string): JsonObject {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return {}
  }
}

/** @throws StartError for what is no YAML */
function documentOf(text: string, from: string): JsonObject {
  try {
    return asObject(parse(text))
  } catch (error) {
    const [line] = messageOf(error).split('\n')
    throw new StartError(`cluster-info of ${from} is no kubeconfig: ${line}`, { cause: error })
  }
}

function readClusterInfo(text: string, from: string): Discovered {
  const [first] = asList(documentOf(text, from)['clusters'])
  const cluster = asObject(asObject(first)['cluster'])
  const server = cluster['server']
  const ca = Buffer.from(asText(cluster['certificate-authority-data']), 'base64').toString()
  if (typeof server !== 'string' || !/^https:\/\//.test(server) || !URL.canParse(server) || ca === '')
    throw new StartError(`cluster-info of ${from} names no server (https://…) and its authority`)
  return { server, ca }
}
