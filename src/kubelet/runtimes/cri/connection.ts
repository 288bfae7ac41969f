/**
 * A connection to a container runtime: unary calls and server streams of gRPC over a unix socket, with the services of protos/.
 * Messages are plain objects with the protocol's own field names; int64 comes as a number, enums as their names.
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
import type { Clock } from '../../../base/clock.ts'
import { RuntimeError } from '../runtime.ts'

/** Beside this file in sources, beside the code in bundles. */
const PROTOS = new URL('./protos/', import.meta.url)

/** The path of one of them. */
export const protoFile = (name: string): string => fileURLToPath(new URL(`${name}.proto`, PROTOS))

export type Message = Readonly<Record<string, unknown>>

export interface CallOptions {
  /** Milliseconds; default two minutes, as kubelets have it. 0: no limit. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface Connection {
  /** @throws RuntimeError with the runtime's message, or the signal's reason */
  call<Answer>(method: string, request: Message, options?: CallOptions): Promise<Answer>
  /** Messages until the signal is aborted or the other side ends. @throws RuntimeError */
  stream<Answer>(method: string, request: Message, signal: AbortSignal, take: (answer: Answer) => void): Promise<void>
  /** Sends these, one after the other has been taken, and gives what comes back. @throws RuntimeError */
  exchange<Answer>(method: string, requests: AsyncIterable<Message>): Promise<readonly Answer[]>
  close(): void
}

const TIMEOUT_MS = 120_000
/** Lists of a full node are large. */
const LARGEST_MESSAGE = 64 * 1024 * 1024

/** By the file of protos/ that defines them. */
const SERVICES = {
  runtime: ['runtime.v1.RuntimeService', 'runtime.v1.ImageService'],
  content: ['containerd.services.content.v1.Content'],
  images: ['containerd.services.images.v1.Images'],
  introspection: ['containerd.services.introspection.v1.Introspection'],
  leases: ['containerd.services.leases.v1.Leases'],
  csi: ['csi.v1.Node'],
  registration: ['pluginregistration.Registration'],
  dra: ['k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin'],
  'dra-v1beta1': ['k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin'],
  deviceplugin: ['v1beta1.Registration', 'v1beta1.DevicePlugin'],
} as const

/** The services of one file; their methods are told apart by name. Nothing is connected before the first call. */
export function connect(
  clock: Clock,
  endpoint: string,
  proto: keyof typeof SERVICES,
  metadata: Readonly<Record<string, string>> = {},
): Connection {
  const definition = loadSync(protoFile(proto), {
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: false,
  })
  const loaded = loadPackageDefinition(definition)
  const clients = SERVICES[proto].map((name: string) => {
    const Client = name.split('.').reduce<unknown>((at, part) => (at as GrpcObject)[part], loaded)
    return new (Client as ServiceClientConstructor)(endpoint, credentials.createInsecure(), {
      'grpc.max_receive_message_length': LARGEST_MESSAGE,
      'grpc.max_send_message_length': LARGEST_MESSAGE,
      // Over a unix socket the name of the other side is a path, which is no host.
      'grpc.default_authority': 'localhost',
    })
  })
  const sent = new Metadata()
  for (const [key, value] of Object.entries(metadata)) sent.set(key, value)

  const find = (method: string) => {
    for (const client of clients) {
      const found = (client as unknown as Readonly<Record<string, unknown>>)[method]
      if (typeof found === 'function') return found.bind(client) as (...args: unknown[]) => never
    }
    throw new Error(`no service of ${endpoint} has a method ${method}`)
  }

  return {
    call<Answer>(method: string, request: Message, { timeoutMs = TIMEOUT_MS, signal }: CallOptions = {}) {
      return new Promise<Answer>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const options = timeoutMs > 0 ? { deadline: clock.now() + timeoutMs } : {}
        const cancel = () => call.cancel()
        const call: { cancel(): void } = find(method)(
          request,
          sent,
          options,
          (error: ServiceError | null, answer: Answer) => {
            signal?.removeEventListener('abort', cancel)
            if (error === null) resolve(answer)
            else reject(signal?.aborted === true ? signal.reason : runtimeError(error))
          },
        )
        signal?.addEventListener('abort', cancel, { once: true })
      })
    },
    stream<Answer>(method: string, request: Message, signal: AbortSignal, take: (answer: Answer) => void) {
      return new Promise<void>((resolve, reject) => {
        if (signal.aborted) return resolve()
        const call: NodeJS.ReadableStream & { cancel(): void } = find(method)(request, sent)
        const cancel = () => call.cancel()
        signal.addEventListener('abort', cancel, { once: true })
        const over = (error?: unknown) => {
          signal.removeEventListener('abort', cancel)
          if (error === undefined || signal.aborted) resolve()
          else reject(runtimeError(error as ServiceError))
        }
        call.on('data', take)
        call.on('error', over)
        call.on('end', () => over())
      })
    },
    async exchange<Answer>(method: string, requests: AsyncIterable<Message>) {
      const call: NodeJS.ReadWriteStream & { cancel(): void } = find(method)(sent)
      const answers: Answer[] = []
      call.on('data', (answer: Answer) => answers.push(answer))
      const ended = new Promise<void>((resolve, reject) => {
        call.on('error', (error) => reject(runtimeError(error as ServiceError)))
        call.on('end', resolve)
      })
      ended.catch(() => {})
      try {
        for await (const request of requests)
          if (!call.write(request as never))
            await Promise.race([new Promise((resolve) => call.once('drain', resolve)), ended])
        call.end()
        await ended
        return answers
      } catch (error) {
        call.cancel()
        throw error
      }
    },
    close: () => {
      for (const client of clients) client.close()
    },
  }
}

/** What the runtime says, without gRPC's own words; the code is for callers. */
export class RuntimeCallError extends RuntimeError {
  readonly code: status

  constructor(message: string, code: status) {
    super(message)
    this.code = code
  }
}

const runtimeError = (error: ServiceError) =>
  new RuntimeCallError(dialFailure(error.details) ?? (error.details || error.message), error.code)

const DIAL_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
}

/** That nothing answers at the socket, in the words of a kubelet. */
export function dialFailure(details: string): string | undefined {
  const [, code = '', path] =
    /^No connection established\. Last error: (?:Error: )?connect (E\w+) (.*?)\. Resolution note/s.exec(details) ?? []
  const problem = DIAL_PROBLEMS[code]
  if (problem === undefined) return undefined
  return `connection error: desc = ${JSON.stringify(`transport: Error while dialing: dial unix ${path}: connect: ${problem}`)}`
}

export const isRpcNotFound = (error: unknown): boolean =>
  error instanceof RuntimeCallError && error.code === status.NOT_FOUND
export const isUnimplemented = (error: unknown): boolean =>
  error instanceof RuntimeCallError && error.code === status.UNIMPLEMENTED
export const isRpcAlreadyExists = (error: unknown): boolean =>
  error instanceof RuntimeCallError && error.code === status.ALREADY_EXISTS
/** Of a containerd too that has just begun: it answers nothing else until it knows its containers again. */
export const isRpcUnknown = (error: unknown): boolean =>
  error instanceof RuntimeCallError && error.code === status.UNKNOWN
export const codeOf = (error: unknown): string =>
  codeName(error instanceof RuntimeCallError ? error.code : status.UNKNOWN)

/** `Unknown`, `NotFound`, `Code(17)`: as Go's gRPC writes it. */
export function codeName(code: status): string {
  if (code === status.OK) return 'OK'
  if (code === status.CANCELLED) return 'Canceled'
  return (status[code] ?? `Code(${code >>> 0})`)
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('')
}
export const isOutOfTime = (error: unknown): boolean =>
  error instanceof RuntimeCallError && error.code === status.DEADLINE_EXCEEDED
