/**
 * A gRPC server at a unix socket, for what runs beside the kubelet on its machine: the registration of device plugins, pods' resources, the
 * pods themselves. Services are those of protos/.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
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
  rmSync(path, { force: true })
  const server = new Server()
  for (const { proto, name, methods } of services) server.addService(serviceOf(proto, name), methods)
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  )
  const end = () => {
    server.forceShutdown()
    rmSync(path, { force: true })
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
}

/** The same, in a folder that none but its owner and its group may look into. @throws Error when it cannot be made */
export async function servePrivately(
  path: string,
  services: readonly LocalService[],
  signal: AbortSignal,
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
  await serveAt(path, services, signal)
}

function serviceOf(proto: string, name: string): ServiceDefinition {
  const loaded = loadPackageDefinition(
    loadSync(protoFile(proto), { keepCase: true, longs: Number, enums: String, defaults: true }),
  )
  const found = name.split('.').reduce<unknown>((at, part) => (at as GrpcObject)[part], loaded)
  return (found as ServiceClientConstructor).service
}
