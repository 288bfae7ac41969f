/**
 * Finds devices on one node for the claims of one pod (KEP-4381): for each claim and request in turn the first devices that do, taken
 * back where what comes later finds none. Pure: what is free is given.
 */
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceClass,
  DeviceRequestAllocationResult,
  ExactDeviceRequest,
  Node,
  NodeSelector,
  NodeSelectorRequirement,
} from '../../api/generated/types.ts'
import type { ResourceClaim } from '../../api/objects/resource-claims.ts'
import { sameJson } from '../../api/same.ts'
import { objectKey as objectKeyOf } from '../../client/store.ts'
import { type Consumed, consumedOf, type DeviceUsage, fits } from './capacity.ts'
import { createConstraints } from './constraints.ts'
import type { Pool, PoolDevice } from './pools.ts'
import { ClaimError, type Selectors } from './selectors.ts'
import { isTolerated, type TaintsOf } from './taints.ts'

/** A claim has no more devices than this. */
const MOST_RESULTS = 32
/** So many devices are tried for the claims of a pod on one node. */
const MOST_TRIES = 100_000

/** Claims that ask for what cannot be told now: the node does not do. */
export class NotNow extends Error {}

export interface AllocationState {
  readonly pools: readonly Pool[]
  readonly usage: DeviceUsage
  readonly classes: (name: string) => DeviceClass | undefined
  readonly selectors: Selectors
  readonly taints: TaintsOf
  /** A new uid, for a share of a device. */
  readonly newShare: () => string
}

/** One that a request gets. */
interface Chosen {
  readonly device: PoolDevice
  /** `request` or `request/subrequest`. */
  readonly request: string
  readonly asked: ExactDeviceRequest
  readonly consumed: Consumed | undefined
}

/** One way to satisfy a request. */
interface Alternative {
  readonly name: string
  readonly asked: ExactDeviceRequest
  /** How many devices; those themselves where all are asked for. */
  readonly count: number
  readonly all: readonly PoolDevice[] | undefined
}

interface Wanted {
  readonly claim: ResourceClaim
  readonly at: number
  readonly alternatives: readonly Alternative[]
}

/** A status.allocation for each claim; undefined when the node has not the devices. @throws ClaimError */
export function allocateDevices(
  claims: readonly ResourceClaim[],
  node: Node,
  state: AllocationState,
): readonly AllocationResult[] | undefined {
  const { selectors } = state
  const pools = state.pools.filter(({ isInvalid }) => !isInvalid)
  const byId = new Map(pools.map((pool) => [pool.id, pool]))
  const offered = pools.flatMap((pool) => (pool.isIncomplete ? [] : pool.devices))
  const matches = new Map<string, boolean>()
  let tries = 0

  function matchesRequest(
    claim: ResourceClaim,
    { name, asked }: Pick<Alternative, 'name' | 'asked'>,
    device: PoolDevice,
  ) {
    const key = `${objectKeyOf(claim)} ${name} ${device.id}`
    let known = matches.get(key)
    if (known === undefined) {
      const { deviceClassName = '' } = asked
      known =
        selectors.match(state.classes(deviceClassName)?.spec?.selectors, device, `class ${deviceClassName}`) &&
        selectors.match(asked.selectors, device, `claim ${objectKeyOf(claim)}`)
      matches.set(key, known)
    }
    return known
  }

  function alternativeOf(claim: ResourceClaim, name: string, asked: ExactDeviceRequest): Alternative | undefined {
    if (asked.allocationMode !== 'All') return { name, asked, count: asked.count ?? 1, all: undefined }
    const all: PoolDevice[] = []
    const whole = pools.find(({ isIncomplete }) => isIncomplete)
    if (whole !== undefined)
      throw new ClaimError(
        `claim ${objectKeyOf(claim)}, request ${name}: asks for all devices, but resource pool ${whole.id} is currently being updated`,
      )
    for (const pool of pools)
      for (const device of pool.devices)
        if (matchesRequest(claim, { name, asked }, device)) {
          all.push(device)
        }
    return all.length === 0 ? undefined : { name, asked, count: all.length, all }
  }

  const wanted: Wanted[] = []
  /** The fewest devices that each claim needs. */
  const accounted: number[] = []
  for (const [at, claim] of claims.entries())
    for (const request of claim.spec?.devices?.requests ?? []) {
      const { name, firstAvailable: subs = [], exactly: asked } = request
      const alternatives = (
        asked === undefined
          ? subs.map((sub) => alternativeOf(claim, `${name}/${sub.name}`, sub))
          : [alternativeOf(claim, name, asked)]
      ).filter((one) => one !== undefined)
      if (alternatives.length === 0) return undefined
      const least = Math.min(...alternatives.map(({ count }) => count))
      const before = accounted[at] ?? 0
      accounted[at] = before + least
      if (before + least > MOST_RESULTS)
        throw new ClaimError(
          `claim ${objectKeyOf(claim)}, request ${name}: adding ${least} devices exceeds the claim limit of ${MOST_RESULTS}, with ${before} already accounted for`,
        )
      wanted.push({ claim, at, alternatives })
    }

  const constraints = claims.map((claim) => createConstraints(claim))
  const chosen: (readonly Chosen[])[] = []
  const taken: { readonly at: number; readonly chosen: Chosen }[] = []
  const trial = state.usage.trial()

  function satisfy(index: number): boolean {
    const next = wanted[index]
    if (next === undefined) return true
    return next.alternatives.some((alternative) => {
      const ofClaim = taken.filter(({ at }) => at === next.at).length
      return ofClaim + alternative.count <= MOST_RESULTS && take(index, next, alternative, 0, 0)
    })
  }

  /** `from`: which devices in another order have been tried already. */
  function take(index: number, next: Wanted, alternative: Alternative, count: number, from: number): boolean {
    if (count === alternative.count) return satisfy(index + 1)
    const { all } = alternative
    if (all !== undefined) return tryDevice(index, next, alternative, count, all[count] as PoolDevice, 0)
    for (let at = from; at < offered.length; at++)
      if (tryDevice(index, next, alternative, count, offered[at] as PoolDevice, at)) return true
    return false
  }

  function tryDevice(
    index: number,
    next: Wanted,
    alternative: Alternative,
    count: number,
    device: PoolDevice,
    from: number,
  ): boolean {
    if (++tries > MOST_TRIES) throw new NotNow('too many devices to try')
    const { asked, name } = alternative
    const isAdmin = asked.adminAccess === true
    if (isAdmin && taken.some(({ at, chosen: one }) => at === next.at && one.request === name && one.device === device))
      return false
    if (!isAdmin && !trial.isFree(device)) return false
    // Several claims may share it; one has it once.
    if (!isAdmin && taken.some((one) => one.at === next.at && one.chosen.device === device)) return false
    if (!matchesRequest(next.claim, alternative, device)) return false
    // Of all devices one whose taint is not tolerated is one too, so that not all can be had.
    if (!isTolerated(state.taints(device), asked.tolerations)) return false
    const consumed = consumedOf(device.device, asked, state.newShare)
    if (consumed === undefined) return false
    const pool = byId.get(`${device.driver}/${device.pool}`) as Pool
    if (!isAdmin && !fits(trial, device, consumed, pool)) return false
    const limits = constraints[next.at]!
    if (!limits.add(name, device)) return false
    const one: Chosen = { device, request: name, asked, consumed: consumed.share === undefined ? undefined : consumed }
    if (!isAdmin) trial.take(device, consumed)
    taken.push({ at: next.at, chosen: one })
    if (take(index, next, alternative, count + 1, from)) return true
    taken.pop()
    if (!isAdmin) trial.giveBack(device, consumed)
    limits.remove(name, device)
    return false
  }

  if (!satisfy(0)) return undefined
  for (const [at] of claims.entries()) chosen.push(taken.filter((one) => one.at === at).map((one) => one.chosen))
  return claims.map((claim, at) => allocationOf(claim, chosen[at] ?? [], node, state))
}

function allocationOf(
  claim: ResourceClaim,
  chosen: readonly Chosen[],
  node: Node,
  state: AllocationState,
): AllocationResult {
  const config = configOf(claim, chosen, state)
  const nodeSelector = nodeSelectorOf(chosen, node)
  return {
    devices: { results: chosen.map(resultOf), ...(config.length === 0 ? {} : { config }) },
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
  }
}

function resultOf({ device, request, asked, consumed }: Chosen): DeviceRequestAllocationResult {
  const { driver, pool, name } = device
  const { bindingConditions = [], bindingFailureConditions = [] } = device.device
  return {
    request,
    driver,
    pool,
    device: name,
    ...(asked.adminAccess ? { adminAccess: true } : {}),
    ...(asked.tolerations === undefined || asked.tolerations.length === 0 ? {} : { tolerations: asked.tolerations }),
    ...(bindingConditions.length === 0 ? {} : { bindingConditions }),
    ...(bindingFailureConditions.length === 0 ? {} : { bindingFailureConditions }),
    ...(consumed?.share === undefined ? {} : { shareID: consumed.share, consumedCapacity: consumed.texts }),
  }
}

/** What classes and the claim say of its devices: of a class by request, of the claim where it is about what was chosen. */
function configOf(
  claim: ResourceClaim,
  chosen: readonly Chosen[],
  state: AllocationState,
): readonly DeviceAllocationConfiguration[] {
  const requests = new Map(chosen.map((one) => [one.request, one.asked]))
  const ofClasses = [...requests].flatMap(([request, asked]) =>
    (state.classes(asked.deviceClassName)?.spec?.config ?? []).map((config) => ({
      source: 'FromClass',
      requests: [request],
      ...config,
    })),
  )
  const ofClaim = (claim.spec?.devices?.config ?? []).flatMap(
    ({ requests: names = [], ...rest }): readonly DeviceAllocationConfiguration[] => {
      const all = [...requests.keys()]
      if (names.length === 0) return [{ source: 'FromClaim', ...rest }]
      if (all.some((request) => names.includes(request.split('/')[0] ?? '')))
        return [{ source: 'FromClaim', requests: names, ...rest }]
      return all.some((request) => names.includes(request)) ? [{ source: 'FromClaim', ...rest }] : []
    },
  )
  return [...ofClasses, ...ofClaim]
}

/** Where the claim can be used: on this node alone, on those that all its devices reach, or anywhere (undefined). */
function nodeSelectorOf(chosen: readonly Chosen[], node: Node): NodeSelector | undefined {
  const expressions: NodeSelectorRequirement[] = []
  const fields: NodeSelectorRequirement[] = []
  const add = (list: NodeSelectorRequirement[], more: readonly NodeSelectorRequirement[] | undefined) => {
    for (const one of more ?? []) if (!list.some((known) => sameJson(known, one))) list.push(one)
  }
  for (const { device } of chosen) {
    const { where } = device
    if (where.nodeName || device.device.bindsToNode)
      return {
        nodeSelectorTerms: [
          { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node.metadata.name ?? ''] }] },
        ],
      }
    const term = where.nodeSelector?.nodeSelectorTerms?.[0]
    add(expressions, term?.matchExpressions)
    add(fields, term?.matchFields)
  }
  if (expressions.length === 0 && fields.length === 0) return undefined
  return {
    nodeSelectorTerms: [
      {
        ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
        ...(fields.length === 0 ? {} : { matchFields: fields }),
      },
    ],
  }
}
