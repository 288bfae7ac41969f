/**
 * HTTP/1.1 without TLS: for pages that a person opens in a browser of this machine, on loopback, where a certificate that no browser knows
 * would teach people to pass over warnings; and for what an administrator opens to all. Requests and answers have the form that they have
 * everywhere.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EagerHandler } from '../api/request.ts'
import type { Runtime } from '../base/runtime.ts'
import { createBodies } from './bodies.ts'
import { refusedHead, refuseMalformed } from './malformed.ts'
import { createServer } from './node-http.ts'
import { hasBody, originForm, type ReceivedRequest, readBody, requestOf } from './receive.ts'
import { createResponder } from './respond.ts'

export interface PlainServerOptions {
  readonly handler: EagerHandler
  /** An address. */
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Bytes that a request body may have. */
  readonly maxBodyBytes: number
}

export interface PlainServer {
  readonly port: number
  /** No new connections; those that are open are cut. */
  stop(): Promise<void>
}

const MAX_HEADER_BYTES = 64 * 1024

/** @throws the listen error (EADDRINUSE, EACCES, …) as Node gives it */
export async function startPlainServer(runtime: Runtime, options: PlainServerOptions): Promise<PlainServer> {
  const responder = createResponder(runtime)
  const bodies = createBodies(runtime.clock)
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 30_000, requireHostHeader: false })
  const newId = () => runtime.random.passingUuid()

  async function answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    signal: AbortSignal,
    body: Uint8Array | undefined,
  ): Promise<void> {
    let request: ReceivedRequest | undefined
    try {
      const connection = { remoteAddress: incoming.socket.remoteAddress ?? '' }
      request = requestOf(incoming, originForm(incoming.url), signal, connection, newId, body)
      await responder.send(request, await options.handler(request), outgoing)
    } catch (error) {
      responder.fail(request, error, outgoing)
    }
    responder.flush()
  }

  server.on('clientError', refuseMalformed)
  server.on('request', (incoming, outgoing) => {
    if (refusedHead(incoming, outgoing)) return
    const gone = new AbortController()
    outgoing.on('close', () => gone.abort())
    outgoing.on('error', () => {})
    const arrived = (body: Uint8Array | undefined) => void answer(incoming, outgoing, gone.signal, body)
    if (!hasBody(incoming, incoming.method ?? 'GET')) arrived(undefined)
    else
      readBody(bodies, incoming, options.maxBodyBytes, arrived, (error) => {
        responder.fail(undefined, error, outgoing)
        responder.flush()
        incoming.resume()
      })
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, () => {
      server.off('error', reject)
      server.on('error', () => {})
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
