/** Taints as kubelet's flag has them: `key=value:effect` or `key:effect`, and `key:effect-` or `key-` for one that is not to be. */
import { labelValue, qualifiedName } from '../api/names/name-formats.ts'

const EFFECTS = new Set(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])

/** What kubelet says of the first that is wrong. */
export function taintProblem(taints: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (const text of taints) {
    const spec = text.endsWith('-') ? text.slice(0, -1) : text
    const [rest = '', effect, ...more] = spec.split(':')
    const [key = '', value = '', ...values] = rest.split('=')
    if (more.length > 0 || values.length > 0) return `invalid taint spec: ${spec}`
    if (effect === undefined) {
      const [problem] = qualifiedName(rest)
      if (problem !== undefined) return `invalid taint spec: ${spec}, ${problem}`
      if (spec === text) return `invalid taint spec: ${spec}`
      continue
    }
    if (!EFFECTS.has(effect)) return `invalid taint effect: ${effect}, unsupported taint effect`
    const [problem] = [...qualifiedName(key), ...labelValue(value)]
    if (problem !== undefined) return `invalid taint spec: ${spec}, ${problem}`
    if (spec !== text) continue
    if (seen.has(`${key}:${effect}`))
      return `duplicated taints with the same key and effect: {${key} ${value} ${effect} <nil>}`
    seen.add(`${key}:${effect}`)
  }
  return undefined
}

/** The taints to set; a taint given as `key:effect-` is to be removed and not among them. */
export const taintsIn = (value: string): readonly string[] =>
  value.split(',').filter((taint) => taint !== '' && !taint.endsWith('-'))
