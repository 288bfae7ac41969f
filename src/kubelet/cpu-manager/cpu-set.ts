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

/** No machine has as many: a range up to any number would be more than memory holds. */
const HIGHEST = 65_535

/** @throws Error in the words that a kubelet has for it */
export function parseCpuSet(text: string): CpuSet {
  if (text === '') return []
  const cpus: number[] = []
  for (const part of text.split(',')) {
    const [, start = '', end = start] = /^([^-]*)(?:-(.*))?$/.exec(part) ?? []
    const [first, last] = [parseCpu(start), parseCpu(end)]
    if (last < first) throw new Error(`invalid range "${part}" (${first} > ${last})`)
    for (let cpu = first; cpu <= last; cpu++) cpus.push(cpu)
  }
  return cpuSet(cpus)
}

function parseCpu(text: string): number {
  const wrong = (why: string) => new Error(`strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`)
  if (!/^[+-]?\d+$/.test(text)) throw wrong('invalid syntax')
  if (Number(text) > HIGHEST) throw wrong('value out of range')
  return Number(text)
}
