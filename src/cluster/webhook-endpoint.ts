/** Where a webhook is that says which user a token is for, or what a user may do: in a kubeconfig, or as a pod finds its API server. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { endpointFromKubeconfig, type KubeconfigFile, kubeconfigDocument } from '../client/read-kubeconfig.ts'
import type { HttpsEndpoint } from '../http/client.ts'
import { StartError } from './errors.ts'
import { rootCertificates } from './pem-files.ts'
import { readText, whyUnread } from './read-file.ts'

const POD_FILES = '/var/run/secrets/kubernetes.io/serviceaccount'

/** `prefix`: of what is said of the file. @throws StartError naming it */
export function endpointOfKubeconfig(file: string | undefined, prefix = ''): HttpsEndpoint {
  if (file === undefined) return inCluster()
  if (!existsSync(file)) throw new StartError(`${prefix}stat ${file}: no such file or directory`)
  const text = readText(file, (why) => `${prefix}error loading config file ${JSON.stringify(file)}: ${why}`)
  judgeKubeconfig(text, dirname(file), prefix)
  try {
    // Files that a kubeconfig names are beside it.
    const endpoint = endpointFromKubeconfig(text, (path) => readFileSync(resolve(dirname(file), path), 'utf8'))
    if (typeof endpoint.server !== 'string' || !/^https?:\/\//.test(endpoint.server) || !URL.canParse(endpoint.server))
      throw new Error('the cluster names no server')
    return endpoint
  } catch (cause) {
    const why = cause instanceof TypeError ? 'it is no kubeconfig with a current context' : messageOf(cause)
    throw new StartError(`${prefix}error loading config file ${JSON.stringify(file)}: ${why}`, { cause })
  }
}

/** What is wrong with what its current context names. Of a text that is no kubeconfig nothing is said here. @throws StartError */
function judgeKubeconfig(text: string, folder: string, prefix: string): void {
  let config: KubeconfigFile
  try {
    config = kubeconfigDocument(text)
  } catch {
    return
  }
  const named = <T extends { readonly name: string }>(list: readonly T[] | undefined, name: string | undefined) =>
    Array.isArray(list) ? (list as readonly (T | null)[]).find((one) => one?.name === name) : undefined
  const context = named(config.contexts, config['current-context'])?.context
  const cluster = named(config.clusters, context?.cluster)
  const user = named(config.users, context?.user)
  const unread = (what: string, file: string | undefined, of: string): readonly string[] => {
    if (!file) return []
    try {
      readFileSync(resolve(folder, file))
      return []
    } catch (cause) {
      return [`unable to read ${what} ${file} for ${of} due to ${whyUnread(file, cause)}`]
    }
  }
  const { token, username, password, ...given } = user?.user ?? {}
  const methods = [...(token ? ['token'] : []), ...(username || password ? ['basicAuth'] : [])]
  const problems = [
    ...unread('client-cert', given['client-certificate'], user?.name ?? ''),
    ...unread('client-key', given['client-key'], user?.name ?? ''),
    ...(methods.length > 1
      ? [
          `more than one authentication method found for ${user?.name}; found [${methods.join(' ')}], only one is allowed`,
        ]
      : []),
    ...(cluster?.cluster && !cluster.cluster.server
      ? [`no server found for cluster ${JSON.stringify(cluster.name)}`]
      : []),
    ...unread('certificate-authority', cluster?.cluster?.['certificate-authority'], cluster?.name ?? ''),
  ]
  if (problems.length > 0)
    throw new StartError(
      `${prefix}invalid configuration: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`,
    )
  const data = cluster?.cluster?.['certificate-authority-data']
  if (data) rootCertificates(Buffer.from(data, 'base64').toString(), prefix)
}

function inCluster(): HttpsEndpoint {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env
  if (!host || !port || !existsSync(`${POD_FILES}/token`))
    throw new StartError(
      'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    )
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: readText(`${POD_FILES}/ca.crt`),
    // Read again for every request: the kubelet renews it.
    token: () => readText(`${POD_FILES}/token`).trim(),
  }
}
