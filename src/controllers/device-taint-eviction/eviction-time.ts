/** When a pod has to leave the devices of a claim, by the NoExecute taints of these and what the claim tolerates. */
import type { DeviceTaint, DeviceToleration } from '../../api/generated/types.ts'
import { toleratesDeviceTaint } from '../../api/objects/device-taints.ts'

/** One taint on a device that the claim has. */
export interface FoundTaint {
  readonly taint: DeviceTaint
  /** The DeviceTaintRule that it comes from; undefined for the device's own. */
  readonly rule: string | undefined
}

export interface EvictionTime {
  /** Milliseconds; Infinity for never. */
  readonly at: number
  /** Rules that have a part in it. */
  readonly rules: readonly string[]
}

export const never: EvictionTime = { at: Number.POSITIVE_INFINITY, rules: [] }

/** `tolerations`: those that the claim's allocation tells of the device. */
export function evictionTime(
  taints: readonly FoundTaint[],
  tolerations: readonly DeviceToleration[] | undefined,
  nowMs: number,
): EvictionTime {
  return taints.map((found) => timeOf(found, tolerations ?? [], nowMs)).reduce(earlier, never)
}

/** The earlier of both, with the rules of both. */
export function earlier(a: EvictionTime, b: EvictionTime): EvictionTime {
  return { at: Math.min(a.at, b.at), rules: [...new Set([...a.rules, ...b.rules])] }
}

function timeOf({ taint, rule }: FoundTaint, tolerations: readonly DeviceToleration[], nowMs: number): EvictionTime {
  if (taint.effect !== 'NoExecute') return never
  const tolerating = tolerations.filter((toleration) => toleratesDeviceTaint(toleration, taint))
  const since = taint.timeAdded === undefined ? nowMs : Date.parse(taint.timeAdded)
  // For ever, where one of them says so by saying nothing.
  if (tolerating.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return never
  const seconds = tolerating.map(({ tolerationSeconds }) => Math.max(0, Number(tolerationSeconds)))
  return { at: since + 1000 * Math.max(0, ...seconds), rules: rule === undefined ? [] : [rule] }
}
