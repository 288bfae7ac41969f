/**
 * The members of an etcd cluster, of which one is talked to until it fails. Calls that may be repeated go on at the next one;
 * others do while it is certain that nothing was sent. A member that leaves a call without an answer is asked how it is, and
 * left when it does not say.
 */
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import {
  type ClientDuplexStream,
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { EtcdError, etcdError, isPassing } from './errors.ts'
import type { Calls, StatusResponse, WatchRequest, WatchResponse } from './messages.ts'
import type { EtcdFiles, EtcdServers } from './servers.ts'

/** Beside this file in sources, beside the code in bundles. */
const PROTO = new URL('./protos/etcd.proto', import.meta.url)

interface CallOptions {
  /** To do it twice is to do it once. */
  readonly isRepeatable: boolean
  /** Milliseconds; default ten seconds. */
  readonly timeoutMs?: number
}

export interface WatchStream {
  /** Calls back with the version of the member that is watched: at once where it is known. Where it cannot be asked the watch ends. */
  version(tell: (version: string) => void): void
  send(request: WatchRequest): void
  /** Its end is not told. */
  close(): void
}

export interface MemberState {
  readonly address: string
  readonly state: StatusResponse | EtcdError
}

export interface Members {
  /** Where the one that is talked to is. */
  readonly address: string
  /** Of the one that is talked to, once it has been asked how it is. */
  readonly version: string | undefined
  /** @throws EtcdError */
  call<Name extends keyof Calls>(
    name: Name,
    request: Calls[Name]['request'],
    options: CallOptions,
  ): Promise<Calls[Name]['answer']>
  /** A watch at the member that is talked to, which is left where it breaks off; `ended` once, then. */
  watch(take: (response: WatchResponse) => void, ended: (error: EtcdError) => void): WatchStream
  /** How each of them is now, the one that is talked to or not. Those that do not answer within the time are told with that. */
  states(timeoutMs: number): Promise<readonly MemberState[]>
  /** The next one is talked to, unless that is so already. */
  leave(address: string): void
  close(): void
}

const TIMEOUT_MS = 10_000
/** After so long without an answer a member is asked how it is; it has as long again. */
const PATIENCE_MS = 1500
/** Between two rounds of all members. */
const ROUND_MS = 100

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  // etcd takes pings that are at least five seconds apart.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  'grpc.enable_retries': 0,
}

const SERVICE_OF = { Range: 'KV', Txn: 'KV', Compact: 'KV', LeaseGrant: 'Lease', Status: 'Maintenance' } as const

interface Client {
  call<Name extends keyof Calls>(
    name: Name,
    request: Calls[Name]['request'],
    answer: (error: ServiceError | null, answer: Calls[Name]['answer']) => void,
  ): { cancel(): void }
  watch(metadata: Metadata): ClientDuplexStream<WatchRequest, WatchResponse>
  close(): void
}

/** A member as long as it is talked to. */
interface Member {
  readonly address: string
  readonly client: Client
  /** What ends when it is left. */
  readonly open: Set<{ cancel(): void }>
  isProbed: boolean
  isLeft: boolean
  /** It is another one only after a connection that broke off. */
  version: string | undefined
}

export function connectMembers(runtime: Runtime, servers: EtcdServers): Members {
  const { clock, log } = runtime
  const stopping = new AbortController()
  const connect = clientMaker(servers, log)
  // The watch breaks off where the member has no leader.
  const withLeader = new Metadata()
  withLeader.set('hasleader', 'true')
  let at = 0
  let member = memberAt(0)

  function memberAt(index: number): Member {
    const address = servers.addresses[index] ?? ''
    return { address, client: connect(address), open: new Set(), isProbed: false, isLeft: false, version: undefined }
  }

  function leave(left: Member): void {
    if (member !== left || stopping.signal.aborted) return
    left.isLeft = true
    at = (at + 1) % servers.addresses.length
    member = memberAt(at)
    log.info(2, 'leaving a member of etcd', { left: left.address, for: member.address })
    for (const call of [...left.open]) call.cancel()
    left.client.close()
  }

  function once<Name extends keyof Calls>(
    asked: Member,
    name: Name,
    request: Calls[Name]['request'],
    timeoutMs: number,
  ): Promise<Calls[Name]['answer']> {
    return new Promise((resolve, reject) => {
      let isLate = false
      const call = asked.client.call(name, request, (error, answer) => {
        timer.cancel()
        patience.cancel()
        asked.open.delete(call)
        if (error === null) {
          if ('version' in answer) asked.version = answer.version
          resolve(answer)
        } else if (isLate)
          reject(new EtcdError(`no answer within ${timeoutMs} ms`, status.DEADLINE_EXCEEDED, false, asked.address))
        else if (asked.isLeft && error.code === status.CANCELLED)
          reject(new EtcdError('it was left for another member', status.CANCELLED, false, asked.address))
        else reject(etcdError(error, asked.address))
      })
      asked.open.add(call)
      const timer = clock.setTimer(timeoutMs, 'etcd deadline', () => {
        isLate = true
        call.cancel()
      })
      const patience = clock.setTimer(PATIENCE_MS, 'etcd patience', () => {
        if (name !== 'Status') void probe(asked)
      })
    })
  }

  async function probe(asked: Member): Promise<void> {
    if (asked.isProbed) return
    asked.isProbed = true
    try {
      const { leader } = await once(asked, 'Status', {}, PATIENCE_MS)
      if (leader === 0 && servers.addresses.length > 1) leave(asked)
    } catch {
      leave(asked)
    }
    asked.isProbed = false
  }

  async function call<Name extends keyof Calls>(
    name: Name,
    request: Calls[Name]['request'],
    { isRepeatable, timeoutMs = TIMEOUT_MS }: CallOptions,
  ): Promise<Calls[Name]['answer']> {
    const until = clock.monotonic() + timeoutMs
    let before: EtcdError | undefined
    for (let round = 1; ; round++) {
      const asked = member
      try {
        return await once(asked, name, request, Math.max(1, until - clock.monotonic()))
      } catch (error) {
        if (!(error instanceof EtcdError) || !isPassing(error)) throw error
        leave(asked)
        const mayRepeat = isRepeatable || error.isUnsent
        if (!mayRepeat || stopping.signal.aborted || clock.monotonic() >= until) {
          // The last try had what the others left it: what they met tells more.
          const tellsLess = isRepeatable && error.code === status.DEADLINE_EXCEEDED
          throw tellsLess ? (before ?? error) : error
        }
        before = error
      }
      if (round % servers.addresses.length === 0) await sleep(clock, ROUND_MS, stopping.signal).catch(() => {})
    }
  }

  return {
    get address() {
      return member.address
    },
    get version() {
      return member.version
    },
    call,
    watch(take, ended) {
      const watched = member
      const stream = watched.client.watch(withLeader)
      let isOver = false
      const open = { cancel: () => stream.cancel() }
      watched.open.add(open)
      const over = (error: EtcdError) => {
        watched.open.delete(open)
        if (isOver) return
        isOver = true
        // This very connection: its address may be talked to anew already.
        if (isPassing(error)) leave(watched)
        else stream.cancel()
        ended(error)
      }
      stream.on('data', (response: WatchResponse) => {
        if (!isOver) take(response)
      })
      stream.on('error', (error) => over(etcdError(error as ServiceError)))
      stream.on('end', () => over(new EtcdError('the watch has ended', status.UNAVAILABLE, false)))
      return {
        send: (request) => void (isOver || stream.write(request)),
        version(tell) {
          if (watched.version !== undefined) tell(watched.version)
          else once(watched, 'Status', {}, PATIENCE_MS).then(({ version }) => tell(version), over)
        },
        close() {
          isOver = true
          stream.cancel()
        },
      }
    },
    states: (timeoutMs) =>
      Promise.all(
        servers.addresses.map(async (address, index) => {
          const asked = memberAt(index)
          try {
            return { address, state: await once(asked, 'Status', {}, timeoutMs) }
          } catch (error) {
            if (!(error instanceof EtcdError)) throw error
            return { address, state: error }
          } finally {
            asked.client.close()
          }
        }),
      ),
    leave(address) {
      if (member.address === address) leave(member)
    },
    close() {
      stopping.abort()
      for (const open of [...member.open]) open.cancel()
      member.client.close()
    },
  }
}

/** Each connection to a member shows the certificate that is in the files then. @throws StoreError where they cannot be read at first */
function clientMaker(servers: EtcdServers, log: Runtime['log']): (address: string) => Client {
  const definition = loadSync(fileURLToPath(PROTO), {
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: false,
  })
  const services = loadPackageDefinition(definition)['etcdserverpb'] as GrpcObject
  let files = servers.files()
  const secretsOf = ({ ca, cert, key }: EtcdFiles) =>
    servers.isSecure ? credentials.createSsl(ca ?? null, key ?? null, cert ?? null) : credentials.createInsecure()
  let secrets = secretsOf(files)
  let told = ''
  function renew(): void {
    try {
      const found = servers.files()
      if (isDeepStrictEqual(found, files)) return
      secrets = secretsOf(found)
      files = found
      told = ''
      log.info(0, 'etcd is shown the certificate that is in the files now')
    } catch (error) {
      // Renewed this very moment: what was good before may still be, and the next connection reads them again.
      const why = messageOf(error)
      if (why !== told) log.error('the renewed files beside --etcd-servers cannot be used', why)
      told = why
    }
  }
  return (address) => {
    renew()
    const clients = new Map(
      ['KV', 'Watch', 'Lease', 'Maintenance'].map((name) => {
        const Service = services[name] as ServiceClientConstructor
        return [name, new Service(address, secrets, CHANNEL_OPTIONS)] as const
      }),
    )
    const method = (service: string, name: string) => {
      const client = clients.get(service)
      const found: unknown = client?.[name]
      if (client === undefined || typeof found !== 'function') throw new Error(`etcd has no method ${service}/${name}`)
      return found.bind(client) as (...args: unknown[]) => never
    }
    return {
      call: (name, request, answer) => method(SERVICE_OF[name], name)(request, answer),
      watch: (metadata) => method('Watch', 'Watch')(metadata),
      close() {
        for (const client of clients.values()) client.close()
      },
    }
  }
}

export type { StatusResponse }
