/** A message bus for tests, and logind on it, in this process: what it is asked is seen, and what it tells of is the test's to say. It passes no descriptor. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BusMessage, type BusValue, messageReader, writeMessage } from './bus-messages.ts'

export interface BusStandIn {
  /** As DBUS_SYSTEM_BUS_ADDRESS has it. */
  readonly address: string
  /** The members that were called, in their order. */
  readonly asked: string[]
  /** Such calls are not answered. */
  readonly unanswered: Set<string>
  /** These are answered with an error. */
  readonly refused: Set<string>
  /** The processes that hold locks, as logind tells of them. */
  readonly holders: number[]
  /** So many programs' connections are there. */
  readonly connections: number
  /** So often logind tells of a lock after it was released. */
  late: number
  /** Bytes to the connection that came first, as if another program had sent them. */
  send(bytes: Uint8Array): void
  stop(): void
}

/** `pid`: of the program that connects, as the bus sees it. */
export function startBus({ pid }: { readonly pid: number }): Promise<BusStandIn> {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-bus-'))
  const path = join(directory, 'bus')
  const sockets: Socket[] = []
  /** Released, and how often they are told of still. */
  const leaving: { left: number }[] = []
  const self: BusStandIn = {
    ...{ address: `unix:path=${path}`, asked: [], holders: [], late: 0 },
    ...{ unanswered: new Set(), refused: new Set() },
    get connections() {
      return sockets.filter(({ destroyed }) => !destroyed).length
    },
    send: (bytes) => void sockets[0]?.write(bytes),
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  const locks = () => {
    const told = [...self.holders, ...leaving.filter((one) => one.left-- > 0).map(() => pid)]
    return told.map((one) => ['shutdown', 'kubelet', 'Kubelet needs time to handle node shutdown', 'delay', 0, one])
  }
  /** The signature and the values of the answer; `locked`: the connection holds a lock from now on. */
  function answer({ member, body }: BusMessage, name: string, locked: () => void): readonly [string, ...BusValue[]] {
    if (member === 'Hello') return ['s', name]
    if (member === 'GetNameOwner') return ['s', ':1.0']
    if (member === 'GetConnectionUnixProcessID') return ['u', body[0] === name ? pid : 0]
    if (member === 'Get') return ['v', ['t', 5_000_000n]]
    if (member === 'ListInhibitors') return ['a(ssssuu)', locks()]
    if (member !== 'Inhibit') return ['']
    locked()
    return ['u', 0]
  }
  const server = createServer((socket) => {
    const name = `:1.${sockets.push(socket)}`
    let serial = 0
    let holds = false
    const release = () => {
      if (!holds) return
      self.holders.splice(self.holders.indexOf(pid), 1)
      leaving.push({ left: self.late })
    }
    const read = messageReader((call) => {
      self.asked.push(call.member ?? '')
      if (self.unanswered.has(call.member ?? '')) return
      serial++
      const head = { serial, replySerial: call.serial, sender: call.destination ?? '' }
      if (self.refused.has(call.member ?? ''))
        return socket.write(writeMessage({ type: 'error', ...head, signature: 's' }, ['Permission denied']))
      const [signature, ...values] = answer(call, name, () => {
        holds = true
        self.holders.push(pid)
      })
      socket.write(writeMessage({ type: 'return', ...head, signature }, values as BusValue[]))
    })
    let step = 0
    socket.on('data', (chunk) => {
      if (step < 2) socket.write(step++ === 0 ? 'OK 0\r\n' : 'AGREE_UNIX_FD\r\n')
      else if (step++ > 2) read(chunk)
      // What is behind BEGIN are messages.
      else read(chunk.subarray(chunk.indexOf('\n') + 1))
    })
    socket.on('close', release)
    socket.on('error', () => {})
  })
  return new Promise((resolve) => server.listen(path, () => resolve(self)))
}
