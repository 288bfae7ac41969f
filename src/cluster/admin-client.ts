/** A connection to a running cluster as its administrator, by the keys in its directory. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHttpsClient, type HttpsClient } from '../http/client.ts'

export function adminClient(pki: string, server: string): HttpsClient {
  const read = (name: string) => readFileSync(join(pki, name), 'utf8')
  return createHttpsClient({ server, ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') })
}
