/** Deletions that hang as threads of other projects tell them. */
import type { Fields } from '../../../src/api/object.ts'
import { define, node, operator, pod, runningPod, warn } from '../stage.ts'
import { type Case, claim, failingHook, instance, ownerOf, says, soon, volume } from './case.ts'
import { operatorWithLog, stuck } from './other-software.ts'

const job = (namespace: string, name: string, metadata: Fields): Fields => {
  const at = soon()
  const failed = { status: 'True', reason: 'BackoffLimitExceeded', message: 'no more tries', lastTransitionTime: at }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, ...metadata },
    spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } } },
    status: {
      startTime: at,
      failed: 1,
      conditions: ['FailureTarget', 'Failed'].map((type) => ({ type, lastProbeTime: at, ...failed })),
    },
  }
}

export const fromThreads: Readonly<Record<string, Case>> = {
  'tofu-controller 1293': {
    title: 'a Terraform is not taken down while another that depends on it is there; a finalizer names that',
    async setUp(stage, namespace) {
      const group = 'infra.contrib.fluxcd.io'
      await operator(stage, 'tofu-controller', group)
      const { question } = await stuck(stage, {
        group,
        kind: 'Terraform',
        namespace,
        finalizer: 'tf.dependency.of.test-rds',
        metadata: { finalizers: ['finalizers.tf.contrib.fluxcd.io', 'tf.dependency.of.test-rds'] },
        status: says(
          'Ready',
          'False',
          'DeletionBlocked',
          'Deletion in progress, but blocked. Please delete test-rds to resume ...',
        ),
      })
      await stage.make(instance(group, 'Terraform', namespace, 'test-rds', { spec: { dependsOn: [{ name: 'x' }] } }))
      return question
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /terraforms\.infra\.contrib\.fluxcd\.io\/test-rds/,
  },
  'openchoreo 3909': {
    title: 'a Resource waits for bindings that name it, and which nothing deletes',
    async setUp(stage, namespace) {
      const group = 'openchoreo.dev'
      await define(stage, group, 'ResourceReleaseBinding')
      await operatorWithLog(stage, 'choreo-controller-manager', group, '')
      const { question } = await stuck(stage, {
        group,
        kind: 'Resource',
        namespace,
        finalizer: 'openchoreo.dev/resource-cleanup',
        status: says('Finalizing', 'True', 'Waiting', 'Waiting for ResourceReleaseBindings to be deleted'),
      })
      await stage.make(
        instance(group, 'ResourceReleaseBinding', namespace, 'b', { spec: { owner: { resourceName: 'x' } } }),
      )
      return question
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /resourcereleasebindings\.openchoreo\.dev\/b/,
  },
  'provider-kubernetes 38': {
    title: 'the Secret that the ProviderConfig of an Object names went first',
    async setUp(stage, namespace) {
      const group = 'kubernetes.crossplane.io'
      await define(stage, group, 'ProviderConfig')
      await operator(stage, 'provider-kubernetes', group)
      const secretRef = { name: 'footest', namespace, key: 'kubeconfig' }
      await stage.make(
        instance(group, 'ProviderConfig', namespace, 'p', { spec: { credentials: { source: 'Secret', secretRef } } }),
      )
      const message =
        'connect failed: cannot get credentials: cannot get credentials secret: Secret "footest" not found'
      const { question } = await stuck(stage, {
        group,
        kind: 'Object',
        namespace,
        finalizer: 'finalizer.managedresource.crossplane.io',
        spec: { providerConfigRef: { name: 'p' } },
        status: says('Synced', 'False', 'ReconcileError', message),
      })
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /provider-kubernetes|controller of Object/,
    sentence: /footest/,
  },
  'kubermatic 7148': {
    title: 'two controllers of one program: one puts its finalizer back in the update that takes another off',
    async setUp(stage, namespace) {
      const group = 'kubermatic.test'
      await operatorWithLog(
        stage,
        'kubermatic-seed',
        group,
        `{"level":"error","msg":"Reconciling failed","cluster":"${namespace}/x","error":"failed to update cluster after removing cleanup finalizer: Cluster.kubermatic.test \\"x\\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted"}`,
      )
      return (
        await stuck(stage, {
          group,
          kind: 'KubermaticCluster',
          namespace,
          finalizer: 'kubermatic.test/cleanup-backups',
        })
      ).question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /kubermatic-seed/,
    sentence: /no new finalizers/,
  },
  'remove-empty-ns 5': {
    title: 'an operator of kopf, scaled to nothing, has left its marker on a namespace; its annotation names it',
    async setUp(stage) {
      await operator(stage, 'remove-empty-ns-operator', 'empties.test', { replicas: 0 })
      const annotations = { 'remove-empty-ns-operator.kopf.dev/will-remove': 'True' }
      const object = {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'emptied', annotations, finalizers: ['kopf.zalando.org/KopfFinalizerMarker'] },
      }
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'ns', name: 'emptied' }
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /remove-empty-ns-operator/,
  },
  'kyverno 11592': {
    title: 'a chart took the roles of a controller that holds its own Deployment',
    async setUp(stage, namespace) {
      const account = {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'kyverno-cleanup-controller', namespace },
      }
      const metadata = { name: 'kyverno-cleanup-controller', namespace, finalizers: ['kyverno.io/policywebhooks'] }
      const labels = { app: 'kyverno-cleanup-controller' }
      const containers = [{ name: 'main', image: 'ghcr.io/kyverno/cleanup-controller:v1' }]
      const template = { metadata: { labels }, spec: { serviceAccountName: metadata.name, containers } }
      const deployment = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata,
        spec: { selector: { matchLabels: labels }, template },
      }
      await stage.make(account, deployment)
      await stage.until(deployment, ({ status }) => (status?.readyReplicas ?? 0) > 0)
      await stage.remove(deployment)
      return { kind: 'deployment', name: metadata.name }
    },
    verdict: 'refused',
    cause: 'controller-forbidden',
    responsible: /kyverno-cleanup-controller/,
  },
  'strimzi topics': {
    title: 'a KafkaTopic outlives the Kafka whose entity operator was to clean it up',
    async setUp(stage, namespace) {
      await operator(stage, 'strimzi-cluster-operator', 'kafka.strimzi.io')
      const metadata = { labels: { 'strimzi.io/cluster': 'gone' } }
      return (
        await stuck(stage, {
          group: 'kafka.strimzi.io',
          kind: 'KafkaTopic',
          namespace,
          finalizer: 'strimzi.io/topic-operator',
          metadata: { ...metadata, finalizers: ['strimzi.io/topic-operator'] },
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /topic.operator/i,
  },
  'cluster-api 7559': {
    title: 'a MachinePool whose Cluster is gone already',
    async setUp(stage, namespace) {
      const group = 'cluster.x-k8s.io'
      await define(stage, group, 'Cluster')
      await operator(stage, 'capi-controller-manager', group)
      const owner = { apiVersion: `${group}/v1`, kind: 'Cluster', metadata: { name: 'marc1' } }
      const metadata = {
        finalizers: ['machinepool.cluster.x-k8s.io'],
        labels: { 'cluster.x-k8s.io/cluster-name': 'marc1' },
        ...ownerOf(owner, 'd13e583e-1713-419d-9b26-25ad0be2e8a3'),
      }
      await define(stage, group, 'MachinePool')
      const object = instance(group, 'MachinePool', namespace, 'x', { spec: { clusterName: 'marc1' } })
      const held = { ...object, metadata: { ...object['metadata'], ...metadata } }
      // The garbage collector itself deletes what has no owner.
      await stage.make(held)
      await stage.until(held, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'machinepool', name: 'x' }
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /the controller of MachinePool/,
    sentence: /clusters\/marc1 .* names it in clusterName/,
  },
  'machine-controller 1285': {
    title: 'a machine that could never be made, for want of a quota of the cloud',
    async setUp(stage, namespace) {
      const group = 'machines.kubermatic.test'
      await operator(stage, 'machine-controller', group)
      const { question, object } = await stuck(stage, {
        group,
        kind: 'Machine85',
        namespace,
        finalizer: 'machine-delete-finalizer',
      })
      await warn(
        stage,
        object,
        'ReconcilingError',
        'failed to delete machine at cloudprovider, due to PublicIPCountLimitReached',
        'machine_controller',
      )
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /machine.controller/,
    sentence: /PublicIPCountLimitReached/,
  },
  'volume populator': {
    title: 'a claim that a populator fills, and the populator is not there',
    async setUp(stage, namespace) {
      await define(stage, 'hello.example.com', 'Hello')
      const object = claim(
        namespace,
        'x',
        { dataSourceRef: { apiGroup: 'hello.example.com', kind: 'Hello', name: 'h' } },
        { finalizers: ['hello.example.com/populate-target-protection'] },
      )
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'pvc', name: 'x' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /hello\.example\.com\/populate-target-protection/,
  },
  'karpenter 2169': {
    title: 'a Node has the finalizer of Karpenter, which is scaled to nothing',
    async setUp(stage, namespace) {
      await operator(stage, 'karpenter', 'karpenter.sh', { replicas: 0 })
      const object = await node(stage, namespace, true)
      await stage
        .of(object)
        .patch(namespace, 'merge', { metadata: { finalizers: ['karpenter.sh/termination'] } } as never)
      await stage.remove(object)
      return { kind: 'node', name: namespace }
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /deployments\.apps\/karpenter/,
  },
  'rook dependents': {
    title: 'a CephCluster says which pools it waits for, and nothing deletes them',
    async setUp(stage, namespace) {
      const group = 'ceph.rook.io'
      await define(stage, group, 'CephBlockPool')
      await operator(stage, 'rook-ceph-operator', group)
      await stage.make(instance(group, 'CephBlockPool', namespace, 'replicapool'))
      const message = `CephCluster "${namespace}/x" will not be deleted until all dependents are removed: CephBlockPool: [replicapool]`
      return (
        await stuck(stage, {
          group,
          kind: 'CephCluster',
          namespace,
          finalizer: 'cephcluster.ceph.rook.io',
          status: says('DeletionIsBlocked', 'True', 'ObjectHasDependents', message),
        })
      ).question
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /cephblockpools\.ceph\.rook\.io\/replicapool/,
  },
  'class of load balancers': {
    title: 'a Service of a class of load balancers whose controller is not there',
    async setUp(stage, namespace) {
      const spec = { type: 'LoadBalancer', loadBalancerClass: 'lb.example.org/internal', ports: [{ port: 80 }] }
      const object = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'x', namespace, finalizers: ['service.kubernetes.io/load-balancer-cleanup'] },
        spec,
      }
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'svc', name: 'x' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /lb\.example\.org\/internal/,
  },
  'volume still in use at the cloud': {
    title: 'a released volume whose disk the cloud does not delete',
    async setUp(stage) {
      const object = volume(
        'disk-x',
        { persistentVolumeReclaimPolicy: 'Delete' },
        {
          finalizers: ['external-provisioner.volume.kubernetes.io/finalizer'],
          annotations: { 'pv.kubernetes.io/provisioned-by': 'csi.acme.test' },
        },
      )
      await stage.make(object)
      await stage.status(object, { phase: 'Released' })
      await stage.remove(object)
      await warn(
        stage,
        object,
        'VolumeFailedDelete',
        'rpc error: code = FailedPrecondition desc = disk is still attached to machine m-1',
        'csi.acme.test_controller-0',
      )
      return { kind: 'pv', name: 'disk-x' }
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /csi\.acme\.test/,
    sentence: /still attached/,
  },
  'helm chart of k3s': {
    title: 'a HelmChart is deleted by a Job that the controller of k3s makes, and the Job fails',
    async setUp(stage, namespace) {
      const group = 'helm.cattle.io'
      const { question, object, uid } = await stuck(stage, {
        group,
        kind: 'HelmChart',
        namespace,
        finalizer: 'wrangler.cattle.io/on-helm-chart-remove',
      })
      await stage.make(
        job(namespace, 'helm-delete-x', {
          labels: { 'helmcharts.helm.cattle.io/chart': 'x' },
          ...ownerOf(object, uid, { controller: true }),
        }),
      )
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /helm|jobs/i,
    sentence: /helm-delete-x/,
  },
  'post-delete hook': {
    title: 'an Application of Argo CD waits for its PostDelete hook, a Job that fails',
    async setUp(stage, namespace) {
      const group = 'argoproj.io'
      await operator(stage, 'argocd-application-controller', group)
      const hook = job(namespace, 'cleanup', {
        annotations: {
          'argocd.argoproj.io/hook': 'PostDelete',
          'argocd.argoproj.io/tracking-id': `x:batch/Job:${namespace}/cleanup`,
        },
      })
      const { question } = await stuck(stage, {
        group,
        kind: 'Application',
        namespace,
        finalizer: 'post-delete-finalizer.argocd.argoproj.io',
        spec: { destination: { namespace, server: 'https://kubernetes.default.svc' } },
        status: { resources: [{ group: 'batch', version: 'v1', kind: 'Job', namespace, name: 'cleanup', hook: true }] },
      })
      await stage.make(hook)
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /cleanup/,
  },
  'suspended and gone': {
    title: 'a suspended Kustomization, whose controller does not run: that it is suspended does not matter',
    async setUp(stage, namespace) {
      const group = 'kustomize.toolkit.fluxcd.io'
      await operator(stage, 'kustomize-controller', group, { replicas: 0 })
      return (
        await stuck(stage, {
          group,
          kind: 'Kustomization',
          namespace,
          finalizer: 'finalizers.fluxcd.io',
          spec: { suspend: true },
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /kustomize-controller/,
  },
  'gateway class': {
    title: 'a GatewayClass that a Gateway names',
    async setUp(stage, namespace) {
      const group = 'gateway.networking.k8s.io'
      await define(stage, group, 'Gateway')
      await operator(stage, 'envoy-gateway', group)
      await stage.make(instance(group, 'Gateway', namespace, 'g', { spec: { gatewayClassName: 'x' } }))
      return (
        await stuck(stage, {
          group,
          kind: 'GatewayClass',
          namespace,
          finalizer: 'gateway-exists-finalizer.gateway.networking.k8s.io',
        })
      ).question
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /gateways\.gateway\.networking\.k8s\.io\/g/,
  },
  'secret store': {
    title: 'an ExternalSecret whose SecretStore went first',
    async setUp(stage, namespace) {
      const group = 'external-secrets.io'
      await define(stage, group, 'SecretStore')
      await operator(stage, 'external-secrets', group)
      const message = 'could not get SecretStore "vault", SecretStore.external-secrets.io "vault" not found'
      return (
        await stuck(stage, {
          group,
          kind: 'PushSecret',
          namespace,
          finalizer: 'pushsecret.externalsecrets.io/finalizer',
          spec: { secretStoreRefs: [{ kind: 'SecretStore', name: 'vault' }] },
          status: says('Ready', 'False', 'Errored', message),
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /external-secrets|controller of PushSecret/,
    sentence: /vault/,
  },
  'arangodb 220': {
    title: 'pods with the finalizer of an operator that was deleted with its definitions',
    async setUp(stage, namespace) {
      await node(stage, namespace, true)
      const metadata = { finalizers: ['dbserver.database.arangodb.com/drain'] }
      const object = await runningPod(stage, namespace, 'x', namespace, { metadata })
      await stage.remove(object, { gracePeriodSeconds: 0 })
      return { kind: 'pod', name: 'x' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /database\.arangodb\.com/,
  },
  'virt-handler': {
    title: "a machine of KubeVirt runs on a node that is silent: its node's agent has to take it down",
    async setUp(stage, namespace) {
      const group = 'kubevirt.io'
      await operator(stage, 'virt-controller', group)
      await node(stage, namespace, false)
      return (
        await stuck(stage, {
          group,
          kind: 'VirtualMachineInstance',
          namespace,
          finalizer: 'foregroundDeleteVirtualMachine',
          status: { phase: 'Running', nodeName: namespace },
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'silent-node',
    responsible: /node/,
  },
  'gardener 15537': {
    title: 'a Secret that is protected as long as a Shoot names it',
    async setUp(stage, namespace) {
      const group = 'core.gardener.cloud'
      await define(stage, group, 'Shoot')
      const system = await operator(stage, 'gardener-controller-manager', group)
      const metadata = { name: 'gardener-secrets' }
      const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata }
      await stage.make(
        { ...rbac, kind: 'ClusterRole', rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['*'] }] },
        {
          ...rbac,
          kind: 'ClusterRoleBinding',
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
          subjects: [{ kind: 'ServiceAccount', name: 'gardener-controller-manager', namespace: system }],
        },
      )
      await stage.make(
        instance(group, 'Shoot', namespace, 's', { spec: { dns: { providers: [{ type: 'aws', secretName: 'x' }] } } }),
      )
      const object = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'x', namespace, finalizers: ['gardener.cloud/reference-protection'] },
      }
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'secret', name: 'x' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /shoots\.core\.gardener\.cloud\/s/,
  },
  'target groups': {
    title: 'a controller of load balancers is not allowed to at the cloud',
    async setUp(stage, namespace) {
      const group = 'elbv2.k8s.aws'
      await operator(stage, 'aws-load-balancer-controller', group)
      const { question, object } = await stuck(stage, {
        group,
        kind: 'TargetGroupBinding',
        namespace,
        finalizer: 'elbv2.k8s.aws/resources',
      })
      await warn(
        stage,
        object,
        'FailedCleanup',
        'AccessDenied: not authorized to perform: elasticloadbalancing:DeregisterTargets',
        'targetGroupBinding',
      )
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /aws-load-balancer-controller/,
    sentence: /AccessDenied/,
  },
  'helm-charts 2726': {
    title: 'a chart was uninstalled with its operator, whose webhook is left, and a namespace waits',
    async setUp(stage, namespace) {
      const group = 'operator.victoriametrics.com'
      const hook = failingHook('vm-stack', { apiGroups: [group], operations: ['CREATE', 'UPDATE'], resources: ['*'] })
      await define(stage, group, 'VMAgent')
      const object = instance(group, 'VMAgent', namespace, 'x')
      await stage.make(
        { ...object, metadata: { ...object['metadata'], finalizers: ['apps.victoriametrics.com/finalizer'] } },
        hook,
      )
      const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
      await stage.remove(space)
      await stage.until(object, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'ns', name: namespace, remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /vm-stack/,
  },
  'mig-controller 831': {
    title: 'a pod deleted in the foreground waits for a ConfigMap of another operator that it owns',
    async setUp(stage, namespace) {
      await node(stage, namespace, true)
      const object = pod(namespace, 'transfer', { nodeName: namespace })
      const [made] = await stage.make(object)
      const metadata = {
        name: 'state',
        namespace,
        finalizers: ['transfer.test/sync'],
        ...ownerOf(object, made?.metadata.uid ?? '', { blockOwnerDeletion: true }),
      }
      const state = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
      await stage.make(state)
      await stage.remove(object, { propagationPolicy: 'Foreground', gracePeriodSeconds: 0 })
      await stage.until(state, (one) => one.metadata.deletionTimestamp !== undefined)
      return { kind: 'pod', name: 'transfer' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /transfer\.test\/sync/,
  },
}
