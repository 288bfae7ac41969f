/** Deletions that hang as threads of further software tell them, written down with what is expected before any of them was asked about. */
import type { Fields } from '../../../src/api/object.ts'
import { configMap, define, node, operator, pod, runningPod, type Stage, warn, workload } from '../stage.ts'
import {
  type Case,
  claim,
  failingHook,
  instance,
  isMarked,
  isUnprotected,
  LATER,
  namespaceOf,
  ownerOf,
  says,
  soon,
} from './case.ts'
import { operatorWithLog, stuck } from './other-software.ts'

/** Lets the account of an operator write what is in the core group. */
const mayWrite = (stage: Stage, name: string, ...resources: readonly string[]) =>
  stage.make(
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `${name}-core` },
      rules: [{ apiGroups: [''], resources, verbs: ['get', 'list', 'watch', 'update', 'patch', 'delete'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `${name}-core` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `${name}-core` },
      subjects: [{ kind: 'ServiceAccount', name, namespace: `${name}-system` }],
    },
  )

const CNRM = ['cnrm.cloud.google.com/finalizer', 'cnrm.cloud.google.com/deletion-defender']

export const laterThreads: Readonly<Record<string, Case>> = {
  'cloud-on-k8s 1542': {
    title: 'ECK was deleted with all in one file, and the definition of Kibana waits for a Kibana',
    async setUp(stage, namespace) {
      const group = 'kibana.k8s.elastic.co'
      const definition = await define(stage, group, 'Kibana')
      const finalizers = ['finalizer.association.kibana.k8s.elastic.co/external-user']
      await stage.make(instance(group, 'Kibana', namespace, 'kb', { metadata: { finalizers } }))
      await stage.remove(definition)
      await stage.until(instance(group, 'Kibana', namespace, 'kb'), isMarked)
      return { kind: 'crd', name: 'kibanas.kibana.k8s.elastic.co' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /elastic|kibana/i,
  },
  'starrocks-kubernetes-operator 147': {
    title: 'Services are held by the protection of an operator that was uninstalled before their namespace',
    async setUp(stage, namespace) {
      await stage.make({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'fe', namespace, finalizers: ['starrocks.com.service/protection'] },
        spec: { ports: [{ port: 9030 }] },
      })
      await stage.remove(namespaceOf(namespace))
      await stage.until({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'fe', namespace } }, isMarked)
      return { kind: 'ns', name: namespace }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /starrocks/,
  },
  'k8s-config-connector 92': {
    title: 'the project of a cluster at Google Cloud was deleted first',
    async setUp(stage, namespace) {
      const group = 'container.cnrm.cloud.google.com'
      await operator(stage, 'cnrm-controller-manager', group)
      const message =
        'Delete call failed: error fetching live state: error reading underlying resource: Cluster "cluster-b" has status "ERROR" with message "Project #1 has been deleted"'
      const { question } = await stuck(stage, {
        group,
        kind: 'ContainerCluster',
        namespace,
        finalizer: CNRM[0] ?? '',
        metadata: { finalizers: CNRM },
        status: says('Ready', 'False', 'DeleteFailed', message),
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /cnrm/,
    sentence: /has been deleted/,
  },
  'k8s-config-connector 108': {
    title: 'a member of a policy outlives the instance that it is about',
    async setUp(stage, namespace) {
      await define(stage, 'spanner.cnrm.cloud.google.com', 'SpannerInstance')
      const group = 'iam.cnrm.cloud.google.com'
      await operator(stage, 'cnrm-iam-manager', group)
      const kind = 'SpannerInstance'
      const resourceRef = { apiVersion: 'spanner.cnrm.cloud.google.com/v1', kind, name: 'ledger' }
      const message = `couldn't get resource config for resource reference: error retrieving resource '${namespace}/ledger' with gvk 'spanner.cnrm.cloud.google.com/v1, Kind=SpannerInstance': spannerinstances.spanner.cnrm.cloud.google.com "ledger" not found`
      const { question } = await stuck(stage, {
        group,
        kind: 'IAMPolicyMember',
        namespace,
        finalizer: CNRM[0] ?? '',
        spec: { member: 'user:a@example.com', role: 'roles/spanner.viewer', resourceRef },
        status: { conditions: [{ type: 'Ready', status: 'False', message, lastTransitionTime: soon() }] },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /cnrm|IAMPolicyMember/,
    sentence: /ledger/,
  },
  'k8s-config-connector 202': {
    title: 'no definition at all can be deleted, since a webhook about that was left without its server',
    async setUp(stage) {
      await define(stage, 'unrelated.acme.test', 'Unrelated')
      const rules = {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        operations: ['DELETE'],
      }
      const hook = failingHook('abandon-on-uninstall', rules)
      await stage.make(hook)
      return { kind: 'crd', name: 'unrelateds.unrelated.acme.test', remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /abandon-on-uninstall/,
  },
  'k8s-config-connector 375': {
    title: 'the controller of a namespace went with its context, and the rest of the software runs',
    async setUp(stage, namespace) {
      const group = 'pubsub.cnrm.cloud.google.com'
      await operator(stage, 'cnrm-webhook-manager', 'admissionregistration.k8s.io')
      await define(stage, group, 'PubSubTopic')
      const topic = instance(group, 'PubSubTopic', namespace, 'x', { metadata: { finalizers: [CNRM[0]] } })
      await stage.make(topic)
      await stage.remove(namespaceOf(namespace))
      await stage.until(topic, isMarked)
      return { kind: 'ns', name: namespace }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /cnrm/,
  },
  'aws-controllers-k8s 2911': {
    title: 'a web ACL that is gone at AWS already; only the log of its controller says so',
    async setUp(stage, namespace) {
      const group = 'wafv2.services.k8s.aws'
      await operatorWithLog(
        stage,
        'ack-wafv2-controller',
        group,
        `{"level":"error","ts":"2026-06-04T10:00:00Z","msg":"Reconciler error","controller":"webacl","controllerGroup":"${group}","controllerKind":"WebACL","WebACL":{"name":"x","namespace":"${namespace}"},"namespace":"${namespace}","name":"x","error":"operation error WAFV2: GetWebACL, https response error StatusCode: 400, WAFNonexistentItemException: AWS WAF couldn't perform the operation because your resource doesn't exist."}`,
      )
      return (await stuck(stage, { group, kind: 'WebACL', namespace, finalizer: `finalizers.${group}/WebACL` }))
        .question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /ack-wafv2-controller/,
    sentence: /WAFNonexistentItemException/,
  },
  'aws-controllers-k8s 2627': {
    title: 'a database is protected against deletion at AWS',
    async setUp(stage, namespace) {
      const group = 'documentdb.services.k8s.aws'
      await operator(stage, 'ack-documentdb-controller', group)
      const message = 'InvalidParameterCombination: Cannot delete protected Cluster, please disable deletion protection'
      const { question } = await stuck(stage, {
        group,
        kind: 'DBCluster',
        namespace,
        finalizer: `finalizers.${group}/DBCluster`,
        status: {
          conditions: [
            { type: 'ACK.Terminal', status: 'True', message, lastTransitionTime: soon() },
            { type: 'ACK.ResourceSynced', status: 'True', lastTransitionTime: soon() },
          ],
        },
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /documentdb|DBCluster/,
    sentence: /disable deletion protection/,
  },
  'sap-btp-service-operator 458': {
    title: 'an instance of a service is not deleted while a binding names it',
    async setUp(stage, namespace) {
      const group = 'services.cloud.sap.com'
      await operator(stage, 'sap-btp-operator-controller-manager', group)
      await define(stage, group, 'ServiceBinding')
      const message = 'ServiceInstance deletion failed: could not delete instance due to 1 existing bindings'
      await stage.make(
        instance(group, 'ServiceBinding', namespace, 'mine', { spec: { serviceInstanceName: 'x', secretName: 's' } }),
      )
      const { question } = await stuck(stage, {
        group,
        kind: 'ServiceInstance',
        namespace,
        finalizer: 'services.cloud.sap.com/sap-btp-finalizer',
        status: says('Failed', 'True', 'DeleteFailed', message),
      })
      return question
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /servicebindings.*mine/,
  },
  'messaging-topology-operator 1183': {
    title: 'a permission is not taken away since its user went first',
    async setUp(stage, namespace) {
      const group = 'rabbitmq.com'
      await operator(stage, 'messaging-topology-operator', group)
      await define(stage, group, 'User')
      const { question } = await stuck(stage, {
        group,
        kind: 'Permission',
        namespace,
        finalizer: 'deletion.finalizers.permissions.rabbitmq.com',
        spec: { vhost: '/', userReference: { name: 'foo1' }, rabbitmqClusterReference: { name: 'foo' } },
        status: says('Ready', 'False', 'FailedCreateOrUpdate', 'users.rabbitmq.com "foo1" not found'),
      })
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /messaging-topology-operator|Permission/,
    sentence: /foo1/,
  },
  'cluster-operator 1519': {
    title: 'a broker waits in its preStop hook for a quorum, with a week of grace',
    async setUp(stage, namespace) {
      await node(stage, 'rabbit-1', true)
      const hook = {
        preStop: { exec: { command: ['/bin/bash', '-c', 'rabbitmq-upgrade await_online_quorum_plus_one'] } },
      }
      const object = await runningPod(stage, namespace, 'server-0', 'rabbit-1', {
        spec: {
          terminationGracePeriodSeconds: 604_800,
          containers: [{ name: 'main', image: 'rabbitmq', lifecycle: hook }],
        },
      })
      await stage.remove(object)
      return { kind: 'pod', name: 'server-0' }
    },
    verdict: 'will-end',
    cause: 'grace-period',
    responsible: /rabbit-1/,
  },
  'containerized-data-importer 1149': {
    title: 'CDI was uninstalled before its own object, in the namespace that goes',
    async setUp(stage, namespace) {
      const group = 'cdi.kubevirt.io'
      await define(stage, group, 'CDI')
      const object = instance(group, 'CDI', namespace, 'cdi', {
        metadata: { finalizers: ['operator.cdi.kubevirt.io'] },
      })
      await stage.make(object)
      await stage.remove(namespaceOf(namespace))
      await stage.until(object, isMarked)
      return { kind: 'ns', name: namespace }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /cdi/i,
  },
  'vsphere-csi-driver 4128': {
    title: 'a claim that was never bound keeps the protection of a driver, which runs and says nothing',
    async setUp(stage, namespace) {
      await operator(stage, 'vsphere-csi-controller', 'cns.vmware.com')
      await mayWrite(stage, 'vsphere-csi-controller', 'persistentvolumeclaims')
      const object = claim(namespace, 'share', {}, { finalizers: ['cns.vmware.com/pvc-protection'] })
      await stage.make(object)
      await stage.remove(object)
      await stage.until(object, isUnprotected)
      return { kind: 'pvc', name: 'share' }
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /vsphere-csi-controller/,
  },
  'tektoncd operator 3472': {
    title: 'an operator cannot clean up namespaces, since the server of its own webhook went first',
    async setUp(stage, namespace) {
      const group = 'operator.tekton.dev'
      const rules = { apiGroups: [''], resources: ['namespaces'], operations: ['UPDATE'] }
      const hook = failingHook('namespace.operator.tekton.dev', rules)
      await operator(stage, 'tekton-operator', group)
      const said =
        'Failed to finalize platform resources failed to update namespace default: Internal error occurred: failed calling webhook "namespace.operator.tekton.dev.acme.test": failed to call webhook: Post "https://gone.gone-system.svc:443/validate?timeout=2s": service "gone" not found'
      const { question, object } = await stuck(stage, {
        group,
        kind: 'TektonConfig',
        namespace,
        finalizer: 'tektonconfigs.operator.tekton.dev',
      })
      await stage.make(hook)
      await warn(stage, object, 'InternalError', said, 'tektonconfig-controller')
      return { ...question, remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /namespace\.operator\.tekton\.dev/,
  },
  'metallb 1913': {
    title: 'a Service keeps the finalizer of a cloud, and its addresses come from MetalLB, which leaves that alone',
    async setUp(stage, namespace) {
      await operator(stage, 'metallb-controller', 'metallb.io')
      await mayWrite(stage, 'metallb-controller', 'services', 'services/status')
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'web',
          namespace,
          finalizers: ['service.kubernetes.io/load-balancer-cleanup'],
          annotations: { 'metallb.universe.tf/address-pool': 'k7' },
        },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      }
      await stage.make(service)
      await stage.remove(service)
      return { kind: 'svc', name: 'web' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /cloud|service controller/,
  },
  'keystone-operator 370': {
    title: 'an API needs to make accounts in the namespace that goes, and its services wait for it to be ready',
    async setUp(stage, namespace) {
      const group = 'keystone.openstack.org'
      await operator(stage, 'keystone-operator-controller-manager', group)
      await define(stage, group, 'KeystoneAPI')
      await define(stage, group, 'KeystoneService')
      const api = instance(group, 'KeystoneAPI', namespace, 'keystone', {
        metadata: { finalizers: ['openstack.org/keystoneapi', 'openstack.org/keystoneservice-placement'] },
      })
      const service = instance(group, 'KeystoneService', namespace, 'placement', {
        metadata: { finalizers: ['openstack.org/keystoneservice'] },
        spec: { serviceName: 'placement' },
      })
      await stage.make(api, service)
      await stage.remove(namespaceOf(namespace))
      await stage.until(api, isMarked)
      await stage.until(service, isMarked)
      const message = `Service account creation error occurred serviceaccounts "keystone-keystone" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`
      await stage.status(api, says('ServiceAccountReady', 'False', 'Error', message))
      await stage.status(service, says('KeystoneAPIReady', 'False', 'Requested', 'Keystone API in progress'))
      return { kind: 'ns', name: namespace }
    },
    verdict: 'cannot-end',
    cause: 'namespace-terminating',
    responsible: /keystone/,
  },
  'percona-server-mongodb-operator 1990': {
    title: 'pods are to be deleted in order, and the operator cannot ask which is the primary',
    async setUp(stage, namespace) {
      const group = 'psmdb.percona.com'
      await operator(stage, 'percona-server-mongodb-operator', group)
      const message =
        'failed to delete rs pods: is pod primary: failed to create standalone client: ping mongo: server selection error: dial tcp 100.96.145.43:27017: connect: connection refused'
      const { question } = await stuck(stage, {
        group,
        kind: 'PerconaServerMongoDB',
        namespace,
        finalizer: 'percona.com/delete-psmdb-pods-in-order',
        status: { state: 'error', message, ...says('error', 'True', 'ErrorReconcile', message) },
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /percona|PerconaServerMongoDB/,
    sentence: /connection refused/,
  },
  'postgres-operator 118': {
    title: 'a user of a database outlives the object that stood for the database',
    async setUp(stage, namespace) {
      const group = 'db.movetokube.com'
      await define(stage, group, 'Postgres', {
        names: { kind: 'Postgres', plural: 'postgress', singular: 'postgres' },
      })
      await operatorWithLog(
        stage,
        'ext-postgres-operator',
        group,
        `{"level":"error","ts":1674155417.96,"logger":"controller-runtime.controller","msg":"Reconciler error","controller":"postgresuser-controller","request":"${namespace}/x","error":"Postgres.db.movetokube.com \\"my-db\\" not found"}`,
      )
      const { question } = await stuck(stage, {
        group,
        kind: 'PostgresUser',
        namespace,
        finalizer: 'finalizer.db.movetokube.com',
        spec: { role: 'r', database: 'my-db', secretName: 's' },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /postgres/i,
    sentence: /my-db/,
  },
  'kcm 262': {
    title: 'a network at AWS has something in it that its provider did not make',
    async setUp(stage, namespace) {
      const group = 'infrastructure.cluster.x-k8s.io'
      await operator(stage, 'capa-controller-manager', group)
      const message =
        'failed to delete vpc "vpc-0903c4": DependencyViolation: The vpc \'vpc-0903c4\' has dependencies and cannot be deleted.\n\tstatus code: 400, request id: 1e28'
      const { question } = await stuck(stage, {
        group,
        kind: 'AWSCluster',
        namespace,
        finalizer: 'awscluster.infrastructure.cluster.x-k8s.io',
        status: says('VpcReady', 'False', 'DeletingFailed', message),
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /capa-controller-manager|AWSCluster/,
    sentence: /has dependencies and cannot be deleted/,
  },
  'actions-runner-controller 3010': {
    title: 'the node of a runner is gone, and its pod is held for a container that seems to run',
    async setUp(stage, namespace) {
      await operator(stage, 'actions-runner-controller', 'actions.summerwind.dev')
      await mayWrite(stage, 'actions-runner-controller', 'pods')
      const gone = await node(stage, 'spot-1', true)
      const object = await runningPod(stage, namespace, 'runner', 'spot-1', {
        metadata: { finalizers: ['actions.summerwind.dev/runner-pod'] },
      })
      await stage.remove(object)
      await stage.remove(gone)
      return { kind: 'pod', name: 'runner', later: LATER }
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /spot-1/,
  },
  'test-infra 26611': {
    title: 'a pod is held by the reporter of Prow, which is scaled to nothing',
    async setUp(stage, namespace) {
      const system = await operator(stage, 'crier', 'prow.k8s.io', { replicas: 0 })
      await mayWrite(stage, 'crier', 'pods')
      const object = pod(namespace, 'job', {}, { finalizers: ['prow.x-k8s.io/gcsk8sreporter'] })
      await stage.make(object)
      await stage.until(object, ({ status }) => status?.phase === 'Running')
      await stage.remove(object, { gracePeriodSeconds: 0 })
      return { kind: 'pod', name: 'job', remove: [namespaceOf(system)] }
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /crier/,
  },
  'kubernetes 67466': {
    title: 'a claim is held by a pod that cannot end, for its node is silent',
    async setUp(stage, namespace) {
      await node(stage, 'off-1', false)
      const object = claim(namespace, 'data')
      await stage.make(object)
      const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }]
      const user = await runningPod(stage, namespace, 'mysql', 'off-1', { spec: { volumes } })
      await stage.remove(object)
      await stage.remove(user)
      return { kind: 'pvc', name: 'data', later: LATER }
    },
    verdict: 'nobody',
    cause: 'silent-node',
    responsible: /off-1/,
  },
  'helm-operator uninstall': {
    title: 'a release cannot be uninstalled, for a kind of its manifest is no longer served',
    async setUp(stage, namespace) {
      const group = 'charts.acme.test'
      await operator(stage, 'nginx-operator-controller-manager', group)
      const message =
        'failed to uninstall release: unable to build kubernetes objects for delete: [resource mapping not found for name: "x" namespace: "" from "": no matches for kind "PodSecurityPolicy" in version "policy/v1beta1"]'
      const { question } = await stuck(stage, {
        group,
        kind: 'Nginx',
        namespace,
        finalizer: 'helm.sdk.operatorframework.io/uninstall-release',
        status: says('ReleaseFailed', 'True', 'UninstallError', message),
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /nginx-operator|Nginx/,
    sentence: /PodSecurityPolicy/,
  },
  'aws-app-mesh-controller-for-k8s 360': {
    title: 'the controller of a mesh crashes as often as it starts',
    async setUp(stage, namespace) {
      const group = 'appmesh.k8s.aws'
      const system = await operator(stage, 'appmesh-controller', group)
      const like = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: system, name: '' } }
      const [first] = (await stage.of(like).list()).items
      await stage.make(await nodeThatSaysNothing(stage, 'mesh-1'))
      await stage.of(workload(system, 'appmesh-controller')).patch('appmesh-controller', 'merge', {
        spec: { replicas: 0 },
      } as never)
      await stage.until({ ...like, metadata: first?.metadata } as Fields, undefined)
      const spec = { replicas: 1, template: { spec: { nodeSelector: { mesh: 'yes' } } } }
      await stage.of(workload(system, 'appmesh-controller')).patch('appmesh-controller', 'merge', { spec } as never)
      await stage.untilAny(like, ({ metadata }) => metadata.deletionTimestamp === undefined)
      const [crashing] = (await stage.of(like).list()).items
      const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container=main' }
      const terminated = { exitCode: 2, reason: 'Error' }
      const one = { name: 'main', image: 'x', imageID: '', ready: false, restartCount: 44 }
      const containerStatuses = [{ ...one, state: { waiting }, lastState: { terminated } }]
      await stage.of(like).patch(crashing?.metadata.name ?? '', 'merge', { status: { containerStatuses } } as never, {
        subresource: 'status',
      })
      return (
        await stuck(stage, {
          group,
          kind: 'VirtualNode',
          namespace,
          finalizer: 'finalizers.appmesh.k8s.aws/aws-resources',
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /appmesh-controller/,
    sentence: /CrashLoopBackOff/,
  },
  'kubeflow profile': {
    title: 'a profile is held by a finalizer without a domain, whose controller is scaled to nothing',
    async setUp(stage, namespace) {
      const group = 'kubeflow.org'
      await operator(stage, 'profiles-deployment', group, { replicas: 0 })
      return (await stuck(stage, { group, kind: 'Profile', namespace, finalizer: 'profile-finalizer' })).question
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /profiles-deployment/,
  },
  'service-catalog 1423': {
    title: 'an instance waits for a binding, which cannot be unbound since the broker is not there',
    async setUp(stage, namespace) {
      const group = 'servicecatalog.k8s.io'
      await operator(stage, 'catalog-controller-manager', group)
      await define(stage, group, 'ServiceBinding')
      const finalizers = ['kubernetes-incubator/service-catalog']
      const binding = instance(group, 'ServiceBinding', namespace, 'ups-binding', {
        metadata: { finalizers },
        spec: { instanceRef: { name: 'x' } },
      })
      await stage.make(binding)
      await stage.remove(binding)
      const unbound =
        'Error unbinding: Delete "http://ups-broker.brokers.svc/v2/service_bindings/1": dial tcp: lookup ups-broker.brokers.svc: no such host'
      await stage.status(binding, says('Ready', 'Unknown', 'ErrorCallingUnbind', unbound))
      const message = 'All associated ServiceBindings must be removed before this ServiceInstance can be deleted'
      const { question } = await stuck(stage, {
        group,
        kind: 'ServiceInstance',
        namespace,
        finalizer: finalizers[0] ?? '',
        status: says('Ready', 'False', 'DeprovisionBlockedByExistingCredentials', message),
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /catalog|ServiceBinding/,
    sentence: /no such host/,
  },
  'cloudnative-pg 6155': {
    title: 'a role of a database owns something; its status says so without a condition',
    async setUp(stage, namespace) {
      const group = 'postgresql.cnpg.io'
      await operator(stage, 'cnpg-controller-manager', group)
      await define(stage, group, 'Cluster')
      await stage.make(instance(group, 'Cluster', namespace, 'main'))
      const { question } = await stuck(stage, {
        group,
        kind: 'DatabaseRole',
        namespace,
        finalizer: 'cnpg.io/deleteDatabaseRole',
        spec: { cluster: { name: 'main' }, name: 'app' },
        status: { applied: false, message: 'role "app" cannot be dropped because some objects depend on it' },
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /cnpg|DatabaseRole/,
    sentence: /cannot be dropped/,
  },
  'maistra 122': {
    title: 'a control plane of a mesh outlives the operator that was to take it down',
    async setUp(stage, namespace) {
      return (
        await stuck(stage, {
          group: 'maistra.io',
          kind: 'ServiceMeshControlPlane',
          namespace,
          finalizer: 'maistra.io/istio-operator',
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /istio-operator|maistra/,
  },
}

const nodeThatSaysNothing = async (_stage: Stage, name: string): Promise<Fields> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { mesh: 'yes' } },
})

export const laterHealthy: Readonly<Record<string, Case>> = {
  'a key that its cloud keeps for thirty days': {
    title: '',
    async setUp(stage, namespace) {
      const group = 'kms.services.k8s.aws'
      await operator(stage, 'ack-kms-controller', group)
      const { question } = await stuck(stage, {
        group,
        kind: 'Key',
        namespace,
        finalizer: `finalizers.${group}/Key`,
        status: says('ACK.ResourceSynced', 'False', 'Deleting', 'resource is in deleting state'),
      })
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /ack-kms-controller/,
  },
  'an object whose phase says that it is deleted': {
    title: '',
    async setUp(stage, namespace) {
      const group = 'milvus.io'
      await operator(stage, 'milvus-operator', group)
      const { question } = await stuck(stage, {
        group,
        kind: 'Milvus',
        namespace,
        finalizer: 'milvus.milvus.io/finalizer',
        status: { status: 'Deleting', ...says('MilvusReady', 'False', 'MilvusDeleting', 'Milvus is being deleted') },
      })
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /milvus-operator/,
  },
  'a Service whose load balancer a cloud takes down': {
    title: '',
    async setUp(stage, namespace) {
      const group = 'cloud.acme.test'
      await operator(stage, 'cloud-controller-manager', group)
      await mayWrite(stage, 'cloud-controller-manager', 'services', 'services/status')
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'lb', namespace, finalizers: ['service.kubernetes.io/load-balancer-cleanup'] },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      }
      await stage.make(service)
      await stage.remove(service)
      return { kind: 'svc', name: 'lb' }
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /cloud-controller-manager/,
  },
  'a claim whose pod is in its grace period': {
    title: '',
    async setUp(stage, namespace) {
      await node(stage, 'fine-1', true)
      const object = claim(namespace, 'data')
      const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }]
      await stage.make(object)
      const user = await runningPod(stage, namespace, 'db', 'fine-1', {
        spec: { volumes, terminationGracePeriodSeconds: 300 },
      })
      await stage.remove(user)
      await stage.remove(object)
      return { kind: 'pvc', name: 'data' }
    },
    verdict: 'will-end',
    cause: 'grace-period',
    responsible: /fine-1/,
  },
  'a ReplicaSet deleted in the foreground whose pod is in its grace period': {
    title: '',
    async setUp(stage, namespace) {
      await node(stage, 'fine-2', true)
      const labels = { app: 'web' }
      const set = {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'web', namespace },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'busybox' }] } },
        },
      }
      const [made] = await stage.make(set)
      const owner = ownerOf(set, made?.metadata.uid ?? '', { blockOwnerDeletion: true })
      const object = await runningPod(stage, namespace, 'web-1', 'fine-2', {
        metadata: owner,
        spec: { terminationGracePeriodSeconds: 300 },
      })
      await stage.remove(set, { propagationPolicy: 'Foreground' })
      await stage.until(object, isMarked)
      return { kind: 'rs', name: 'web' }
    },
    verdict: 'will-end',
    cause: 'grace-period',
    responsible: /fine-2/,
  },
  'a route whose controller runs, with a webhook that is asked and whose server runs': {
    title: '',
    async setUp(stage, namespace) {
      const group = 'serving.knative.dev'
      const system = await operator(stage, 'knative-controller', group)
      await stage.make({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'webhook', namespace: system },
        spec: { selector: { app: 'knative-controller' }, ports: [{ port: 443 }] },
      })
      const hook = failingHook('config.webhook.serving.knative.dev', {
        apiGroups: [group],
        resources: ['configurations'],
        operations: ['CREATE', 'UPDATE', 'DELETE'],
      })
      await stage.make(hook)
      const { question } = await stuck(stage, {
        group,
        kind: 'Route',
        namespace,
        finalizer: 'routes.serving.knative.dev',
      })
      return { ...question, remove: [hook] }
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /knative-controller/,
  },
  'a namespace with an object of an operator that is at work': {
    title: '',
    async setUp(stage, namespace) {
      const group = 'cachet.acme.test'
      await operator(stage, 'cachet-operator', group)
      await define(stage, group, 'Cachet')
      const object = instance(group, 'Cachet', namespace, 'c', { metadata: { finalizers: [`${group}/f`] } })
      await stage.make(object, configMap(namespace, 'plain'))
      await stage.remove(namespaceOf(namespace))
      await stage.until(object, isMarked)
      return { kind: 'ns', name: namespace }
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /cachet-operator/,
  },
}
