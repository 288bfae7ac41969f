/** The order of an API group's versions. */

/** Versions in Kubernetes' order: v2 before v1 before v1beta2 before v1alpha1, anything else by name behind. */
export function byPriority(a: string, b: string): number {
  const [left, right] = [versionRank(a), versionRank(b)]
  for (const [i, value] of left.entries()) if (value !== right[i]) return right[i]! - value
  return a < b ? -1 : a > b ? 1 : 0
}

function versionRank(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (match === null) return [0, 0, 0]
  const stage = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1
  return [stage, Number(match[1]), Number(match[3] ?? 0)]
}
