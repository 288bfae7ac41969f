/**
 * The server's side of port-forward, spoken by the kubelet itself: pairs of streams of SPDY/3.1 (one for data, one for what goes wrong), as
 * many as the client opens, whose bytes may come in the messages of a WebSocket, or of a WebSocket's channels, two for each port that its
 * request names.
 */
import type { Duplex } from 'node:stream'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { acceptMessages, channelsOf, subprotocolsOf } from '../../http/channels.ts'
import { duplexPair } from '../../http/duplex-pair.ts'
import { joinConnections } from '../../http/join.ts'
import { FORWARD_PROTOCOL, TUNNELED } from '../../http/session-protocols.ts'
import { createSpdySession, type SpdyStream } from '../../http/spdy/session.ts'
import { asksForWebSocket } from '../../http/websocket.ts'
import { Refused } from './refused.ts'
import { spdyProtocols, switching } from './simulated-exec-and-attach-streams.ts'

/** @throws what the client is told */
type Connect = (port: number, signal: AbortSignal) => Promise<Duplex>

const WEBSOCKET_PROTOCOL = 'v4.channel.k8s.io'
/** How long a client of channels, most of which cannot tell that they have ended, may go on once the pod has: as long as with containerd. */
const AFTER_END_MS = 1000

/** @throws Refused when the client speaks no protocol that is known here */
export function remotePortForward(
  machineClock: Clock,
  request: ApiRequest,
  ports: readonly number[],
  connect: Connect,
): ApiResponse {
  if (asksForWebSocket(request)) {
    const asked = subprotocolsOf(request)
    if (asked.includes(TUNNELED))
      return upgrade((socket, head) => overTunnel(machineClock, request, socket, head, connect))
    if (!asked.includes(WEBSOCKET_PROTOCOL))
      throw new Refused(400, `none of the subprotocols ${asked.join(', ')} is spoken here\n`)
    if (ports.length === 0 || ports.some((port) => !isPort(port)))
      throw new Refused(400, 'query parameter "port" is required\n')
    return upgrade((socket, head) => overWebSocket(machineClock, request, socket, head, ports, connect))
  }
  const asked = spdyProtocols(request)
  if (!asked.includes(FORWARD_PROTOCOL))
    throw new Refused(
      403,
      `unable to upgrade: unable to negotiate protocol: client supports [${asked.join(' ')}], server accepts [${FORWARD_PROTOCOL}]\n`,
    )
  return upgrade((socket, head) => {
    socket.write(switching(FORWARD_PROTOCOL))
    overSpdy(machineClock, socket, head, connect)
  })
}

const isPort = (port: number) => Number.isInteger(port) && port > 0 && port < 65536

const upgrade = (serve: (socket: Duplex, head: Uint8Array) => void): ApiResponse => ({
  kind: 'upgrade',
  status: 101,
  takeOver: (socket, head) => serve(socket as Duplex, head),
})

async function overTunnel(
  machineClock: Clock,
  request: ApiRequest,
  socket: Duplex,
  head: Uint8Array,
  connect: Connect,
): Promise<void> {
  const { tunnel } = await import('../../http/session-websocket.ts')
  const [near, far] = duplexPair()
  overSpdy(machineClock, far, new Uint8Array(), connect)
  await tunnel({ request, machineClock }, { socket, head }, { socket: near, head: Buffer.alloc(0) })
}

function overSpdy(machineClock: Clock, socket: Duplex, head: Uint8Array, connect: Connect): void {
  const gone = new AbortController()
  const waiting = new Map<string, SpdyStream>()
  const session = createSpdySession(socket, {
    role: 'server',
    head: Buffer.from(head),
    onStream: (stream) => {
      const { streamtype: type, requestid: id = '', port = '' } = stream.headers
      const other = waiting.get(id)
      if (other === undefined) {
        waiting.set(id, stream)
        return
      }
      waiting.delete(id)
      const [data, error] = type === 'data' ? [stream, other] : [other, stream]
      error.resume()
      void forward(machineClock, Number(port), data, connect, gone.signal, (problem) => error.end(problem))
    },
  })
  void session.ended.then(() => gone.abort())
}

/** `done` is told what went wrong, before the data ends; '' when both sides have ended well. */
async function forward(
  machineClock: Clock,
  port: number,
  data: Duplex,
  connect: Connect,
  signal: AbortSignal,
  done: (problem: string) => void,
): Promise<void> {
  try {
    if (!isPort(port)) throw new Error('it is no port')
    await joinConnections(machineClock, data, await connect(port, signal))
    done('')
  } catch (error) {
    done(`error forwarding port ${port}: ${messageOf(error)}`)
    data.resume()
    data.end()
  }
}

async function overWebSocket(
  machineClock: Clock,
  request: ApiRequest,
  socket: Duplex,
  head: Uint8Array,
  ports: readonly number[],
  connect: Connect,
): Promise<void> {
  const peer = await acceptMessages(request, socket, head, WEBSOCKET_PROTOCOL).catch(() => undefined)
  if (peer === undefined) return
  const pairs = ports.map(() => duplexPair())
  const { send, closed, close } = channelsOf(peer, {
    data: (channel, bytes) => {
      const near = channel % 2 === 0 ? pairs[channel / 2]?.[0] : undefined
      if (near === undefined || near.writableEnded || near.destroyed || near.write(bytes)) return undefined
      return new Promise((resolve) => near.once('drain', resolve).once('close', resolve))
    },
    end: (channel) => {
      if (channel % 2 === 0) pairs[channel / 2]?.[0].end()
    },
  })
  closed.addEventListener('abort', () => {
    for (const [near] of pairs) near.destroy()
  })
  const serve = async (at: number) => {
    const port = ports[at] as number
    const [near, far] = pairs[at] as (typeof pairs)[number]
    for (const end of [near, far]) end.on('error', () => {})
    const named = Buffer.from([port & 0xff, port >> 8])
    await send(2 * at, named)
    await send(2 * at + 1, named)
    const forwarded = forward(machineClock, port, far, connect, closed, (problem) => {
      if (problem !== '') void send(2 * at + 1, Buffer.from(problem))
    })
    // What the client said is still on its way to the pod when the pod has ended.
    for await (const bytes of near.iterator({ destroyOnReturn: false })) await send(2 * at, bytes as Buffer)
    const unsaid = machineClock.setTimer(AFTER_END_MS, 'client of a port that has ended', () => near.end())
    await forwarded
    unsaid.cancel()
  }
  await Promise.allSettled(ports.map((_, at) => serve(at)))
  close()
}
