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
import { createMetrics } from '../../base/metrics.ts'
import type { Storage } from '../storage.ts'
import { EtcdError } from './errors.ts'
import { asJsonAnswer, type JsonAnswer, jsonFailure, rangeOfJson } from './served/json.ts'
import { answerRange, type ServedRange } from './served/range.ts'
import { type ReadStore, underPrefix } from './served/under-prefix.ts'
import { type ServedWatchRequest, serveWatches } from './served/watch.ts'

export interface ServedEtcd {
  /** A connection of gRPC (HTTP/2 without TLS), of a client of etcd. */
  take(connection: Duplex): void
  /** The same API as JSON: what is answered to a POST of `body` at `path`. undefined for what is none of its paths. */
  json(path: string, body: string): Promise<JsonAnswer> | undefined
  /** What etcd would say of itself at /metrics, as far as it holds here. */
  metrics(): Promise<string>
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

/** `version`: the etcd that it stands for. `prefix`: what keys begin with there. */
export function serveEtcd(storage: Storage, version: string, prefix = '/registry'): ServedEtcd {
  const store: ReadStore = prefix === '/registry' ? storage : underPrefix(storage, prefix)
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
  const range = async (request: ServedRange) => {
    const { revision, ...answer } = await answerRange(store, request)
    return { header: header(revision), ...answer }
  }
  const statusOf = async () => {
    const size = await sizeOf(store)
    const { revision } = store
    return {
      ...{ header: header(revision), version, leader: MEMBER, raftTerm: TERM, raftIndex: revision },
      ...{ raftAppliedIndex: revision, dbSize: size, dbSizeInUse: size },
    }
  }
  const members = async () => ({
    header: header(),
    members: [{ ID: MEMBER, name: 'default', peerURLs: [], clientURLs: [] }],
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
  serve('KV', 'Range', unary(range))
  serve('Watch', 'Watch', watching(store, header))
  serve('Maintenance', 'Status', unary(statusOf))
  serve('Cluster', 'MemberList', unary(members))
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
    json(path, body) {
      if (path === '/v3/kv/range') return asJsonAnswer(() => range(rangeOfJson(body)))
      if (path === '/v3/maintenance/status') return asJsonAnswer(statusOf)
      if (path === '/v3/cluster/member/list') return asJsonAnswer(members)
      if (!path.startsWith('/v3/')) return undefined
      if (/^\/v3\/(kv|lease|watch|cluster|maintenance|auth)\b/.test(path))
        return Promise.resolve(jsonFailure(status.PERMISSION_DENIED, `etcdserver: ${READ_ONLY}`))
      return Promise.resolve(jsonFailure(status.NOT_FOUND, 'Not Found'))
    },
    metrics: async () => metricsOf(version, store, await sizeOf(store)),
    stop: () => {
      injector.destroy()
      server.forceShutdown()
    },
  }
}

/** A store in memory has no file: then the bytes of what it holds. */
async function sizeOf(store: ReadStore): Promise<number> {
  const size = await store.size?.()
  if (size !== undefined) return size
  const { items } = await store.range('\0', '\uffff')
  return items.reduce((sum, { key, value }) => sum + key.length + value.byteLength, 0)
}

function metricsOf(version: string, store: ReadStore, size: number): string {
  const metrics = createMetrics()
  metrics.gauge('etcd_server_version', 'Which version is running.', ['server_version']).child(version).set(1)
  const one = (name: string, help: string, value: number) => metrics.gauge(name, help).child().set(value)
  one('etcd_server_has_leader', 'Whether or not a leader exists.', 1)
  one('etcd_server_is_leader', 'Whether or not this member is a leader.', 1)
  one('etcd_mvcc_db_total_size_in_bytes', 'Bytes of what is stored.', size)
  one('etcd_mvcc_db_total_size_in_use_in_bytes', 'Bytes of what is stored and in use.', size)
  one('etcd_debugging_mvcc_current_revision', 'The newest revision.', store.revision)
  one('etcd_debugging_mvcc_compact_revision', 'The last compacted revision.', store.compactedRevision)
  return metrics.text()
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
  (store: ReadStore, header: (revision: number) => object): handleBidiStreamingCall<ServedWatchRequest, object> =>
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
