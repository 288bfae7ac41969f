/**
 * Which cluster a command speaks to and as whom, found as kubectl finds it: a file that is named, the files of KUBECONFIG, or
 * ~/.kube/config; in a pod, its service account. Several files are read as one, where the first that has a name wins.
 */
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import type { Fields } from '../api/object.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { contextTransport, inClusterTransport, type KubeconfigTransport } from './kubeconfig-transport.ts'
import { contextOf, kubeconfigDocument } from './read-kubeconfig.ts'

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
  const all = (part: string) => configs.flatMap((config) => config[part] as readonly Fields[])
  const merged: Fields = { clusters: all('clusters'), contexts: all('contexts'), users: all('users') }
  const wanted = choice.context ?? configs.map((config) => config['current-context']).find((name) => name)
  if (!wanted) throw new Error(`${there.join(', ')} has no current-context: give --context NAME`)
  try {
    const transport = contextTransport(runtime, contextOf(merged, wanted, there[0] ?? ''))
    const context = all('contexts').find(({ name }) => name === wanted)?.['context'] as Fields | undefined
    return { ...transport, namespace: context?.['namespace'] || 'default' }
  } catch (cause) {
    throw new Error(`${there.join(', ')}: ${messageOf(cause)}`, { cause })
  }
}

/** A file's parts, with its paths made absolute: they are relative to the file. */
function readConfig(file: string): Fields {
  let config: Fields
  try {
    config = kubeconfigDocument(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`cannot read the kubeconfig ${file}: ${messageOf(cause)}`, { cause })
  }
  const at = dirname(resolve(file))
  const beside = (value: unknown) => (typeof value === 'string' && value !== '' ? resolve(at, value) : value)
  const parts = (name: string, part: string, paths: readonly string[]): readonly Fields[] => {
    const list: unknown = config[name] ?? []
    if (!Array.isArray(list)) throw new Error(`${file}: ${name} is no list`)
    return (list as readonly (Fields | null)[])
      .filter((entry) => entry !== null && typeof entry === 'object')
      .map((entry) => {
        const body: Fields = entry[part] ?? {}
        const absolute = paths.filter((path) => body[path]).map((path) => [path, beside(body[path])])
        const exec: Fields | undefined = body['exec']
        const command = exec?.['command']
        return {
          ...entry,
          [part]: {
            ...body,
            ...Object.fromEntries(absolute),
            ...(typeof command === 'string' && command.includes('/')
              ? { exec: { ...exec, command: beside(command) } }
              : {}),
          },
        }
      })
  }
  return {
    'current-context': config['current-context'],
    contexts: parts('contexts', 'context', []),
    clusters: parts('clusters', 'cluster', ['certificate-authority']),
    users: parts('users', 'user', ['client-certificate', 'client-key', 'tokenFile']),
  }
}
