/** What Kubernetes protects while it is used, and controllers that are not where the object is. */
import type { Fields } from '../../../src/api/object.ts'
import { formatTime } from '../../../src/base/clock.ts'
import { define, node, operator, runningPod, type Stage, workload } from '../stage.ts'
import { type Case, claim, ownerOf, volume } from './case.ts'

const instance = (group: string, kind: string, namespace: string, finalizer: string, more: Fields = {}): Fields => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name: 'x', namespace, finalizers: [finalizer] },
  ...more,
})
const clusterWide = (stage: Stage, group: string, resource: string) =>
  stage.client.resource({ group, version: 'v1', resource })
const terminated = { name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0 }
const ENDED = { phase: 'Succeeded', containerStatuses: [{ ...terminated, state: { terminated: { exitCode: 0 } } }] }

/** Waits for it by a watch of its kind. */
async function untilSo(stage: Stage, group: string, resource: string, wanted: (object: Fields) => boolean) {
  const all = clusterWide(stage, group, resource)
  const list = await all.list()
  if (list.items.some(wanted)) return
  const stop = new AbortController()
  const events = await all.watch({ resourceVersion: list.metadata.resourceVersion }, stop.signal)
  for (let event = await events.next(); event !== undefined; event = await events.next())
    if (wanted(event.object)) break
  stop.abort()
}

export const uses: Readonly<Record<string, Case>> = {
  'a range of addresses': {
    title: 'a ServiceCIDR of which a Service has an address',
    async setUp(stage, namespace) {
      const cidrs = clusterWide(stage, 'networking.k8s.io', 'servicecidrs')
      const object = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: 'extra' } }
      await cidrs.create({ ...object, spec: { cidrs: ['10.77.0.0/24'] } } as never)
      const says = (reason: string) => (one: Fields) =>
        one['metadata'].name === 'extra' &&
        one['status']?.conditions?.some((condition: Fields) => (condition['reason'] ?? '') === reason) === true
      await untilSo(stage, 'networking.k8s.io', 'servicecidrs', says(''))
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'user', namespace } }
      await stage.make({ ...service, spec: { clusterIP: '10.77.0.5', ports: [{ port: 80 }] } })
      await cidrs.delete('extra')
      await untilSo(stage, 'networking.k8s.io', 'servicecidrs', says('Terminating'))
      return { kind: 'servicecidr', name: 'extra', remove: [service] }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /services\/user in namespace/,
    sentence: /10\.77\.0\.5 is of this range, and of no other/,
  },
  'a class of volumes': {
    title: 'a VolumeAttributesClass that a claim has',
    async setUp(stage, namespace) {
      const classes = clusterWide(stage, 'storage.k8s.io', 'volumeattributesclasses')
      const object = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttributesClass', metadata: { name: 'fast' } }
      await classes.create({ ...object, driverName: 'csi.acme.test', parameters: { iops: '3' } } as never)
      const named = { volumeAttributesClassName: 'fast' }
      await stage.make(
        volume('of-class', { claimRef: { namespace, name: 'data' }, ...named }),
        claim(namespace, 'data', { volumeName: 'of-class', ...named }),
      )
      const isHeld = ({ metadata }: Fields) => metadata.name === 'fast' && metadata.finalizers !== undefined
      await untilSo(stage, 'storage.k8s.io', 'volumeattributesclasses', isHeld)
      await classes.delete('fast')
      return { kind: 'volumeattributesclass', name: 'fast' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /persistentvolumeclaims\/data in namespace/,
  },
  'a pod that has ended': {
    title: 'a claim of a pod that has ended and was not deleted',
    async setUp(stage, namespace) {
      await node(stage, namespace, true)
      const object = claim(namespace, 'data')
      await stage.make(object)
      const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }]
      const user = await runningPod(stage, namespace, 'done', namespace, { spec: { restartPolicy: 'Never', volumes } })
      await stage.status(user, ENDED)
      await stage.remove(object)
      return { kind: 'pvc', name: 'data' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /pods\/done in namespace/,
    sentence: /it has ended, and mounts the claim as long as it is there/,
  },
  'a managed job': {
    title: "the pod of a Job that another controller manages, whose tracking finalizer Kubernetes' own leaves alone",
    async setUp(stage, namespace) {
      await node(stage, namespace, true)
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } }
      const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', namespace } }
      const [made] = await stage.make({ ...job, spec: { managedBy: 'relaying.test/dispatcher', template } })
      const metadata = {
        finalizers: ['batch.kubernetes.io/job-tracking'],
        ...ownerOf(job, made?.metadata.uid ?? '', { controller: true }),
      }
      const spec = { restartPolicy: 'Never' }
      const object = await runningPod(stage, namespace, 'j-0', namespace, { spec, metadata })
      await stage.status(object, ENDED)
      await stage.remove(object, { gracePeriodSeconds: 0 })
      return { kind: 'pod', name: 'j-0' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /relaying\.test\/dispatcher, which Job j is managed by/,
  },
  'a job that cleans up': {
    title: 'an operator cleans up by a Job, and the Job has failed',
    async setUp(stage, namespace) {
      await define(stage, 'tower.test', 'Tower')
      await operator(stage, 'tower-operator', 'tower.test')
      const object = instance('tower.test', 'Tower', namespace, 'tower.test/uninstall')
      const [made] = await stage.make(object)
      await stage.remove(object)
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'uninstall' }] } }
      const metadata = { name: 'uninstall', namespace, ...ownerOf(object, made?.metadata.uid ?? '') }
      const at = formatTime(Date.now())
      const says = { status: 'True', reason: 'BackoffLimitExceeded', message: 'no more tries', lastTransitionTime: at }
      const conditions = ['FailureTarget', 'Failed'].map((type) => ({ type, lastProbeTime: at, ...says }))
      await stage.make({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata,
        spec: { suspend: true, template },
        status: { startTime: at, conditions, failed: 1 },
      })
      return { kind: 'tower', name: 'x' }
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /^jobs\.batch\/uninstall in namespace/,
    sentence: /BackoffLimitExceeded: no more tries/,
  },
  'another namespace': {
    title: 'an operator runs, and was told to watch other namespaces alone',
    async setUp(stage, namespace) {
      await define(stage, 'narrow.test', 'Narrow')
      const env = [{ name: 'WATCH_NAMESPACE', value: 'team-b,team-c' }]
      const containers = [{ name: 'main', image: 'narrow:v1', env }]
      await operator(stage, 'narrow-operator', 'narrow.test', {
        template: {
          metadata: { labels: { app: 'narrow-operator' } },
          spec: { serviceAccountName: 'narrow-operator', containers },
        },
      })
      const object = instance('narrow.test', 'Narrow', namespace, 'narrow.test/cleanup')
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'narrow', name: 'x' }
    },
    verdict: 'nobody',
    cause: 'controller-elsewhere',
    responsible: /deployments\.apps\/narrow-operator/,
    sentence: /its WATCH_NAMESPACE names team-b, team-c alone/,
  },
  'beside a controller': {
    title: 'an operator is scaled to nothing, and its server of webhooks runs',
    async setUp(stage, namespace) {
      await define(stage, 'keda.sh', 'ScaledObject')
      const operatorOf = workload(namespace, 'keda-operator')
      const admission = workload(namespace, 'keda-admission')
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'keda-admission', namespace } }
      await stage.make(account, { ...operatorOf, spec: { ...operatorOf['spec'], replicas: 0 } }, admission)
      await stage.until(admission, ({ status }) => (status?.readyReplicas ?? 0) > 0)
      const object = instance('keda.sh', 'ScaledObject', namespace, 'finalizer.keda.sh')
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'scaledobject', name: 'x' }
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /deployments\.apps\/keda-operator/,
  },
  'a copy': {
    title: 'a snapshot out of which a volume is being made',
    async setUp(stage, namespace) {
      await define(stage, 'snapshot.storage.k8s.io', 'VolumeSnapshot').catch(() => {})
      await operator(stage, 'snapshot-controller', 'snapshot.storage.k8s.io').catch(() => {})
      const protection = 'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection'
      const object = instance('snapshot.storage.k8s.io', 'VolumeSnapshot', namespace, protection)
      const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'x' }
      await stage.make(object, claim(namespace, 'restore', { dataSource, storageClassName: 'of-copies' }))
      await stage.remove(object)
      return { kind: 'volumesnapshot', name: 'x' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /persistentvolumeclaims\/restore in namespace/,
  },
  'a condition with a severity': {
    title: 'a condition of Cluster API says of itself that it is an error',
    async setUp(stage, namespace) {
      await define(stage, 'addons.cluster.x-k8s.io', 'HelmReleaseProxy')
      await operator(stage, 'caaph-controller-manager', 'addons.cluster.x-k8s.io')
      const finalizer = 'helmreleaseproxy.addons.cluster.x-k8s.io'
      const object = instance('addons.cluster.x-k8s.io', 'HelmReleaseProxy', namespace, finalizer)
      await stage.make(object)
      await stage.remove(object)
      const message = 'failed to get kubeconfig for cluster gone: secrets "gone-kubeconfig" not found'
      const says = { status: 'False', severity: 'Error', reason: 'GetClusterFailed', message }
      await stage.status(object, { conditions: [{ type: 'ClusterAvailable', ...says }] })
      return { kind: 'helmreleaseproxy', name: 'x' }
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /caaph-controller-manager/,
    sentence: /^secrets\/gone-kubeconfig does not exist: its controller says: failed to get kubeconfig/,
  },
}
