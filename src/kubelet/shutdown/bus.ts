/**
 * A connection to a message bus (D-Bus), as one program that asks others on it and hears their signals. Ours, because the npm packages for
 * it need a native addon for what logind answers with: a descriptor, which Node's sockets do not take. Here it is not taken either but left
 * where it came (`holdReply`).
 */
import { connect, type Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { type BusHeader, type BusMessage, type BusValue, messageReader, writeMessage } from './bus-messages.ts'

export interface BusCall {
  readonly destination: string
  readonly path: string
  readonly interface: string
  readonly member: string
  readonly signature?: string
  readonly body?: readonly BusValue[]
}

export interface Bus {
  /** By which the bus knows this connection. */
  readonly name: string
  /** What the call is answered with. @throws Error in the words of the answer, or when no answer comes in time, or none can come any more */
  call(call: BusCall): Promise<readonly BusValue[]>
  /** Calls that wait for an answer fail. */
  close(): void
}

/** An answer that is kept as it came, unread, and with it the descriptor in it: until `release`, or the end of this process. */
export interface HeldReply {
  /** Reads it after all, for what was said instead of a descriptor; nothing when it is released meanwhile. */
  error(): Promise<string | undefined>
  release(): void
}

export interface BusOptions {
  /** The machine's. */
  readonly clock: Clock
  /** As DBUS_SYSTEM_BUS_ADDRESS has it. */
  readonly address: string
  readonly signal?: (message: BusMessage) => void
  /** Once; not after `close`. */
  readonly lost?: () => void
}

export const SYSTEM_BUS = 'unix:path=/var/run/dbus/system_bus_socket'
/** As long as libdbus waits for an answer. */
const PATIENCE_MS = 25_000
const BUS = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const

/** A call to the bus itself. */
export const toBus = (member: string, signature?: string, ...body: readonly BusValue[]): BusCall => ({
  ...{ ...BUS, member, body },
  ...(signature === undefined ? {} : { signature }),
})

/** The first socket that the address names. @throws Error when there is none */
export function socketOf(address: string): string {
  for (const one of address.split(';')) {
    const [transport, rest = ''] = one.split(/:(.*)/s)
    if (transport !== 'unix') continue
    const keys = new Map(rest.split(',').map((pair) => pair.split(/=(.*)/s) as [string, string]))
    const [path, abstract] = [keys.get('path'), keys.get('abstract')]
    if (path !== undefined) return decodeURIComponent(path)
    if (abstract !== undefined) return `\0${decodeURIComponent(abstract)}`
  }
  throw new Error(`the address of the message bus names no socket: ${address}`)
}

interface Wire {
  readonly name: string
  /** Gives the call's number. */
  send(call: BusCall): number
  /** Nothing more is read of what comes. */
  pause(): void
  resume(): void
  close(): void
}

/** Resolves once the bus knows this connection. @throws Error */
function wire(options: BusOptions, heard: (message: BusMessage) => void, ended: (why: Error) => void): Promise<Wire> {
  const path = socketOf(options.address)
  return new Promise((resolve, reject) => {
    let step: 'authenticating' | 'asking for descriptors' | 'greeting' | 'there' | 'ended' = 'authenticating'
    let text = ''
    let name = ''
    let serial = 0
    const end = (why: Error) => {
      const before = step
      step = 'ended'
      patience.cancel()
      socket.destroy()
      if (before === 'there') ended(why)
      else reject(why)
    }
    const read = messageReader((message) => {
      if (step !== 'greeting') return heard(message)
      if (message.replySerial !== 1) return
      if (message.type === 'error') return end(new Error(said(message)))
      step = 'there'
      patience.cancel()
      name = String(message.body[0])
      resolve(self)
    })
    const take = (chunk: Buffer) => {
      if (step === 'greeting' || step === 'there') return read(chunk)
      text += chunk.toString('latin1')
      if (!text.endsWith('\r\n')) return
      const [word] = text.split(/\s/)
      text = ''
      if (step === 'authenticating' && word === 'OK') {
        step = 'asking for descriptors'
        socket.write('NEGOTIATE_UNIX_FD\r\n')
      } else if (step === 'asking for descriptors' && word === 'AGREE_UNIX_FD') {
        step = 'greeting'
        socket.write('BEGIN\r\n')
        self.send(toBus('Hello'))
      } else throw new Error(`the message bus at ${path} does not let this process in: ${word}`)
    }
    const buffer = Buffer.alloc(64 * 1024)
    // With a buffer of its own a socket stops to read at once when it is told so, and not once it has read ahead.
    const socket: Socket = connect({
      path,
      onread: {
        buffer,
        callback(length: number) {
          try {
            take(Buffer.from(buffer.subarray(0, length)))
          } catch (error) {
            end(error instanceof Error ? error : new Error(messageOf(error)))
          }
          return true
        },
      },
    } as never)
    socket.unref()
    socket.on('error', (error) => end(new Error(`dial unix ${path}: ${error.message}`)))
    socket.on('close', () => end(new Error(`the message bus at ${path} has closed the connection`)))
    socket.on('connect', () => {
      socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(process.getuid?.() ?? 0)).toString('hex')}\r\n`)
    })
    const patience = options.clock.setTimer(PATIENCE_MS, 'the message bus', () =>
      end(new Error(`the message bus at ${path} does not answer`)),
    )
    const self: Wire = {
      get name() {
        return name
      },
      send({ body = [], ...call }) {
        serial++
        socket.write(writeMessage({ type: 'call', serial, ...call } satisfies BusHeader, body))
        return serial
      },
      pause: () => void socket.pause(),
      resume: () => void socket.resume(),
      close() {
        step = 'ended'
        socket.destroy()
      },
    }
  })
}

const said = ({ body, error = '' }: BusMessage): string => (typeof body[0] === 'string' ? body[0] : error)

/** @throws Error when there is no bus, or it does not let this process in */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const waiting = new Map<number, { answer: (message: BusMessage) => void; fail: (why: Error) => void }>()
  let ended: Error | undefined
  const end = (why: Error) => {
    ended ??= why
    for (const one of waiting.values()) one.fail(why)
  }
  const connection = await wire(
    options,
    (message) => {
      if (message.type === 'signal') options.signal?.(message)
      else if (message.replySerial !== undefined) waiting.get(message.replySerial)?.answer(message)
    },
    (why) => {
      end(why)
      options.lost?.()
    },
  )
  return {
    name: connection.name,
    async call(call) {
      if (ended !== undefined) throw ended
      const serial = connection.send(call)
      return new Promise<readonly BusValue[]>((resolve, reject) => {
        const done = () => {
          patience.cancel()
          waiting.delete(serial)
        }
        const fail = (why: Error) => {
          done()
          reject(why)
        }
        const patience = options.clock.setTimer(PATIENCE_MS, 'an answer on the message bus', () =>
          fail(new Error(`${call.destination} does not answer ${call.member}`)),
        )
        waiting.set(serial, {
          fail,
          answer(message) {
            if (message.type === 'error') return fail(new Error(said(message)))
            done()
            resolve(message.body)
          },
        })
      })
    },
    close() {
      connection.close()
      end(new Error('the connection to the message bus is closed'))
    },
  }
}

/**
 * Calls over a connection of its own and leaves the answer in the socket: what descriptor it brings is held by the kernel for as long as
 * it is not read there. That it has come is for the caller to find out. @throws Error when there is no bus
 */
export async function holdReply(options: Omit<BusOptions, 'signal' | 'lost'>, call: BusCall): Promise<HeldReply> {
  let answered: ((text: string | undefined) => void) | undefined
  let serial = 0
  const connection = await wire(
    options,
    (message) => {
      if (message.replySerial === serial) answered?.(message.type === 'error' ? said(message) : undefined)
    },
    ({ message }) => answered?.(message),
  )
  connection.pause()
  serial = connection.send(call)
  return {
    error() {
      return new Promise((resolve) => {
        const patience = options.clock.setTimer(PATIENCE_MS, 'an answer on the message bus', () => resolve(undefined))
        answered = (text) => {
          patience.cancel()
          resolve(text)
        }
        connection.resume()
      })
    },
    release() {
      connection.close()
      answered?.(undefined)
    },
  }
}
