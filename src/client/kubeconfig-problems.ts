/** What a client of Kubernetes (client-go's clientcmd) refuses of a kubeconfig, in its words and in its order. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { configurationIn, unknownIn } from '../api/configuration/decode.ts'
import type { Struct, ValueShape } from '../api/configuration/shape.ts'
import { messageOf } from '../base/errors.ts'
import { whyUnread } from '../base/unread.ts'
import { PROXY_SCHEMES, withoutUser } from '../http/proxy-url.ts'
import { type KubeconfigText, unloaded } from './kubeconfig-text.ts'
import type { KubeconfigFile } from './read-kubeconfig.ts'

const struct = (type: string, fields: Readonly<Record<string, ValueShape>>): Struct => ({ type, fields })
const strings = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'string' as const]))
const named = (type: string, field: string, shape: ValueShape) =>
  [struct(type, { name: 'string', [field]: shape })] as const

const CONFIG = struct('Config', {
  ...strings('kind', 'apiVersion', 'current-context'),
  preferences: 'any',
  clusters: named(
    'NamedCluster',
    'cluster',
    struct('Cluster', {
      ...strings('server', 'tls-server-name', 'certificate-authority', 'certificate-authority-data', 'proxy-url'),
      'insecure-skip-tls-verify': 'bool',
      'disable-compression': 'bool',
      extensions: 'any',
    }),
  ),
  contexts: named(
    'NamedContext',
    'context',
    struct('Context', { ...strings('cluster', 'user', 'namespace'), extensions: 'any' }),
  ),
  users: named(
    'NamedAuthInfo',
    'user',
    struct('AuthInfo', {
      ...strings(
        'client-certificate',
        'client-certificate-data',
        'client-key',
        'client-key-data',
        'token',
        'tokenFile',
      ),
      ...strings('username', 'password', 'as', 'as-uid'),
      'as-groups': ['string'],
      'as-user-extra': { of: ['string'] },
      'auth-provider': struct('AuthProviderConfig', { name: 'string', config: { of: 'string' } }),
      exec: struct('ExecConfig', {
        ...strings('command', 'apiVersion', 'installHint', 'interactiveMode'),
        args: ['string'],
        env: [struct('ExecEnvVar', strings('name', 'value'))],
        provideClusterInfo: 'bool',
      }),
      extensions: 'any',
    }),
  ),
  extensions: 'any',
})

const NOTHING = 'no configuration has been provided, try setting KUBERNETES_MASTER environment variable'

/** What is said where neither a kubeconfig nor a server is named, and this is no pod. */
export const NO_CONFIGURATION = `invalid configuration: ${NOTHING}`

/** `hasServer`: another server is named in place of the kubeconfig's. Undefined: nothing is wrong. */
export function kubeconfigProblem({ file, text }: KubeconfigText, hasServer = false): string | undefined {
  let config: KubeconfigFile
  try {
    config = configurationOf(text)
  } catch (cause) {
    return unloaded(file, messageOf(cause))
  }
  const problems = problemsOf(config, dirname(file), hasServer)
  if (problems.length > 0)
    return `invalid configuration: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`
  const tokenFile = currentOf(config).user?.user?.tokenFile
  return tokenFile ? unread(dirname(file), tokenFile) : undefined
}

/** Fields that are not known are passed over. */
function configurationOf(text: string): KubeconfigFile {
  if (text.trim() === '') return {}
  const { value } = configurationIn(text, { apiVersion: 'v1', kind: 'Config' }, 'maybe', 'yaml')
  unknownIn(CONFIG, value)
  return value as KubeconfigFile
}

function currentOf(config: KubeconfigFile) {
  const find = <T extends { readonly name: string }>(list: readonly T[] | undefined | null, name: string | undefined) =>
    (list ?? []).find((one) => one?.name === name)
  const context = find(config.contexts, config['current-context'])
  return {
    context,
    cluster: find(config.clusters, context?.context?.cluster),
    user: find(config.users, context?.context?.user),
  }
}

function unread(folder: string, file: string): string | undefined {
  try {
    readFileSync(resolve(folder, file))
    return undefined
  } catch (cause) {
    return whyUnread(file, cause)
  }
}

function problemsOf(config: KubeconfigFile, folder: string, hasServer: boolean): readonly string[] {
  const { context, cluster, user } = currentOf(config)
  const name = config['current-context']
  const isEmpty = cluster?.cluster === undefined || cluster.cluster === null
  if (name && context === undefined)
    return [
      `context was not found for specified context: ${name}`,
      ...(hasServer ? [] : ['cluster has no server defined']),
    ]
  if (isEmpty) return hasServer ? userProblems(user, folder) : [NOTHING]
  return [...userProblems(user, folder), ...clusterProblems(cluster, folder, hasServer)]
}

type Users = NonNullable<KubeconfigFile['users']>[number]
type Clusters = NonNullable<KubeconfigFile['clusters']>[number]

const unreadOf = (what: string, file: string | undefined, of: string, folder: string): readonly string[] => {
  const why = file ? unread(folder, file) : undefined
  return why === undefined ? [] : [`unable to read ${what} ${file} for ${of} due to ${why}`]
}

const INTERACTIVE = ['Never', 'IfAvailable', 'Always']
const EXEC_GROUP = 'client.authentication.k8s.io'
/** Where a plugin of these does not say it, it is IfAvailable. */
const INTERACTIVE_BY_DEFAULT = [`${EXEC_GROUP}/v1beta1`, `${EXEC_GROUP}/v1alpha1`]
/** What plugins are spoken to in. */
const EXEC_VERSIONS = [`${EXEC_GROUP}/v1`, `${EXEC_GROUP}/v1beta1`]

function userProblems(user: Users | undefined, folder: string): readonly string[] {
  if (user?.user === undefined || user.user === null) return []
  const { token, username, password, exec, ...given } = user.user
  const methods = [...(token ? ['token'] : []), ...(username || password ? ['basicAuth'] : [])]
  const [cert, key] = [given['client-certificate'], given['client-key']]
  const hasCert = Boolean(cert || given['client-certificate-data'])
  const lacks = (field: string) => `${field} must be specified for ${user.name} to use exec authentication plugin`
  const mode = exec?.interactiveMode
  return [
    ...(hasCert && !key && !given['client-key-data']
      ? [
          `client-key-data or client-key must be specified for ${user.name} to use the clientCert authentication method.`,
        ]
      : []),
    ...(given['client-certificate-data'] ? [] : unreadOf('client-cert', cert, user.name, folder)),
    ...(given['client-key-data'] ? [] : unreadOf('client-key', key, user.name, folder)),
    ...(exec ? (exec.command ? [] : [lacks('command')]) : []),
    ...(exec ? (exec.apiVersion ? [] : [lacks('apiVersion')]) : []),
    ...(exec && !mode && !INTERACTIVE_BY_DEFAULT.includes(exec.apiVersion ?? '') ? [lacks('interactiveMode')] : []),
    ...(exec && mode && !INTERACTIVE.includes(mode)
      ? [`invalid interactiveMode for ${user.name}: ${JSON.stringify(mode)}`]
      : []),
    ...(methods.length > 1
      ? [
          `more than one authentication method found for ${user.name}; found [${methods.join(' ')}], only one is allowed`,
        ]
      : []),
  ]
}

function clusterProblems({ name, cluster }: Clusters, folder: string, hasServer: boolean): readonly string[] {
  const { server, ...given } = cluster ?? {}
  const proxy = given['proxy-url']
  const scheme = proxy && URL.canParse(proxy) ? new URL(proxy).protocol : ''
  return [
    ...(server || hasServer ? [] : [`no server found for cluster ${JSON.stringify(name)}`]),
    ...(proxy && !PROXY_SCHEMES.includes(scheme)
      ? [
          `invalid 'proxy-url' ${JSON.stringify(withoutUser(proxy))} for cluster ${JSON.stringify(name)}: unsupported scheme ${JSON.stringify(scheme.replace(':', ''))}, must be http, https, or socks5`,
        ]
      : []),
    ...(given['certificate-authority-data']
      ? []
      : unreadOf('certificate-authority', given['certificate-authority'], name, folder)),
  ]
}

/** Of one that is right so far: what a client is made with. */
export function connectionIn({ file, text }: KubeconfigText): {
  readonly server?: string
  readonly ca?: string
  readonly authProvider?: string
  /** What is wrong with the plugin that is asked for credentials. */
  readonly execProblem?: string
} {
  const { cluster, user } = currentOf(configurationOf(text))
  const { server, 'certificate-authority': caFile, 'certificate-authority-data': data } = cluster?.cluster ?? {}
  const ca = data
    ? Buffer.from(data, 'base64').toString()
    : caFile
      ? readFileSync(resolve(dirname(file), caFile), 'utf8')
      : undefined
  const version = user?.user?.exec?.apiVersion
  const provider = user?.user?.['auth-provider'] as { readonly name?: string } | null | undefined
  return {
    ...(server === undefined ? {} : { server }),
    ...(ca === undefined ? {} : { ca }),
    ...(version === undefined || EXEC_VERSIONS.includes(version)
      ? {}
      : { execProblem: `exec plugin: invalid apiVersion ${JSON.stringify(version)}` }),
    ...(provider ? { authProvider: provider.name ?? '' } : {}),
  }
}
