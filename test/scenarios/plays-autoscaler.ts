/** Autoscalers where nobody serves metrics: targets that are not there, at rest or out of bounds, and metrics of each type. */
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { brief, create, deployment, type Play } from './acts.ts'
import { namespace, type Stage } from './stage.ts'

const autoscalers = { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' }
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }

async function autoscale(stage: Stage, metrics: readonly Fields[], spec: Fields): Promise<void> {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }
  await stage.user
    .resource(autoscalers)
    .namespace(namespace)
    .create({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 3, metrics, ...spec },
    } as unknown as KubeObject)
}
const autoscaled = (metrics: readonly Fields[] = [cpu], spec: Fields = {}, deployed: Fields = {}): Play => ({
  nodes: 2,
  prepare: async (stage) => void (await create(stage, 'deployments', deployment(deployed))),
  act: (stage) => autoscale(stage, metrics, spec),
})

export const autoscalerPlays = brief({
  'hpa-target-gone': { nodes: 1, act: (stage) => autoscale(stage, [cpu], {}) },
  'hpa-kind': autoscaled([cpu], { scaleTargetRef: { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w' } }),
  'hpa-disabled': autoscaled([cpu], {}, { replicas: 0 }),
  'hpa-below': { ...autoscaled([cpu], { minReplicas: 2 }), namesBefore: 1 },
  'hpa-no-metrics': autoscaled(),
  'hpa-average': autoscaled([
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  ]),
  'hpa-container': autoscaled([{ type: 'ContainerResource', containerResource: { ...cpu.resource, container: 'c' } }]),
  'hpa-pods': autoscaled([
    { type: 'Pods', pods: { metric: { name: 'packets' }, target: { type: 'AverageValue', averageValue: '1k' } } },
  ]),
  'hpa-object': autoscaled([
    {
      type: 'Object',
      object: {
        metric: { name: 'hits' },
        describedObject: { apiVersion: 'v1', kind: 'Service', name: 'x' },
        target: { type: 'Value', value: '10' },
      },
    },
  ]),
  'hpa-external': autoscaled([
    cpu,
    { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '10' } } },
  ]),
})
