/**
 * Devices that plugins offer as extended resources (API concept: device plugins, v1beta1). A plugin tells of its devices and their health; the
 * Node's capacity and allocatable count them; a pod that asks for some is admitted once its containers have them, and gives them back when it
 * has ended.
 */
import type { ContainerStatus } from '../../api/generated/types.ts'
import { isExtendedResource } from '../../api/names/resource-names.ts'
import { quantityValue } from '../../api/values/quantity.ts'
import type { Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { Runtime } from '../../base/runtime.ts'
import { createPatientWrite } from '../checkpoint-file.ts'
import { highestSum } from '../cpu-manager/exclusive-cpus.ts'
import type { Plugin as NodePlugin, PluginHandler } from '../plugins/plugin-registry.ts'
import { type Container, initContainersOf, isSidecar, type Pod, specOf, uidOf } from '../pod.ts'
import type { PluginDevice } from '../pod-resources/pod-resources.ts'
import { type Connection, codeOf, connect } from '../runtimes/cri/connection.ts'
import type { HintProvider, NumaMask, TopologyHint, TopologyHints } from '../topology-manager/topology-hints.ts'
import { byAffinity, deviceHints, type OfferedDevice, toldNodesOf } from './device-topology.ts'
import type { ContainerAllocation, GivenDevices, GivenDevicesFile } from './given-devices.ts'
import { type PluginRegistration, servePluginRegistrations, VERSION } from './plugin-registrar.ts'

export interface DevicePlugins extends HintProvider {
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
  /** For those that register as other plugins of the node do, with a socket of their own for that. */
  readonly handler: PluginHandler
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
interface Plugin {
  readonly socket: string
  readonly connection: Connection
  readonly options: Options
  /** It is not listened to any more. */
  readonly left: AbortController
}
interface Resource {
  plugin: Plugin | undefined
  /** By id, as told last. */
  devices: ReadonlyMap<string, OfferedDevice>
}

const DIAL_MS = 10_000
const PRE_START_MS = 30_000
/** A plugin that is away for so long does not come back. */
const STOPPED_MS = 300_000

/** Pods had some of it, but its plugin was away for too long. */
const unregistered = (resource: string) => `cannot allocate unregistered device ${resource}`

/** What a container asks for, in whole devices. */
const wantsOf = ({ resources }: Container): readonly (readonly [resource: string, count: number])[] =>
  Object.entries(resources?.limits ?? {}).flatMap(([name, amount]) => {
    const count = isExtendedResource(name) ? Number(quantityValue(String(amount))) : 0
    return count > 0 ? [[name, count] as const] : []
  })

/** Of a plugin that registers. */
function wrongOf(resource: string, versions: readonly string[]): string | undefined {
  if (!versions.includes(VERSION))
    return `manager version, ${VERSION}, is not among plugin supported versions [${versions.join(' ')}]`
  if (!isExtendedResource(resource))
    return `invalid name of device plugin socket: the ResourceName ${JSON.stringify(resource)} is invalid`
  return undefined
}

/** `numaNodes`: those of the machine. @throws Error when the file is damaged */
export function createDevicePlugins(
  runtime: Runtime,
  file: GivenDevicesFile,
  numaNodes: readonly number[] = [0],
): DevicePlugins {
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
  const toldLast = new Map<string, ReadonlyMap<string, OfferedDevice>>()
  /** By resource, of init containers of the pod that is being admitted. */
  let reusable: { readonly uid: string; readonly devices: ReadonlyMap<string, readonly string[]> } | undefined
  const stopped = new Map<string, Timer>()
  const ended = new AbortController()
  let told: DeviceListener = { changed() {}, healthChanged() {} }

  const keep = () => file.write({ given, resources: [...resources.keys()] })
  const patientWrite = createPatientWrite(runtime, ended.signal)
  const keepInAnyCase = () => patientWrite('what devices pods have', keep)
  const healthyOf = ({ plugin, devices }: Resource): readonly string[] =>
    plugin === undefined ? [] : [...devices.values()].filter(({ health }) => health === 'Healthy').map(({ ID }) => ID)
  const usedOf = (name: string) => new Set(given.filter(({ resource }) => resource === name).flatMap(({ ids }) => ids))
  const freeOf = (name: string, resource: Resource) => {
    const used = usedOf(name)
    return healthyOf(resource).filter((id) => !used.has(id))
  }
  /** Resources that pods of this kubelet have, or had. */
  const everGiven = new Set(given.map(({ resource }) => resource))

  const hasGiven = (uid: string, container: string, resource: string) =>
    given.find((one) => one.podUid === uid && one.container === container && one.resource === resource)?.ids
  const leftBy = (uid: string, resource: string): readonly string[] =>
    reusable?.uid === uid ? (reusable.devices.get(resource) ?? []) : []

  /** What an init container that ends before the others has is theirs too. */
  function remember(pod: Pod, container: Container, resource: string, ids: readonly string[]): void {
    const uid = uidOf(pod)
    const leaves = !isSidecar(container) && initContainersOf(pod).some(({ name }) => name === container.name)
    const before = leftBy(uid, resource)
    const after = leaves ? [...new Set([...before, ...ids])] : before.filter((id) => !ids.includes(id))
    reusable = { uid, devices: new Map([...(reusable?.uid === uid ? reusable.devices : []), [resource, after]]) }
  }

  async function preferredBy(
    { plugin }: Resource,
    available: readonly string[],
    must: readonly string[],
    count: number,
  ): Promise<readonly string[]> {
    if (plugin?.options.get_preferred_allocation_available !== true) return []
    const wanted = { available_deviceIDs: available, must_include_deviceIDs: must, allocation_size: count }
    const answer = await plugin.connection.call<{
      readonly container_responses: readonly { readonly deviceIDs: readonly string[] }[]
    }>('GetPreferredAllocation', { container_requests: [wanted] })
    return answer.container_responses[0]?.deviceIDs ?? []
  }

  async function choose(
    name: string,
    resource: Resource,
    count: number,
    left: readonly string[],
    affinity: NumaMask | undefined,
  ): Promise<readonly string[]> {
    if (healthyOf(resource).length === 0)
      throw new Error(`no healthy devices present; cannot allocate unhealthy devices ${name}`)
    const must = left.slice(0, count)
    const free = freeOf(name, resource)
    const needed = count - must.length
    if (free.length < needed)
      throw new Error(
        `requested number of devices unavailable for ${name}. Requested: ${count}, Available: ${free.length}`,
      )
    if (needed === 0) return must
    const { aligned, others } = byAffinity(resource, free, affinity)
    const first = needed < aligned.length ? must : [...must, ...aligned]
    if (first.length === count) return first
    const open = needed < aligned.length ? aligned : others
    const liked = await preferredBy(resource, [...(needed < aligned.length ? aligned : free), ...must], first, count)
    return [...new Set([...first, ...liked.filter((id) => open.includes(id)), ...open])].slice(0, count)
  }

  async function allocateFor(
    pod: Pod,
    container: Container,
    wants: readonly (readonly [name: string, count: number])[],
    affinity: NumaMask | undefined,
  ): Promise<void> {
    for (const [name, count] of wants) {
      const uid = uidOf(pod)
      const resource = resources.get(name)
      if (resource === undefined) throw new Error(unregistered(name))
      const before = hasGiven(uid, container.name, name)
      if (before !== undefined) {
        remember(pod, container, name, before)
        continue
      }
      const ids = await choose(name, resource, count, leftBy(uid, name), affinity)
      const { plugin } = resource
      if (plugin === undefined) throw new Error(`no healthy devices present; cannot allocate unhealthy devices ${name}`)
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
        const nodes = toldNodesOf(resource.devices.get(id))
        return nodes === undefined ? [] : [[id, nodes] as const]
      })
      const one = { podUid: uid, container: container.name, resource: name, ids, allocation }
      given = [...given, near.length === 0 ? one : { ...one, numaNodes: Object.fromEntries(near) }]
      everGiven.add(name)
      keep()
      remember(pod, container, name, ids)
    }
  }

  /** `counts`: by resource. */
  function hintsOf(uid: string, counts: ReadonlyMap<string, number>, containers: readonly string[]): TopologyHints {
    const hints = new Map<string, readonly TopologyHint[] | undefined>()
    for (const [name, count] of counts) {
      const resource = resources.get(name)
      if (resource === undefined) continue
      const had = containers.flatMap((container) => hasGiven(uid, container, name) ?? [])
      hints.set(
        name,
        deviceHints({
          devices: resource.devices,
          numaNodes,
          count,
          had,
          free: freeOf(name, resource),
          left: leftBy(uid, name),
        }),
      )
    }
    return hints
  }

  const ofContainer = (uid: string, name: string): readonly GivenDevices[] =>
    given.filter(({ podUid, container }) => podUid === uid && container === name)

  async function accept({ resource: name, socket }: PluginRegistration): Promise<void> {
    const connection = connect(clock, `unix://${socket}`, 'deviceplugin')
    let options: Options
    try {
      options = await connection.call<Options>('GetDevicePluginOptions', {}, { timeoutMs: DIAL_MS })
    } catch (error) {
      connection.close()
      throw new Error(`failed to dial device plugin: ${messageOf(error)}`, { cause: error })
    }
    const resource = getOrInsertComputed(resources, name, (): Resource => ({ plugin: undefined, devices: new Map() }))
    resource.plugin?.left.abort()
    resource.plugin?.connection.close()
    const plugin: Plugin = { socket, connection, options, left: new AbortController() }
    resource.plugin = plugin
    resource.devices = new Map()
    stopped.get(name)?.cancel()
    stopped.delete(name)
    removed.delete(name)
    keep()
    log.info(0, 'A device plugin has registered', { resource: name })
    void follow(name, resource, plugin)
  }

  /** Until its stream of devices ends. */
  async function follow(name: string, resource: Resource, plugin: Plugin): Promise<void> {
    const { signal } = ended
    try {
      await plugin.connection.stream<{ readonly devices: readonly OfferedDevice[] }>(
        'ListAndWatch',
        {},
        AbortSignal.any([signal, plugin.left.signal]),
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
      keepInAnyCase()
      told.changed()
    })
    stopped.set(name, timer)
  }

  function tell(name: string, resource: Resource, devices: readonly OfferedDevice[]): void {
    const before = resource.devices
    resource.devices = new Map(devices.map((device) => [device.ID, device]))
    toldLast.set(name, resource.devices)
    const isOther = (id: string) => before.get(id)?.health !== resource.devices.get(id)?.health
    const uids = given.filter((one) => one.resource === name && one.ids.some(isOther)).map(({ podUid }) => podUid)
    told.changed()
    if (uids.length > 0) told.healthChanged([...new Set(uids)])
  }

  return {
    hints: (pod, container) => hintsOf(uidOf(pod), new Map(wantsOf(container)), [container.name]),
    podHints(pod) {
      const all = [...initContainersOf(pod), ...specOf(pod).containers]
      const names = new Set(all.flatMap((container) => wantsOf(container).map(([name]) => name)))
      const wanted = (container: Container, name: string) => new Map(wantsOf(container)).get(name) ?? 0
      const counts = [...names].map((name) => [name, highestSum(pod, (container) => wanted(container, name))] as const)
      return hintsOf(
        uidOf(pod),
        new Map(counts),
        all.map(({ name }) => name),
      )
    },
    allocate(pod, container, affinity) {
      const wants = wantsOf(container).filter(([name]) => resources.has(name) || everGiven.has(name))
      return wants.length === 0 ? undefined : allocateFor(pod, container, wants, affinity)
    },
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
        healthyOf(resource).map((id) => ({ resource: name, id, numaNodes: toldNodesOf(resource.devices.get(id)) })),
      ),
    forgetUnknown(isKnown) {
      for (const { podUid } of given) if (!isKnown(podUid)) forget(podUid)
    },
    listen(listener) {
      told = listener
    },
    handler: {
      async add({ name, endpoint, versions }) {
        const wrong = wrongOf(name, versions)
        if (wrong !== undefined) throw new Error(`RegisterPlugin error -- plugin validation failed with err: ${wrong}`)
        await accept({ resource: name, socket: endpoint })
      },
      async remove({ name, endpoint }: NodePlugin) {
        const plugin = resources.get(name)?.plugin
        if (plugin?.socket === endpoint) plugin.left.abort()
      },
      close,
    },
    async run(folder, signal) {
      for (const name of resources.keys()) awaitReturn(name)
      signal.addEventListener('abort', close, { once: true })
      await servePluginRegistrations(folder, accept, signal)
    },
  }

  function close(): void {
    ended.abort()
    for (const timer of stopped.values()) timer.cancel()
    for (const { plugin } of resources.values()) plugin?.connection.close()
  }

  function forget(uid: string): void {
    if (reusable?.uid === uid) reusable = undefined
    if (!given.some(({ podUid }) => podUid === uid)) return
    given = given.filter(({ podUid }) => podUid !== uid)
    keepInAnyCase()
  }
}
