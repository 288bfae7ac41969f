/** Taints of devices, by their slices and by DeviceTaintRules (KEP-5055). */
import type { DeviceTaintRule } from '../../api/generated/types.ts'
import type { Fields } from '../../api/object.ts'
import { type DeviceTaint, ruleSelects, toleratesDeviceTaint } from '../../api/objects/device-taints.ts'
import type { Device } from './pools.ts'

export type TaintsOf = (device: Device) => readonly DeviceTaint[]

export const taintsBy =
  (rules: readonly DeviceTaintRule[]): TaintsOf =>
  ({ driver, pool, name, device }) => [
    ...((device['taints'] ?? []) as readonly DeviceTaint[]),
    ...rules
      .filter(({ spec }) => ruleSelects(spec as Fields, { driver, pool, device: name }))
      .map(({ spec }) => (spec as { readonly taint: DeviceTaint }).taint),
  ]

/** A taint without an effect on pods only informs. */
export const isTolerated = (taints: readonly DeviceTaint[], tolerations: readonly Fields[] | undefined): boolean =>
  taints.every(
    (taint) =>
      !['NoSchedule', 'NoExecute'].includes(taint.effect) ||
      (tolerations ?? []).some((toleration) => toleratesDeviceTaint(toleration, taint)),
  )
