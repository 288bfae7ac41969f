/**
 * A connection to a server that speaks SPDY/3.1, whose client's pings are answered here. Container runtimes close a session's connection as
 * soon as the command has ended and all has been written. What comes to a closed connection makes its kernel break it off, and throw
 * away all that the other side has not read yet: client-go pings every five seconds, and one ping at that moment took the end of a command's
 * output with it, and the status, without which client-go says that all went well.
 */
import { Duplex } from 'node:stream'
import type { Clock } from '../../base/clock.ts'
import type { Upgraded } from '../client.ts'
import { drained } from '../drained.ts'
import { HEAD_BYTES, isPing, lengthOf, PING_BYTES } from './frames.ts'

/** The server's own limit for a session in which nothing is said is hours: a ping that finds it silent for so long goes on to it. */
const SILENT_MS = 60_000
/** A client that does not read so many answers is not read. */
const MOST_UNREAD = 100
/** So many answers wait for the end of a frame of the server, the newest: one that goes on to a server that has closed takes output with it. */
const MOST_WAITING = 1_000

/** Another protocol than SPDY stays as it is. */
export function answeringPings(clock: Clock, upgraded: Upgraded): Upgraded {
  const { socket, head, rawHeaders } = upgraded
  const speaksSpdy = rawHeaders.some(
    (name, at) => at % 2 === 0 && /^upgrade$/i.test(name) && /^spdy\//i.test(rawHeaders[at + 1] ?? ''),
  )
  return speaksSpdy ? { ...upgraded, socket: answerPings(clock, socket, head), head: Buffer.alloc(0) } : upgraded
}

/** `head`: what the server has said already. Ends and breaks as the server's connection does. */
export function answerPings(clock: Clock, server: Duplex, head: Buffer): Duplex {
  const ofClient = createFrameSplitter()
  const ofServer = createFrameSplitter()
  let heardAt = clock.now()
  let isWithinFrame = false
  let hasEnded = false
  let waiting: Buffer[] = []
  /** Answers since the client read last. */
  let unread = 0
  let whenRead: (() => void) | undefined

  const goOn = () => {
    unread = 0
    whenRead?.()
    whenRead = undefined
  }
  const tell = () => {
    if (!hasEnded) {
      for (const answer of waiting) stream.push(answer)
      unread += waiting.length
    }
    waiting = []
  }

  /** Whether more is wanted. */
  function heard(bytes: Buffer): boolean {
    heardAt = clock.now()
    let wantsMore = true
    for (const part of ofServer.push(bytes)) {
      wantsMore = stream.push(part.bytes)
      isWithinFrame = !part.ends
      if (part.ends && waiting.length > 0) tell()
    }
    return wantsMore
  }

  async function said(bytes: Buffer): Promise<void> {
    const passed: Buffer[] = []
    for (const part of ofClient.push(bytes))
      if (!part.isPing || clock.now() - heardAt >= SILENT_MS) passed.push(part.bytes)
      else {
        waiting.push(part.bytes)
        if (!isWithinFrame || hasEnded) tell()
        else if (waiting.length > MOST_WAITING) waiting.shift()
      }
    if (!takes(server)) return
    let takesMore = true
    server.cork()
    for (const part of passed) takesMore = server.write(part)
    server.uncork()
    if (!takesMore) await drained(server)
    if (unread > MOST_UNREAD && takes(server))
      await new Promise<void>((resolve) => {
        whenRead = resolve
      })
  }

  const stream: Duplex = new Duplex({
    read: () => {
      server.resume()
      goOn()
    },
    write: (bytes: Buffer, _encoding, done) => void said(bytes).then(() => done(), done),
    final: (done) => (takes(server) ? void server.end(() => done()) : done()),
    destroy: (error, done) => {
      server.destroy()
      goOn()
      done(error)
    },
  })
  server.on('data', (bytes: Buffer) => {
    if (!heard(bytes)) server.pause()
  })
  server.on('end', () => {
    const rest = ofServer.rest()
    if (rest.length > 0) stream.push(rest)
    hasEnded = true
    stream.push(null)
    tell()
    goOn()
  })
  server.on('error', (error) => hasEnded || stream.destroy(error))
  server.on('close', () => hasEnded || stream.destroy())
  if (head.length > 0) heard(head)
  return stream
}

/** What comes to a server that has ended is thrown away, as it would do. */
const takes = (server: Duplex): boolean => !server.destroyed && !server.writableEnded

interface FramePart {
  readonly bytes: Buffer
  /** Of a ping of the client's own: those of the server come back with ids of the other parity. */
  readonly isPing: boolean
  /** Whether a frame ends with it. */
  readonly ends: boolean
}

/** Cuts what comes at the ends of frames; the head of a frame comes whole, and so does a ping. */
function createFrameSplitter() {
  let held: Buffer = Buffer.alloc(0)
  /** Of the frame whose bytes are still coming. */
  let left = 0
  return {
    *push(bytes: Buffer): Generator<FramePart> {
      let rest = held.length === 0 ? bytes : Buffer.concat([held, bytes])
      held = Buffer.alloc(0)
      while (rest.length > 0) {
        let ping = false
        if (left === 0) {
          if (rest.length < HEAD_BYTES || (isPing(rest) && rest.length < PING_BYTES)) break
          ping = isPing(rest) && rest.readUInt32BE(HEAD_BYTES) % 2 === 1
          left = HEAD_BYTES + lengthOf(rest)
        }
        const part = rest.subarray(0, left)
        rest = rest.subarray(part.length)
        left -= part.length
        yield { bytes: part, isPing: ping, ends: left === 0 }
      }
      if (rest.length > 0) held = Buffer.from(rest)
    },
    /** What is held of a head that has not come whole. */
    rest: (): Buffer => held,
  }
}
