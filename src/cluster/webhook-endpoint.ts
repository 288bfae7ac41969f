/** Where a webhook is that says which user a token is for, or what a user may do: in a kubeconfig, or as a pod finds its API server. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { connectionIn, kubeconfigProblem } from '../client/kubeconfig-problems.ts'
import { type KubeconfigText, kubeconfigText, unloaded } from '../client/kubeconfig-text.ts'
import { endpointFromKubeconfig } from '../client/read-kubeconfig.ts'
import type { HttpsEndpoint } from '../http/client.ts'
import { StartError } from './errors.ts'
import { rootCertificates } from './pem-files.ts'
import { readText } from './read-file.ts'

const POD_FILES = '/var/run/secrets/kubernetes.io/serviceaccount'

/** `prefix`: of what is said of the file. @throws StartError naming it */
export function endpointOfKubeconfig(file: string | undefined, prefix = ''): HttpsEndpoint {
  if (file === undefined) return inCluster()
  const kubeconfig = read(file, prefix)
  const problem = kubeconfigProblem(kubeconfig)
  if (problem !== undefined) throw new StartError(`${prefix}${problem}`)
  const { ca } = connectionIn(kubeconfig)
  if (ca !== undefined) rootCertificates(ca, prefix)
  try {
    // Files that a kubeconfig names are beside it.
    const endpoint = endpointFromKubeconfig(kubeconfig.text, (path) =>
      readFileSync(resolve(dirname(file), path), 'utf8'),
    )
    if (typeof endpoint.server !== 'string' || !/^https?:\/\//.test(endpoint.server) || !URL.canParse(endpoint.server))
      throw new Error('the cluster names no server')
    return endpoint
  } catch (cause) {
    const why = cause instanceof TypeError ? 'it is no kubeconfig with a current context' : messageOf(cause)
    throw new StartError(`${prefix}${unloaded(file, why)}`, { cause })
  }
}

function read(file: string, prefix: string): KubeconfigText {
  try {
    return kubeconfigText(file)
  } catch (cause) {
    throw new StartError(`${prefix}${messageOf(cause)}`, { cause })
  }
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
