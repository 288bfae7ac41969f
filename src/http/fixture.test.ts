/** What the tests of this room share: a server on a free port, and its clients' certificates. */
import { connect as connectNet } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ApiRequest, Handler } from '../api/request.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { issue } from '../cluster/certificate.ts'
import { createHttpsClient } from './client.ts'
import { type HttpServerOptions, type ServingTls, startHttpServer } from './server.ts'

export const runtime = liveRuntime({ log: { write: () => {} } })
export const ca = issue(runtime, { commonName: 'test-ca', usage: 'ca', validDays: 1 })
const otherCa = issue(runtime, { commonName: 'other-ca', usage: 'ca', validDays: 1 })
export const serving = issue(runtime, { commonName: 'server', usage: 'server', hosts: ['127.0.0.1'], validDays: 1 }, ca)
export const alice = issue(runtime, { commonName: 'alice', organizations: ['dev'], usage: 'client', validDays: 1 }, ca)
export const mallory = issue(runtime, { commonName: 'alice', usage: 'client', validDays: 1 }, otherCa)

export async function started(
  handler: Handler,
  {
    named = [],
    ...limits
  }: Pick<HttpServerOptions, 'maxHeldBytes' | 'limits' | 'hasAuditIds'> & Pick<ServingTls, 'named'> = {},
) {
  const tls = { cert: serving.cert, key: serving.key, clientCas: [ca.cert], named }
  const server = await startHttpServer(runtime, { handler, host: '127.0.0.1', port: 0, tls, ...limits })
  const url = `https://127.0.0.1:${server.port}`
  const client = createHttpsClient({ server: url, ca: ca.cert, cert: alice.cert, key: alice.key })
  return {
    server,
    url,
    client,
    [Symbol.asyncDispose]: async () => {
      client.close()
      await server.stop(1000)
    },
  }
}

export const json = (
  request: ApiRequest,
  value: object,
): Promise<Extract<Awaited<ReturnType<Handler>>, { kind: 'object' }>> =>
  Promise.resolve({
    kind: 'object',
    status: 200,
    object: { apiVersion: 'v1', kind: 'X', metadata: {}, path: request.path, ...value },
  })

export const text = async (answer: { bytes(): Promise<Uint8Array> }) => Buffer.from(await answer.bytes()).toString()

/** What comes back for these bytes, up to the end of the last answer's head or of the connection. */
export async function rawAnswer(port: number, sent: string, tls = true, answers = 1): Promise<string> {
  const socket = tls
    ? connectTls({ port, host: '127.0.0.1', ca: ca.cert, ALPNProtocols: ['http/1.1'] })
    : connectNet({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(sent)
  let text = ''
  for await (const chunk of socket) {
    text += chunk
    if (text.split('\r\n\r\n').length > answers && !/^connection: close/im.test(text) && tls) break
  }
  socket.destroy()
  return text
}
