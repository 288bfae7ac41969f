/** What pods and nodes use, as metrics.k8s.io tells it. */

export interface Usage {
  readonly cpuNanoCores: number
  readonly memoryBytes: number
}

/** Usage, measured until `time` over the window before it. Both in milliseconds. */
export interface Measured<T> {
  readonly time: number
  readonly windowMs: number
  readonly used: T
}

/** Of a pod's running containers, by name. */
export type ContainerUsages = ReadonlyMap<string, Usage>

export const NO_USAGE: Usage = { cpuNanoCores: 0, memoryBytes: 0 }

export const plus = (a: Usage, b: Usage): Usage => ({
  cpuNanoCores: a.cpuNanoCores + b.cpuNanoCores,
  memoryBytes: a.memoryBytes + b.memoryBytes,
})
