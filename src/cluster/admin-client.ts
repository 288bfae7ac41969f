/** A connection to a running cluster as its administrator, by what is in its directory. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpointFromKubeconfig } from '../client/read-kubeconfig.ts'
import { createHttpsClient, type HttpsClient } from '../http/client.ts'
import type { ClusterDirectory } from './directory.ts'

/** By its keys; a cluster in memory, as a twin is, keeps none on disk, and left its kubeconfig. */
export function adminClient({ pki, kubeconfig }: ClusterDirectory, server: string): HttpsClient {
  if (!existsSync(join(pki, 'admin.key')))
    return createHttpsClient({ ...endpointFromKubeconfig(readFileSync(kubeconfig, 'utf8')), server })
  const read = (name: string) => readFileSync(join(pki, name), 'utf8')
  return createHttpsClient({ server, ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') })
}
