/**
 * kubelet.sock, at which device plugins register (the device plugin API, v1beta1): each names its resource and the socket beside this one at
 * which it serves. Sockets of earlier plugins are removed at the start, by which those that run see that they have to register anew.
 */
import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type sendUnaryData, status } from '@grpc/grpc-js'
import { isExtendedResource } from '../../api/names/resource-names.ts'
import { messageOf } from '../../base/errors.ts'
import { serveAt } from '../server/local-socket.ts'

export interface PluginRegistration {
  readonly resource: string
  /** The path of its socket. */
  readonly socket: string
}

interface RegisterRequest {
  readonly version: string
  readonly endpoint: string
  readonly resource_name: string
}

export const VERSION = 'v1beta1'

/** `accept`: resolves once the plugin is known. Ends with the signal. @throws Error when the socket cannot be made */
export async function servePluginRegistrations(
  folder: string,
  accept: (plugin: PluginRegistration) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (lstatSync(path).isSocket()) rmSync(path, { force: true })
  }
  const methods = {
    Register({ request }: { readonly request: RegisterRequest }, done: sendUnaryData<object>) {
      registrationOf(folder, request)
        .then(accept)
        .then(
          () => done(null, {}),
          (error: unknown) => done({ code: status.UNKNOWN, details: messageOf(error) }),
        )
    },
  }
  const service = { proto: 'deviceplugin', name: 'v1beta1.Registration', methods }
  await serveAt(join(folder, 'kubelet.sock'), [service], signal)
}

/** What is wrong with it its plugin is told; its socket is one of the folder, whatever it says. */
async function registrationOf(folder: string, request: RegisterRequest): Promise<PluginRegistration> {
  const { version, endpoint, resource_name: resource } = request
  if (version !== VERSION) throw new Error(`version ${JSON.stringify(version)} is not supported: use ${VERSION}`)
  if (!isExtendedResource(resource))
    throw new Error(`${JSON.stringify(resource)} is no name of an extended resource, as example.com/device`)
  if (!/^[^/\0]+$/.test(endpoint) || endpoint === '.' || endpoint === '..' || endpoint === 'kubelet.sock')
    throw new Error(`${JSON.stringify(endpoint)} is no name of a socket in this folder`)
  return { resource, socket: join(folder, endpoint) }
}
