/** What an evicted pod's status and Event say. */
import { formatQuantity, quantityValue } from '../../api/values/quantity.ts'
import { initContainersOf, type Pod, specOf } from '../pod.ts'
import type { PodUse, SignalObservation, Starved } from './observations.ts'
import { type Threshold, thresholdValue } from './thresholds.ts'

const binary = (value: number): string =>
  formatQuantity({ nanos: BigInt(Math.round(value)) * 1_000_000_000n, format: 'BinarySI' })

export interface EvictionMessage {
  readonly message: string
  /** Of the Event. */
  readonly annotations?: Readonly<Record<string, string>>
  /** The pod has the condition DisruptionTarget with the same message. */
  readonly isDisruption?: true
}

export function evictionMessage(
  pod: Pod,
  use: PodUse | undefined,
  resource: Starved,
  threshold: Threshold,
  observed: SignalObservation,
): EvictionMessage {
  const { amount } = threshold
  const quantity = 'text' in amount ? amount.text : binary(thresholdValue(amount, observed.capacity))
  const offending: { readonly name: string; readonly used: string }[] = []
  let message = `The node was low on resource: ${resource}. Threshold quantity: ${quantity}, available: ${binary(observed.available)}. `
  if (resource === 'memory' || resource === 'ephemeral-storage')
    for (const { name, resources } of [...specOf(pod).containers, ...initContainersOf(pod)]) {
      const own = use?.containers.get(name)
      if (own === undefined) continue
      const used = resource === 'memory' ? own.memoryBytes : own.diskBytes
      const request = resources?.requests?.[resource] ?? '0'
      if (used <= Number(quantityValue(request))) continue
      offending.push({ name, used: binary(used) })
      message += `Container ${name} was using ${binary(used)}, request is ${request}, has larger consumption of ${resource}. `
    }
  return {
    message,
    annotations: {
      offending_containers: offending.map(({ name }) => name).join(','),
      offending_containers_usage: offending.map(({ used }) => used).join(','),
      starved_resource: resource,
    },
  }
}
