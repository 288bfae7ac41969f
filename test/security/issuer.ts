/** An OpenID Connect issuer on loopback: discovery, keys and tokens, each of which a test may make as wrong as it likes. */
import { createPublicKey, generateKeyPairSync, type KeyObject, constants as rsa, sign } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { issue, type KeyAndCertificate } from '../../src/cluster/certificate.ts'

export type Algorithm = `${'RS' | 'PS' | 'ES'}${256 | 384 | 512}`
export type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface SigningKey {
  readonly kid: string
  readonly algorithm: Algorithm
  readonly privateKey: KeyObject
}

export interface Issuer {
  readonly url: string
  /** PEM of the authority its certificate is from. */
  readonly ca: string
  /** Paths asked for so far, in order. */
  readonly asked: string[]
  /** What is answered at a path, instead of what an honest issuer would. */
  readonly answers: Map<string, Answer>
  /** The keys it publishes. */
  keys: readonly SigningKey[]
  token(claims: Readonly<Record<string, unknown>>, options?: TokenOptions): string
  stop(): Promise<void>
}

export interface TokenOptions {
  readonly key?: SigningKey
  readonly header?: Readonly<Record<string, unknown>>
}

const runtime = liveRuntime({ log: { write: () => {} } })

export function authority(): KeyAndCertificate {
  return issue(runtime, { commonName: 'a test', usage: 'ca', validDays: 1 })
}

export function servingPair(ca: KeyAndCertificate): KeyAndCertificate {
  return issue(
    runtime,
    { commonName: 'localhost', usage: 'server', hosts: ['localhost', '127.0.0.1'], validDays: 1 },
    ca,
  )
}

const CURVES = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const

export function signingKey(algorithm: Algorithm, kid: string): SigningKey {
  const curve = (CURVES as Record<string, string>)[algorithm]
  const { privateKey } =
    curve === undefined
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: curve })
  return { kid, algorithm, privateKey }
}

const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

export function signedToken(
  key: SigningKey,
  claims: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = {},
): string {
  const input = `${text({ alg: key.algorithm, kid: key.kid, typ: 'JWT', ...header })}.${text(claims)}`
  const padding = key.algorithm.startsWith('PS')
    ? { padding: rsa.RSA_PKCS1_PSS_PADDING, saltLength: rsa.RSA_PSS_SALTLEN_DIGEST }
    : {}
  const signature = sign(`sha${key.algorithm.slice(2)}`, Buffer.from(input), {
    key: key.privateKey,
    dsaEncoding: 'ieee-p1363',
    ...padding,
  })
  return `${input}.${signature.toString('base64url')}`
}

export const publicJwk = ({ kid, algorithm, privateKey }: SigningKey): object => ({
  ...createPublicKey(privateKey).export({ format: 'jwk' }),
  kid,
  alg: algorithm,
  use: 'sig',
})

const json = (response: ServerResponse, value: unknown) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

export async function startIssuer(ca: KeyAndCertificate, keys: readonly SigningKey[], port = 0): Promise<Issuer> {
  const asked: string[] = []
  const answers = new Map<string, Answer>()
  const server = createServer(servingPair(ca), (request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const given = answers.get(path)
    if (given !== undefined) return given(request, response)
    if (path === '/.well-known/openid-configuration')
      return json(response, { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` })
    if (path === '/keys') return json(response, { keys: issuer.keys.map(publicJwk) })
    response.statusCode = 404
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const issuer: Issuer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: ca.cert,
    asked,
    answers,
    keys,
    token: (claims, { key = issuer.keys[0] as SigningKey, header } = {}) => {
      const now = Math.floor(Date.now() / 1000)
      return signedToken(
        key,
        { iss: issuer.url, aud: 'skiff', sub: 'jane', iat: now, exp: now + 600, ...claims },
        header,
      )
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return issuer
}
