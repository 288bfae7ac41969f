/** More deletions that hang in other software, as its public issues tell them; rules that these led to know none of them by name. */
import type { Fields } from '../../../src/api/object.ts'
import { formatTime } from '../../../src/base/clock.ts'
import { define, node, operator, runningPod, warn } from '../stage.ts'
import { type Case, failingHook, LATER, namespaceOf } from './case.ts'
import { operatorWithLog, stuck } from './other-software.ts'

export const furtherSoftware: Readonly<Record<string, Case>> = {
  'kubernetes 77086': {
    title: "a name of the garbage collector's among the finalizers of a namespace's spec, where it means nothing",
    async setUp(stage, namespace) {
      const space: Fields = { ...namespaceOf(`${namespace}-spec`), spec: { finalizers: ['foregroundDeletion'] } }
      await stage.make(space)
      await stage.remove(space)
      await stage.until(space, ({ spec }) => (spec.finalizers ?? []).length === 1)
      return { kind: 'ns', name: space['metadata'].name }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /foregroundDeletion/,
  },
  'dra-driver-nvidia-gpu 725': {
    title: 'a claim of devices that is reserved for a pod which does not end',
    async setUp(stage, namespace) {
      await node(stage, 'gpu', false)
      const pod = await runningPod(stage, namespace, 'p', 'gpu', { spec: { tolerations: [{ operator: 'Exists' }] } })
      const { uid } = (await stage.of(pod).get('p')).metadata
      const object = {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaim',
        metadata: { name: 'c', namespace, finalizers: ['resource.kubernetes.io/delete-protection'] },
        spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } },
      }
      await stage.make(object)
      const results = [{ request: 'gpu', driver: 'gpu.acme.test', pool: 'p', device: 'd' }]
      const reservedFor = [{ resource: 'pods', name: 'p', uid }]
      await stage.status(object, { allocation: { devices: { results } }, reservedFor })
      await stage.remove(object)
      await stage.remove(pod)
      return { kind: 'resourceclaim', name: 'c', later: LATER }
    },
    verdict: 'nobody',
    cause: 'silent-node',
    responsible: /kubelet of node gpu/,
  },
  'kubernetes 116954': {
    title: 'a pod with a grace period of a day, whose containers ended long ago',
    async setUp(stage, namespace) {
      await node(stage, 'daily', true)
      const object = await runningPod(stage, namespace, 'p', 'daily', {
        spec: { terminationGracePeriodSeconds: 86_400 },
      })
      await stage.remove(object)
      const terminated = { exitCode: 0, reason: 'Completed', finishedAt: formatTime(Date.now() - 1000) }
      const main = { name: 'main', image: 'busybox', imageID: '', ready: false, restartCount: 0 }
      await stage.status(object, {
        phase: 'Succeeded',
        containerStatuses: [{ ...main, state: { terminated }, lastState: {} }],
      })
      return { kind: 'pod', name: 'p', later: LATER }
    },
    verdict: 'slow',
    cause: 'kubelet-at-work',
    responsible: /kubelet of node daily/,
    sentence: /all containers ended \d+ s ago; no Event says why it is still there/,
  },
  'opendatahub-operator 3808': {
    title:
      "a namespace took the server of a webhook with it that is asked about the deletes of the namespace's own content",
    async setUp(stage, namespace) {
      await define(stage, 'serving.acme.test', 'Model')
      await stage.make({ apiVersion: 'serving.acme.test/v1', kind: 'Model', metadata: { name: 'm', namespace } })
      const hook = failingHook('models', {
        operations: ['DELETE'],
        apiGroups: ['serving.acme.test'],
        resources: ['models'],
      })
      const [first] = hook['webhooks'] as readonly Fields[]
      const clientConfig = { service: { namespace, name: 'server', path: '/v' }, caBundle: '' }
      await stage.make({ ...hook, webhooks: [{ ...first, clientConfig }] })
      const space = namespaceOf(namespace)
      await stage.remove(space)
      await stage.until(space, ({ status }) =>
        ((status?.conditions as readonly Fields[] | undefined) ?? []).some(
          ({ type, status: is }) => type === 'NamespaceDeletionContentFailure' && is === 'True',
        ),
      )
      return { kind: 'ns', name: namespace, remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /webhook models\.acme\.test of models/,
    sentence: /Service \S+\/server: the Service does not exist/,
  },
  'machine-controller 1285': {
    title: 'a controller that would add a finalizer to what is being deleted; only its log says so',
    async setUp(stage, namespace) {
      const { question } = await stuck(stage, {
        group: 'kubermatic.acme.test',
        kind: 'UserCluster',
        namespace,
        finalizer: 'kubermatic.acme.test/cleanup-credentials',
      })
      const error =
        'UserCluster.kubermatic.acme.test "x" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted'
      await operatorWithLog(
        stage,
        'usercluster-controller',
        'kubermatic.acme.test',
        `${JSON.stringify({ level: 'error', msg: 'Reconciling failed', cluster: `${namespace}/x`, error })}\n`,
      )
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /usercluster-controller/,
    sentence: /no new finalizers can be added/,
  },
  'kuadrant-operator 169': {
    title: 'a condition says what is missing to the operator',
    async setUp(stage, namespace) {
      // Another case has it too.
      await define(stage, 'install.istio.io', 'IstioOperator').catch(() => undefined)
      const { question } = await stuck(stage, {
        group: 'kuadrant.io',
        kind: 'Kuadrant',
        namespace,
        finalizer: 'kuadrant.io/finalizer',
        status: {
          conditions: [
            {
              type: 'Ready',
              status: 'False',
              reason: 'ReconcilliationError',
              message: 'IstioOperator.install.istio.io "istiocontrolplane" not found',
              lastTransitionTime: '2026-01-01T00:00:00Z',
            },
          ],
        },
      })
      await operator(stage, 'kuadrant-operator', 'kuadrant.io')
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /kuadrant/i,
    sentence: /istiocontrolplane" not found/,
  },
  'kueue 1352': {
    title: 'a pod that waits at a gate, with a finalizer of a queue manager that is not there',
    async setUp(stage, namespace) {
      const object = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace, finalizers: ['kueue.x-k8s.io/managed'] },
        spec: {
          schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }],
          containers: [{ name: 'main', image: 'busybox' }],
        },
      }
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'pod', name: 'p' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /kueue/,
  },
  'crossplane 1737': {
    title: 'the configuration of a provider waits until nothing uses it; what uses it has lost its provider',
    async setUp(stage, namespace) {
      await operator(stage, 'crossplane-rbac', 'aws.crossplane.test')
      const { question } = await stuck(stage, {
        group: 'aws.crossplane.test',
        kind: 'ProviderConfig',
        namespace,
        finalizer: 'in-use.crossplane.io',
      })
      await define(stage, 'aws.crossplane.test', 'ProviderConfigUsage')
      await stage.make({
        apiVersion: 'aws.crossplane.test/v1',
        kind: 'ProviderConfigUsage',
        metadata: { name: 'u', namespace },
        providerConfigRef: { name: 'x' },
      })
      return question
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /providerconfigusages\.aws\.crossplane\.test\/u/,
  },
  'kueue 249': {
    title: 'a flavor waits for a queue that lists it, and the queue for its workloads',
    async setUp(stage, namespace) {
      await operator(stage, 'kueue-controller-manager', 'kueue.x-k8s.io')
      const { question } = await stuck(stage, {
        group: 'kueue.x-k8s.io',
        kind: 'ResourceFlavor',
        namespace,
        finalizer: 'kueue.x-k8s.io/resource-in-use',
      })
      await stuck(stage, {
        group: 'kueue.x-k8s.io',
        kind: 'ClusterQueue',
        namespace,
        finalizer: 'gone.acme.test/billing',
        spec: { resourceGroups: [{ flavors: [{ name: 'x' }] }] },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /gone\.acme\.test\/billing/,
  },
  'aws-load-balancer-controller 3560': {
    title: 'a controller of Ingresses cannot take its load balancer down, and says so in Events of its own',
    async setUp(stage, namespace) {
      const object = {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name: 'i', namespace, finalizers: ['ingress.k8s.aws/resources'] },
        spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
      }
      await stage.make(object)
      await stage.remove(object)
      await operator(stage, 'aws-load-balancer-controller-2', 'networking.k8s.io')
      const message =
        'Failed deploy model due to TooManyUniqueTargetGroupsPerLoadBalancer: you have reached the maximum'
      await warn(stage, object, 'FailedDeployModel', message, 'ingress')
      return { kind: 'ing', name: 'i' }
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /deployments\.apps\/aws-load-balancer-controller/,
    sentence: /TooManyUniqueTargetGroups/,
  },
  'csi-driver-host-path 178': {
    title: 'a snapshot that its storage system does not delete: a group with a name like those of Kubernetes',
    async setUp(stage, namespace) {
      await operator(stage, 'snapshot-controller', 'snapshot.storage.k8s.io')
      const { question } = await stuck(stage, {
        group: 'snapshot.storage.k8s.io',
        kind: 'VolumeSnapshotContent',
        namespace,
        finalizer: 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection',
        status: {
          error: {
            message: 'rpc error: code = Internal desc = snapshot is in state pending',
            time: formatTime(Date.now()),
          },
        },
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /snapshot-controller/,
    sentence: /in state pending/,
  },
  'velero 7433': {
    title: 'a finalizer of a backup program, which is gone, on what the snapshot controller cares for',
    async setUp(stage, namespace) {
      await operator(stage, 'fence-controller', 'fences.acme.test')
      const { question } = await stuck(stage, {
        group: 'fences.acme.test',
        kind: 'Fence',
        namespace,
        finalizer: 'velero.io/volume-snapshot-content-protect-finalizer',
      })
      return question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /velero/,
  },
  'cluster-api hook': {
    title: 'a Machine whose deletion a hook holds, and its owner does not take it away',
    async setUp(stage, namespace) {
      await operator(stage, 'capi-machines', 'machines.cluster.x-k8s.io')
      const { question } = await stuck(stage, {
        group: 'machines.cluster.x-k8s.io',
        kind: 'Machine',
        namespace,
        finalizer: 'machines.cluster.x-k8s.io/machine',
        metadata: { annotations: { 'pre-terminate.delete.hook.machine.cluster.x-k8s.io/etcd': 'kcp-controller' } },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'paused',
    responsible: /^kcp-controller$/,
    sentence: /until kcp-controller takes annotation pre-terminate\.delete\.hook\./,
  },
}
