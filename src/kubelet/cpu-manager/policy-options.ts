/** Options of the static policy of the CPU manager (cpuManagerPolicyOptions), and the feature gates that show or hide groups of them. */
import { policyOptionBool } from '../policy-option-bool.ts'

export interface CpuPolicyOptions {
  readonly fullPhysicalCpusOnly: boolean
  readonly distributesOverNuma: boolean
  readonly alignsBySocket: boolean
  readonly distributesOverCores: boolean
  readonly strictReservation: boolean
  readonly prefersUncoreCache: boolean
}

/** Whether a gate is on; undefined where the configuration does not say. */
export type Gates = (name: string) => boolean | undefined

type Group = 'alpha' | 'beta' | 'stable'

const KNOWN: Readonly<Record<string, readonly [keyof CpuPolicyOptions, Group]>> = {
  'full-pcpus-only': ['fullPhysicalCpusOnly', 'stable'],
  'distribute-cpus-across-numa': ['distributesOverNuma', 'beta'],
  'align-by-socket': ['alignsBySocket', 'alpha'],
  'distribute-cpus-across-cores': ['distributesOverCores', 'alpha'],
  'strict-cpu-reservation': ['strictReservation', 'stable'],
  'prefer-align-cpus-by-uncorecache': ['prefersUncoreCache', 'beta'],
}

export const NO_CPU_OPTIONS: CpuPolicyOptions = {
  fullPhysicalCpusOnly: false,
  distributesOverNuma: false,
  alignsBySocket: false,
  distributesOverCores: false,
  strictReservation: false,
  prefersUncoreCache: false,
}

/** @throws Error in kubelet's words */
export function cpuPolicyOptions(given: Readonly<Record<string, string>>, gate: Gates): CpuPolicyOptions {
  const options = { ...NO_CPU_OPTIONS }
  const isShown = {
    alpha: gate('CPUManagerPolicyAlphaOptions') ?? false,
    beta: gate('CPUManagerPolicyBetaOptions') ?? true,
  }
  for (const [name, value] of Object.entries(given)) {
    const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined
    if (known === undefined) throw new Error(`unknown CPU Manager Policy option: ${JSON.stringify(name)}`)
    const [field, group] = known
    if (group !== 'stable' && !isShown[group])
      throw new Error(
        `CPU Manager Policy ${group === 'alpha' ? 'Alpha' : 'Beta'}-level Options not enabled, but option ${JSON.stringify(name)} provided`,
      )
    options[field] = policyOptionBool(name, value)
  }
  return options
}
