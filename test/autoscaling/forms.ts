/** Metrics, and what they are asked for as, in few words: by default of pods of one container `c` that asks for 100m and 100Mi. */
import type { Fields } from '../../src/api/object.ts'
import type { ContainerUse, Metrics, PodUse } from './metrics-stub.ts'

export const use = (usage: ContainerUse, more: Omit<PodUse, 'containers'> = {}): PodUse => ({
  containers: { c: usage },
  ...more,
})
export const cpu = (...amounts: readonly (string | null)[]): Metrics => ({
  pods: amounts.map((amount) => (amount === null ? null : use({ cpu: amount, memory: '50Mi' }))),
})
export const utilization = (averageUtilization: number, name = 'cpu'): Fields => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization } },
})
export const usage = (averageValue: string, name = 'memory'): Fields => ({
  type: 'Resource',
  resource: { name, target: { type: 'AverageValue', averageValue } },
})
export const inContainer = (container: string, target: Fields): Fields => ({
  type: 'ContainerResource',
  containerResource: { name: 'cpu', container, target },
})
export const half = { type: 'Utilization', averageUtilization: 50 }
export const ofPods = (averageValue: string, metric: Fields = { name: 'packets' }): Fields => ({
  type: 'Pods',
  pods: { metric, target: { type: 'AverageValue', averageValue } },
})
export const value = (amount: string): Fields => ({ type: 'Value', value: amount })
export const average = (amount: string): Fields => ({ type: 'AverageValue', averageValue: amount })
export const ofObject = (target: Fields, describedObject: Fields, metric: Fields = { name: 'hits' }): Fields => ({
  type: 'Object',
  object: { metric, describedObject, target },
})
export const service = { apiVersion: 'v1', kind: 'Service', name: 'front' }
export const external = (target: Fields, metric: Fields = { name: 'queue' }): Fields => ({
  type: 'External',
  external: { metric, target },
})
export const queue = (...values: readonly string[]): Metrics => ({ external: { queue: values } })
export const hits = (amount: string): Metrics => ({ custom: { 'services/hits': [amount] } })
export const atOnce = { stabilizationWindowSeconds: 0 }
/** A failure that a server tells as a Status. */
export const failed = (code: number, reason: string, message: string) => ({
  code,
  status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
})
export const onCpu = (spec: Fields = {}, target = 50): Fields => ({
  maxReplicas: 10,
  metrics: [utilization(target)],
  ...spec,
})
export const twoContainers = (more: Fields = {}): Fields => ({
  containers: ['c', 'd'].map((name) => ({ name, image: 'i', resources: { requests: { cpu: '100m' } } })),
  ...more,
})
