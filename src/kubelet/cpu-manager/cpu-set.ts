/** Sets of small numbers (CPUs, NUMA nodes), ascending, and their form in cpusets: `0-2,5`. */

export type CpuSet = readonly number[]

export const cpuSet = (cpus: Iterable<number>): CpuSet => [...new Set(cpus)].sort((a, b) => a - b)

export const cpuUnion = (...sets: readonly CpuSet[]): CpuSet => cpuSet(sets.flat())

export function cpuDifference(one: CpuSet, other: Iterable<number>): CpuSet {
  const without = new Set(other)
  return one.filter((cpu) => !without.has(cpu))
}

export function cpuIntersection(one: CpuSet, other: Iterable<number>): CpuSet {
  const within = new Set(other)
  return one.filter((cpu) => within.has(cpu))
}

export const isSubset = (one: CpuSet, of: CpuSet): boolean => cpuDifference(one, of).length === 0

export const sameSet = (one: CpuSet, other: CpuSet): boolean =>
  one.length === other.length && one.every((cpu, at) => cpu === other[at])

export function cpuSetText(set: CpuSet): string {
  const ranges: [first: number, last: number][] = []
  for (const cpu of set) {
    const range = ranges.at(-1)
    if (range !== undefined && range[1] === cpu - 1) range[1] = cpu
    else ranges.push([cpu, cpu])
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',')
}

/** @throws Error in the words that a kubelet has for it */
export function parseCpuSet(text: string): CpuSet {
  if (text === '') return []
  const cpus: number[] = []
  for (const part of text.split(',')) {
    const ends = part.split('-', 2)
    const [first = 0, last = first] = ends.map(parseCpu)
    if (last < first) throw new Error(`invalid range "${part}" (${first} > ${last})`)
    for (let cpu = first; cpu <= last; cpu++) cpus.push(cpu)
  }
  return cpuSet(cpus)
}

function parseCpu(text: string): number {
  if (/^[+-]?\d+$/.test(text)) return Number(text)
  throw new Error(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
}
