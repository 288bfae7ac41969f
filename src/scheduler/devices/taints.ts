/** Taints of devices, by their slices and by DeviceTaintRules (KEP-5055). */
import type { DeviceTaint, DeviceTaintRule, DeviceToleration } from '../../api/generated/types.ts'
import { ruleSelects, toleratesDeviceTaint } from '../../api/objects/device-taints.ts'
import type { PoolDevice } from './pools.ts'

export type TaintsOf = (device: PoolDevice) => readonly DeviceTaint[]

export const taintsBy =
  (rules: readonly DeviceTaintRule[]): TaintsOf =>
  ({ driver, pool, name, device }) => [
    ...(device.taints ?? []),
    ...rules.flatMap(({ spec }) => {
      const { taint } = spec
      return taint !== undefined && ruleSelects(spec, { driver, pool, device: name }) ? [taint] : []
    }),
  ]

/** A taint without an effect on pods only informs. */
export const isTolerated = (
  taints: readonly DeviceTaint[],
  tolerations: readonly DeviceToleration[] | undefined,
): boolean =>
  taints.every(
    (taint) =>
      !['NoSchedule', 'NoExecute'].includes(taint.effect) ||
      (tolerations ?? []).some((toleration) => toleratesDeviceTaint(toleration, taint)),
  )
