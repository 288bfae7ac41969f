/**
 * Which cluster a command speaks to and as which user, found as kubectl finds it: a file that is named, the files of KUBECONFIG, or
 * ~/.kube/config; in a pod, its service account. Several files are read as one, where the first that has a name wins.
 */
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { contextTransport, inClusterTransport, type KubeconfigTransport } from './kubeconfig-transport.ts'
import { contextOf, type KubeconfigFile, kubeconfigDocument } from './read-kubeconfig.ts'

export interface ChosenCluster extends KubeconfigTransport {
  /** The context's namespace; `default` where it names none. */
  readonly namespace: string
}

const POD_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'

/** @throws Error, in one line, that says what is missing and where it was looked for */
export function chooseCluster(
  runtime: Runtime,
  choice: { readonly file?: string; readonly context?: string },
  env: Readonly<Record<string, string | undefined>> = process.env,
): ChosenCluster {
  const named = env['KUBECONFIG']
  const files =
    choice.file !== undefined
      ? [choice.file]
      : named
        ? named.split(delimiter).filter((path) => path !== '')
        : [join(homedir(), '.kube', 'config')]
  // As kubectl does: of several, those that are not there are left out.
  const there = choice.file === undefined ? files.filter((path) => existsSync(path)) : files
  if (there.length === 0) {
    if (existsSync(POD_NAMESPACE) && env['KUBERNETES_SERVICE_HOST'])
      return { ...inClusterTransport(runtime, env), namespace: readFileSync(POD_NAMESPACE, 'utf8').trim() || 'default' }
    throw new Error(`no cluster is chosen: ${files.join(', ')} is not there; give --kubeconfig FILE or --data-dir DIR`)
  }
  const configs = there.map(readConfig)
  const contexts = configs.flatMap((config) => config.contexts ?? [])
  const clusters = configs.flatMap((config) => config.clusters ?? [])
  const merged: KubeconfigFile = { clusters, contexts, users: configs.flatMap((config) => config.users ?? []) }
  const wanted = choice.context ?? configs.map((config) => config['current-context']).find((name) => name)
  if (!wanted) throw new Error(`${there.join(', ')} has no current-context: give --context NAME`)
  try {
    const transport = contextTransport(runtime, contextOf(merged, wanted, there[0] ?? ''))
    const context = contexts.find(({ name }) => name === wanted)?.context
    return { ...transport, namespace: context?.namespace || 'default' }
  } catch (cause) {
    throw new Error(`${there.join(', ')}: ${messageOf(cause)}`, { cause })
  }
}

/** A file's parts, with its paths made absolute: they are relative to the file. */
function readConfig(file: string): KubeconfigFile {
  let config: KubeconfigFile
  try {
    config = kubeconfigDocument(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`cannot read the kubeconfig ${file}: ${messageOf(cause)}`, { cause })
  }
  const at = dirname(resolve(file))
  /** With the paths in these fields made absolute. */
  const absolute = <T extends object>(body: T, fields: readonly (keyof T)[]): T => {
    const paths = fields.flatMap((field) => {
      const path: unknown = body[field]
      return typeof path === 'string' && path !== '' ? [[field, resolve(at, path)]] : []
    })
    return { ...body, ...Object.fromEntries(paths) }
  }
  const listed = <T extends object>(name: string, list: readonly (T | null)[] | undefined | null): readonly T[] => {
    if (!Array.isArray(list ?? [])) throw new Error(`${file}: ${name} is no list`)
    return (list ?? []).filter((entry) => entry !== null && typeof entry === 'object')
  }
  const current = config['current-context']
  return {
    ...(current === undefined ? {} : { 'current-context': current }),
    contexts: listed('contexts', config.contexts),
    clusters: listed('clusters', config.clusters).map(({ cluster, ...rest }) => ({
      ...rest,
      cluster: absolute(cluster ?? {}, ['certificate-authority']),
    })),
    users: listed('users', config.users).map(({ user, ...rest }) => {
      const exec = user?.exec
      // A bare name is looked for in PATH.
      const isPath = typeof exec?.command === 'string' && exec.command.includes('/')
      return {
        ...rest,
        user: {
          ...absolute(user ?? {}, ['client-certificate', 'client-key', 'tokenFile']),
          ...(isPath ? { exec: absolute(exec, ['command']) } : {}),
        },
      }
    }),
  }
}
