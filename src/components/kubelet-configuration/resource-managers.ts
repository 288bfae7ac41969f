/** What the settings say of the managers of what containers share on a real node. */

import { quantityMilliValue, quantityValue } from '../../api/values/quantity.ts'
import { messageOf } from '../../base/errors.ts'
import { parseGoBool } from '../../base/go-bool.ts'
import { parseCpuSet } from '../../kubelet/cpu-manager/cpu-set.ts'
import { cpuPolicyOptions, type Gates } from '../../kubelet/cpu-manager/policy-options.ts'
import type { ReservedMemory } from '../../kubelet/memory-manager/machine-memory.ts'
import type { ResourceManagerSettings } from '../../kubelet/topology-manager/resource-managers.ts'
import { TOPOLOGY_POLICIES } from '../../kubelet/topology-manager/topology-manager.ts'
import { topologyPolicyOptions } from '../../kubelet/topology-manager/topology-options.ts'
import { FlagError, type ReadFlags } from '../flags.ts'

type Amounts = Readonly<Record<string, string>>

const failed = (why: string): FlagError => new FlagError(`failed to run Kubelet: ${why}`)

/** `reserved`: for the system and for Kubernetes. @throws FlagError */
export function resourceManagersOf(flags: ReadFlags, reserved: readonly Amounts[]): ResourceManagerSettings {
  const scope = flags.text('topology-manager-scope')
  const policy = TOPOLOGY_POLICIES.find((known) => known === flags.text('topology-manager-policy')) ?? 'none'
  return {
    cpu: cpuManagerOf(flags, reserved),
    memory: memoryManagerOf(flags),
    topology: {
      policy,
      scope: scope === 'pod' ? 'pod' : 'container',
      options: asked('', () =>
        topologyPolicyOptions(policy === 'none' ? {} : pairsOf(flags, 'topology-manager-policy-options')),
      ),
    },
  }
}

function cpuManagerOf(flags: ReadFlags, reserved: readonly Amounts[]): ResourceManagerSettings['cpu'] {
  const policy = flags.text('cpu-manager-policy')
  if (policy !== 'none' && policy !== 'static') throw failed(`unknown policy: ${JSON.stringify(policy)}`)
  const given = pairsOf(flags, 'cpu-manager-policy-options')
  const options = asked(`new ${policy} policy error: `, () => {
    if (policy === 'none' && Object.keys(given).length > 0)
      throw new Error(
        `None policy: received unsupported options=map[${Object.entries(given)
          .map((pair) => pair.join(':'))
          .join(' ')}]`,
      )
    return cpuPolicyOptions(given, gatesOf(flags))
  })
  const reservedCpus = flags.text('reserved-cpus')
  return {
    policy,
    options,
    reservedMilli: reserved.reduce((sum, { cpu = '0' }) => sum + Number(quantityMilliValue(cpu)), 0),
    ...(reservedCpus === undefined || reservedCpus === '' ? {} : { reservedCpus: parseCpuSet(reservedCpus) }),
    reconcileMs: flags.ms('cpu-manager-reconcile-period'),
  }
}

function memoryManagerOf(flags: ReadFlags): ResourceManagerSettings['memory'] {
  const policy = flags.text('memory-manager-policy')
  if (policy !== 'None' && policy !== 'Static') throw failed(`unknown policy: ${JSON.stringify(policy)}`)
  return { policy, reserved: reservedMemoryOf(flags) }
}

interface MemoryReservation {
  readonly numaNode?: number
  readonly limits?: Readonly<Record<string, string | number>>
}

/** Each of reservedMemory, in bytes. */
export function memoryReservations(
  flags: ReadFlags,
): readonly { readonly numaNode: number; readonly type: string; readonly size: number }[] {
  const given = JSON.parse(flags.text('reservedMemory') ?? '[]') as readonly MemoryReservation[]
  return given.flatMap(({ numaNode = 0, limits = {} }) =>
    Object.entries(limits).map(([type, amount]) => ({ numaNode, type, size: Number(quantityValue(String(amount))) })),
  )
}

function reservedMemoryOf(flags: ReadFlags): ReservedMemory {
  const reserved = new Map<number, Record<string, number>>()
  for (const { numaNode, type, size } of memoryReservations(flags))
    reserved.set(numaNode, { ...reserved.get(numaNode), [type]: size })
  return reserved
}

/** What is reserved where CPUs are named for it: so many of them, for the system and for Kubernetes together. */
export function withReservedCpus(flags: ReadFlags, [system = {}, kube = {}]: readonly Amounts[]): readonly Amounts[] {
  const named = flags.text('reserved-cpus')
  if (named === undefined || named === '') return [system, kube]
  const { cpu: _, ...rest } = kube
  return [{ ...system, cpu: String(parseCpuSet(named).length) }, rest]
}

function asked<T>(about: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw failed(`${about}${messageOf(cause)}`)
  }
}

const pairsOf = (flags: ReadFlags, name: string): Amounts =>
  Object.fromEntries(
    (flags.list(name) ?? []).map((text): [string, string] => {
      const [key = '', ...value] = text.split('=')
      return [key.trim(), value.join('=').trim()]
    }),
  )

function gatesOf(flags: ReadFlags): Gates {
  const given = new Map(Object.entries(pairsOf(flags, 'feature-gates')).map(([gate, on]) => [gate, parseGoBool(on)]))
  const all = { alpha: given.get('AllAlpha'), beta: given.get('AllBeta') }
  return (name) => given.get(name) ?? (name.includes('Alpha') ? all.alpha : all.beta)
}
