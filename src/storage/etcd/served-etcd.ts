/**
 * A store here as etcd shows it, read only: KV.Range, Watch, Maintenance.Status and Cluster.MemberList of etcd's API, version 3, over
 * connections that are handed in. Every write is refused: what is stored is judged by the API server, and changed by it alone.
 */
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  type GrpcObject,
  type handleBidiStreamingCall,
  type handleUnaryCall,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
  status,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { messageOf } from '../../base/errors.ts'
import type { Storage } from '../storage.ts'
import { EtcdError } from './errors.ts'
import { answerRange, type ServedRange } from './served/range.ts'
import { type ServedWatchRequest, serveWatches } from './served/watch.ts'

export interface ServedEtcd {
  /** A connection of gRPC (HTTP/2 without TLS), of a client of etcd. */
  take(connection: Duplex): void
  stop(): void
}

/** Beside this file in sources, beside the code in bundles. */
const PROTO = new URL('./protos/etcd.proto', import.meta.url)

/** One member, alone, with the ids that its answers carry. */
const CLUSTER = 1
const MEMBER = 1
const TERM = 2

const READ_ONLY = 'skiff shows what is stored and takes no writes here: write through kube-apiserver'
const LACKING = 'skiff does not do this in place of etcd'

/** Of etcd's API all that changes something, or cannot be told; each with whether it streams to and from. */
const REFUSED: readonly (readonly [path: string, why: string, streams?: true])[] = [
  ...['Put', 'DeleteRange', 'Txn', 'Compact'].map((name) => [`KV/${name}`, READ_ONLY] as const),
  ...['LeaseGrant', 'LeaseRevoke', 'LeaseTimeToLive', 'LeaseLeases'].map(
    (name) => [`Lease/${name}`, READ_ONLY] as const,
  ),
  ['Lease/LeaseKeepAlive', READ_ONLY, true],
  ...['MemberAdd', 'MemberRemove', 'MemberUpdate', 'MemberPromote'].map(
    (name) => [`Cluster/${name}`, READ_ONLY] as const,
  ),
  ...['Alarm', 'Defragment', 'Hash', 'HashKV', 'MoveLeader', 'Downgrade'].map(
    (name) => [`Maintenance/${name}`, LACKING] as const,
  ),
  ['Maintenance/Snapshot', LACKING, true],
]

/** As etcd has it: of a request 1.5 MiB by default, and some more for what is around it. Nothing that is answered here is half as large. */
const LONGEST_REQUEST = 2 << 20

/** `version`: the etcd that it stands for. */
export function serveEtcd(store: Storage, version: string): ServedEtcd {
  const server = new Server({
    'grpc.max_send_message_length': -1,
    'grpc.max_receive_message_length': LONGEST_REQUEST,
  })
  const header = (revision = store.revision) => ({
    cluster_id: CLUSTER,
    member_id: MEMBER,
    raft_term: TERM,
    revision,
  })
  const definition = loadSync(fileURLToPath(PROTO), {
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: false,
  })
  const services = loadPackageDefinition(definition)['etcdserverpb'] as GrpcObject
  const serve = (name: string, method: string, handler: unknown) => {
    const { service } = services[name] as ServiceClientConstructor
    const { path, responseSerialize, requestDeserialize, requestStream } = service[method]!
    server.register(path, handler as never, responseSerialize, requestDeserialize, requestStream ? 'bidi' : 'unary')
  }
  serve(
    'KV',
    'Range',
    unary<ServedRange>(async (request) => {
      const { revision, ...answer } = await answerRange(store, request)
      return { header: header(revision), ...answer }
    }),
  )
  serve('Watch', 'Watch', watching(store, header))
  serve(
    'Maintenance',
    'Status',
    unary(async () => {
      const size = await sizeOf(store)
      const { revision } = store
      return {
        ...{ header: header(revision), version, leader: MEMBER, raftTerm: TERM, raftIndex: revision },
        ...{ raftAppliedIndex: revision, dbSize: size, dbSizeInUse: size },
      }
    }),
  )
  serve(
    'Cluster',
    'MemberList',
    unary(async () => ({ header: header(), members: [{ ID: MEMBER, name: 'default', peerURLs: [], clientURLs: [] }] })),
  )
  const bytes = (value: unknown) => value as Buffer
  for (const [path, why, streams] of REFUSED) {
    const error = { code: status.PERMISSION_DENIED, details: `etcdserver: ${why}` }
    const handler = streams
      ? (call: { emit(name: 'error', error: object): void }) => call.emit('error', error)
      : (_call: unknown, answer: (error: object) => void) => answer(error)
    server.register(`/etcdserverpb.${path}`, handler as never, bytes, bytes, streams ? 'bidi' : 'unary')
  }
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  return {
    take: (connection) => injector.injectConnection(connection),
    stop: () => {
      injector.destroy()
      server.forceShutdown()
    },
  }
}

/** A store in memory has no file: then the bytes of what it holds. */
async function sizeOf(store: Storage): Promise<number> {
  const size = await store.size?.()
  if (size !== undefined) return size
  const { items } = await store.range('\0', '\uffff')
  return items.reduce((sum, { key, value }) => sum + key.length + value.byteLength, 0)
}

const failure = (error: unknown) => ({
  code: error instanceof EtcdError ? error.code : status.UNAVAILABLE,
  details: error instanceof EtcdError ? error.message : `etcdserver: ${messageOf(error)}`,
})

const unary =
  <Request>(answer: (request: Request) => Promise<object>): handleUnaryCall<Request, object> =>
  (call, done) => {
    answer(call.request).then(
      (response) => done(null, response),
      (error: unknown) => done(failure(error)),
    )
  }

const watching =
  (store: Storage, header: (revision: number) => object): handleBidiStreamingCall<ServedWatchRequest, object> =>
  (call) => {
    /** Each response after the one before it, when that has found room. */
    let last = Promise.resolve()
    const isGone = () => call.cancelled || call.destroyed
    const write = (response: object) =>
      new Promise<void>((resolve) => {
        if (isGone() || call.write(response)) return resolve()
        const go = () => {
          for (const event of ['drain', 'close', 'cancelled']) call.off(event, go)
          resolve()
        }
        for (const event of ['drain', 'close', 'cancelled']) call.on(event, go)
      })
    const watches = serveWatches(
      store,
      (response, revision) => {
        last = last.then(() => write({ header: header(revision), ...response }))
        return last
      },
      (error) => call.emit('error', failure(error)),
    )
    call.on('data', (request: ServedWatchRequest) => watches.take(request))
    call.on('end', () => {
      watches.close()
      if (!isGone()) call.end()
    })
    for (const event of ['cancelled', 'error', 'close']) call.on(event, () => watches.close())
  }
