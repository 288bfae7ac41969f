/**
 * A CSI driver for tests: registers as one does, notes what it is asked, and publishes a folder of its own for each volume by a bind mount where
 * it may mount. As a program (`node driver-stand-in.ts NAME REGISTRY FOLDER`) it prints what it is asked, a line each.
 */
import { execFileSync } from 'node:child_process'
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

type Request = Readonly<Record<string, unknown>>

export interface DriverOptions {
  readonly name: string
  /** Where kubelets look for the sockets of plugins. */
  readonly registry: string
  /** Of its own socket, and what its volumes hold. */
  readonly folder: string
  /** By method. What has no answer is answered with an empty message. */
  readonly answers?: Readonly<Record<string, (request: Request) => unknown>>
  readonly asked?: (method: string, request: Request) => void
  /** Binds what it publishes. */
  readonly mounts?: boolean
}

export async function startDriver(options: DriverOptions): Promise<{ stop(): void }> {
  const { name, registry, folder, answers = {}, mounts = false } = options
  mkdirSync(folder, { recursive: true })
  const endpoint = join(folder, 'csi.sock')
  const registration = join(registry, `${name}-reg.sock`)
  const usual: typeof answers = {
    GetInfo: () => ({ type: 'CSIPlugin', name, endpoint, supported_versions: ['1.0.0'] }),
    NodeGetInfo: () => ({
      node_id: 'id-of-node',
      max_volumes_per_node: 3,
      accessible_topology: { segments: { 'example.test/zone': 'z' } },
    }),
    NodeGetCapabilities: () => ({
      capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'].map((type) => ({ rpc: { type } })),
    }),
    NodePublishVolume({ volume_id, target_path }) {
      const [source, target] = [join(folder, String(volume_id)), String(target_path)]
      mkdirSync(source, { recursive: true })
      mkdirSync(target, { recursive: true })
      if (mounts) execFileSync('mount', ['--bind', source, target])
      return {}
    },
    NodeUnpublishVolume({ target_path }) {
      if (mounts) execFileSync('umount', [String(target_path)])
      rmSync(String(target_path), { recursive: true, force: true })
      return {}
    },
  }
  const serve = async (socket: string, proto: string, services: readonly (readonly string[])[]) => {
    rmSync(socket, { force: true })
    const server = new Server()
    const file = fileURLToPath(new URL(`../runtimes/cri/protos/${proto}.proto`, import.meta.url))
    const loaded = loadPackageDefinition(
      loadSync(file, { keepCase: true, longs: Number, enums: String, defaults: true, oneofs: false }),
    )
    for (const path of services) {
      const { service } = path.reduce<unknown>(
        (at, part) => (at as GrpcObject)[part],
        loaded,
      ) as ServiceClientConstructor
      server.addService(
        service,
        Object.fromEntries(
          Object.values(service).map(({ path: full }) => {
            const method = full.slice(full.lastIndexOf('/') + 1)
            const handler: handleUnaryCall<Request, unknown> = ({ request }, done) => {
              options.asked?.(method, request)
              try {
                done(null, (answers[method] ?? usual[method])?.(request) ?? {})
              } catch (error) {
                done({ code: status.INTERNAL, details: (error as Error).message })
              }
            }
            return [method, handler]
          }),
        ),
      )
    }
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      ),
    )
    return server
  }
  const driver = await serve(endpoint, 'csi', [['csi', 'v1', 'Node']])
  const registrar = await serve(registration, 'registration', [['pluginregistration', 'Registration']])
  return {
    stop() {
      registrar.forceShutdown()
      driver.forceShutdown()
      for (const socket of [registration, endpoint]) rmSync(socket, { force: true })
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name = '', registry = '', folder = ''] = process.argv
  const asked = (method: string, request: Request) => console.log(JSON.stringify([method, request]))
  const { stop } = await startDriver({ name, registry, folder, asked, mounts: true })
  process.once('SIGTERM', () => {
    stop()
    process.exit(0)
  })
}
