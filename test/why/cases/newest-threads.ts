/** Deletions that hang as threads of 2019 to 2026 tell them, and drains and owners as Kubernetes does; written down with what is expected before any of them was asked about. */
import type { Fields } from '../../../src/api/object.ts'
import { configMap, define, node, operator, pod, runningPod, type Stage, warn, workload } from '../stage.ts'
import {
  type Case,
  claim,
  failingHook,
  instance,
  isMarked,
  LATER,
  namespaceOf,
  ownerOf,
  says,
  soon,
  unserved,
} from './case.ts'
import { operatorWithLog, stuck } from './other-software.ts'

const budget = (namespace: string, name: string, labels: Fields, spec: Fields): Fields => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace },
  spec: { selector: { matchLabels: labels }, ...spec },
})

/** A node that is cordoned, for pods that a drain would take. */
async function cordoned(stage: Stage, name: string): Promise<Fields> {
  const object = await node(stage, name, true)
  await stage.of(object).patch(name, 'merge', { spec: { unschedulable: true } } as never)
  return object
}

export const newestThreads: Readonly<Record<string, Case>> = {
  'koperator 262': {
    title: 'a KafkaCluster waits for a topic that nothing deletes; only the log says so',
    async setUp(stage, namespace) {
      const group = 'kafka.banzaicloud.io'
      await define(stage, group, 'KafkaTopic')
      await stage.make(
        instance(group, 'KafkaTopic', namespace, 'kafka-cruise-control-topic', {
          metadata: { finalizers: ['finalizer.kafkatopics.kafka.banzaicloud.io'] },
          spec: { clusterRef: { name: 'x' }, name: 'cruise' },
        }),
      )
      // What its log says it says after the delete, however slow the machine is.
      const finalizer = 'finalizer.kafkaclusters.kafka.banzaicloud.io'
      const { question } = await stuck(stage, { group, kind: 'KafkaCluster', namespace, finalizer })
      await operatorWithLog(
        stage,
        'kafka-operator',
        group,
        `{"level":"info","ts":1579893801.1523893,"logger":"controllers.KafkaCluster","msg":"Ensuring all topics have finished cleaning up","kafkacluster":"${namespace}/x","Request.Name":"x"}\n{"level":"info","ts":1579893801.1524088,"logger":"controllers.KafkaCluster","msg":"Still waiting for the following topics to be deleted: [${namespace}/kafka-cruise-control-topic]","kafkacluster":"${namespace}/x","Request.Name":"x"}`,
      )
      return { ...question, remove: [workload('kafka-operator-system', 'kafka-operator')] }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /kafka-cruise-control-topic/,
  },
  'koperator 728': {
    title: 'a user cannot be finalized, for the broker breaks the connection: EOF, says the log',
    async setUp(stage, namespace) {
      const group = 'kafka.banzaicloud.io'
      await operatorWithLog(
        stage,
        'koperator-manager',
        group,
        `{"level":"info","ts":"2022-01-05T08:56:17.344Z","logger":"controllers.KafkaUser","msg":"failed to finalize kafkauser","kafkauser":"${namespace}/x","Request.Name":"x"}\n{"level":"error","ts":"2022-01-05T08:56:17.345Z","logger":"controller.KafkaUser","msg":"Reconciler error","reconciler group":"${group}","reconciler kind":"KafkaUser","name":"x","namespace":"${namespace}","error":"EOF"}`,
      )
      const finalizer = 'finalizer.kafkausers.kafka.banzaicloud.io'
      return (await stuck(stage, { group, kind: 'KafkaUser', namespace, finalizer })).question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /koperator|KafkaUser/,
    sentence: /EOF/,
  },
  'kubefed 591': {
    title: 'a federated Deployment cannot be deleted while a member cluster is not reachable',
    async setUp(stage, namespace) {
      await operator(stage, 'kubefed-controller-manager', 'types.kubefed.io')
      await define(stage, 'core.kubefed.io', 'KubeFedCluster')
      const member = instance('core.kubefed.io', 'KubeFedCluster', namespace, 'c1')
      await stage.make(member)
      await stage.status(member, says('Offline', 'True', 'ClusterNotReachable', 'cluster is not reachable'))
      const { question, object } = await stuck(stage, {
        group: 'types.kubefed.io',
        kind: 'FederatedDeployment',
        namespace,
        finalizer: 'kubefed.io/sync-controller',
        spec: { placement: { clusters: [{ name: 'c1' }] } },
      })
      const message = `Failed to delete FederatedDeployment "${namespace}/x": waiting for clusters c1 to become ready to verify that obj ${namespace}/x has been deleted`
      await warn(stage, object, 'DeleteFailed', message, 'federateddeployment-controller')
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /kubefed|federateddeployment/i,
    sentence: /c1/,
  },
  'gatekeeper 206': {
    title: 'a kind of constraints is deleted after Gatekeeper, and a constraint of it is left',
    async setUp(stage, namespace) {
      const group = 'constraints.gatekeeper.sh'
      const definition = await define(stage, group, 'K8sRequiredLabel')
      const one = instance(group, 'K8sRequiredLabel', namespace, 'owner', {
        metadata: { finalizers: ['finalizers.gatekeeper.sh/constraint'] },
      })
      await stage.make(one)
      await stage.remove(definition)
      await stage.until(one, isMarked)
      return { kind: 'crd', name: 'k8srequiredlabels.constraints.gatekeeper.sh' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /gatekeeper/i,
  },
  'karmada 1847': {
    title: 'a member cluster that is silent is not let go while its works are there',
    async setUp(stage) {
      await operator(stage, 'karmada-controller-manager', 'cluster.karmada.io')
      await define(stage, 'work.karmada.io', 'Work')
      await mayAlso(stage, 'karmada-controller-manager', 'work.karmada.io')
      const space = await stage.namespace('karmada-es-x')
      const work = instance('work.karmada.io', 'Work', space, 'nginx', {
        metadata: { finalizers: ['karmada.io/execution-controller'] },
      })
      await stage.make(work)
      await stage.remove(namespaceOf(space))
      await stage.until(work, isMarked)
      await define(stage, 'cluster.karmada.io', 'Cluster', { scope: 'Cluster' })
      const cluster = {
        apiVersion: 'cluster.karmada.io/v1',
        kind: 'Cluster',
        metadata: { name: 'x', finalizers: ['karmada.io/cluster-controller'] },
      }
      const clusters = stage.client.resource({ group: 'cluster.karmada.io', version: 'v1', resource: 'clusters' })
      await clusters.create(cluster as never)
      await clusters.delete('x')
      const message = 'Clusterstatus controller stopped posting cluster status.'
      await clusters.patch(
        'x',
        'merge',
        { status: says('Ready', 'Unknown', 'ClusterStatusUnknown', message) } as never,
        {
          subresource: 'status',
        },
      )
      return { kind: 'clusters.cluster.karmada.io', name: 'x', namespace: '' }
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /karmada|Cluster/,
    sentence: /stopped posting/,
  },
  'argo-cd project': {
    title: 'an Application outlives its AppProject: conditions of Argo CD have a type and a message alone',
    async setUp(stage, namespace) {
      const group = 'argoproj.io'
      await operator(stage, 'argocd-application-controller', group)
      await define(stage, group, 'AppProject')
      const message = 'error getting app project "payments": appproject.argoproj.io "payments" not found'
      const { question } = await stuck(stage, {
        group,
        kind: 'Application',
        namespace,
        finalizer: 'resources-finalizer.argocd.argoproj.io',
        spec: { project: 'payments' },
        status: { conditions: [{ type: 'DeletionError', message, lastTransitionTime: soon() }] },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /argocd|Application/,
    sentence: /payments/,
  },
  'crossplane usage': {
    title: 'a Usage lets a part not be deleted; the composite says with which words',
    async setUp(stage, namespace) {
      const group = 'platform.example.org'
      await operator(stage, 'crossplane', group)
      const { question, object } = await stuck(stage, {
        group,
        kind: 'XDatabase',
        namespace,
        finalizer: 'composite.apiextensions.crossplane.io',
      })
      const message =
        'cannot delete composed resource: admission webhook "nousages.protection.crossplane.io" denied the request: This resource is in-use by 1 usage(s), including the *v1beta1.Usage "release-uses-cluster" by resource Release/my-prometheus-chart.'
      await warn(
        stage,
        object,
        'DeleteComposedResources',
        message,
        'defined/compositeresourcedefinition.apiextensions.crossplane.io',
      )
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /crossplane|XDatabase/,
    sentence: /in-use by 1 usage/,
  },
  'hive deprovision': {
    title: 'a ClusterDeployment waits for the ClusterDeprovision that it made, and that cannot log in at the cloud',
    async setUp(stage, namespace) {
      const group = 'hive.openshift.io'
      await operator(stage, 'hive-controllers', group)
      await define(stage, group, 'ClusterDeprovision')
      const { question, object, uid } = await stuck(stage, {
        group,
        kind: 'ClusterDeployment',
        namespace,
        finalizer: 'hive.openshift.io/deprovision',
        status: says('DeprovisionLaunchError', 'False', 'AsExpected', 'no error'),
      })
      const deprovision = instance(group, 'ClusterDeprovision', namespace, 'x', {
        metadata: ownerOf(object, uid, { controller: true, blockOwnerDeletion: true }),
      })
      await stage.make(deprovision)
      const message =
        'AWS credentials failed: InvalidClientTokenId: The security token included in the request is invalid'
      await stage.status(deprovision, says('AuthenticationFailure', 'True', 'AuthenticationFailed', message))
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /hive|ClusterDeprovision/,
    sentence: /security token/,
  },
  'rook subvolumes': {
    title: 'a CephFilesystem is blocked by subvolumes that are no objects of the cluster',
    async setUp(stage, namespace) {
      const group = 'ceph.rook.io'
      await operator(stage, 'rook-ceph-operator-2', group)
      const message = `CephFilesystem "${namespace}/x" will not be deleted until all dependents are removed: filesystem subvolumegroups that contain subvolumes (could be from CephFilesystem PVCs or CephNFS exports): [csi]`
      const { question } = await stuck(stage, {
        group,
        kind: 'CephFilesystem',
        namespace,
        finalizer: 'cephfilesystem.ceph.rook.io',
        status: says('DeletionIsBlocked', 'True', 'ObjectHasDependents', message),
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /rook|CephFilesystem/,
    sentence: /subvolumegroups/,
  },
  'cluster-api drain of a worker': {
    title: 'a Cluster waits for its workers, and the drain of one for a budget',
    async setUp(stage, namespace) {
      const group = 'cluster.x-k8s.io'
      await operator(stage, 'capi-controller-manager', group)
      for (const kind of ['MachineSet', 'Machine']) await define(stage, group, kind)
      const labels = { app: `capi-${namespace}` }
      await cordoned(stage, 'worker-1')
      await runningPod(stage, namespace, 'only', 'worker-1', { metadata: { labels } })
      const guard = budget(namespace, 'guard', labels, { minAvailable: 1 })
      await stage.make(guard)
      const { question, object, uid } = await stuck(stage, {
        group,
        kind: 'Cluster',
        namespace,
        finalizer: 'cluster.cluster.x-k8s.io',
      })
      const set = instance(group, 'MachineSet', namespace, 'md-0', {
        metadata: { finalizers: ['cluster.x-k8s.io/machineset'], ...ownerOf(object, uid) },
      })
      const [madeSet] = await stage.make(set)
      const machine = instance(group, 'Machine', namespace, 'md-0-a', {
        metadata: {
          finalizers: ['machine.cluster.x-k8s.io'],
          ...ownerOf(set, madeSet?.metadata.uid ?? '', { controller: true }),
        },
        status: { nodeRef: { name: 'worker-1' } },
      })
      await stage.make(machine)
      for (const one of [set, machine]) await stage.remove(one)
      await stage.status(object, says('Deleting', 'True', 'WaitingForWorkersDeletion', '* Worker Machines: md-0-a'))
      const draining = `Drain not completed yet (started at ${soon()}):\n* Pod ${namespace}/only: cannot evict pod as it would violate the pod's disruption budget. The disruption budget guard needs 1 healthy pods and has 1 currently`
      await stage.status(machine, says('Deleting', 'True', 'DrainingNode', draining))
      return question
    },
    verdict: 'refused',
    cause: 'budget',
    responsible: /guard/,
  },
  'two budgets of one pod': {
    title: 'a pod of two budgets is never evicted, whatever they allow',
    async setUp(stage, namespace) {
      const labels = { app: `two-${namespace}` }
      await cordoned(stage, 'two-1')
      await runningPod(stage, namespace, 'p', 'two-1', { metadata: { labels } })
      await stage.make(
        budget(namespace, 'first', labels, { maxUnavailable: 1 }),
        budget(namespace, 'second', labels, { maxUnavailable: 1 }),
      )
      return { kind: 'node', name: 'two-1' }
    },
    verdict: 'refused',
    cause: 'budget',
    responsible: /first|second/,
    sentence: /more than one|two budgets|2 budgets/,
  },
  'budget that counts what it cannot': {
    title: 'a budget in percent is about pods of no controller: it never allows anything',
    async setUp(stage, namespace) {
      const labels = { app: `bare-${namespace}` }
      await cordoned(stage, 'bare-1')
      await runningPod(stage, namespace, 'p', 'bare-1', { metadata: { labels } })
      const guard = budget(namespace, 'percent', labels, { maxUnavailable: '50%' })
      await stage.make(guard)
      await stage.until(guard, ({ status }) => status?.observedGeneration === 1)
      return { kind: 'node', name: 'bare-1' }
    },
    verdict: 'refused',
    cause: 'budget',
    responsible: /percent/,
  },
  'quota of a drain': {
    title: 'a drain waits for a budget, whose pods a quota lets not be made again',
    async setUp(stage, namespace) {
      const labels = { app: `quota-${namespace}` }
      await cordoned(stage, 'quota-1')
      const set = {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'web', namespace },
        spec: {
          replicas: 2,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'busybox' }] } },
        },
      }
      await stage.make({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'small', namespace },
        spec: { hard: { pods: '1' } },
      })
      await stage.until(
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'small', namespace } },
        ({ status }) => status?.hard?.pods === '1',
      )
      await runningPod(stage, namespace, 'web-old', 'quota-1', { metadata: { labels } })
      await stage.make(set, budget(namespace, 'both', labels, { minAvailable: 1 }))
      await stage.untilAny(
        { apiVersion: 'v1', kind: 'Event', metadata: { namespace } },
        ({ reason }) => reason === 'FailedCreate',
      )
      return { kind: 'node', name: 'quota-1' }
    },
    verdict: 'refused',
    cause: 'budget',
    responsible: /both/,
  },
  'own claim by name': {
    title: 'a pod that was deleted in the foreground owns a claim that it mounts by name',
    async setUp(stage, namespace) {
      await node(stage, 'own-1', true)
      const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }]
      const object = await runningPod(stage, namespace, 'db', 'own-1', { spec: { volumes } })
      const { metadata } = await stage.of(object).get('db')
      const data = claim(namespace, 'data', {}, ownerOf(object, metadata.uid ?? '', { blockOwnerDeletion: true }))
      await stage.make(data)
      await stage.until(data, ({ metadata }) => metadata.finalizers?.includes('kubernetes.io/pvc-protection') === true)
      await stage.remove(object, { propagationPolicy: 'Foreground' })
      await stage.until(data, isMarked)
      await stage.remove(object, { propagationPolicy: 'Foreground', gracePeriodSeconds: 0 })
      return { kind: 'pod', name: 'db' }
    },
    verdict: 'cannot-end',
    cause: 'owner-cycle',
    responsible: /db.*data/,
  },
  'owner in a namespace': {
    title: 'an owner in a namespace waits for what is in none, which the garbage collector leaves alone',
    async setUp(stage, namespace) {
      const owner = configMap(namespace, 'owner')
      const [made] = await stage.make(owner)
      const role = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: {
          name: `of-${namespace}`,
          ...ownerOf(owner, made?.metadata.uid ?? '', { blockOwnerDeletion: true }),
        },
        rules: [],
      }
      await stage.make(role)
      await stage.remove(owner, { propagationPolicy: 'Foreground' })
      return { kind: 'cm', name: 'owner', later: LATER, remove: [role] }
    },
    verdict: 'cannot-end',
    cause: 'misplaced-owner',
    responsible: /clusterroles/,
    sentence: /in no namespace/,
  },
  'dependent in another namespace': {
    title: 'an owner waits for a dependent in another namespace, which is held',
    async setUp(stage, namespace) {
      const elsewhere = await stage.namespace(`${namespace}-elsewhere`)
      const owner = configMap(namespace, 'owner')
      const [made] = await stage.make(owner)
      const dependent = configMap(elsewhere, 'dependent', {
        finalizers: ['acme.test/cleanup'],
        ...ownerOf(owner, made?.metadata.uid ?? '', { blockOwnerDeletion: true }),
      })
      await stage.make(dependent)
      await stage.until(dependent, isMarked)
      await stage.remove(owner, { propagationPolicy: 'Foreground' })
      return { kind: 'cm', name: 'owner', later: LATER }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /acme\.test/,
  },
  'daemon set on a silent node': {
    title: 'a DaemonSet deleted in the foreground has a pod on a silent node',
    async setUp(stage, namespace) {
      await node(stage, 'silent-ds', false)
      const labels = { app: 'agent' }
      const set = {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'agent', namespace },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              nodeSelector: { 'kubernetes.io/hostname': 'nowhere' },
              containers: [{ name: 'main', image: 'busybox' }],
            },
          },
        },
      }
      const [made] = await stage.make(set)
      const object = await runningPod(stage, namespace, 'agent-x', 'silent-ds', {
        metadata: ownerOf(set, made?.metadata.uid ?? '', { blockOwnerDeletion: true }),
        spec: { tolerations: [{ operator: 'Exists' }], terminationGracePeriodSeconds: 1 },
      })
      await stage.remove(set, { propagationPolicy: 'Foreground' })
      await stage.until(object, isMarked)
      return { kind: 'ds', name: 'agent', later: LATER }
    },
    verdict: 'nobody',
    cause: 'silent-node',
    responsible: /silent-ds/,
  },
  'velero data upload': {
    title: 'a DataUpload of Velero waits for an agent that runs on no node',
    async setUp(stage, namespace) {
      const labels = { app: 'node-agent' }
      await stage.make({
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'node-agent', namespace, labels: { component: 'velero' } },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              nodeSelector: { role: 'nowhere' },
              containers: [{ name: 'node-agent', image: 'velero/velero:v1.16.0', args: ['node-agent', 'server'] }],
            },
          },
        },
      })
      const finalizer = 'velero.io/data-upload-download-finalizer'
      return (await stuck(stage, { group: 'velero.io', kind: 'DataUpload', namespace, finalizer })).question
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /daemonsets\.apps\/node-agent/,
  },
  'knative after its operator': {
    title: 'a namespace of Knative waits for a KnativeServing whose operator and its webhook went first',
    async setUp(stage, namespace) {
      const group = 'operator.knative.dev'
      await define(stage, group, 'KnativeServing')
      const object = instance(group, 'KnativeServing', namespace, 'serving', {
        metadata: { finalizers: ['knativeservings.operator.knative.dev'] },
      })
      await stage.make(object)
      await stage.remove(namespaceOf(namespace))
      await stage.until(object, isMarked)
      const hook = failingHook('operator-webhook', {
        apiGroups: [group],
        resources: ['knativeservings'],
        operations: ['UPDATE'],
      })
      await stage.make(hook)
      return { kind: 'ns', name: namespace, remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /operator-webhook/,
  },
  'mirror pod of a silent node': {
    title: 'the mirror of a static pod on a silent node',
    async setUp(stage, namespace) {
      await node(stage, 'static-1', false)
      const { metadata } = await stage.of({ apiVersion: 'v1', kind: 'Node', metadata: {} }).get('static-1')
      const object = await runningPod(stage, namespace, 'etcd-static-1', 'static-1', {
        spec: { tolerations: [{ operator: 'Exists' }] },
        metadata: {
          annotations: { 'kubernetes.io/config.mirror': 'abc', 'kubernetes.io/config.source': 'file' },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'static-1', uid: metadata.uid, controller: true }],
        },
      })
      await stage.remove(object)
      return { kind: 'pod', name: 'etcd-static-1', later: LATER }
    },
    verdict: 'nobody',
    cause: 'silent-node',
    responsible: /static-1/,
  },
}

/** Lets the account of an operator write another group. */
const mayAlso = (stage: Stage, name: string, group: string) =>
  stage.make(
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `${name}-also` },
      rules: [{ apiGroups: [group], resources: ['*'], verbs: ['*'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `${name}-also` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `${name}-also` },
      subjects: [{ kind: 'ServiceAccount', name, namespace: `${name}-system` }],
    },
  )

/** A pod with the claim of an ephemeral volume, deleted in the foreground, in its grace period. */
async function podWithOwnClaim(stage: Stage, namespace: string, nodeName: string): Promise<void> {
  await node(stage, nodeName, true)
  const template = {
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
  }
  const object = await runningPod(stage, namespace, 'db', nodeName, {
    spec: {
      volumes: [{ name: 'd', ephemeral: { volumeClaimTemplate: template } }],
      terminationGracePeriodSeconds: 600,
    },
  })
  const made = claim(namespace, 'db-d')
  await stage.until(made, ({ metadata }) => metadata.finalizers !== undefined)
  await stage.remove(object, { propagationPolicy: 'Foreground' })
  await stage.until(made, isMarked)
}

const healthy = (verdict: string, cause: string, responsible: RegExp) => ({ title: '', verdict, cause, responsible })

export const newestHealthy: Readonly<Record<string, Case>> = {
  'a pod with an ephemeral claim, deleted in the foreground, in its grace period': {
    ...healthy('will-end', 'grace-period', /eph-1/),
    async setUp(stage, namespace) {
      await podWithOwnClaim(stage, namespace, 'eph-1')
      return { kind: 'pod', name: 'db' }
    },
  },
  'the claim of such a pod': {
    ...healthy('will-end', 'grace-period', /eph-2/),
    async setUp(stage, namespace) {
      await podWithOwnClaim(stage, namespace, 'eph-2')
      return { kind: 'pvc', name: 'db-d' }
    },
  },
  'a node that is cordoned, with pods of a DaemonSet alone': {
    ...healthy('not-stuck', 'not-deleted', /./),
    async setUp(stage, namespace) {
      await cordoned(stage, 'calm-1')
      const labels = { app: 'agent' }
      const set = {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'agent', namespace },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { nodeName: 'calm-1', containers: [{ name: 'main', image: 'busybox' }] },
          },
        },
      }
      const [made] = await stage.make(set, budget(namespace, 'guard', labels, { minAvailable: 1 }))
      await runningPod(stage, namespace, 'agent-x', 'calm-1', {
        metadata: { labels, ...ownerOf(set, made?.metadata.uid ?? '', { controller: true, blockOwnerDeletion: true }) },
      })
      return { kind: 'node', name: 'calm-1' }
    },
  },
  'a node that is cordoned, whose budget allows one to go': {
    ...healthy('not-stuck', 'not-deleted', /./),
    async setUp(stage, namespace) {
      const labels = { app: `ample-${namespace}` }
      await cordoned(stage, 'ample-1')
      for (const name of ['a', 'b']) {
        const object = await runningPod(stage, namespace, name, 'ample-1', { metadata: { labels } })
        await stage.status(object, { conditions: [{ type: 'Ready', status: 'True' }] })
      }
      const guard = budget(namespace, 'guard', labels, { minAvailable: 1 })
      await stage.make(guard)
      await stage.until(guard, ({ status }) => status?.disruptionsAllowed === 1)
      return { kind: 'node', name: 'ample-1' }
    },
  },
  'a pod whose preStop hook sleeps for most of an hour': {
    ...healthy('will-end', 'grace-period', /hook-1/),
    async setUp(stage, namespace) {
      await node(stage, 'hook-1', true)
      const lifecycle = { preStop: { sleep: { seconds: 3000 } } }
      const object = await runningPod(stage, namespace, 'p', 'hook-1', {
        spec: {
          terminationGracePeriodSeconds: 3600,
          containers: [{ name: 'main', image: 'busybox', lifecycle }],
        },
      })
      await stage.remove(object)
      return { kind: 'pod', name: 'p', later: LATER }
    },
  },
  'a StatefulSet deleted in the foreground, of which one pod takes its time': {
    ...healthy('will-end', 'grace-period', /sts-1/),
    async setUp(stage, namespace) {
      await node(stage, 'sts-1', true)
      const labels = { app: 'db' }
      const set = {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'db', namespace },
        spec: {
          replicas: 0,
          serviceName: 'db',
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'busybox' }] } },
        },
      }
      const [made] = await stage.make(set)
      const object = await runningPod(stage, namespace, 'db-0', 'sts-1', {
        metadata: ownerOf(set, made?.metadata.uid ?? '', { blockOwnerDeletion: true }),
        spec: { terminationGracePeriodSeconds: 1800 },
      })
      await stage.remove(set, { propagationPolicy: 'Foreground' })
      await stage.until(object, isMarked)
      return { kind: 'sts', name: 'db', later: LATER }
    },
  },
  'a namespace whose pods are in their grace period': {
    ...healthy('will-end', 'grace-period', /ns-1/),
    async setUp(stage, namespace) {
      await node(stage, 'ns-1', true)
      for (const name of ['a', 'b', 'c'])
        await runningPod(stage, namespace, name, 'ns-1', { spec: { terminationGracePeriodSeconds: 600 } })
      await stage.remove(namespaceOf(namespace))
      await stage.until(pod(namespace, 'c'), isMarked)
      return { kind: 'ns', name: namespace }
    },
  },
  'a definition whose instances their operator takes down': {
    ...healthy('slow', 'controller-at-work', /tap-operator/),
    async setUp(stage, namespace) {
      const group = 'taps.healthy.test'
      await operator(stage, 'tap-operator', group)
      const definition = await define(stage, group, 'Tap')
      const one = instance(group, 'Tap', namespace, 'a', { metadata: { finalizers: [`${group}/drain`] } })
      await stage.make(one)
      await stage.remove(definition)
      await stage.until(one, isMarked)
      return { kind: 'crd', name: `taps.${group}` }
    },
  },
  'a namespace that is there, while an aggregated API is down': {
    ...healthy('not-stuck', 'not-deleted', /./),
    async setUp(stage, namespace) {
      const service = unserved('calm.example.com')
      await stage.make(service)
      await stage.until(service, ({ status }) => status?.conditions?.[0]?.status === 'False')
      return { kind: 'ns', name: namespace, remove: [service] }
    },
  },
  'an object that a running operator holds, deleted in the foreground with nothing that blocks it': {
    ...healthy('slow', 'controller-at-work', /calm-operator/),
    async setUp(stage, namespace) {
      const group = 'calm.healthy.test'
      await operator(stage, 'calm-operator', group)
      await define(stage, group, 'Lamp')
      const lamp = instance(group, 'Lamp', namespace, 'x', { metadata: { finalizers: [`${group}/off`] } })
      const [made] = await stage.make(lamp)
      await stage.make(configMap(namespace, 'mine', ownerOf(lamp, made?.metadata.uid ?? '')))
      await stage.remove(lamp, { propagationPolicy: 'Foreground' })
      return { kind: 'lamp', name: 'x', later: LATER }
    },
  },
}
