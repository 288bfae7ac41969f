/**
 * A whole API server that writes to itself under strace and says what was answered, one line each: `KEY REVISION`. Half of
 * the writers ask within the process, so that the line stands where the answer would be sent; the others over HTTPS.
 * Arguments: DIR, how many writers, and how many writes in all.
 */
import { writeSync } from 'node:fs'
import { endpointFromKubeconfig } from '../../src/client/kubeconfig.ts'
import { startCluster } from '../../src/cluster/index.ts'
import { createHttpsClient } from '../../src/http/client.ts'

const [dataDir = '', writers = '4', total = '100'] = process.argv.slice(2)
const cluster = await startCluster({ dataDir, components: ['apiserver'] })
const https = createHttpsClient(endpointFromKubeconfig(cluster.kubeconfig))
const PATH = '/api/v1/namespaces/default/configmaps'
let count = 0

async function post(within: boolean, body: object): Promise<string> {
  if (within) return (await cluster.client.raw('POST', PATH, body as never)).body
  const headers = { 'content-type': 'application/json' }
  const answer = await https.send({ method: 'POST', path: PATH, headers, body: JSON.stringify(body) })
  return Buffer.from(await answer.bytes()).toString()
}

async function writeOn(writer: number): Promise<void> {
  for (let i = 0; count < Number(total); i++) {
    count++
    const name = `w${writer}-${i}`
    const data = { text: 'x'.repeat((i * 977) % 9000) }
    const made = JSON.parse(
      await post(writer % 2 === 0, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }),
    )
    if (made.kind !== 'ConfigMap') throw new Error(`the write of ${name} was refused: ${made.message}`)
    writeSync(1, `/registry/configmaps/default/${name} ${made.metadata.resourceVersion}\n`)
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => writeOn(writer)))
https.close()
await cluster.stop()
