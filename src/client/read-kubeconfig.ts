/** A kubeconfig's current context: where the API server is, and the user's credentials. Nothing is read but the text. */
import { dirname, isAbsolute, join } from 'node:path'
import { parseYaml } from '../api/codec/yaml.ts'
import { plainOf } from '../api/values/json.ts'
import type { HttpsEndpoint } from '../http/client.ts'
import { readProxyUrl } from '../http/proxy-url.ts'

/** A program that is asked for credentials (client.authentication.k8s.io). */
export interface ExecPlugin {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly installHint?: string
  readonly provideClusterInfo: boolean
}

/** A kubeconfig (client-go's clientcmd/api/v1), as far as it is read. Nothing has checked it: any field may be missing. */
export interface KubeconfigFile {
  readonly 'current-context'?: string
  readonly contexts?: readonly NamedContext[]
  readonly clusters?: readonly NamedCluster[]
  readonly users?: readonly NamedUser[]
}

export interface NamedContext {
  readonly name: string
  readonly context?: { readonly cluster?: string; readonly user?: string; readonly namespace?: string } | null
}

export interface NamedCluster {
  readonly name: string
  readonly cluster?: KubeconfigCluster | null
}

interface KubeconfigCluster {
  readonly server?: string
  readonly 'certificate-authority'?: string
  readonly 'certificate-authority-data'?: string
  readonly 'insecure-skip-tls-verify'?: boolean
  readonly 'tls-server-name'?: string
  readonly 'proxy-url'?: string
}

export interface NamedUser {
  readonly name: string
  readonly user?: KubeconfigUser | null
}

interface KubeconfigUser {
  readonly 'client-certificate'?: string
  readonly 'client-certificate-data'?: string
  readonly 'client-key'?: string
  readonly 'client-key-data'?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly username?: string
  readonly password?: string
  readonly exec?: KubeconfigExec | null
  readonly 'auth-provider'?: object
  readonly as?: string
  readonly 'as-uid'?: string
  readonly 'as-groups'?: readonly string[] | null
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>> | null
}

interface KubeconfigExec {
  readonly apiVersion?: string
  readonly command?: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly installHint?: string
  readonly provideClusterInfo?: boolean
  readonly interactiveMode?: string
}

/** PEM or where it is. */
export type PemSource = { readonly text: string } | { readonly file: string }

export interface KubeconfigContext {
  /** With the authorities and the server's name, without credentials. */
  readonly server: Pick<HttpsEndpoint, 'server' | 'serverName' | 'insecureSkipTlsVerify' | 'proxy'>
  readonly ca?: PemSource
  readonly cert?: PemSource
  readonly key?: PemSource
  readonly token?: string
  /** Read again from time to time. Goes before `token`. */
  readonly tokenFile?: string
  readonly basic?: { readonly username: string; readonly password: string }
  readonly exec?: ExecPlugin
  /** Headers of impersonation. */
  readonly impersonate: Readonly<Record<string, string | readonly string[]>>
}

/** Parts of a kubeconfig that ask for what no client of skiff does. */
const LACKING = ['auth-provider'] as const

/**
 * `file`: where the text is from; paths in it are relative to its folder.
 * @throws Error that says which part is missing or wrong
 */
export function readKubeconfig(text: string, file: string): KubeconfigContext {
  const config = kubeconfigDocument(text)
  return contextOf(config, config['current-context'], file)
}

/** The context of that name. @throws Error that says which part is missing or wrong */
export function contextOf(config: KubeconfigFile, name: string | undefined, file: string): KubeconfigContext {
  const find = <T extends { readonly name: string }>(
    list: readonly T[] | undefined,
    wanted: string | undefined,
    part: string,
  ): T => {
    const entry = Array.isArray(list) ? (list as readonly (T | null)[]).find((one) => one?.name === wanted) : undefined
    if (!entry) throw new Error(`kubeconfig has no ${part} "${wanted ?? ''}"`)
    return entry
  }
  const context = find(config.contexts, name, 'context').context ?? {}
  const cluster: KubeconfigCluster = find(config.clusters, context.cluster, 'cluster').cluster ?? {}
  // A user that is not there has no credentials.
  const user: KubeconfigUser = (config.users ?? []).find((one) => one?.name === context.user)?.user ?? {}
  for (const field of LACKING) if (user[field]) throw new Error(`kubeconfig's ${field} is not supported`)
  const { server } = cluster
  if (typeof server !== 'string' || !URL.canParse(server))
    throw new Error(`kubeconfig's server "${server ?? ''}" is no URL`)
  const path = (name: string) => (isAbsolute(name) ? name : join(dirname(file), name))
  const pem = (data: string | undefined, file: string | undefined): PemSource | undefined => {
    if (data) return { text: Buffer.from(data, 'base64').toString() }
    return file ? { file: path(file) } : undefined
  }
  const ca = pem(cluster['certificate-authority-data'], cluster['certificate-authority'])
  const cert = pem(user['client-certificate-data'], user['client-certificate'])
  const key = pem(user['client-key-data'], user['client-key'])
  const exec = user.exec && execPlugin(user.exec, path)
  const insecure = cluster['insecure-skip-tls-verify'] === true
  if (insecure && ca !== undefined)
    throw new Error("kubeconfig's certificate-authority and insecure-skip-tls-verify: true contradict each other")
  return {
    server: {
      server,
      ...(cluster['tls-server-name'] ? { serverName: cluster['tls-server-name'] } : {}),
      ...(cluster['proxy-url'] ? { proxy: proxyOf(cluster['proxy-url']) } : {}),
      ...(insecure ? { insecureSkipTlsVerify: true } : {}),
    },
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(user.token ? { token: user.token } : {}),
    ...(user.tokenFile ? { tokenFile: path(user.tokenFile) } : {}),
    ...(user.username ? { basic: { username: user.username, password: user.password ?? '' } } : {}),
    ...(exec ? { exec } : {}),
    impersonate: impersonation(user),
  }
}

/** @throws Error for what is no proxy */
function proxyOf(url: string): string {
  try {
    readProxyUrl(url)
  } catch (error) {
    throw new Error(`kubeconfig's proxy-url ${(error as Error).message}`, { cause: error })
  }
  return url
}

/** @throws Error for what is no mapping */
export function kubeconfigDocument(text: string): KubeconfigFile {
  let config: unknown
  try {
    config = plainOf(parseYaml(text).node)
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : ''
    throw new Error(`kubeconfig is no YAML: ${why}`, { cause })
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new Error('kubeconfig is empty, or no mapping')
  return config
}

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

function execPlugin(exec: KubeconfigExec, path: (name: string) => string): ExecPlugin {
  const { apiVersion, command, args = [], env = [], installHint, provideClusterInfo = false } = exec
  if (!command) throw new Error("kubeconfig's exec names no command")
  if (apiVersion === undefined || !EXEC_VERSIONS.includes(apiVersion))
    throw new Error(`kubeconfig's exec has apiVersion "${apiVersion ?? ''}"; use ${EXEC_VERSIONS.join(' or ')}`)
  return {
    apiVersion,
    // A bare name is looked for in PATH.
    command: command.includes('/') ? path(command) : command,
    args: args ?? [],
    env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
    provideClusterInfo,
    ...(installHint === undefined ? {} : { installHint }),
  }
}

function impersonation(user: KubeconfigUser): Record<string, string | readonly string[]> {
  const groups = user['as-groups'] ?? []
  const extra = Object.entries(user['as-user-extra'] ?? {})
  return {
    ...(user.as ? { 'impersonate-user': user.as } : {}),
    ...(user['as-uid'] ? { 'impersonate-uid': user['as-uid'] } : {}),
    ...(groups.length > 0 ? { 'impersonate-group': groups } : {}),
    ...Object.fromEntries(extra.map(([name, values]) => [`impersonate-extra-${encodeURIComponent(name)}`, values])),
  }
}

/**
 * The same as an endpoint of the HTTPS transport, for one use: credentials that must be asked for are refused.
 * @throws Error that says which part is missing
 */
export function endpointFromKubeconfig(text: string, readFile?: (path: string) => string): HttpsEndpoint {
  const context = readKubeconfig(text, '')
  const read = (source: PemSource): string => {
    if ('text' in source) return source.text
    if (readFile === undefined) throw new Error(`kubeconfig names the file ${source.file}`)
    return readFile(source.file)
  }
  const { server, ca, cert, key, token } = context
  if (context.exec !== undefined || context.tokenFile !== undefined)
    throw new Error("kubeconfig's credentials must be asked for from time to time")
  return {
    ...server,
    ...(ca === undefined ? {} : { ca: read(ca) }),
    ...(cert === undefined ? {} : { cert: read(cert) }),
    ...(key === undefined ? {} : { key: read(key) }),
    ...(token === undefined ? {} : { token }),
  }
}
