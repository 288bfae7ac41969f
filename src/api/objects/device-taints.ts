/** Taints of devices and what tolerates them (KEP-5055). */
import type { Fields } from '../object.ts'

export interface DeviceTaint {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

export function toleratesDeviceTaint(toleration: Fields, taint: DeviceTaint): boolean {
  const { key, operator, value = '', effect } = toleration
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  return operator === 'Exists' || value === (taint.value ?? '')
}

/** `spec` of a DeviceTaintRule. One that selects by nothing selects no device. */
export function ruleSelects(
  spec: Fields,
  device: { readonly driver: string; readonly pool: string; readonly device: string },
): boolean {
  const selector = spec['deviceSelector'] as Fields | undefined
  if (selector === undefined) return false
  return (['driver', 'pool', 'device'] as const).every(
    (name) => selector[name] === undefined || selector[name] === device[name],
  )
}
