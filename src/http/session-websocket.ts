/**
 * Sessions of clients that speak WebSocket, at a server that is asked by SPDY/3.1 (API concept: KEP-4006): the channels of subprotocol
 * v5.channel.k8s.io become streams, and the port-forward tunnel's messages become the bytes of its connection. An API server does this before
 * a kubelet, a kubelet before its container runtime.
 */
import type { Duplex } from 'node:stream'
import type { Json } from '../api/object.ts'
import type { ApiRequest } from '../api/request.ts'
import { internalError, StatusError } from '../api/status.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { acceptMessages, type ChannelPeer, channelsOf, type MessagePeer } from './channels.ts'
import type { HttpsAnswer, Upgraded } from './client.ts'
import { drained } from './drained.ts'
import { limitedBytes } from './fetch.ts'
import { cutWhenIdle, type IdleTimer } from './join.ts'
import { TRANSLATED, TUNNELED } from './session-protocols.ts'
import { chunksOf, createSpdySession, type SpdyStream } from './spdy/session.ts'

/** The streams that a session has. */
export interface SessionStreams {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/** The client's side: its request, and when its connection is idle. */
export interface SessionClient {
  readonly request: ApiRequest
  readonly machineClock: Clock
}

interface Taken {
  readonly socket: Duplex
  readonly head: Uint8Array
}

const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const
/** What a kubelet says instead of a session is a line. */
const MAX_REFUSAL_BYTES = 64 * 1024
/** How the command ended is a Status. */
const MAX_STATUS_BYTES = 1024 * 1024

export async function translate(
  { request, machineClock }: SessionClient,
  { socket, head }: Taken,
  options: SessionStreams,
  connect: () => Promise<Upgraded | HttpsAnswer>,
): Promise<void> {
  let peer: MessagePeer
  try {
    peer = await acceptMessages(request, socket, head, TRANSLATED)
  } catch {
    return
  }
  const idle = cutWhenIdle(machineClock, socket)
  const ready = Promise.withResolvers<Streams | undefined>()
  // What the client says before the kubelet has answered waits, and the client's connection with it.
  const channels = channelsOf(peer, {
    data: async (channel, bytes) => {
      idle.heard()
      const streams = await ready.promise
      const stream =
        channel === CHANNEL.stdin ? streams?.stdin : channel === CHANNEL.resize ? streams?.resize : undefined
      if (stream?.writable && !stream.write(bytes)) await drained(stream)
    },
    end: (channel) => {
      if (channel === CHANNEL.stdin) void ready.promise.then((streams) => streams?.stdin?.end())
    },
  })
  try {
    // It tells clients that wait for something that the session is there, on the first channel that there is.
    const first = options.stdout ? CHANNEL.stdout : options.stderr && !options.tty ? CHANNEL.stderr : CHANNEL.error
    await channels.send(first, new Uint8Array())
    const upstream = await connect()
    if (!('socket' in upstream)) throw new Error(`unable to upgrade connection: ${await refusalOf(upstream)}`)
    await run(upstream, { ...channels, send: heardToo(channels.send, idle) }, options, ready)
  } catch (error) {
    ready.resolve(undefined)
    const status = error instanceof StatusError ? error : internalError(new Error(messageOf(error)))
    await channels.send(CHANNEL.error, saidOf(status))
  } finally {
    idle.cancel()
    channels.close()
  }
}

const heardToo =
  (send: ChannelPeer['send'], idle: IdleTimer): ChannelPeer['send'] =>
  (channel, bytes) => {
    idle.heard()
    return send(channel, bytes)
  }

interface Streams {
  readonly stdin: SpdyStream | undefined
  readonly resize: SpdyStream | undefined
}

async function run(
  upstream: Upgraded,
  channels: ChannelPeer,
  options: SessionStreams,
  ready: PromiseWithResolvers<Streams | undefined>,
): Promise<void> {
  const session = createSpdySession(upstream.socket, { role: 'client', head: upstream.head })
  const cut = () => upstream.socket.destroy()
  channels.closed.addEventListener('abort', cut, { once: true })
  if (channels.closed.aborted) cut()
  try {
    const open = (streamType: string) => session.open({ streamType })
    // In this order, as kubelets expect them.
    const error = await open('error')
    const stdin = options.stdin ? await open('stdin') : undefined
    const stdout = options.stdout ? await open('stdout') : undefined
    const stderr = options.stderr && !options.tty ? await open('stderr') : undefined
    const resize = options.tty ? await open('resize') : undefined
    ready.resolve({ stdin, resize })
    // Whatever stdin is answered says nothing.
    stdin?.resume()
    resize?.resume()
    const [outcome] = await Promise.all([
      whole(error),
      flow(stdout, CHANNEL.stdout, channels),
      flow(stderr, CHANNEL.stderr, channels),
    ])
    await channels.send(CHANNEL.error, statusText(outcome))
  } finally {
    channels.closed.removeEventListener('abort', cut)
    session.close()
    cut()
  }
}

async function flow(stream: SpdyStream | undefined, channel: number, channels: ChannelPeer): Promise<void> {
  if (stream === undefined) return
  for await (const bytes of chunksOf(stream)) await channels.send(channel, bytes)
}

/** At once: the kubelet writes it whenever the command ends. */
const whole = (stream: SpdyStream): Promise<Uint8Array> => limitedBytes(chunksOf(stream), MAX_STATUS_BYTES)

/** A Status without what kind it is. */
function saidOf(error: StatusError): Buffer {
  const { kind: _kind, apiVersion: _version, ...said } = error.toStatus()
  return Buffer.from(JSON.stringify(said))
}

/** Success and exit codes, any other failure as one of this server; nothing said is success. */
export function statusText(bytes: Uint8Array): Buffer {
  if (bytes.length === 0) return Buffer.from(JSON.stringify({ metadata: {}, status: 'Success' }))
  const text = Buffer.from(bytes).toString()
  let said: Ended
  try {
    said = JSON.parse(text) as Ended
  } catch {
    // Of a kubelet that speaks an older form.
    return saidOf(internalError(new Error(text)))
  }
  if (said.status === 'Success') return Buffer.from(bytes)
  if (said.reason !== 'NonZeroExitCode') return saidOf(internalError(new Error(String(said.message ?? ''))))
  const code = said.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  if (code === undefined) return Buffer.from(bytes)
  const message = `command terminated with non-zero exit code: command terminated with exit code ${code}`
  return Buffer.from(JSON.stringify({ ...said, message }))
}

/** How the command ended. */
interface Ended {
  readonly status?: Json
  readonly reason?: Json
  readonly message?: Json
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

async function refusalOf(answer: HttpsAnswer): Promise<string> {
  const text = Buffer.from(await limitedBytes(answer.chunks(), MAX_REFUSAL_BYTES)).toString()
  try {
    const status = JSON.parse(text) as { message?: string }
    return status.message ?? text
  } catch {
    return text.trim()
  }
}

/** The WebSocket's messages and the other server's connection, joined. */
export async function tunnel(
  { request, machineClock }: SessionClient,
  { socket, head }: Taken,
  upstream: Pick<Upgraded, 'socket' | 'head'>,
): Promise<void> {
  const kubelet = upstream.socket
  kubelet.on('error', () => {})
  let peer: MessagePeer
  try {
    peer = await acceptMessages(request, socket, head, TUNNELED)
  } catch {
    kubelet.destroy()
    return
  }
  const idle = cutWhenIdle(machineClock, socket, kubelet)
  peer.onMessage((bytes) => {
    idle.heard()
    return kubelet.write(bytes) || kubelet.destroyed ? undefined : drained(kubelet)
  })
  peer.closed.addEventListener('abort', () => kubelet.destroy(), { once: true })
  try {
    if (upstream.head.length > 0) await peer.send(upstream.head)
    for await (const bytes of kubelet as AsyncIterable<Buffer>) {
      idle.heard()
      await peer.send(bytes)
    }
  } catch {
    // The kubelet's connection broke; the client's ends with it.
  } finally {
    idle.cancel()
    kubelet.destroy()
    peer.close()
  }
}
