/** Deletions and drains that hang as threads of other projects and of Kubernetes tell them. */
import type { Fields } from '../../../src/api/object.ts'
import { configMap, define, node, operator, pod, runningPod, type Stage, warn, workload } from '../stage.ts'
import { type Case, claim, failingHook, instance, isUnprotected, ownerOf, says } from './case.ts'
import { operatorWithLog, stuck } from './other-software.ts'

/** A Deployment that is there, with a status as its controllers would have said of pods that never run. */
async function operatorWithoutPods(stage: Stage, name: string, group: string, podSpec: Fields): Promise<string> {
  const { template } = workload('', name)['spec']
  const namespace = await operator(stage, name, group, { replicas: 0 })
  const spec = { replicas: 1, template: { ...template, spec: { ...template.spec, ...podSpec } } }
  await stage.of(workload(namespace, name)).patch(name, 'merge', { spec } as never)
  return namespace
}

const mayWriteClaims = (stage: Stage, name: string) =>
  stage.make(
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `${name}-claims` },
      rules: [
        { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'update', 'patch'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `${name}-claims` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `${name}-claims` },
      subjects: [{ kind: 'ServiceAccount', name, namespace: `${name}-system` }],
    },
  )

const podOf = (namespace: string): Fields => ({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: '' } })

export const furtherThreads: Readonly<Record<string, Case>> = {
  'netbird 191': {
    title: 'a resource of which the Service is still there: the log of its operator has an error without words',
    async setUp(stage, namespace) {
      const group = 'netbird.io'
      await operatorWithLog(
        stage,
        'netbird-operator',
        group,
        `2026-04-22T10:00:00Z ERROR NBResource error getting Service {"namespace": "${namespace}", "name": "x", "err": null, "error": "kubernetes API error"}`,
      )
      return (await stuck(stage, { group, kind: 'NBResource', namespace, finalizer: 'netbird.io/cleanup' })).question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /netbird-operator/,
    sentence: /kubernetes API error/,
  },
  'korifi 2591': {
    title: 'a route is not finalized since the domain that it names went first',
    async setUp(stage, namespace) {
      const group = 'korifi.cloudfoundry.org'
      await define(stage, group, 'CFDomain')
      await operatorWithLog(
        stage,
        'korifi-controllers-manager',
        group,
        `{"level":"error","ts":"2026-06-12T09:00:00Z","msg":"Reconciler error","controller":"cfroute","CFRoute":{"name":"x","namespace":"${namespace}"},"error":"CFDomain.korifi.cloudfoundry.org \\"apps\\" not found"}`,
      )
      const { question } = await stuck(stage, {
        group,
        kind: 'CFRoute',
        namespace,
        finalizer: 'cfRoute.korifi.cloudfoundry.org',
        spec: { host: 'h', domainRef: { name: 'apps', namespace } },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /korifi-controllers-manager|controller of CFRoute/,
    sentence: /apps/,
  },
  'external-snapshotter 412': {
    title: 'the class of a snapshot content went first, and with it the credentials to delete it',
    async setUp(stage, namespace) {
      const group = 'snapshot.storage.k8s.io'
      await define(stage, group, 'VolumeSnapshotClass')
      await operator(stage, 'snapshot-controller', group)
      await mayWriteClaims(stage, 'snapshot-controller')
      const { question, object } = await stuck(stage, {
        group,
        kind: 'VolumeSnapshotContent',
        namespace,
        finalizer: 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection',
        spec: { deletionPolicy: 'Delete', driver: 'csi.acme.test', volumeSnapshotClassName: 'rbd' },
      })
      await warn(
        stage,
        object,
        'SnapshotDeleteError',
        'Failed to get input parameters to delete snapshot for content x: "failed to get snapshot class rbd from volumesnapshotclass: volumesnapshotclass.snapshot.storage.k8s.io \\"rbd\\" not found"',
        'csi-snapshotter csi.acme.test',
      )
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /snapshot/i,
    sentence: /rbd/,
  },
  'external-snapshotter 1305': {
    title: 'a claim is the source of a snapshot whose class never was, and which is never ready',
    async setUp(stage, namespace) {
      const group = 'snapshot.storage.k8s.io'
      await define(stage, group, 'VolumeSnapshot')
      const finalizers = ['snapshot.storage.kubernetes.io/pvc-as-source-protection']
      const object = claim(namespace, 'data', {}, { finalizers })
      const spec = { source: { persistentVolumeClaimName: 'data' }, volumeSnapshotClassName: 'never-was' }
      const broken = instance(group, 'VolumeSnapshot', namespace, 'broken', { spec })
      await stage.make(object, broken)
      await stage.status(broken, { error: { message: 'volumesnapshotclass "never-was" not found' } })
      await stage.remove(object)
      await stage.until(object, isUnprotected)
      return { kind: 'pvc', name: 'data' }
    },
    verdict: 'will-end',
    cause: 'in-use',
    responsible: /volumesnapshots.*broken/,
  },
  'operator-sdk 3462': {
    title: 'the pod that leads for life is on a silent node, and its successor waits for it',
    async setUp(stage, namespace) {
      const group = 'helm.acme.test'
      const system = await operatorWithoutPods(stage, 'helm-operator', group, { nodeSelector: { nowhere: 'x' } })
      await stage.untilAny(podOf(system), () => true)
      await node(stage, 'dead-1', false)
      const labels = { app: 'helm-operator' }
      const spec = { serviceAccountName: 'helm-operator' }
      const dead = await runningPod(stage, system, 'leader', 'dead-1', { metadata: { labels }, spec })
      const { uid = '' } = (await stage.of(dead).get('leader')).metadata
      await stage.make(configMap(system, 'helm-operator-lock', ownerOf(dead, uid)))
      await stage.remove(dead)
      return (await stuck(stage, { group, kind: 'Chart', namespace, finalizer: `${group}/uninstall` })).question
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /helm-operator/,
  },
  'sregym 873': {
    title: 'the role of a controller lacks a verb on finalizers, which only its log tells',
    async setUp(stage, namespace) {
      const system = await operatorWithLog(
        stage,
        'cleanup-controller',
        'cleanup.acme.test',
        `time="2026-06-05T10:00:00Z" level=error msg="failed to remove finalizer" configmap=${namespace}/token error="configmaps \\"token\\" is forbidden: User \\"system:serviceaccount:cleanup-controller-system:cleanup-controller\\" cannot patch resource \\"configmaps/finalizers\\" in API group \\"\\" in the namespace \\"${namespace}\\""`,
      )
      const object = configMap(namespace, 'token', { finalizers: ['cleanup.acme.test/reservation'] })
      await stage.make(object)
      await stage.remove(object)
      return {
        kind: 'cm',
        name: 'token',
        remove: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: system } }],
      }
    },
    verdict: 'refused',
    cause: 'controller-forbidden',
    responsible: /cleanup-controller/,
  },
  'kubernetes 115070': {
    title: 'a namespace has taken away the RoleBinding of a controller of it before its objects',
    async setUp(stage, namespace) {
      const group = 'syncs.acme.test'
      const name = 'reconciler-manager'
      const system = await stage.namespace(`${name}-system`)
      const deployment = workload(system, name)
      await stage.make({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: system } }, deployment)
      await stage.until(deployment, ({ status }) => (status?.readyReplicas ?? 0) > 0)
      await define(stage, group, 'RootSync')
      await stage.make(
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name, namespace },
          rules: [{ apiGroups: [group], resources: ['*'], verbs: ['*'] }],
        },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name, namespace },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
          subjects: [{ kind: 'ServiceAccount', name, namespace: system }],
        },
        instance(group, 'RootSync', namespace, 'x', {
          metadata: { name: 'x', namespace, finalizers: [`${group}/reconciler-manager`] },
        }),
      )
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      const mark = ({ metadata }: Fields) => metadata.deletionTimestamp !== undefined
      await stage.until(instance(group, 'RootSync', namespace, 'x'), mark)
      await stage.until(
        { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name, namespace } },
        undefined,
      )
      return { kind: 'ns', name: namespace }
    },
    verdict: 'refused',
    cause: 'controller-forbidden',
    responsible: /reconciler-manager/,
  },
  'baremetal-operator 1230': {
    title: 'a host whose reconciliation is paused by an annotation',
    async setUp(stage, namespace) {
      const group = 'metal3.io'
      await operator(stage, 'baremetal-operator', group)
      const { question } = await stuck(stage, {
        group,
        kind: 'BareMetalHost',
        namespace,
        finalizer: 'baremetalhost.metal3.io',
        metadata: {
          finalizers: ['baremetalhost.metal3.io'],
          annotations: { 'baremetalhost.metal3.io/paused': 'metal3.io/capm3' },
        },
      })
      return question
    },
    verdict: 'nobody',
    cause: 'paused',
    responsible: /./,
    sentence: /paused/,
  },
  'machine-api-operator 946': {
    title: 'a Machine of OpenShift waits for the owner of a hook of its spec',
    async setUp(stage, namespace) {
      const group = 'machine.openshift.io'
      await operator(stage, 'machine-api-controllers', group)
      const { question } = await stuck(stage, {
        group,
        kind: 'Machine',
        namespace,
        finalizer: 'machine.machine.openshift.io',
        spec: { lifecycleHooks: { preDrain: [{ name: 'EtcdQuorumOperator', owner: 'clusteroperator/etcd' }] } },
        status: says(
          'Drainable',
          'False',
          'HookPresent',
          'Drain operation currently blocked by: [{Name:EtcdQuorumOperator Owner:clusteroperator/etcd}]',
        ),
      })
      return question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /machine-api-controllers|controller of Machine/,
    sentence: /EtcdQuorumOperator/,
  },
  'aws-ebs-csi-driver 1246': {
    title: 'a pod has ended, and the driver that takes its volume down has left the node before it',
    async setUp(stage, namespace) {
      await node(stage, 'leaving-1', true)
      const object = await runningPod(stage, namespace, 'db', 'leaving-1')
      await stage.remove(object)
      await stage.status(object, {
        containerStatuses: [
          {
            name: 'main',
            image: 'busybox',
            imageID: '',
            ready: false,
            restartCount: 0,
            state: { terminated: { exitCode: 0 } },
            lastState: {},
          },
        ],
      })
      await warn(
        stage,
        object,
        'FailedUnMount',
        'UnmountVolume.TearDown failed for volume "data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ebs.csi.aws.com not found in the list of registered CSI drivers',
      )
      return { kind: 'pod', name: 'db', later: 50_000 }
    },
    verdict: 'refused',
    cause: 'kubelet-failing',
    responsible: /leaving-1/,
    sentence: /ebs\.csi\.aws\.com/,
  },
  'karmada 1053': {
    title: 'what is in a member cluster is not deleted while that is not ready',
    async setUp(stage, namespace) {
      const group = 'work.karmada.io'
      await operatorWithLog(
        stage,
        'karmada-controller-manager',
        group,
        `E1228 14:04:16.786617 1 execution_controller.go:96] Stop sync work(${namespace}/x) for cluster(member2) as cluster not ready.`,
      )
      return (await stuck(stage, { group, kind: 'Work', namespace, finalizer: 'karmada.io/execution-controller' }))
        .question
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /karmada-controller-manager/,
    sentence: /member2/,
  },
  'argo-workflows 14088': {
    title: 'a pod has ended, and holds a finalizer of a workflow controller that is gone',
    async setUp(stage, namespace) {
      const object = pod(namespace, 'step', {}, { finalizers: ['workflows.argoproj.io/status'] })
      await stage.make(object)
      await stage.until(object, ({ status }) => status?.phase === 'Running')
      await stage.remove(object, { gracePeriodSeconds: 0 })
      return { kind: 'pod', name: 'step' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /workflow|argo/i,
  },
  'keda uninstalled': {
    title: 'a ScaledObject whose operator was uninstalled, with a webhook of it left that asks about all of its group',
    async setUp(stage, namespace) {
      const group = 'keda.sh'
      const { question } = await stuck(stage, {
        group,
        kind: 'ScaledObject',
        namespace,
        finalizer: 'finalizer.keda.sh',
      })
      const rules = { apiGroups: [group], resources: ['scaledobjects'], operations: ['UPDATE'] }
      const hook = failingHook('keda-admission', rules)
      await stage.make(hook)
      return { ...question, remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /keda-admission/,
  },
  'azure-service-operator 4679': {
    title: 'the Secret of credentials that an annotation names went with the namespace, before the object',
    async setUp(stage, namespace) {
      const group = 'resources.azure.com'
      await operator(stage, 'azureserviceoperator-controller-manager', group)
      const { question } = await stuck(stage, {
        group,
        kind: 'ResourceGroup',
        namespace,
        finalizer: 'serviceoperator.azure.com/finalizer',
        metadata: {
          finalizers: ['serviceoperator.azure.com/finalizer'],
          annotations: { 'serviceoperator.azure.com/credential-from': 'my-credential' },
        },
        status: says('Ready', 'False', 'Deleting', 'The resource is being deleted'),
      })
      return question
    },
    verdict: 'nobody',
    cause: 'needs-missing',
    responsible: /azureserviceoperator|controller of ResourceGroup/,
    sentence: /my-credential/,
  },
  'image gone': {
    title: 'the image of an operator cannot be pulled any more',
    async setUp(stage, namespace) {
      const group = 'pulls.acme.test'
      const system = await operatorWithoutPods(stage, 'pulls-operator', group, { nodeSelector: { nowhere: 'x' } })
      await stage.untilAny(podOf(system), () => true)
      const [first] = (await stage.of(podOf(system)).list()).items
      await stage.of(podOf(system)).patch(
        first?.metadata.name ?? '',
        'merge',
        {
          status: {
            containerStatuses: [
              {
                name: 'main',
                image: 'registry.test/pulls-operator:v1',
                imageID: '',
                ready: false,
                restartCount: 0,
                lastState: {},
                state: {
                  waiting: {
                    reason: 'ImagePullBackOff',
                    message: 'Back-off pulling image "registry.test/pulls-operator:v1"',
                  },
                },
              },
            ],
          },
        } as never,
        { subresource: 'status' },
      )
      return (await stuck(stage, { group, kind: 'Pull', namespace, finalizer: `${group}/f` })).question
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /pulls-operator/,
    sentence: /ImagePullBackOff/,
  },
  'no node for it': {
    title: 'no node takes the pod of an operator',
    async setUp(stage, namespace) {
      const group = 'nodes.acme.test'
      const system = await operatorWithoutPods(stage, 'nodes-operator', group, { nodeSelector: { nowhere: 'x' } })
      const isRefused = ({ status }: Fields) => JSON.stringify(status?.conditions ?? []).includes('Unschedulable')
      await stage.untilAny(podOf(system), isRefused)
      return (await stuck(stage, { group, kind: 'Plan', namespace, finalizer: `${group}/f` })).question
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /nodes-operator/,
    sentence: /affinity|nodes are available/,
  },
  'its own webhook': {
    title: 'an operator whose pods its own webhook, which nothing serves, refuses',
    async setUp(stage, namespace) {
      const group = 'hooks.acme.test'
      const rules = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }
      const hook = failingHook('hooks-operator', rules)
      const system = await operator(stage, 'hooks-operator', group, { replicas: 0 })
      const [own] = hook['webhooks']
      const selector = { matchLabels: { 'kubernetes.io/metadata.name': system } }
      await stage.make({ ...hook, webhooks: [{ ...own, namespaceSelector: selector }] })
      const deployment = workload(system, 'hooks-operator')
      await stage.of(deployment).patch('hooks-operator', 'merge', { spec: { replicas: 1 } } as never)
      const failed = ({ status }: Fields) => JSON.stringify(status?.conditions ?? []).includes('FailedCreate')
      await stage.until(deployment, failed)
      const { question } = await stuck(stage, { group, kind: 'Hook', namespace, finalizer: `${group}/f` })
      return { ...question, remove: [hook] }
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /hooks-operator/,
    sentence: /failed calling webhook/,
  },
  'its namespace goes': {
    title: "the namespace of an operator is deleted and held by something else; the operator's pods went first",
    async setUp(stage, namespace) {
      const group = 'going.acme.test'
      const system = await operator(stage, 'going-operator', group)
      await stage.make(configMap(system, 'held', { finalizers: ['other.acme.test/f'] }))
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: system } })
      await stage.until(workload(system, 'going-operator'), undefined)
      return (await stuck(stage, { group, kind: 'Goer', namespace, finalizer: `${group}/f` })).question
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /going/,
  },
  'operator-lifecycle-manager': {
    title: 'OLM is scaled to nothing, and a ClusterServiceVersion is held',
    async setUp(stage, namespace) {
      const group = 'operators.coreos.com'
      await operator(stage, 'olm-operator', group, { replicas: 0 })
      return (
        await stuck(stage, {
          group,
          kind: 'ClusterServiceVersion',
          namespace,
          finalizer: 'operators.coreos.com/csv-cleanup',
        })
      ).question
    },
    verdict: 'nobody',
    cause: 'controller-not-running',
    responsible: /olm-operator/,
  },
  'hierarchical-namespaces 200': {
    title: 'an anchor waits for the namespace of its name, in which an object is held',
    async setUp(stage, namespace) {
      const group = 'hnc.x-k8s.io'
      await operator(stage, 'hnc-controller-manager', group)
      await define(stage, group, 'SubnamespaceAnchor')
      const child = await stage.namespace(`${namespace}-child`, {
        annotations: { 'hnc.x-k8s.io/subnamespace-of': namespace },
      })
      await stage.make(configMap(child, 'held', { finalizers: ['acme.test/cleanup'] }))
      const anchor = instance(group, 'SubnamespaceAnchor', namespace, child, {
        metadata: { name: child, namespace, finalizers: ['hnc.x-k8s.io'] },
      })
      await stage.make(anchor)
      await stage.remove(anchor)
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: child } })
      const held = ({ metadata }: Fields) => metadata.deletionTimestamp !== undefined
      await stage.until(configMap(child, 'held'), held)
      return { kind: `SubnamespaceAnchor.${group}`, name: child }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /acme\.test/,
  },
}

export const furtherHealthy: Readonly<Record<string, Case>> = {
  'an object whose operator restarts and leads again': {
    title: '',
    async setUp(stage, namespace) {
      const group = 'again.acme.test'
      await operatorWithLog(
        stage,
        'again-operator',
        group,
        `E0101 10:00:00 1 a.go:1] Thing ${namespace}/x: connection refused\nI0101 10:00:05 1 a.go:1] Thing ${namespace}/x: deleted 3 of 5 disks`,
      )
      return (await stuck(stage, { group, kind: 'Again', namespace, finalizer: `${group}/f` })).question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /again-operator/,
  },
  'a pod with a long grace period whose preStop hook runs': {
    title: '',
    async setUp(stage, namespace) {
      await node(stage, 'well-1', true)
      const hook = { preStop: { exec: { command: ['sleep', '500'] } } }
      const containers = [{ name: 'main', image: 'busybox', lifecycle: hook }]
      const object = await runningPod(stage, namespace, 'p', 'well-1', {
        spec: { terminationGracePeriodSeconds: 600, containers },
      })
      await stage.remove(object)
      return { kind: 'pod', name: 'p' }
    },
    verdict: 'will-end',
    cause: 'grace-period',
    responsible: /./,
  },
  'a namespace whose pod is in its grace period': {
    title: '',
    async setUp(stage, namespace) {
      await node(stage, 'well-2', true)
      await runningPod(stage, namespace, 'p', 'well-2', { spec: { terminationGracePeriodSeconds: 300 } })
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      await stage.untilAny(podOf(namespace), ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'ns', name: namespace }
    },
    verdict: 'will-end',
    cause: 'grace-period',
    responsible: /./,
  },
  'an object whose annotation tells that it is not paused': {
    title: '',
    async setUp(stage, namespace) {
      const group = 'unpaused.acme.test'
      await operator(stage, 'unpaused-operator', group)
      const { question } = await stuck(stage, {
        group,
        kind: 'Unpaused',
        namespace,
        finalizer: `${group}/f`,
        metadata: { finalizers: [`${group}/f`], annotations: { [`${group}/paused`]: 'false' } },
      })
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /unpaused-operator/,
  },
  'a Machine whose hooks are gone': {
    title: '',
    async setUp(stage, namespace) {
      const group = 'unhooked.openshift.test'
      await operator(stage, 'unhooked-controllers', group)
      const { question } = await stuck(stage, {
        group,
        kind: 'Machine',
        namespace,
        finalizer: `machine.${group}`,
        spec: { lifecycleHooks: { preDrain: [] } },
        status: says('Drainable', 'True', 'NoHooks', ''),
      })
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /unhooked-controllers/,
  },
}
