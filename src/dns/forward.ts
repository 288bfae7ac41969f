/**
 * Names that are not the cluster's are asked of the machine's own name servers. Every question has a socket of its own, whose port the kernel
 * draws, and an id by chance; an answer counts only from the server that was asked, with that id and that question. So many may be under way,
 * and no more; equal questions wait for one answer, which is kept for a while.
 */
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import type { Runtime } from '../base/runtime.ts'
import { EDNS_SIZE, parseForeign, type Query, RCODE } from './read-message.ts'
import { writeQuery } from './write-message.ts'

export interface ForwarderOptions {
  readonly runtime: Runtime
  /** Addresses, with a port where it is not 53 (`192.0.2.1#5353`), in the order in which they are asked. Called for each question that is sent. */
  readonly servers: () => readonly string[]
  readonly signal: AbortSignal
}

type Asked = Pick<Query, 'question' | 'edns' | 'checkingDisabled'>

export interface Forwarder {
  /** The whole answer, its id 0. @throws ForwardError */
  ask(asked: Asked, protocol: 'udp' | 'tcp'): Promise<Uint8Array>
  readonly size: { readonly kept: number; readonly underWay: number }
}

/** `rcode`: what the client is told. */
export class ForwardError extends Error {
  readonly rcode: number
  constructor(message: string, rcode: number) {
    super(message)
    this.rcode = rcode
  }
}

/** As in kubeadm's Corefile. */
const MOST_UNDER_WAY = 1000
const MOST_KEPT_SECONDS = 30
const MOST_KEPT = 10_000
const MOST_KEPT_BYTES = 8 * 1024 * 1024
const TRY_MS = 2000
const MOST_TRIES = 4
const DEFAULT_PORT = 53

interface Kept {
  readonly bytes: Uint8Array
  readonly ttls: readonly { readonly at: number; readonly seconds: number }[]
  /** By the monotonic clock. */
  readonly since: number
  readonly until: number
}

export function createForwarder({ runtime, servers, signal }: ForwarderOptions): Forwarder {
  const { clock } = runtime
  const kept = new Map<string, Kept>()
  const underWay = new Map<string, Promise<Uint8Array>>()
  let keptBytes = 0

  // By the question's bytes: as text the one label `a.b` is the two labels `a` and `b`, and another question.
  const keyOf = ({ question, edns, checkingDisabled }: Asked, protocol: string) =>
    [comparable(question), checkingDisabled, edns?.size, edns?.dnssec, protocol].join(' ')

  function remembered(key: string): Uint8Array | undefined {
    const found = kept.get(key)
    if (found === undefined) return undefined
    const now = clock.monotonic()
    if (now >= found.until) {
      drop(key)
      return undefined
    }
    const bytes = found.bytes.slice()
    const age = Math.floor((now - found.since) / 1000)
    const data = new DataView(bytes.buffer)
    for (const { at, seconds } of found.ttls) data.setUint32(at, Math.max(0, seconds - age))
    return bytes
  }

  function drop(key: string): void {
    keptBytes -= kept.get(key)?.bytes.length ?? 0
    kept.delete(key)
  }

  function keep(key: string, bytes: Uint8Array): void {
    const { rcode, isCut, ttls } = parseForeign(bytes)
    if (isCut || (rcode !== RCODE.ok && rcode !== RCODE.nameError) || ttls.length === 0) return
    const seconds = Math.min(MOST_KEPT_SECONDS, ...ttls.map((one) => one.seconds))
    if (seconds <= 0) return
    const since = clock.monotonic()
    drop(key)
    kept.set(key, { bytes: bytes.slice(), ttls, since, until: since + seconds * 1000 })
    keptBytes += bytes.length
    // The oldest go first.
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT && keptBytes <= MOST_KEPT_BYTES) break
      drop(oldest)
    }
  }

  async function asked(question: Asked, protocol: 'udp' | 'tcp', key: string): Promise<Uint8Array> {
    const all = servers()
    if (all.length === 0) throw new ForwardError('the machine has no name server', RCODE.failed)
    let last: unknown
    for (let i = 0; i < Math.min(MOST_TRIES, Math.max(2, all.length)); i++) {
      try {
        const bytes = await exchange(question, protocol, all[i % all.length] ?? '')
        keep(key, bytes)
        return bytes
      } catch (error) {
        if (signal.aborted) break
        last = error
      }
    }
    throw new ForwardError(`no name server answered: ${last instanceof Error ? last.message : 'ended'}`, RCODE.failed)
  }

  function exchange(question: Asked, protocol: 'udp' | 'tcp', server: string): Promise<Uint8Array> {
    const [address = '', port] = server.split('#')
    const random = runtime.random.bytes(2)
    const id = ((random[0] ?? 0) << 8) | (random[1] ?? 0)
    const query = writeQuery(id, question)
    const send = protocol === 'udp' ? byUdp : byTcp
    return new Promise((resolve, reject) => {
      const end = send(address, port === undefined ? DEFAULT_PORT : Number(port), query, {
        take(bytes) {
          if (!isAnswer(bytes, id, question)) return false
          const answer = bytes.slice()
          answer[0] = 0
          answer[1] = 0
          finish()
          resolve(answer)
          return true
        },
        fail(error) {
          finish()
          reject(error)
        },
      })
      const fail = (why: string) => {
        finish()
        reject(new Error(why))
      }
      const timer = clock.setTimer(TRY_MS, 'name server', () => fail(`${address} does not answer`))
      const onAbort = () => fail('ended')
      signal.addEventListener('abort', onAbort, { once: true })
      function finish(): void {
        timer.cancel()
        signal.removeEventListener('abort', onAbort)
        end()
      }
    })
  }

  return {
    async ask(question, protocol) {
      const key = keyOf(question, protocol)
      const known = remembered(key)
      if (known !== undefined) return known
      const waiting = underWay.get(key)
      if (waiting !== undefined) return (await waiting).slice()
      if (underWay.size >= MOST_UNDER_WAY) throw new ForwardError('too many questions are under way', RCODE.refused)
      const answer = asked(question, protocol, key).finally(() => underWay.delete(key))
      underWay.set(key, answer)
      return (await answer).slice()
    },
    get size() {
      return { kept: kept.size, underWay: underWay.size }
    },
  }
}

function isAnswer(bytes: Uint8Array, id: number, { question }: Asked): boolean {
  try {
    const answer = parseForeign(bytes)
    return answer.isAnswer && answer.id === id && comparable(answer.question) === comparable(question)
  } catch {
    return false
  }
}

/** The name in lower case, type and class as they are; lengths of labels are below the letters. */
function comparable(question: Uint8Array): string {
  const text = Buffer.from(question).toString('latin1')
  return text.slice(0, -4).replace(/[A-Z]/g, (letter) => letter.toLowerCase()) + text.slice(-4)
}

interface Taker {
  /** False: it is not the answer. */
  take(bytes: Uint8Array): boolean
  fail(error: Error): void
}

/** Gives the way to end it. */
function byUdp(address: string, port: number, query: Uint8Array, taker: Taker): () => void {
  const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', recvBufferSize: EDNS_SIZE * 4 })
  let ended = false
  socket.on('error', (error) => taker.fail(error))
  // A wrong answer is passed over: the right one may still come.
  socket.on('message', (bytes) => taker.take(bytes))
  socket.on('connect', () => {
    if (!ended) socket.send(query)
  })
  // Connected, the socket takes packets of that server alone. Where there is no way to it, an error comes instead.
  socket.connect(port, address)
  return () => {
    if (!ended) socket.close()
    ended = true
  }
}

/** Gives the way to end it. */
function byTcp(address: string, port: number, query: Uint8Array, taker: Taker): () => void {
  const socket = connect({ host: address, port })
  const framed = Buffer.alloc(query.length + 2)
  framed.writeUInt16BE(query.length)
  framed.set(query, 2)
  let received: Buffer = Buffer.alloc(0)
  socket.on('connect', () => socket.write(framed))
  socket.on('error', (error) => taker.fail(error))
  socket.on('close', () => taker.fail(new Error(`${address} closed the connection`)))
  socket.on('data', (piece: Buffer) => {
    received = Buffer.concat([received, piece])
    const length = received.length < 2 ? Number.POSITIVE_INFINITY : received.readUInt16BE()
    if (received.length < length + 2) return
    if (!taker.take(received.subarray(2, length + 2))) taker.fail(new Error(`${address} answers something else`))
  })
  return () => {
    socket.removeAllListeners('close')
    socket.destroy()
  }
}
