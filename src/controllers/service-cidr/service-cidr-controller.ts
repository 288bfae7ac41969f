/**
 * The service CIDR controller (KEP-1880): a ServiceCIDR is ready for the allocators of the API servers once it is protected by a finalizer; one
 * that is deleted stays, and is not ready, while a Service has an address that belongs to no other ServiceCIDR, and ten seconds
 * at least, in which every API server hears that nothing more is to be given out of it. The controller manager starts it.
 */
import type { IPAddress, ServiceCIDR } from '../../api/generated/types.ts'
import { hasFinalizer } from '../../api/objects/finalizers.ts'
import { type IPRange, isWithin, overlap, parseIPRange, rangeOfAddress } from '../../api/objects/ip-range.ts'
import { isNotFound } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'

const name = 'service-cidr-controller'
const cidrsResource = { group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' }
const addressesResource = { group: 'networking.k8s.io', version: 'v1', resource: 'ipaddresses' }
const finalizer = 'networking.k8s.io/service-cidr-finalizer'
const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by'
/** Addresses of others are no affair of ServiceCIDRs. */
const ALLOCATOR = 'ipallocator.k8s.io'
const GRACE_MS = 10_000
const WORKERS = 5

const READY = { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' } as const
const TERMINATING = {
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
} as const

const rangesOf = ({ spec }: ServiceCIDR): readonly IPRange[] =>
  (spec?.cidrs ?? []).flatMap((cidr) => parseIPRange(cidr) ?? [])

function isOrdinalInRange(ip: string, range: IPRange): boolean {
  const address = rangeOfAddress(ip)
  return address !== undefined && isWithin(address, range)
}

export function createServiceCidrController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const cidrs = informers.informer<ServiceCIDR>(cidrsResource)
  const addresses = informers.informer<IPAddress>(addressesResource)
  const queue = createWorkQueue<string>(runtime, 'ipaddresses')
  const resource = client.resource<ServiceCIDR>(cidrsResource)

  async function sync(key: string): Promise<void> {
    const found = cidrs.store.get(key)
    if (found === undefined) return
    try {
      if (found.metadata.deletionTimestamp === undefined) await keep(found)
      else if (hasFinalizer(found, finalizer)) await end(found)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async function keep(found: ServiceCIDR): Promise<void> {
    const key = found.metadata.name ?? ''
    if (!hasFinalizer(found, finalizer))
      await resource.patch(key, 'strategic', { metadata: { finalizers: [finalizer] } })
    await setReady(found, READY)
  }

  async function end(found: ServiceCIDR): Promise<void> {
    const key = found.metadata.name ?? ''
    if (isNeeded(found)) {
      await setReady(found, TERMINATING)
      return
    }
    const left = Date.parse(found.metadata.deletionTimestamp ?? '') + GRACE_MS - runtime.clock.now()
    if (left > 0) {
      queue.addAfter(key, left)
      return
    }
    await resource.patch(key, 'strategic', { metadata: { '$deleteFromPrimitiveList/finalizers': [finalizer] } })
  }

  /** An address that a Service has would belong to no ServiceCIDR any more. */
  function isNeeded(found: ServiceCIDR): boolean {
    const own = rangesOf(found)
    const others = cidrs.store
      .list()
      .filter(({ metadata }) => metadata.name !== found.metadata.name)
      .flatMap(rangesOf)
    if (own.every((range) => others.some((other) => isWithin(range, other)))) return false
    return addresses.store.list().some(({ metadata }) => {
      const ip = metadata.name ?? ''
      return (
        metadata.labels?.[MANAGED_BY] === ALLOCATOR &&
        own.some((range) => isOrdinalInRange(ip, range)) &&
        !others.some((range) => isOrdinalInRange(ip, range))
      )
    })
  }

  async function setReady(found: ServiceCIDR, wanted: typeof READY | typeof TERMINATING): Promise<void> {
    const { name: key = '' } = found.metadata
    const present = found.status?.conditions?.find(({ type }) => type === 'Ready')
    if (
      present?.status === wanted.status &&
      (present.reason ?? '') === wanted.reason &&
      present.message === wanted.message
    )
      return
    const condition = { type: 'Ready', ...wanted, lastTransitionTime: formatTime(runtime.clock.now()) }
    const body = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: key },
      status: { conditions: [condition] },
    }
    await resource.patch(key, 'apply', body, { subresource: 'status', fieldManager: name, force: true })
  }

  /** What becomes of one is told by those that have addresses in common with it. */
  const cidrChanged = (changed: ServiceCIDR) => {
    queue.add(changed.metadata.name ?? '')
    const own = rangesOf(changed)
    for (const other of cidrs.store.list())
      if (rangesOf(other).some((range) => own.some((one) => overlap(range, one)))) queue.add(other.metadata.name ?? '')
  }
  const addressGone = ({ metadata }: IPAddress) => {
    for (const one of cidrs.store.list())
      if (rangesOf(one).some((range) => isOrdinalInRange(metadata.name ?? '', range)))
        queue.add(one.metadata.name ?? '')
  }

  return {
    name: 'service-cidrs-controller',
    async start() {
      cidrs.addHandlers({
        added: cidrChanged,
        updated: (_, changed) => queue.add(changed.metadata.name ?? ''),
        deleted: cidrChanged,
      })
      addresses.addHandlers({ deleted: addressGone })
      await Promise.all([cidrs.whenSynced(signal), addresses.whenSynced(signal)])
      runWorkers(runtime, queue, WORKERS, sync, signal)
    },
  }
}
