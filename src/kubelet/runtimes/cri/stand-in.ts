/** A container runtime for tests: a gRPC server on a unix socket that notes what it is asked and answers what it is told to. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type GrpcObject,
  type handleServerStreamingCall,
  type handleUnaryCall,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
  status,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

interface Asked {
  readonly method: string
  readonly request: Readonly<Record<string, never>>
}

export interface RuntimeStandIn {
  readonly endpoint: string
  readonly asked: readonly Asked[]
  close(): void
}

export class StandInRefusal extends Error {
  readonly code: number
  constructor(code: keyof typeof status, message: string) {
    super(message)
    this.code = status[code]
  }
}

/**
 * By method. What has no answer is answered with an empty message; a thrown Refusal with its code. A stream is answered with a list of
 * messages and then ends; one without an answer is not implemented.
 */
export type Answers = Readonly<Record<string, (request: never) => unknown>>

export async function startRuntimeStandIn(answers: Answers): Promise<RuntimeStandIn> {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-cri-'))
  const file = fileURLToPath(new URL('./protos/runtime.proto', import.meta.url))
  const loaded = loadPackageDefinition(
    loadSync(file, { keepCase: true, longs: Number, enums: String, defaults: true, oneofs: false }),
  )
  const v1 = (loaded['runtime'] as GrpcObject)['v1'] as GrpcObject
  const server = new Server()
  const asked: Asked[] = []
  for (const name of ['RuntimeService', 'ImageService']) {
    const { service } = v1[name] as ServiceClientConstructor
    const methods = Object.values(service).filter(({ responseStream }) => !responseStream)
    const streams = Object.values(service).flatMap(({ path, responseStream }) => {
      const method = path.slice(path.lastIndexOf('/') + 1)
      const answer = answers[method]
      if (!responseStream || answer === undefined) return []
      const handler: handleServerStreamingCall<Asked['request'], unknown> = (call) => {
        asked.push({ method, request: call.request })
        for (const message of answer(call.request as never) as readonly unknown[]) call.write(message)
        call.end()
      }
      return [[method, handler] as const]
    })
    server.addService(
      service,
      Object.fromEntries<
        handleUnaryCall<Asked['request'], unknown> | handleServerStreamingCall<Asked['request'], unknown>
      >([
        ...streams,
        ...methods.map(({ path }) => {
          const method = path.slice(path.lastIndexOf('/') + 1)
          const handler: handleUnaryCall<Asked['request'], unknown> = ({ request }, done) => {
            asked.push({ method, request })
            try {
              done(null, answers[method]?.(request as never) ?? {})
            } catch (error) {
              done({ code: (error as StandInRefusal).code ?? status.UNKNOWN, details: (error as Error).message })
            }
          }
          return [method, handler] as const
        }),
      ]),
    )
  }
  const endpoint = `unix://${join(directory, 'cri.sock')}`
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  )
  return {
    endpoint,
    asked,
    close: () => {
      server.forceShutdown()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
