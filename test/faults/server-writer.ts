/**
 * A whole API server that creates, changes and deletes in itself under strace and says what was answered, one line each: `KEY
 * REVISION`, with a minus before it where the key was deleted. Half of the writers ask within the process, so that the line stands where the answer would be sent; the others over HTTPS.
 * Arguments: DIR, how many writers, and how many writes in all.
 */
import { writeSync } from 'node:fs'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { startCluster } from '../../src/cluster/index.ts'
import { createHttpsClient } from '../../src/http/client.ts'
import { noiseOf } from './noise.ts'

const [dataDir = '', writers = '4', total = '100'] = process.argv.slice(2)
const cluster = await startCluster({ dataDir, components: ['apiserver'] })
const https = createHttpsClient(endpointFromKubeconfig(cluster.kubeconfig))
const PATH = '/api/v1/namespaces/default/configmaps'
let count = 0

async function ask(within: boolean, method: string, path: string, body?: object) {
  const text = within
    ? (await cluster.client.raw(method, path, body as never)).body
    : await send(method, path, body === undefined ? undefined : JSON.stringify(body))
  const object = JSON.parse(text)
  if (object.kind === 'Status' && object.status !== 'Success') throw new Error(`${method} ${path}: ${object.message}`)
  return object
}

async function send(method: string, path: string, body: string | undefined): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await https.send({ method, path, headers, ...(body === undefined ? {} : { body }) })
  return Buffer.from(await answer.bytes()).toString()
}

async function writeOn(writer: number): Promise<void> {
  const within = writer % 2 === 0
  for (let i = 0; count < Number(total); i++) {
    count++
    const isPassing = i % 2 === 1
    const name = `${isPassing ? 'gone' : 'kept'}-${writer}-${i}`
    const say = (revision: string) => writeSync(1, `/registry/configmaps/default/${name} ${revision}\n`)
    const object = (text: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text } })
    const made = await ask(within, 'POST', PATH, object(noiseOf((i * 977) % 9000)))
    say(made.metadata.resourceVersion)
    const changed = await ask(within, 'PUT', `${PATH}/${name}`, object('changed'))
    say(changed.metadata.resourceVersion)
    if (!isPassing) continue
    await ask(within, 'DELETE', `${PATH}/${name}`)
    // The delete's own revision is not answered; it is a later one.
    say(`-${changed.metadata.resourceVersion}`)
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => writeOn(writer)))
https.close()
await cluster.stop()
