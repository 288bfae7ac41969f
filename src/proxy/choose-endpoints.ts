/**
 * Which of a port's endpoints take its traffic on this node (API concepts: Service's traffic policies, EndpointSlice conditions,
 * topology-aware routing and traffic distribution).
 */
import type { ServedEndpoint, ServedPort } from './service-port.ts'

export interface NodePlace {
  readonly nodeName: string
  readonly zone: string | undefined
}

export interface Chosen {
  /** For traffic of policy Cluster. */
  readonly cluster: readonly ServedEndpoint[]
  /** For traffic of policy Local. */
  readonly local: readonly ServedEndpoint[]
}

/** Those that are ready; where none is, those that end but still serve. */
const usable = (endpoints: readonly ServedEndpoint[]): readonly ServedEndpoint[] => {
  const ready = endpoints.filter((one) => one.ready)
  return ready.length > 0 ? ready : endpoints.filter(({ serving, terminating }) => serving && terminating)
}

export function chooseEndpoints({ endpoints }: Pick<ServedPort, 'endpoints'>, place: NodePlace): Chosen {
  const ready = endpoints.filter((one) => one.ready)
  const near = nearest(ready, place)
  return {
    cluster: near.length > 0 ? near : usable(endpoints),
    local: usable(endpoints.filter(({ nodeName }) => nodeName === place.nodeName)),
  }
}

/** By hints for nodes, then for zones: each counts only where every endpoint has one, and at least one names this node or its zone. */
function nearest(ready: readonly ServedEndpoint[], { nodeName, zone }: NodePlace): readonly ServedEndpoint[] {
  if (ready.every(({ forNodes }) => forNodes.length > 0)) {
    const here = ready.filter(({ forNodes }) => forNodes.includes(nodeName))
    if (here.length > 0) return here
  }
  if (zone !== undefined && ready.every(({ forZones }) => forZones.length > 0)) {
    const here = ready.filter(({ forZones }) => forZones.includes(zone))
    if (here.length > 0) return here
  }
  return ready
}
