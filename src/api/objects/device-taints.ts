/** Taints of devices and what tolerates them (KEP-5055). */
import type { DeviceTaint, DeviceTaintRuleSpec, DeviceToleration } from '../generated/types.ts'

export function toleratesDeviceTaint(toleration: DeviceToleration, taint: DeviceTaint): boolean {
  const { key, operator, value = '', effect } = toleration
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  return operator === 'Exists' || value === (taint.value ?? '')
}

/** One that selects by nothing selects no device. */
export function ruleSelects(
  { deviceSelector: selector }: DeviceTaintRuleSpec,
  device: { readonly driver: string; readonly pool: string; readonly device: string },
): boolean {
  if (selector === undefined) return false
  return (['driver', 'pool', 'device'] as const).every(
    (name) => selector[name] === undefined || selector[name] === device[name],
  )
}
