/**
 * A plugin of KMS v2 (KEP-3299) at its unix socket, asked by gRPC. Each call has the provider's timeout, and waits so long for a plugin that
 * is not there.
 */
import { fileURLToPath } from 'node:url'
import {
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { exponentialBuckets } from '../../../base/metrics.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { socketProblem } from '../../../http/socket-problem.ts'
import type { WrappedKey } from './encrypted-object.ts'

/** Beside this file in sources, beside the code in bundles. */
const PROTO = new URL('./protos/kms.proto', import.meta.url)

export interface KmsSettings {
  readonly name: string
  /** The path of the socket; one that begins with @ is of Linux' abstract names. */
  readonly path: string
  readonly timeoutMs: number
}

export interface KmsStatus {
  readonly version: string
  readonly healthz: string
  readonly keyId: string
}

export interface KmsService {
  /** @throws KmsError, as all do */
  status(): Promise<KmsStatus>
  /** Wraps a key. */
  encrypt(uid: string, plain: Uint8Array): Promise<Pick<WrappedKey, 'source' | 'keyId' | 'annotations'>>
  /** Unwraps one. */
  decrypt(uid: string, key: WrappedKey): Promise<Uint8Array>
  close(): void
}

/** In the words of Go's gRPC. */
export class KmsError extends Error {}

type Method = 'Status' | 'Encrypt' | 'Decrypt'

const LATENCIES = exponentialBuckets(0.0001, 2, 20)

export function connectKms({ machineClock: clock, metrics }: Runtime, settings: KmsSettings): KmsService {
  const { name, path, timeoutMs } = settings
  const loaded = loadPackageDefinition(
    loadSync(fileURLToPath(PROTO), { keepCase: true, longs: Number, defaults: true, oneofs: false }),
  )
  const Client = (loaded['v2'] as GrpcObject)['KeyManagementService'] as ServiceClientConstructor
  const client = new Client(
    path.startsWith('@') ? `unix-abstract:${path.slice(1)}` : `unix:${path}`,
    credentials.createInsecure(),
    {
      'grpc.default_authority': 'localhost',
      'grpc.initial_reconnect_backoff_ms': 1000,
      'grpc.max_reconnect_backoff_ms': 5000,
      'grpc.enable_retries': 0,
    },
  )
  const latency = metrics?.histogram(
    'apiserver_envelope_encryption_kms_operations_latency_seconds',
    'Time of a call to a KMS plugin, in seconds.',
    ['provider_name', 'method_name', 'grpc_status_code'],
    LATENCIES,
  )

  function call<Answer>(method: Method, request: object): Promise<Answer> {
    const began = clock.monotonic()
    const observe = (code: string) =>
      latency?.child(name, `/v2.KeyManagementService/${method}`, code).observe((clock.monotonic() - began) / 1000)
    return new Promise<Answer>((resolve, reject) => {
      const asked: unknown = client[method]
      if (typeof asked !== 'function') throw new Error(`a KMS plugin has no method ${method}`)
      const options = { deadline: clock.now() + timeoutMs }
      asked.call(
        client,
        request,
        new Metadata({ waitForReady: true }),
        options,
        (error: ServiceError | null, answer: Answer) => {
          observe(codeName(error?.code ?? status.OK))
          if (error === null) return resolve(answer)
          wordsOf(error, path).then((words) => reject(new KmsError(words, { cause: error })))
        },
      )
    })
  }

  return {
    async status() {
      const answer = await call<{ version: string; healthz: string; key_id: string }>('Status', {})
      return { version: answer.version, healthz: answer.healthz, keyId: answer.key_id }
    },
    async encrypt(uid, plaintext) {
      const answer = await call<{ ciphertext: Buffer; key_id: string; annotations: Record<string, Buffer> }>(
        'Encrypt',
        { uid, plaintext },
      )
      return { source: answer.ciphertext, keyId: answer.key_id, annotations: answer.annotations }
    },
    async decrypt(uid, { source, keyId, annotations }) {
      const request = { uid, ciphertext: source, key_id: keyId, annotations }
      return (await call<{ plaintext: Buffer }>('Decrypt', request)).plaintext
    },
    close: () => client.close(),
  }
}

/** `DeadlineExceeded` of DEADLINE_EXCEEDED. */
function codeName(code: status): string {
  const name = status[code] ?? 'UNKNOWN'
  if (name === 'OK') return name
  if (name === 'CANCELLED') return 'Canceled'
  return name.replace(/([A-Z])([A-Z]*)_?/g, (_all, first: string, rest: string) => first + rest.toLowerCase())
}

async function wordsOf(error: ServiceError, path: string): Promise<string> {
  const why = error.code === status.DEADLINE_EXCEEDED ? await whyNotConnected(path) : error.details
  return `rpc error: code = ${codeName(error.code)} desc = ${why}`
}

/** Of a call that was not answered in its time. */
async function whyNotConnected(path: string): Promise<string> {
  const why = await socketProblem(path)
  if (why === undefined) return 'context deadline exceeded'
  return `latest balancer error: connection error: desc = "transport: Error while dialing: dial unix ${path}: connect: ${why}"`
}
