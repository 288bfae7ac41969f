/**
 * The server's side of exec and attach, spoken by the kubelet itself: the streams of SPDY/3.1 (subprotocol v4.channel.k8s.io), or the
 * channels of a WebSocket (v5, v4 and the one without a version).
 */
import type { Duplex } from 'node:stream'
import { PassThrough } from 'node:stream'
import type { ApiRequest } from '../../api/request.ts'
import type { Clock } from '../../base/clock.ts'
import { acceptMessages, channelsOf, subprotocolsOf } from '../../http/channels.ts'
import { TRANSLATED } from '../../http/session-protocols.ts'
import { statusText } from '../../http/session-websocket.ts'
import { createSpdySession, type SpdyStream } from '../../http/spdy/session.ts'
import { asksForWebSocket } from '../../http/websocket.ts'
import type { CommandStreams } from '../runtimes/runtime.ts'
import { Refused } from './refused.ts'

/** Of a Status only what clients read. */
export interface Outcome {
  readonly metadata: object
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly details?: object
  readonly code?: number
}

export interface RemoteSession {
  readonly streams: CommandStreams
  /** Aborted when the client has gone. */
  readonly closed: AbortSignal
  /** Tells how it ended, and ends the session. */
  finish(outcome: Outcome): Promise<void>
}

interface Wanted {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/** Takes the connection over. Undefined: the client went, or did not do its part. */
export type TakeOver = (socket: Duplex, head: Uint8Array) => Promise<RemoteSession | undefined>

const SPDY_PROTOCOL = 'v4.channel.k8s.io'
const WEBSOCKET_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'channel.k8s.io']
/** For the client's streams to come. */
const STREAMS_MS = 30_000
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3 } as const

/** @throws Refused when the client speaks no protocol that is known here */
export function remoteCommand(machineClock: Clock, request: ApiRequest, wanted: Wanted): TakeOver {
  if (asksForWebSocket(request)) {
    const asked = subprotocolsOf(request)
    const protocol = asked.length === 0 ? '' : asked.find((name) => WEBSOCKET_PROTOCOLS.includes(name))
    if (protocol === undefined) throw new Refused(400, `none of the subprotocols ${asked.join(', ')} is spoken here\n`)
    return (socket, head) => overWebSocket(request, socket, head, protocol, wanted)
  }
  const asked = spdyProtocols(request)
  if (!asked.includes(SPDY_PROTOCOL))
    throw new Refused(
      403,
      `unable to upgrade: unable to negotiate protocol: client supports [${asked.join(' ')}], server accepts [${SPDY_PROTOCOL}]\n`,
    )
  return (socket, head) => overSpdy(machineClock, socket, head, wanted)
}

export const spdyProtocols = ({ headers }: ApiRequest): readonly string[] =>
  (headers['x-stream-protocol-version'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

export const switching = (protocol: string): string =>
  `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`

/** As a terminal shows it. */
const shown = (tty: boolean, what: string | Uint8Array): Uint8Array =>
  tty && typeof what === 'string' ? Buffer.from(what.replace(/\r?\n/g, '\r\n')) : Buffer.from(what)

async function overSpdy(
  machineClock: Clock,
  socket: Duplex,
  head: Uint8Array,
  wanted: Wanted,
): Promise<RemoteSession | undefined> {
  const { tty } = wanted
  const types = [
    'error',
    ...(['stdin', 'stdout', 'stderr'] as const).filter((name) => wanted[name] && !(tty && name === 'stderr')),
    ...(tty ? ['resize'] : []),
  ]
  const streams = new Map<string, SpdyStream>()
  const ready = Promise.withResolvers<boolean>()
  socket.write(switching(SPDY_PROTOCOL))
  const session = createSpdySession(socket, {
    role: 'server',
    head: Buffer.from(head),
    maxStreams: types.length,
    onStream: (stream) => {
      streams.set(stream.headers['streamtype'] ?? '', stream)
      if (types.every((type) => streams.has(type))) ready.resolve(true)
    },
  })
  const closed = new AbortController()
  void session.ended.then(() => {
    closed.abort(new Error('the client has gone'))
    ready.resolve(false)
  })
  const timer = machineClock.setTimer(STREAMS_MS, 'streams of a session', () => ready.resolve(false))
  const isReady = await ready.promise
  timer.cancel()
  if (!isReady) {
    session.close()
    return undefined
  }
  const error = streams.get('error') as SpdyStream
  // What the client says on those has no meaning.
  for (const name of ['error', 'stdout', 'stderr', 'resize']) streams.get(name)?.resume()
  const stdin = streams.get('stdin')
  return {
    closed: closed.signal,
    streams: {
      tty,
      ...(stdin === undefined ? {} : { stdin: untilBroken(stdin) }),
      print: (stream, what) => written(streams.get(tty ? 'stdout' : stream), shown(tty, what)),
    },
    async finish(outcome) {
      stdin?.resume()
      await written(error, Buffer.from(JSON.stringify(outcome)))
      for (const stream of streams.values()) stream.end()
      session.close()
    },
  }
}

/** A client that goes has said all that it will say. */
async function* untilBroken(stdin: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stdin
  } catch {
    // The session ends elsewhere.
  }
}

const written = (stream: Duplex | undefined, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (stream === undefined || stream.destroyed || bytes.length === 0) return resolve()
    stream.once('close', resolve)
    stream.write(bytes, () => {
      stream.off('close', resolve)
      resolve()
    })
  })

async function overWebSocket(
  request: ApiRequest,
  socket: Duplex,
  head: Uint8Array,
  protocol: string,
  wanted: Wanted,
): Promise<RemoteSession | undefined> {
  const { tty } = wanted
  const peer = await acceptMessages(request, socket, head, protocol).catch(() => undefined)
  if (peer === undefined) return undefined
  const stdin = new PassThrough()
  const { send, close, closed } = channelsOf(peer, {
    data: (channel, bytes) => {
      if (channel !== CHANNEL.stdin || stdin.writableEnded || stdin.write(bytes)) return undefined
      return new Promise((resolve) => stdin.once('drain', resolve).once('close', resolve))
    },
    end: (channel) => {
      if (channel === CHANNEL.stdin) stdin.end()
    },
  })
  closed.addEventListener('abort', () => stdin.end(), { once: true })
  if (!wanted.stdin) stdin.resume()
  // It tells clients that wait for something that the session is there.
  await send(wanted.stdout ? CHANNEL.stdout : wanted.stderr && !tty ? CHANNEL.stderr : CHANNEL.error, new Uint8Array())
  return {
    closed,
    streams: {
      tty,
      ...(wanted.stdin ? { stdin } : {}),
      print: async (stream, what) => {
        const name = tty ? 'stdout' : stream
        if (wanted[name]) await send(CHANNEL[name], shown(tty, what))
      },
    },
    async finish(outcome) {
      stdin.destroy()
      const isPlain = protocol === '' || protocol === 'channel.k8s.io'
      const text = Buffer.from(JSON.stringify(outcome))
      if (!isPlain) await send(CHANNEL.error, protocol === TRANSLATED ? statusText(text) : text)
      else if (outcome.status === 'Failure') await send(CHANNEL.error, Buffer.from(outcome.message ?? ''))
      close()
    },
  }
}
