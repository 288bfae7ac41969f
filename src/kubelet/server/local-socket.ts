/**
 * A gRPC server at a unix socket, for what runs beside the kubelet on its machine: the registration of device plugins, pods' resources, the
 * pods themselves. Services are those of protos/.
 */
import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  type GrpcObject,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { protoFile } from '../runtimes/cri/connection.ts'

export interface LocalService {
  /** The file of protos/ that defines it. */
  readonly proto: string
  /** With its package. */
  readonly name: string
  readonly methods: UntypedServiceImplementation
}

/** What is at the path is removed; it ends with the signal, and the path with it. @throws Error when the socket cannot be made */
export async function serveAt(path: string, services: readonly LocalService[], signal: AbortSignal): Promise<void> {
  await bind(path, services, signal)
  signal.addEventListener('abort', () => rmSync(path, { force: true }), { once: true })
}

/**
 * For its owner alone, in a folder that its group may look into. No client finds the socket before that is so. @throws Error when it cannot
 * be made
 */
export async function servePrivately(
  path: string,
  services: readonly LocalService[],
  signal: AbortSignal,
): Promise<void> {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  const beside = join(folder, `.${basename(path)}.new`)
  await bind(beside, services, signal)
  chmodSync(beside, 0o600)
  renameSync(beside, path)
  signal.addEventListener('abort', () => rmSync(path, { force: true }), { once: true })
}

async function bind(path: string, services: readonly LocalService[], signal: AbortSignal): Promise<void> {
  rmSync(path, { force: true })
  const server = new Server()
  for (const { proto, name, methods } of services) server.addService(serviceOf(proto, name), methods)
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  )
  if (signal.aborted) server.forceShutdown()
  else signal.addEventListener('abort', () => server.forceShutdown(), { once: true })
}

function serviceOf(proto: string, name: string): ServiceDefinition {
  const loaded = loadPackageDefinition(
    loadSync(protoFile(proto), { keepCase: true, longs: Number, enums: String, defaults: true }),
  )
  const found = name.split('.').reduce<unknown>((at, part) => (at as GrpcObject)[part], loaded)
  return (found as ServiceClientConstructor).service
}
