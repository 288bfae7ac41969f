/**
 * Devices that plugins offer as extended resources (API concept: device plugins, v1beta1). A plugin tells of its devices and their health; the
 * Node's capacity and allocatable count them; a pod that asks for some is admitted once its containers have them, and gives them back when it
 * has ended.
 */
import type { ContainerStatus } from '../../api/generated/types.ts'
import { quantityValue } from '../../api/objects/quantity.ts'
import { isExtendedResource } from '../../api/validation/resource-names.ts'
import type { Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { oneByOne } from '../../base/one-by-one.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type Container, type Pod, specOf, uidOf } from '../pod.ts'
import type { AdmissionRefusal } from '../pod-admission.ts'
import type { PluginDevice } from '../pod-resources/pod-resources.ts'
import { type Connection, codeOf, connect } from '../runtimes/cri/connection.ts'
import type { ContainerAllocation, GivenDevices, GivenDevicesFile } from './given-devices.ts'
import { type PluginRegistration, servePluginRegistrations } from './plugin-registrar.ts'

export interface DevicePlugins {
  /** Sets aside what the pod asks for. Why it cannot be had; undefined: it is, or nothing is asked for. */
  reserve(pod: Pod): AdmissionRefusal | undefined
  /** The pod has something set aside that plugins have not been asked for yet. */
  isReserved(uid: string): boolean
  /** Asks the plugins for what is set aside. Resolves to why a plugin does not give it. */
  allocate(pod: Pod): Promise<AdmissionRefusal | undefined>
  /** What the runtime is to do for a container that begins; its plugins have been told. @throws Error what a plugin says */
  begin(pod: Pod, container: Container): Promise<readonly ContainerAllocation[]>
  /** Of a container's status. Undefined: it has no devices. */
  health(uid: string, container: string): ContainerStatus['allocatedResourcesStatus']
  /** The pod has ended. */
  forget(uid: string): void
  /** For the Node's status, by resource. */
  amounts(): { readonly capacity: Amounts; readonly allocatable: Amounts }
  /** Whether plugins offer it, or did. */
  offers(resource: string): boolean
  /** What a container has. */
  given(uid: string, container: string): readonly PluginDevice[]
  /** What may be given to containers, given or not. */
  allocatable(): readonly PluginDevice[]
  /** What pods that are no longer known have is free. */
  forgetUnknown(isKnown: (uid: string) => boolean): void
  listen(listener: DeviceListener): void
  /** Takes plugins in until the signal is aborted. @throws Error when the socket cannot be made */
  run(folder: string, signal: AbortSignal): Promise<void>
}

export interface DeviceListener {
  /** The amounts may have changed. */
  changed(): void
  /** That of devices of these pods has. */
  healthChanged(uids: readonly string[]): void
}

type Amounts = Readonly<Record<string, string>>

interface Options {
  readonly pre_start_required: boolean
  readonly get_preferred_allocation_available: boolean
}
interface Device {
  readonly ID: string
  readonly health: string
  readonly topology?: { readonly nodes: readonly { readonly ID: number }[] } | null
}
interface Plugin {
  readonly socket: string
  readonly connection: Connection
  readonly options: Options
}
interface Resource {
  plugin: Plugin | undefined
  /** By id, as told last. */
  devices: ReadonlyMap<string, Device>
}

const DIAL_MS = 10_000
const PRE_START_MS = 30_000
/** A plugin that is away for so long does not come back. */
const STOPPED_MS = 300_000

const UNEXPECTED = 'UnexpectedAdmissionError'
const refusal = (why: string): AdmissionRefusal => ({
  reason: UNEXPECTED,
  message: `Allocate failed due to ${why}, which is unexpected`,
})

const numaNodesOf = (device: Device | undefined): readonly number[] | undefined =>
  device?.topology?.nodes.map(({ ID }) => ID)

/** Pods had some of it, but its plugin was away for too long. */
const unregistered = (resource: string) => `cannot allocate unregistered device ${resource}`

/** What a container asks for, in whole devices. */
const wantsOf = ({ resources }: Container): readonly (readonly [resource: string, count: number])[] =>
  Object.entries(resources?.limits ?? {}).flatMap(([name, amount]) => {
    const count = isExtendedResource(name) ? Number(quantityValue(String(amount))) : 0
    return count > 0 ? [[name, count] as const] : []
  })

/** In the order in which they begin. What one that ends before the others has is theirs too. */
const containersOf = (pod: Pod): readonly { readonly container: Container; readonly leaves: boolean }[] => {
  const { containers, initContainers = [] } = specOf(pod)
  return [
    ...initContainers.map((container) => ({ container, leaves: container.restartPolicy !== 'Always' })),
    ...containers.map((container) => ({ container, leaves: false })),
  ]
}

/** @throws Error when the file is damaged */
export function createDevicePlugins(runtime: Runtime, file: GivenDevicesFile): DevicePlugins {
  const { clock, log } = runtime
  const kept = file.read()
  let given = kept.given
  /** Those that a plugin has registered for, and has not been away for too long. */
  const resources = new Map(
    kept.resources.map((name): [string, Resource] => [name, { plugin: undefined, devices: new Map() }]),
  )
  /** Those whose plugins have been. */
  const removed = new Set<string>()
  /** By resource, of those that have told of any: as they did last. */
  const toldLast = new Map<string, ReadonlyMap<string, Device>>()
  /** By uid: so many devices of each resource, which are not chosen yet. */
  const reserved = new Map<string, ReadonlyMap<string, number>>()
  const stopped = new Map<string, Timer>()
  const inTurn = oneByOne()
  let told: DeviceListener = { changed() {}, healthChanged() {} }

  const keep = () => file.write({ given, resources: [...resources.keys()] })
  const healthyOf = ({ plugin, devices }: Resource): readonly string[] =>
    plugin === undefined ? [] : [...devices.values()].filter(({ health }) => health === 'Healthy').map(({ ID }) => ID)
  const usedOf = (name: string) => new Set(given.filter(({ resource }) => resource === name).flatMap(({ ids }) => ids))
  const freeOf = (name: string, resource: Resource) => {
    const used = usedOf(name)
    return healthyOf(resource).filter((id) => !used.has(id))
  }
  /** Resources that pods of this kubelet have, or had. */
  const everGiven = new Set(given.map(({ resource }) => resource))
  const reservedOf = (name: string) => [...reserved.values()].reduce((sum, counts) => sum + (counts.get(name) ?? 0), 0)

  /** How many devices the pod needs of each resource that plugins are known of, or why not. */
  function needs(pod: Pod): ReadonlyMap<string, number> | AdmissionRefusal {
    const needed = new Map<string, number>()
    const reusable = new Map<string, number>()
    for (const { container, leaves } of containersOf(pod))
      for (const [name, count] of wantsOf(container)) {
        const resource = resources.get(name)
        if (resource === undefined) {
          if (everGiven.has(name)) return refusal(unregistered(name))
          continue
        }
        if (healthyOf(resource).length === 0)
          return refusal(`no healthy devices present; cannot allocate unhealthy devices ${name}`)
        const left = reusable.get(name) ?? 0
        const more = Math.max(0, count - left)
        const available = freeOf(name, resource).length - reservedOf(name) - (needed.get(name) ?? 0)
        if (more > available)
          return refusal(
            `requested number of devices unavailable for ${name}. Requested: ${count}, Available: ${available}`,
          )
        needed.set(name, (needed.get(name) ?? 0) + more)
        reusable.set(name, leaves ? Math.max(left, count) : Math.max(0, left - count))
      }
    return needed
  }

  async function choose(
    name: string,
    resource: Resource,
    count: number,
    reusable: readonly string[],
  ): Promise<readonly string[]> {
    const must = reusable.slice(0, count)
    const free = freeOf(name, resource)
    const available = [...free, ...must]
    if (available.length < count)
      throw new Error(
        `requested number of devices unavailable for ${name}. Requested: ${count}, Available: ${available.length}`,
      )
    if (must.length === count) return must
    const { plugin } = resource
    let liked: readonly string[] = []
    if (plugin?.options.get_preferred_allocation_available === true) {
      const wanted = { available_deviceIDs: available, must_include_deviceIDs: must, allocation_size: count }
      const answer = await plugin.connection.call<{
        readonly container_responses: readonly { readonly deviceIDs: readonly string[] }[]
      }>('GetPreferredAllocation', { container_requests: [wanted] })
      liked = answer.container_responses[0]?.deviceIDs ?? []
    }
    return [...new Set([...must, ...liked.filter((id) => available.includes(id)), ...available])].slice(0, count)
  }

  async function allocateFor(pod: Pod): Promise<void> {
    const reusable = new Map<string, readonly string[]>()
    for (const { container, leaves } of containersOf(pod))
      for (const [name, count] of wantsOf(container)) {
        const resource = resources.get(name)
        if (resource === undefined) {
          if (everGiven.has(name)) throw new Error(unregistered(name))
          continue
        }
        const left = reusable.get(name) ?? []
        const ids = await choose(name, resource, count, left)
        const { plugin } = resource
        if (plugin === undefined)
          throw new Error(`no healthy devices present; cannot allocate unhealthy devices ${name}`)
        const answer = await plugin.connection
          .call<{ readonly container_responses: readonly ContainerAllocation[] }>('Allocate', {
            container_requests: [{ devices_ids: ids }],
          })
          .catch((error: unknown) => {
            throw new Error(`rpc error: code = ${codeOf(error)} desc = ${messageOf(error)}`, { cause: error })
          })
        const [allocation] = answer.container_responses
        if (allocation === undefined)
          throw new Error(`no containers return in allocation response ${JSON.stringify(answer)}`)
        const near = ids.flatMap((id) => {
          const nodes = numaNodesOf(resource.devices.get(id))
          return nodes === undefined ? [] : [[id, nodes] as const]
        })
        const one = { podUid: uidOf(pod), container: container.name, resource: name, ids, allocation }
        given = [...given, near.length === 0 ? one : { ...one, numaNodes: Object.fromEntries(near) }]
        everGiven.add(name)
        keep()
        reusable.set(name, leaves ? [...new Set([...left, ...ids])] : left.filter((id) => !ids.includes(id)))
      }
  }

  const ofContainer = (uid: string, name: string): readonly GivenDevices[] =>
    given.filter(({ podUid, container }) => podUid === uid && container === name)

  async function accept({ resource: name, socket }: PluginRegistration, signal: AbortSignal): Promise<void> {
    const connection = connect(clock, `unix://${socket}`, 'deviceplugin')
    let options: Options
    try {
      options = await connection.call<Options>('GetDevicePluginOptions', {}, { timeoutMs: DIAL_MS })
    } catch (error) {
      connection.close()
      throw new Error(`failed to dial device plugin: ${messageOf(error)}`, { cause: error })
    }
    const resource = getOrInsertComputed(resources, name, (): Resource => ({ plugin: undefined, devices: new Map() }))
    resource.plugin?.connection.close()
    const plugin: Plugin = { socket, connection, options }
    resource.plugin = plugin
    resource.devices = new Map()
    stopped.get(name)?.cancel()
    stopped.delete(name)
    removed.delete(name)
    keep()
    log.info(0, 'A device plugin has registered', { resource: name })
    void follow(name, resource, plugin, signal)
  }

  /** Until its stream of devices ends. */
  async function follow(name: string, resource: Resource, plugin: Plugin, signal: AbortSignal): Promise<void> {
    try {
      await plugin.connection.stream<{ readonly devices: readonly Device[] }>(
        'ListAndWatch',
        {},
        signal,
        ({ devices }) => {
          if (resource.plugin === plugin) tell(name, resource, devices)
        },
      )
    } catch (error) {
      if (!signal.aborted) log.info(0, 'A device plugin has ended', { resource: name, err: messageOf(error) })
    }
    plugin.connection.close()
    // Another has taken its place.
    if (signal.aborted || resource.plugin !== plugin) return
    resource.plugin = undefined
    awaitReturn(name)
    told.changed()
  }

  function awaitReturn(name: string): void {
    const timer = clock.setTimer(STOPPED_MS, 'a device plugin stays away', () => {
      stopped.delete(name)
      resources.delete(name)
      removed.add(name)
      keep()
      told.changed()
    })
    stopped.set(name, timer)
  }

  function tell(name: string, resource: Resource, devices: readonly Device[]): void {
    const before = resource.devices
    resource.devices = new Map(devices.map((device) => [device.ID, device]))
    toldLast.set(name, resource.devices)
    const isOther = (id: string) => before.get(id)?.health !== resource.devices.get(id)?.health
    const uids = given.filter((one) => one.resource === name && one.ids.some(isOther)).map(({ podUid }) => podUid)
    told.changed()
    if (uids.length > 0) told.healthChanged([...new Set(uids)])
  }

  return {
    reserve(pod) {
      if (given.some(({ podUid }) => podUid === uidOf(pod))) return undefined
      const found = needs(pod)
      if ('reason' in found) return found
      if (found.size > 0) reserved.set(uidOf(pod), found)
      return undefined
    },
    isReserved: (uid) => reserved.has(uid),
    allocate: (pod) =>
      inTurn(async () => {
        const uid = uidOf(pod)
        // It may be gone by now.
        if (!reserved.delete(uid)) return undefined
        try {
          await allocateFor(pod)
          return undefined
        } catch (error) {
          forget(uid)
          return refusal(messageOf(error))
        }
      }),
    async begin(pod, container) {
      const own = ofContainer(uidOf(pod), container.name)
      for (const { resource, ids } of own) {
        const plugin = resources.get(resource)?.plugin
        if (plugin?.options.pre_start_required !== true) continue
        await plugin.connection
          .call('PreStartContainer', { devices_ids: ids }, { timeoutMs: PRE_START_MS })
          .catch((error: unknown) => {
            throw new Error(
              `device plugin PreStartContainer rpc failed with err: rpc error: code = ${codeOf(error)} desc = ${messageOf(error)}`,
              { cause: error },
            )
          })
      }
      return own.map(({ allocation }) => allocation)
    },
    health(uid, container) {
      const own = ofContainer(uid, container)
      // What an earlier kubelet told of the others stays.
      if (own.length === 0 || !own.every(({ resource }) => toldLast.has(resource))) return undefined
      return own.map(({ resource, ids }) => ({
        name: resource,
        resources: ids.map((resourceID) => ({
          resourceID,
          health: toldLast.get(resource)?.get(resourceID)?.health ?? 'Unknown',
        })),
      }))
    },
    forget,
    amounts() {
      const all = [...resources]
      const none = Object.fromEntries([...removed].map((name) => [name, '0']))
      const capacity = all.map(([name, { devices }]) => [name, String(devices.size)])
      const allocatable = all.map(([name, resource]) => [name, String(healthyOf(resource).length)])
      return {
        capacity: { ...none, ...Object.fromEntries(capacity) },
        allocatable: { ...none, ...Object.fromEntries(allocatable) },
      }
    },
    offers: (resource) => resources.has(resource),
    given: (uid, container) =>
      ofContainer(uid, container).flatMap(({ resource, ids, numaNodes }) =>
        ids.map((id) => ({ resource, id, numaNodes: numaNodes?.[id] })),
      ),
    allocatable: () =>
      [...resources].flatMap(([name, resource]) =>
        healthyOf(resource).map((id) => ({ resource: name, id, numaNodes: numaNodesOf(resource.devices.get(id)) })),
      ),
    forgetUnknown(isKnown) {
      for (const { podUid } of given) if (!isKnown(podUid)) forget(podUid)
    },
    listen(listener) {
      told = listener
    },
    async run(folder, signal) {
      for (const name of resources.keys()) awaitReturn(name)
      await servePluginRegistrations(folder, (plugin) => accept(plugin, signal), signal)
      signal.addEventListener('abort', () => {
        for (const timer of stopped.values()) timer.cancel()
        for (const { plugin } of resources.values()) plugin?.connection.close()
      })
    },
  }

  function forget(uid: string): void {
    reserved.delete(uid)
    if (!given.some(({ podUid }) => podUid === uid)) return
    given = given.filter(({ podUid }) => podUid !== uid)
    keep()
  }
}
