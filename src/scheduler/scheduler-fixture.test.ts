/** A scheduler that runs beside the stand-in of an API server, for tests. */
import type { Fields, KubeObject } from '../api/object.ts'
import { type SchedulerOptions, startScheduler } from './scheduler.ts'
import { type GivenParts, pod } from './test-objects.ts'
import { startSchedulerStandIn } from './test-stand-in.ts'

/** A pod that the default scheduler is to place. */
export const ours = (name: string, spec: Fields = {}, given: GivenParts = {}): KubeObject =>
  pod(name, { schedulerName: 'default-scheduler', ...spec }, given)
/** All that a node of two processors has. */
export const full: GivenParts = { requests: { cpu: '2' } }

/** `options` besides those of the stand-in. */
export async function startedAs(options: Partial<SchedulerOptions>, ...nodes: readonly KubeObject[]) {
  const it = startSchedulerStandIn()
  for (const one of nodes) it.put('nodes', one)
  it.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })
  await it.runtime.complete(startScheduler({ ...it.options, ...options }))
  const nodeOf = (name: string): string | undefined => it.of('pods').get(`default/${name}`)?.['spec'].nodeName
  return {
    ...it,
    nodeOf,
    async add(...pods: readonly KubeObject[]) {
      for (const one of pods) it.put('pods', one)
      await it.runtime.settle()
    },
    change(name: string, change: (pod: KubeObject) => KubeObject) {
      it.put('pods', change(it.of('pods').get(`default/${name}`) as KubeObject))
      return it.runtime.settle()
    },
    statusOf: (name: string): Fields => it.of('pods').get(`default/${name}`)?.['status'] ?? {},
    /** `METHOD path` of what was written since it was last asked. */
    wrote: () => it.taken().map(({ method, path }) => `${method} ${path.replace('/api/v1/namespaces/default/', '')}`),
  }
}
