/** What an attacker has: sockets, forged credentials, a service account without rights, and everything the server says. */
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import { join } from 'node:path'
import tls from 'node:tls'
import { parse } from 'yaml'
import { startSkiff } from '../../conformance/server.ts'

export interface Attempt {
  readonly method?: string
  readonly path: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
  readonly cert?: { readonly cert: string; readonly key: string }
}

export interface Outcome {
  /** 0: the server closed the connection without an answer. */
  readonly code: number
  readonly body: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface Target {
  readonly host: string
  readonly port: number
  /** The issuer's real signing key, which only a test has: for tokens that are right but for one thing. */
  readonly signingKey: KeyObject
  readonly admin: { readonly cert: string; readonly key: string }
  /** The cluster's own authority, which signs certificates of clients. */
  readonly authority: { readonly cert: string; readonly key: string }
  /** What only a proxy in front of the server has. */
  readonly frontProxy: { readonly cert: string; readonly key: string }
  /** A real token of a service account with no rights, and its parts. */
  readonly token: string
  readonly account: { readonly namespace: string; readonly name: string; readonly uid: string }
  attempt(attempt: Attempt): Promise<Outcome>
  /** As kubernetes-admin. */
  asAdmin(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Outcome>
  /** Bytes on a TLS socket; what came back until it closed, or for as long as `quietMs` after the last byte. */
  raw(bytes: string | Buffer, options?: { readonly quietMs?: number }): Promise<string>
  stop(): Promise<void>
}

/** `args`: more flags of `skiff up`. */
export async function startTarget(args: readonly string[] = []): Promise<Target> {
  const cluster = await startSkiff(['--components', 'apiserver', ...args])
  const config = parse(readFileSync(cluster.kubeconfig, 'utf8'))
  const url = new URL(config.clusters[0].cluster.server)
  const pem = (field: string) => Buffer.from(config.users[0].user[field], 'base64').toString()
  const admin = { cert: pem('client-certificate-data'), key: pem('client-key-data') }
  const [host, port] = [url.hostname, Number(url.port)]

  const attempt = (a: Attempt): Promise<Outcome> =>
    new Promise((resolve) => {
      const request = https.request(
        {
          host,
          port,
          method: a.method ?? 'GET',
          path: a.path,
          rejectUnauthorized: false,
          agent: false,
          timeout: 10_000,
          ...a.cert,
          headers: {
            accept: 'application/json',
            ...(a.body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(a.token === undefined ? {} : { authorization: `Bearer ${a.token}` }),
            ...a.headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk) => chunks.push(chunk))
          const done = () =>
            resolve({
              code: response.statusCode ?? 0,
              body: Buffer.concat(chunks).toString(),
              headers: response.headers,
            })
          response.on('end', done)
          response.on('error', done)
        },
      )
      request.on('timeout', () => request.destroy())
      request.on('error', () => resolve({ code: 0, body: '', headers: {} }))
      request.end(a.body)
    })
  const asAdmin: Target['asAdmin'] = (method, path, body, headers = {}) =>
    attempt({
      method,
      path,
      cert: admin,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const raw: Target['raw'] = (bytes, { quietMs = 300 } = {}) =>
    new Promise((resolve) => {
      const socket = tls.connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, () =>
        socket.write(bytes),
      )
      let text = ''
      const done = () => {
        socket.destroy()
        resolve(text)
      }
      socket.setTimeout(quietMs, done)
      socket.on('data', (data) => {
        text += data.toString('latin1')
      })
      socket.on('close', done)
      socket.on('error', done)
    })

  const pki = (file: string) => readFileSync(join(cluster.dataDir, 'pki', file), 'utf8')

  const namespace = 'attacked'
  await asAdmin('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const created = await asAdmin('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'nobody' },
  })
  const token = await asAdmin('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/nobody/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })
  return {
    host,
    port,
    admin,
    authority: { cert: pki('ca.crt'), key: pki('ca.key') },
    frontProxy: { cert: pki('front-proxy-client.crt'), key: pki('front-proxy-client.key') },
    attempt,
    asAdmin,
    raw,
    signingKey: createPrivateKey(readFileSync(join(cluster.dataDir, 'pki', 'sa.key'))),
    token: JSON.parse(token.body).status.token,
    account: { namespace, name: 'nobody', uid: JSON.parse(created.body).metadata.uid },
    stop: cluster.stop,
  }
}

const base64url = (value: string | Buffer) => Buffer.from(value).toString('base64url')

/** A JWT signed by `key` (EC or RSA), by an HMAC over `key`'s public part, or not at all. */
export function jwt(
  header: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, unknown>>,
  key: KeyObject | string | undefined,
): string {
  const input = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`
  if (key === undefined) return `${input}.`
  if (typeof key === 'string') return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${base64url(signature)}`
}

export function claimsOf(token: string): Record<string, unknown> & { 'kubernetes.io': Record<string, unknown> } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

export function headerOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
}

export const foreignKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

export const someUid = (): string => randomUUID()
