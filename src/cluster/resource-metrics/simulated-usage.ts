/** What the containers of a simulated pod use: what its annotations say, else a share of what they request (docs/simulation.md). Pure. */
import type { Node, Pod } from '../../api/generated/types.ts'
import { parseQuantity, QuantityError } from '../../api/values/quantity.ts'
import { simulationOf, withImage } from '../../kubelet/runtimes/simulated/simulation-annotations.ts'
import { type ContainerUsages, NO_USAGE, plus, type Usage } from './usage.ts'

/** Of its request, where no annotation says. */
const CPU_SHARE = 0.1
const MEMORY_SHARE = 0.5
/** Of a container without requests. */
const WITHOUT_REQUESTS: Usage = { cpuNanoCores: 1_000_000, memoryBytes: 16 * 1024 * 1024 }
/** Of the system of a simulated node, beside its pods. */
const SYSTEM: Usage = { cpuNanoCores: 50_000_000, memoryBytes: 256 * 1024 * 1024 }

/** Undefined for a pod that runs no container now. */
export function simulatedPodUsage({ metadata, spec, status }: Pod): ContainerUsages | undefined {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
  const running = new Set(statuses.filter(({ state }) => state?.running !== undefined).map(({ name }) => name))
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].filter(({ name }) =>
    running.has(name),
  )
  if (status?.phase !== 'Running' || containers.length === 0) return undefined
  return new Map(
    containers.map(({ name, image = '', resources }) => {
      const annotations = withImage(metadata.annotations ?? {}, image, name)
      const asked = (resource: 'cpu' | 'memory') => amount(simulationOf(annotations, resource, name), resource)
      const requested = (resource: 'cpu' | 'memory') => amount(resources?.requests?.[resource], resource)
      const { cpuNanoCores, memoryBytes } = WITHOUT_REQUESTS
      return [
        name,
        {
          cpuNanoCores: asked('cpu') ?? Math.round((requested('cpu') ?? cpuNanoCores / CPU_SHARE) * CPU_SHARE),
          memoryBytes:
            asked('memory') ?? Math.round((requested('memory') ?? memoryBytes / MEMORY_SHARE) * MEMORY_SHARE),
        },
      ]
    }),
  )
}

/** What its pods use and its system, which annotations of the Node may say. */
export function simulatedNodeUsage({ metadata }: Node, pods: Iterable<ContainerUsages>): Usage {
  const asked = (resource: 'cpu' | 'memory') => amount(simulationOf(metadata.annotations ?? {}, resource), resource)
  let used = NO_USAGE
  for (const containers of pods) for (const usage of containers.values()) used = plus(used, usage)
  return plus(used, {
    cpuNanoCores: asked('cpu') ?? SYSTEM.cpuNanoCores,
    memoryBytes: asked('memory') ?? SYSTEM.memoryBytes,
  })
}

/** Nano-cores or bytes; undefined for what is no quantity, negative or beyond all measure. */
function amount(text: string | undefined, resource: 'cpu' | 'memory'): number | undefined {
  if (text === undefined || text.length > 64) return undefined
  try {
    const { nanos } = parseQuantity(text)
    const value = Number(resource === 'cpu' ? nanos : nanos / 1_000_000_000n)
    return value >= 0 && Number.isSafeInteger(value) ? value : undefined
  } catch (error) {
    if (error instanceof QuantityError) return undefined
    throw error
  }
}
