/** A connection to a port of a simulated pod: its kubelet forwards it, as it does for kubectl port-forward. */
import type { Duplex } from 'node:stream'
import type { HttpsClient } from '../../http/client.ts'
import { limitedBytes } from '../../http/fetch.ts'
import { createSpdySession } from '../../http/spdy/session.ts'

const MAX_REFUSAL_BYTES = 64 * 1024

export interface PodPort {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** @throws Error with what the kubelet says; what it finds later breaks the connection */
export async function connectToPod(
  kubelet: HttpsClient,
  { namespace, name, port }: PodPort,
  signal: AbortSignal,
): Promise<Duplex> {
  const upstream = await kubelet.upgrade({
    method: 'POST',
    path: `/portForward/${namespace}/${name}`,
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'portforward.k8s.io' },
    signal,
  })
  if (!('socket' in upstream))
    throw new Error(
      Buffer.from(await limitedBytes(upstream.chunks(), MAX_REFUSAL_BYTES))
        .toString()
        .trim(),
    )
  const session = createSpdySession(upstream.socket, { role: 'client', head: upstream.head })
  const headers = { port: String(port), requestID: '0' }
  const error = await session.open({ streamType: 'error', ...headers })
  const data = await session.open({ streamType: 'data', ...headers })
  error.end()
  data.on('error', () => {})
  data.on('close', () => upstream.socket.destroy())
  // It comes before the data ends, and must be heard before that.
  error.on('data', (said: Buffer) => data.destroy(new Error(said.toString())))
  return data
}
