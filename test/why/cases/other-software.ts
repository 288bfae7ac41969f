/** Deletions that hang in other software, as its public issues tell them; nothing in `why` knows most of these by name. */
import type { Fields } from '../../../src/api/object.ts'
import { define, node, operator, pod, type Stage, workload } from '../stage.ts'
import { type Case, failingHook, ownerOf, volume } from './case.ts'

interface Stuck {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly finalizer: string
  readonly spec?: Fields
  readonly status?: Fields
  readonly metadata?: Fields
}

/** An object of a kind that is defined with it, held by a finalizer, and deleted. */
export async function stuck(stage: Stage, { group, kind, namespace, finalizer, spec, status, metadata }: Stuck) {
  await define(stage, group, kind)
  const object = {
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: 'x', namespace, finalizers: [finalizer], ...metadata },
    ...(spec === undefined ? {} : { spec }),
  }
  const [made] = await stage.make(object)
  await stage.remove(object)
  if (status !== undefined) await stage.status(object, status)
  return { question: { kind: `${kind}.${group}`, name: 'x' }, object, uid: made?.metadata.uid ?? '' }
}

const condition = (type: string, status: string, reason: string, message: string) => ({
  conditions: [{ type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }],
})

/** An operator whose log has these lines. */
export async function operatorWithLog(stage: Stage, name: string, group: string, log: string) {
  const { template } = workload('', name)['spec']
  const metadata = { ...template.metadata, annotations: { 'sim.skiff.dev/log': log } }
  return operator(stage, name, group, { template: { ...template, metadata } })
}

export const otherSoftware: Readonly<Record<string, Case>> = {
  'velero 6576': {
    title: 'Velero was removed before its Restores',
    async setUp(stage, namespace) {
      const finalizer = 'restores.velero.io/external-resources-finalizer'
      return (await stuck(stage, { group: 'velero.io', kind: 'Restore', namespace, finalizer })).question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /velero/i,
  },
  'tidb-operator 2888': {
    title: 'a Backup needs a Job in a namespace that goes; only the log of its operator says so',
    async setUp(stage, namespace) {
      const { question } = await stuck(stage, {
        group: 'pingcap.com',
        kind: 'Backup',
        namespace,
        finalizer: 'tidb.pingcap.com/backup-protection',
      })
      await operatorWithLog(
        stage,
        'tidb-controller-manager',
        'pingcap.com',
        `E0708 10:00:00 1 backup.go:71] Backup ${namespace}/x: create clean job failed: jobs.batch "clean-x" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated\n`,
      )
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      return question
    },
    verdict: 'cannot-end',
    cause: 'namespace-terminating',
    responsible: /tidb-controller-manager/,
    sentence: /unable to create new content/,
  },
  'rook 17059': {
    title: 'a CephCluster waits for a pool that is not deleted, and says so in a condition',
    async setUp(stage, namespace) {
      const message =
        'CephCluster "ns/x" will not be deleted until all dependents are removed: CephBlockPool: [replicapool]'
      const { question } = await stuck(stage, {
        group: 'ceph.rook.io',
        kind: 'CephCluster',
        namespace,
        finalizer: 'cephcluster.ceph.rook.io',
        status: condition('DeletionIsBlocked', 'True', 'ObjectHasDependents', message),
      })
      await operator(stage, 'rook-ceph-operator', 'ceph.rook.io')
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /controller of CephCluster|rook-ceph-operator/,
    sentence: /CephBlockPool: \[replicapool\]/,
  },
  'flux 997': {
    title: 'the account as which a Kustomization prunes went first',
    async setUp(stage, namespace) {
      await operator(stage, 'kustomize-controller', 'kustomize.toolkit.fluxcd.io')
      const { question } = await stuck(stage, {
        group: 'kustomize.toolkit.fluxcd.io',
        kind: 'Kustomization',
        namespace,
        finalizer: 'finalizers.fluxcd.io',
        spec: { prune: true, serviceAccountName: 'spring-petclinic' },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /Kustomization/,
    sentence: /serviceaccounts\/spring-petclinic/,
  },
  'strimzi 11901': {
    title: 'a namespace took the topic operator with it, and waits for a KafkaTopic',
    async setUp(stage, namespace) {
      const finalizer = 'strimzi.io/topic-operator'
      await stuck(stage, { group: 'kafka.strimzi.io', kind: 'KafkaTopic', namespace, finalizer })
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      return { kind: 'ns', name: namespace }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /strimzi/i,
  },
  'strimzi 9975': {
    title: 'a topic that its broker does not delete: a condition that is not Ready',
    async setUp(stage, namespace) {
      const message = 'org.apache.kafka.common.errors.TimeoutException: Call(callName=deleteTopics) timed out'
      const { question } = await stuck(stage, {
        group: 'kafka.banzaicloud.io',
        kind: 'KafkaTopic',
        namespace,
        finalizer: 'finalizer.kafkatopics.kafka.banzaicloud.io',
        status: condition('Ready', 'False', 'KafkaError', message),
      })
      await operator(stage, 'kafka-operator', 'kafka.banzaicloud.io')
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /KafkaTopic|kafka-operator/,
    sentence: /callName=deleteTopics/,
  },
  'kubevirt 2138': {
    title: 'an admission policy of the software itself refuses the update that ends a VirtualMachineInstance',
    async setUp(stage, namespace) {
      const { question, object } = await stuck(stage, {
        group: 'kubevirt.io',
        kind: 'VirtualMachineInstance',
        namespace,
        finalizer: 'foregroundDeleteVirtualMachine',
      })
      const meta = { name: 'vmi-update-validator' }
      const policy = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: meta,
        spec: {
          matchConstraints: {
            resourceRules: [
              {
                apiGroups: ['kubevirt.io'],
                apiVersions: ['*'],
                operations: ['UPDATE'],
                resources: ['virtualmachineinstances'],
              },
            ],
          },
          validations: [{ expression: 'false', message: 'update of VMI object is restricted' }],
        },
      }
      const binding = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: meta,
        spec: { policyName: meta.name, validationActions: ['Deny'] },
      }
      await operator(stage, 'virt-controller', 'kubevirt.io')
      await stage.make(policy, binding)
      for (let refused = false; !refused; )
        refused = await stage
          .of(object)
          .patch('x', 'merge', { metadata: { labels: { a: 'b' } } } as never, { dryRun: true })
          .then(
            () => false,
            () => true,
          )
      return { ...question, remove: [binding, policy] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /vmi-update-validator/,
    sentence: /update of VMI object is restricted/,
  },
  'remove-empty-ns-operator 5': {
    title: 'a namespace that an operator of kopf marked, and the operator is gone',
    async setUp(stage, namespace) {
      const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${namespace}-marked` } }
      await stage.namespace(space.metadata.name, { finalizers: ['kopf.zalando.org/KopfFinalizerMarker'] })
      await stage.remove(space)
      await stage.until(space, ({ spec }) => (spec.finalizers ?? []).length === 0)
      return { kind: 'ns', name: space.metadata.name }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /kopf/i,
  },
  'cluster-api-provider-aws 2606': {
    title: 'a Cluster waits for its infrastructure, whose provider was removed',
    async setUp(stage, namespace) {
      await operator(stage, 'capi-controller-manager', 'cluster.cluster.x-k8s.io')
      const cluster = await stuck(stage, {
        group: 'cluster.cluster.x-k8s.io',
        kind: 'Cluster',
        namespace,
        finalizer: 'cluster.cluster.x-k8s.io',
        spec: { infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'AWSCluster', name: 'x' } },
      })
      await stuck(stage, {
        group: 'infrastructure.cluster.x-k8s.io',
        kind: 'AWSCluster',
        namespace,
        finalizer: 'awscluster.infrastructure.cluster.x-k8s.io',
        metadata: ownerOf(cluster.object, cluster.uid, { controller: true }),
      })
      return cluster.question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /awscluster\.infrastructure/,
  },
  'pixie 1917': {
    title: 'the manager of operators was scaled to nothing',
    async setUp(stage, namespace) {
      await operator(stage, 'olm-operator', 'operators.coreos.com', { replicas: 0 })
      const finalizer = 'operators.coreos.com/csv-cleanup'
      return (
        await stuck(stage, { group: 'operators.coreos.com', kind: 'ClusterServiceVersion', namespace, finalizer })
      ).question
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /olm-operator/,
  },
  'longhorn 3457': {
    title: 'Longhorn was removed by hand, and its objects stay',
    async setUp(stage, namespace) {
      const { question } = await stuck(stage, {
        group: 'longhorn.io',
        kind: 'Engine',
        namespace,
        finalizer: 'longhorn.io',
      })
      return question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /longhorn/i,
  },
  'sig-storage-lib-external-provisioner 42': {
    title: 'a volume whose provisioner was removed',
    async setUp(stage) {
      const object = volume(
        'nfs-volume',
        { nfs: { server: '10.0.0.9', path: '/x' }, csi: null, persistentVolumeReclaimPolicy: 'Delete' },
        {
          finalizers: ['external-provisioner.volume.kubernetes.io/finalizer'],
          annotations: { 'pv.kubernetes.io/provisioned-by': 'nfs.acme.test' },
        },
      )
      await stage.make(object)
      await stage.remove(object)
      await stage.until(object, ({ metadata }) => metadata.finalizers?.length === 1)
      return { kind: 'pv', name: 'nfs-volume' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /provisioner|nfs\.acme\.test/,
  },
  'kubernetes 95983': {
    title: "a controller's own webhook, whose pods do not run, refuses every update",
    async setUp(stage, namespace) {
      const name = 'aws-load-balancer-controller'
      const { question } = await stuck(stage, {
        group: 'elbv2.k8s.aws',
        kind: 'TargetGroupBinding',
        namespace,
        finalizer: 'elbv2.k8s.aws/resources',
      })
      const system = await operator(stage, name, 'elbv2.k8s.aws', { replicas: 0 })
      await stage.make({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'webhook', namespace: system },
        spec: { selector: { app: name }, ports: [{ port: 443 }] },
      })
      const hook = failingHook('aws-load-balancer-webhook', {
        operations: ['UPDATE'],
        apiGroups: ['elbv2.k8s.aws'],
        resources: ['targetgroupbindings'],
      })
      const [first] = hook['webhooks'] as readonly Fields[]
      const clientConfig = { service: { namespace: system, name: 'webhook', path: '/v' }, caBundle: '' }
      await stage.make({ ...hook, webhooks: [{ ...first, clientConfig }] })
      return { ...question, remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /aws-load-balancer-webhook/,
    sentence: /no ready endpoints: none of its pods runs/,
  },
  'karpenter 2802': {
    title: 'a NodeClaim whose drain a budget refuses',
    async setUp(stage, namespace) {
      await operator(stage, 'karpenter', 'karpenter.sh')
      await node(stage, 'claimed', true)
      const labels = { app: 'guarded' }
      const object = pod(namespace, 'p', { nodeName: 'claimed' }, { labels })
      const budget = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'guard', namespace },
        spec: { minAvailable: 1, selector: { matchLabels: labels } },
      }
      await stage.make(object, budget)
      await stage.until(budget, ({ status }) => status?.desiredHealthy === 1)
      const { question } = await stuck(stage, {
        group: 'karpenter.sh',
        kind: 'NodeClaim',
        namespace,
        finalizer: 'karpenter.sh/termination',
        status: { nodeName: 'claimed' },
      })
      return question
    },
    verdict: 'refused',
    cause: 'budget',
    responsible: /poddisruptionbudgets\.policy\/guard/,
  },
  'external-secrets 3411': {
    title: 'the store that a PushSecret cleans up went first',
    async setUp(stage, namespace) {
      await define(stage, 'external-secrets.io', 'SecretStore')
      await operator(stage, 'external-secrets', 'external-secrets.io')
      const { question } = await stuck(stage, {
        group: 'external-secrets.io',
        kind: 'PushSecret',
        namespace,
        finalizer: 'pushsecret.externalsecrets.io/finalizer',
        spec: { deletionPolicy: 'Delete', secretStoreRefs: [{ name: 'vault', kind: 'SecretStore' }] },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /PushSecret/,
    sentence: /secretstores\/vault/,
  },
  'k8s-config-connector 22': {
    title: 'a cloud object that still holds something',
    async setUp(stage, namespace) {
      const message =
        'Delete call failed: error deleting resource: googleapi: Error 409: The bucket you tried to delete is not empty., conflict'
      const { question } = await stuck(stage, {
        group: 'storage.cnrm.cloud.google.com',
        kind: 'StorageBucket',
        namespace,
        finalizer: 'cnrm.cloud.google.com/finalizer',
        status: condition('Ready', 'False', 'DeleteFailed', message),
      })
      await operator(stage, 'cnrm-controller-manager', 'storage.cnrm.cloud.google.com')
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /StorageBucket|cnrm-controller-manager/,
    sentence: /bucket you tried to delete is not empty/,
  },
  'crossplane 4251': {
    title: 'a claim waits for what it is composed of, whose provider was removed',
    async setUp(stage, namespace) {
      await operator(stage, 'crossplane', 'db.example.org')
      await define(stage, 'rds.aws.upbound.io', 'Instance')
      const composite = await stuck(stage, {
        group: 'db.example.org',
        kind: 'XPostgres',
        namespace,
        finalizer: 'composite.apiextensions.crossplane.io',
      })
      const managed = {
        apiVersion: 'rds.aws.upbound.io/v1',
        kind: 'Instance',
        metadata: {
          name: 'i',
          namespace,
          finalizers: ['finalizer.managedresource.crossplane.io'],
          ...ownerOf(composite.object, composite.uid, { controller: true }),
        },
      }
      await stage.make(managed)
      await stage.remove(managed)
      return composite.question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /managedresource\.crossplane\.io|provider/,
  },
  'istio 29451': {
    title: 'the operator of an IstioOperator was removed',
    async setUp(stage, namespace) {
      const finalizer = 'istio-finalizer.install.istio.io'
      return (await stuck(stage, { group: 'install.istio.io', kind: 'IstioOperator', namespace, finalizer })).question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /istio/i,
  },
  'cluster-api-provider-aws 4584': {
    title: 'a paused object is left alone by its controller, its end too',
    async setUp(stage, namespace) {
      await operator(stage, 'capz-controller-manager', 'paused.infrastructure.test')
      const { question } = await stuck(stage, {
        group: 'paused.infrastructure.test',
        kind: 'AzureCluster',
        namespace,
        finalizer: 'azurecluster.paused.infrastructure.test',
        metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'paused',
    responsible: /controller of AzureCluster/,
    sentence: /annotation cluster\.x-k8s\.io\/paused/,
  },
}
