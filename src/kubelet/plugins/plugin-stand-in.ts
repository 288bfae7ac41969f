/** A plugin of a node for tests: registers as one does, answers what it is told to, and notes what it is asked. */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type GrpcObject,
  type handleUnaryCall,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
  status,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { JsonObject } from '../../api/object.ts'

export type Request = JsonObject
/** By method. What has no answer is answered with an empty message. */
export type PluginAnswers = Readonly<Record<string, (request: Request) => unknown>>

export interface PluginOptions {
  readonly type: string
  readonly name: string
  readonly versions: readonly string[]
  /** Where kubelets look for the sockets of plugins. */
  readonly registry: string
  /** Of its own socket. */
  readonly folder: string
  /** The file of protos/ and the service in it. */
  readonly proto: string
  readonly service: string
  readonly answers: PluginAnswers
  readonly asked?: ((method: string, request: Request) => void) | undefined
}

export async function startPlugin(options: PluginOptions): Promise<{ stop(): void }> {
  const { type, name, versions, registry, folder, answers } = options
  mkdirSync(folder, { recursive: true })
  const endpoint = join(folder, 'plugin.sock')
  const registration = join(registry, `${name}-reg.sock`)
  const all: PluginAnswers = { GetInfo: () => ({ type, name, endpoint, supported_versions: versions }), ...answers }

  async function serve(socket: string, proto: string, path: string): Promise<Server> {
    rmSync(socket, { force: true })
    const server = new Server()
    const file = fileURLToPath(new URL(`../runtimes/cri/protos/${proto}.proto`, import.meta.url))
    const loaded = loadPackageDefinition(
      loadSync(file, { keepCase: true, longs: Number, enums: String, defaults: true, oneofs: false }),
    )
    const { service } = path
      .split('.')
      .reduce<unknown>((at, part) => (at as GrpcObject)[part], loaded) as ServiceClientConstructor
    const methods = Object.values(service).map(({ path: full }) => {
      const method = full.slice(full.lastIndexOf('/') + 1)
      const handler: handleUnaryCall<Request, unknown> = ({ request }, done) => {
        options.asked?.(method, request)
        try {
          done(null, all[method]?.(request) ?? {})
        } catch (error) {
          done({ code: status.INTERNAL, details: (error as Error).message })
        }
      }
      return [method, handler]
    })
    server.addService(service, Object.fromEntries(methods))
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      ),
    )
    return server
  }

  const plugin = await serve(endpoint, options.proto, options.service)
  const registrar = await serve(registration, 'registration', 'pluginregistration.Registration')
  return {
    stop() {
      registrar.forceShutdown()
      plugin.forceShutdown()
      for (const socket of [registration, endpoint]) rmSync(socket, { force: true })
    },
  }
}
