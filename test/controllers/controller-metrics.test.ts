/** What the controllers tell at /metrics of services, autoscalers, nodes, taints and volumes: as a kube-controller-manager v1.37.1 told on 2026-11-28. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { metricLines } from '../metric-lines.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

const GROUPS: Readonly<Record<string, readonly [group: string, version: string, resource: string]>> = {
  Service: ['', 'v1', 'services'],
  Node: ['', 'v1', 'nodes'],
  Pod: ['', 'v1', 'pods'],
  PersistentVolume: ['', 'v1', 'persistentvolumes'],
  PersistentVolumeClaim: ['', 'v1', 'persistentvolumeclaims'],
  Deployment: ['apps', 'v1', 'deployments'],
  HorizontalPodAutoscaler: ['autoscaling', 'v2', 'horizontalpodautoscalers'],
  StorageClass: ['storage.k8s.io', 'v1', 'storageclasses'],
}

async function stageWithMetrics(nodes: number) {
  const metrics = createMetrics()
  const runtime = { ...simulatedRuntime(1), metrics }
  const stage = await startStage(runtime, { nodes })
  const of = (kind: string) => {
    const [group = '', version = '', resource = ''] = GROUPS[kind] ?? []
    const all = stage.user.resource({ group, version, resource })
    return ['Node', 'PersistentVolume', 'StorageClass'].includes(kind) ? all : all.namespace(namespace)
  }
  return {
    runtime,
    stop: stage.stop,
    nodes: async () => (await runtime.complete(of('Node').list())).items,
    lines: (part: string) => metricLines(metrics, part),
    sum: (name: string) => metrics.text().match(new RegExp(`^${name}_sum(\\{.*\\})? (.*)$`, 'm'))?.[2],
    async make(kind: string, name: string, spec: Fields, rest: Fields = {}) {
      const [group, version] = GROUPS[kind] ?? []
      const apiVersion = group === '' ? version : `${group}/${version}`
      const { metadata, ...fields } = rest
      const object = { apiVersion, kind, metadata: { name, ...metadata }, spec, ...fields }
      await runtime.complete(of(kind).create(object as unknown as KubeObject))
      await runtime.advance(3000)
    },
    async patch(kind: string, name: string, body: Fields) {
      await runtime.complete(of(kind).patch(name, 'merge', body as never))
      await runtime.advance(3000)
    },
    async remove(kind: string, name: string) {
      await runtime.complete(of(kind).delete(name))
      await runtime.advance(3000)
    },
  }
}

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})
const deployment = (app: string, replicas: number) => ({
  replicas,
  selector: { matchLabels: { app } },
  template: template(app),
})

test('of services: slices, endpoints, what syncs wrote and how traffic is distributed', async () => {
  const { make, patch, remove, lines, sum, stop } = await stageWithMetrics(1)
  const of = (name: string) => lines(`endpoint_slice_controller_${name}`)
  await make('Deployment', 'e', deployment('e', 3))
  await make('Service', 'none', { selector: { app: 'none' }, ports: [{ port: 80 }] })
  await make('Service', 'e', { selector: { app: 'e' }, ports: [{ port: 80 }] })
  const totals = () =>
    ['endpoints_desired', 'desired_endpoint_slices', 'num_endpoint_slices'].map((name) => of(name)[0])
  assert.deepEqual(totals(), [' 3', ' 2', ' 2'])
  assert.deepEqual(of('changes'), ['{operation="create"} 2'])
  // Another port is another slice, which takes the name of the old one: its endpoints are new, and none has left.
  await patch('Service', 'e', { spec: { ports: [{ port: 80, targetPort: 81 }] } })
  const moved = () => ['added', 'removed'].map((what) => sum(`endpoint_slice_controller_endpoints_${what}_per_sync`))
  assert.deepEqual(moved(), ['6', '0'])
  assert.deepEqual(of('changes'), ['{operation="create"} 2', '{operation="update"} 1'])
  await patch('Service', 'e', { spec: { trafficDistribution: 'PreferSameNode' } })
  assert.deepEqual(of('services_count_by_traffic_distribution'), ['{traffic_distribution="PreferSameNode"} 1'])
  await patch('Service', 'e', { metadata: { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } } })
  assert.deepEqual(of('services_count_by_traffic_distribution'), ['{traffic_distribution="PreferSameNode"} 0'])
  assert.deepEqual(
    of('endpointslices_changed_per_sync_count').map((line) => line.replace(/ \d+$/, '')),
    [
      'Disabled",traffic_distribution="',
      'Disabled",traffic_distribution="PreferSameNode',
      'Auto",traffic_distribution="',
    ].map((labels) => `{topology="${labels}"}`),
  )
  await patch('Deployment', 'e', { spec: { replicas: 1 } })
  assert.deepEqual(moved(), ['6', '2'])
  assert.deepEqual(totals(), [' 1', ' 2', ' 2'])
  await remove('Service', 'e')
  assert.deepEqual(totals(), [' 0', ' 1', ' 1'])
  assert.ok(of('syncs').some((line) => line.startsWith('{result="success"} ')))
  await stop()
})

test('of autoscalers: how many, what they ask for, what looks at them and at single metrics came to', async () => {
  const { runtime, make, remove, lines, stop } = await stageWithMetrics(1)
  const of = (name: string) => lines(`horizontal_pod_autoscaler_controller_${name}`)
  const target = { type: 'Utilization', averageUtilization: 50 }
  const autoscaler = (name: string, minReplicas: number, maxReplicas: number) => ({
    ...{ minReplicas, maxReplicas, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } },
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
  })
  await make('Deployment', 'up', deployment('up', 1))
  await make('HorizontalPodAutoscaler', 'up', autoscaler('up', 3, 5))
  assert.deepEqual(of('reconciliations_total'), ['{action="scale_up",error="none"} 1'])
  assert.deepEqual(of('desired_replicas'), [`{hpa_name="up",namespace="${namespace}"} 3`])
  await runtime.advance(15_000)
  // No metrics API is there.
  assert.deepEqual(of('metric_computation_total'), ['{action="none",error="internal",metric_type="Resource"} 1'])
  await make('HorizontalPodAutoscaler', 'missing', autoscaler('none', 1, 2))
  assert.ok(of('reconciliations_total').some((line) => line.startsWith('{action="none",error="internal"} ')))
  assert.deepEqual(of('num_horizontal_pod_autoscalers'), [' 2'])
  await remove('HorizontalPodAutoscaler', 'up')
  assert.deepEqual([of('num_horizontal_pod_autoscalers'), of('desired_replicas')], [[' 1'], []])
  await stop()
})

test('of nodes: their zones, and pods that go for taints', async () => {
  const { runtime, make, patch, remove, nodes, lines, sum, stop } = await stageWithMetrics(1)
  const labels = { 'topology.kubernetes.io/zone': 'z' }
  await make('Node', 'silent', {}, { metadata: { labels } })
  await runtime.advance(5000)
  const of = (name: string) => lines(`node_collector_${name}`)
  const zone = '{zone=":\u0000:z"}'
  assert.deepEqual(of('zone_size'), ['{zone=""} 1', `${zone} 1`])
  assert.deepEqual(of('zone_health'), ['{zone=""} 100', `${zone} 0`])
  assert.deepEqual(of('unhealthy_nodes_in_zone'), ['{zone=""} 0', `${zone} 1`])
  await runtime.advance(120_000)
  assert.deepEqual(of('evictions_total'), ['{zone=""} 0', `${zone} 1`])
  await remove('Node', 'silent')
  await runtime.advance(5000)
  assert.deepEqual([of('zone_size')[1], of('zone_health')[1]], [`${zone} 0`, `${zone} 100`])

  const tolerations = [{ key: 'x', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 4 }]
  await make('Pod', 'a', { tolerations, containers: [{ name: 'c', image: 'i' }] })
  const [node] = await nodes()
  await patch('Node', node?.metadata.name ?? '', { spec: { taints: [{ key: 'x', effect: 'NoExecute' }] } })
  const deletions = () => lines('taint_eviction_controller_pod_deletion')
  assert.deepEqual(deletions(), ['_duration_seconds_count 0', 's_total 0'])
  await runtime.advance(5000)
  assert.deepEqual(deletions(), ['_duration_seconds_count 1', 's_total 1'])
  assert.ok(Number(sum('taint_eviction_controller_pod_deletion_duration_seconds')) < 1, 'not counted from the taint')
  await stop()
})

test('of volumes and claims: by class, by kind, and which class was given later', async () => {
  const { runtime, make, lines, stop } = await stageWithMetrics(0)
  const of = (name: string) => lines(`pv_collector_${name}`)
  const volume = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] }
  await make('PersistentVolume', 'a', { ...volume, storageClassName: 'm', hostPath: { path: '/tmp/a' } })
  await make('PersistentVolume', 'b', {
    ...volume,
    volumeMode: 'Block',
    csi: { driver: 'd.example.com', volumeHandle: 'h' },
  })
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  await make('PersistentVolumeClaim', 'bound', { ...claim, storageClassName: 'm' })
  await make('PersistentVolumeClaim', 'later', claim)
  assert.deepEqual(of('total_pv_count'), [
    '{plugin_name="kubernetes.io/host-path",volume_mode="Filesystem"} 1',
    '{plugin_name="N/A",volume_mode="Block"} 1',
  ])
  assert.deepEqual(
    [of('bound_pv_count'), of('unbound_pv_count')],
    [['{storage_class="m"} 1'], ['{storage_class=""} 1']],
  )
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
  await make('StorageClass', 'd', {}, { metadata: { annotations }, provisioner: 'd.example.com' })
  const classes = (name: string) => `{namespace="${namespace}",storage_class="${name}",volume_attributes_class=""} 1`
  assert.deepEqual([of('bound_pvc_count'), of('unbound_pvc_count')], [[classes('m')], [classes('')]])
  await runtime.advance(15_000)
  assert.deepEqual([of('bound_pvc_count'), of('unbound_pvc_count')], [[classes('m')], [classes('d')]])
  assert.deepEqual(lines('retroactive_storageclass_'), ['errors_total 0', 'total 1'])
  const spec = { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim } } }] }
  await make('Pod', 'p', { ...spec, containers: [{ name: 'c', image: 'i' }] })
  assert.deepEqual(lines('ephemeral_volume_controller_create_'), ['failures_total 0', 'total 1'])
  await stop()
})
