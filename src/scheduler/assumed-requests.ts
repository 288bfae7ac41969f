/** What scores take a container to need that asks for no cpu or memory. */
import type { PodSpec } from '../api/generated/types.ts'
import { addInt64 } from '../api/objects/integers.ts'
import type { Amounts } from './pod-info.ts'

/** 100m and 200 MB a container. */
const UNASKED: readonly (readonly [string, number])[] = [
  ['cpu', 100],
  ['memory', 200 * 1024 * 1024],
]

export function assumedAmounts(spec: Partial<PodSpec>, requests: Amounts): Amounts {
  const containers = spec.containers ?? []
  return new Map(
    UNASKED.map(([name, amount]) => {
      const silent = containers.filter((container) => container.resources?.requests?.[name] === undefined).length
      return [name, addInt64(requests.get(name) ?? 0, silent * amount)]
    }),
  )
}
