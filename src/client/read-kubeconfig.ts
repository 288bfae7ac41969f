/** A kubeconfig's current context as an endpoint of the HTTPS transport. */
import { parse } from 'yaml'
import type { Fields } from '../api/object.ts'
import type { HttpsEndpoint } from '../http/client.ts'

/**
 * Certificates and keys must be in the file itself (`*-data`), or `readFile` reads the paths that it names.
 * @throws Error that says which part is missing
 */
export function endpointFromKubeconfig(text: string, readFile?: (path: string) => string): HttpsEndpoint {
  const config = parse(text) as Fields
  const find = (list: readonly Fields[] | undefined, name: string, part: string): Fields => {
    const entry = list?.find((candidate) => candidate['name'] === name)
    if (entry === undefined) throw new Error(`kubeconfig has no ${part} "${name}"`)
    return entry
  }
  const context = find(config['contexts'], config['current-context'], 'context')['context']
  const cluster: Fields = find(config['clusters'], context.cluster, 'cluster')['cluster']
  const user: Fields = find(config['users'], context.user, 'user')['user']
  const pem = (from: Fields, field: string): string | undefined => {
    const data: string | undefined = from[`${field}-data`]
    if (data !== undefined) return Buffer.from(data, 'base64').toString()
    const path: string | undefined = from[field]
    if (path === undefined) return undefined
    if (readFile === undefined) throw new Error(`kubeconfig names a file for ${field}`)
    return readFile(path)
  }
  const ca = pem(cluster, 'certificate-authority')
  const cert = pem(user, 'client-certificate')
  const key = pem(user, 'client-key')
  const token: string | undefined = user['token']
  return {
    server: cluster['server'],
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token }),
    ...(cluster['tls-server-name'] === undefined ? {} : { serverName: cluster['tls-server-name'] }),
    ...(cluster['insecure-skip-tls-verify'] === true ? { insecureSkipTlsVerify: true } : {}),
  }
}
