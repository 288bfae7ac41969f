/**
 * A device plugin for tests: registers with a kubelet as one does, tells of its devices, gives a container those it gets as a variable, a mount
 * and a device file, and notes what it is asked. As a program (`node plugin-stand-in.ts RESOURCE FOLDER DEVICES`) it prints that, a line each;
 * the file DEVICES holds a line for each device, `ID`, `ID Unhealthy` or, with the nodes of memory that it is near to, `ID Healthy 0,1`, and is
 * read again when it changes.
 */
import { existsSync, readFileSync, rmSync, watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type GrpcObject,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type ServiceClientConstructor,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { Json, JsonObject } from '../../api/object.ts'
import { asList, asObject, asText } from '../../api/unchecked.ts'
import { liveClock } from '../../base/live-clock.ts'
import { connect } from '../runtimes/cri/connection.ts'

export interface DeviceOfPlugin {
  readonly ID: string
  readonly health: string
  readonly topology?: { readonly nodes: readonly { readonly ID: number }[] }
}

export interface DevicePluginOptions {
  readonly resource: string
  /** Where kubelet.sock is. */
  readonly folder: string
  readonly devices: readonly DeviceOfPlugin[]
  readonly asked?: (method: string, request: JsonObject) => void
  /** By method: instead of the usual ones. */
  readonly answers?: Readonly<Record<string, (request: JsonObject) => unknown>>
  /** Default: both are wanted. */
  readonly wants?: { readonly pre_start_required: boolean; readonly get_preferred_allocation_available: boolean }
  /** Default: one of its resource's name. */
  readonly endpoint?: string
  readonly version?: string
}

export interface DevicePluginStandIn {
  /** Of now on. */
  tell(devices: readonly DeviceOfPlugin[]): void
  /** @throws Error what the kubelet says */
  register(): Promise<void>
  stop(): void
}

const requestsIn = (request: JsonObject) => asList(request['container_requests']).map((one) => asObject(one))
const idsIn = (list: Json | undefined) => asList(list).map((id) => asText(id))

/** It prefers the last devices by name. */
function preferred(request: JsonObject): unknown {
  return {
    container_responses: requestsIn(request).map((one) => {
      const must = idsIn(one['must_include_deviceIDs'])
      const others = idsIn(one['available_deviceIDs']).filter((id) => !must.includes(id))
      return { deviceIDs: [...must, ...others.toSorted().reverse()].slice(0, Number(one['allocation_size'])) }
    }),
  }
}

function allocated(request: JsonObject): unknown {
  return {
    container_responses: requestsIn(request).map((one) => {
      const ids = idsIn(one['devices_ids']).toSorted().join()
      return {
        envs: { DEVICES: ids },
        mounts: [{ container_path: '/etc/of-the-device', host_path: '/etc/hostname', read_only: true }],
        devices: [{ container_path: '/dev/of-the-plugin', host_path: '/dev/null', permissions: 'rw' }],
        annotations: { 'example.test/devices': ids },
        cdi_devices: [],
      }
    }),
  }
}

export async function startDevicePlugin(options: DevicePluginOptions): Promise<DevicePluginStandIn> {
  const { resource, folder, answers = {}, asked = () => {} } = options
  const { endpoint = `${resource.replaceAll('/', '-')}.sock`, version = 'v1beta1' } = options
  const wants = options.wants ?? { pre_start_required: true, get_preferred_allocation_available: true }
  let { devices } = options
  const watchers = new Set<ServerWritableStream<JsonObject, unknown>>()
  const file = fileURLToPath(new URL('../runtimes/cri/protos/deviceplugin.proto', import.meta.url))
  const loaded = loadPackageDefinition(loadSync(file, { keepCase: true, longs: Number, enums: String, defaults: true }))
  const { service } = (loaded['v1beta1'] as GrpcObject)['DevicePlugin'] as ServiceClientConstructor
  const usual: DevicePluginOptions['answers'] = {
    GetDevicePluginOptions: () => wants,
    GetPreferredAllocation: preferred,
    Allocate: allocated,
    PreStartContainer: () => ({}),
  }
  const unary = (method: string) => (call: { readonly request: JsonObject }, done: sendUnaryData<unknown>) => {
    asked(method, call.request)
    try {
      done(null, (answers[method] ?? usual[method])?.(call.request) ?? {})
    } catch (error) {
      done({ code: status.UNKNOWN, details: (error as Error).message })
    }
  }
  const server = new Server()
  server.addService(service, {
    ...Object.fromEntries(Object.keys(usual).map((method) => [method, unary(method)])),
    ListAndWatch(call: ServerWritableStream<JsonObject, unknown>) {
      asked('ListAndWatch', call.request)
      watchers.add(call)
      call.on('cancelled', () => watchers.delete(call))
      call.write({ devices })
    },
  })
  const socket = join(folder, endpoint)
  rmSync(socket, { force: true })
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  )
  return {
    tell(now) {
      devices = now
      for (const watcher of watchers) watcher.write({ devices })
    },
    async register() {
      const kubelet = connect(liveClock(), `unix://${join(folder, 'kubelet.sock')}`, 'deviceplugin')
      try {
        await kubelet.call('Register', { version, endpoint, resource_name: resource, options: wants })
      } finally {
        kubelet.close()
      }
    },
    stop() {
      server.forceShutdown()
      rmSync(socket, { force: true })
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [resource = '', folder = '', file = ''] = process.argv.slice(2)
  const say = (method: string, request: unknown) => process.stdout.write(`${method} ${JSON.stringify(request)}\n`)
  const read = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [ID = '', health = 'Healthy', nodes] = line.split(' ')
        if (nodes === undefined) return { ID, health }
        return { ID, health, topology: { nodes: nodes.split(',').map((node) => ({ ID: Number(node) })) } }
      })
  let plugin = await begin()
  watch(dirname(file), (_, name) => {
    if (name === basename(file)) plugin.tell(read())
  })
  // A kubelet that starts takes the plugin's socket away and makes its own anew.
  let isBeginning = false
  watch(folder, async (_, name) => {
    if (isBeginning || name !== 'kubelet.sock' || !existsSync(join(folder, 'kubelet.sock'))) return
    isBeginning = true
    plugin.stop()
    plugin = await begin()
    isBeginning = false
  })

  async function begin(): Promise<DevicePluginStandIn> {
    const begun = await startDevicePlugin({ resource, folder, devices: read(), asked: say })
    await begun.register().then(
      () => say('registered', {}),
      (error: unknown) => say('refused', String(error)),
    )
    return begun
  }
}
