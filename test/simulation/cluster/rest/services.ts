/** EndpointSlices at rest: of each service exactly the pods it selects, each once, with conditions that say how they are. */
import type { Fields, KubeObject } from '../../../../src/api/object.ts'
import { describe, isMarked, isReady } from '../laws/laws.ts'
import type { Truth } from '../truth.ts'

export function checkService(truth: Truth, failed: (problem: string) => void, service: KubeObject): void {
  const app = service['spec'].selector?.app
  if (app === undefined) return
  const namespace = service.metadata.namespace ?? ''
  const told = truth
    .list('endpointslices')
    .filter(
      ({ metadata }) =>
        metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name,
    )
    .flatMap((slice): readonly Fields[] => slice['endpoints'] ?? [])
    .map(({ addresses, conditions, targetRef, nodeName }) =>
      line(addresses, targetRef?.uid, nodeName, conditions?.ready, conditions?.serving, conditions?.terminating),
    )
  const wanted = truth
    .list('pods')
    .filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.['app'] === app)
    .filter((pod) => pod['status'].podIP !== undefined && !['Succeeded', 'Failed'].includes(pod['status'].phase))
    .map((pod) => {
      const serving = isReady(pod)
      const goes = isMarked(pod)
      return line([pod['status'].podIP], pod.metadata.uid, pod['spec'].nodeName, serving && !goes, serving, goes)
    })
  if (told.sort().join() !== wanted.sort().join())
    failed(`the slices of ${describe(service)} tell of ${told.join('; ')} instead of ${wanted.join('; ')}`)
}

const line = (...parts: readonly unknown[]): string => parts.join(' ')
