/** A plugin of KMS v2 for tests: wraps what it is given by a mask of its key, and answers as it is told to. */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type GrpcObject,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const PROTO = fileURLToPath(new URL('./protos/kms.proto', import.meta.url))

export interface PluginState {
  keyId: string
  healthz: string
  version: string
  annotations: Readonly<Record<string, Buffer>>
  /** What a method is answered with in place of its answer. */
  failing: Partial<Record<'Status' | 'Encrypt' | 'Decrypt', string>>
  /** Methods that are never answered. */
  silent: readonly string[]
  /** The key that Encrypt names, where that is another than Status'. */
  encryptKeyId: string | undefined
}

interface Asked {
  readonly method: string
  readonly request: Readonly<Record<string, unknown>>
}

/** What it wraps and unwraps with: the key's bytes over and over. */
export function masked(keyId: string, bytes: Uint8Array): Buffer {
  const mask = createHash('sha512').update(keyId).digest()
  return Buffer.from(bytes.map((byte, i) => byte ^ (mask[i % mask.length] as number)))
}

export async function startKmsPlugin(socket: string, initially: Partial<PluginState> = {}) {
  rmSync(socket, { force: true })
  const state: PluginState = {
    keyId: 'one',
    healthz: 'ok',
    version: 'v2',
    annotations: {},
    failing: {},
    silent: [],
    encryptKeyId: undefined,
    ...initially,
  }
  const asked: Asked[] = []
  const loaded = loadPackageDefinition(loadSync(PROTO, { keepCase: true, longs: Number, defaults: true }))
  const { service } = (loaded['v2'] as GrpcObject)['KeyManagementService'] as ServiceClientConstructor
  const answers: Readonly<Record<string, (request: Record<string, never>) => unknown>> = {
    Status: () => ({ version: state.version, healthz: state.healthz, key_id: state.keyId }),
    Encrypt: ({ plaintext = new Uint8Array() }) => {
      const keyId = state.encryptKeyId ?? state.keyId
      return { ciphertext: masked(keyId, plaintext), key_id: keyId, annotations: state.annotations }
    },
    Decrypt: ({ ciphertext = new Uint8Array(), key_id = '' }) => ({ plaintext: masked(key_id, ciphertext) }),
  }
  const methods = Object.fromEntries(
    Object.entries(answers).map(([method, answer]) => [
      method,
      ({ request }: { readonly request: Record<string, never> }, done: sendUnaryData<unknown>) => {
        asked.push({ method, request })
        if (state.silent.includes(method)) return
        const failure = state.failing[method as 'Status']
        if (failure !== undefined) done({ code: status.UNKNOWN, details: failure })
        else done(null, answer(request))
      },
    ]),
  )
  const server = new Server()
  server.addService(service, methods)
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  )
  return {
    state,
    asked,
    stop() {
      server.forceShutdown()
      rmSync(socket, { force: true })
    },
  }
}
