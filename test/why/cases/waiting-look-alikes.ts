/** Healthy objects whose words, parts and neighbours look like what holds others up. */
import { formatTime } from '../../../src/base/clock.ts'
import { configMap, define, node, operator, runningPod, warn, workload } from '../stage.ts'
import { type Case, ownerOf, volume } from './case.ts'
import { operatorWithLog, stuck } from './other-software.ts'

const now = () => formatTime(Date.now())
const says = (type: string, status: string, reason: string, message: string, at = now()) => ({
  conditions: [{ type, status, reason, message, lastTransitionTime: at }],
})
const notStuck = { title: '', verdict: 'not-stuck', cause: '', responsible: /./ } as const
const slow = (responsible: RegExp) =>
  ({ title: '', verdict: 'slow', cause: 'controller-at-work', responsible }) as const

export const waitingLookAlikes: Readonly<Record<string, Case>> = {
  'an object whose condition speaks of another that waits, and which is not deleted': {
    ...notStuck,
    async setUp(stage, namespace) {
      const group = 'l1.waits.test'
      await define(stage, group, 'Lake')
      const lake = {
        apiVersion: `${group}/v1`,
        kind: 'Lake',
        metadata: { name: 'x', namespace, finalizers: [`${group}/f`] },
      }
      await stage.make(lake, { ...lake, metadata: { name: 'other-lake', namespace } })
      await stage.status(lake, says('Ready', 'False', 'Blocked', 'waiting for other-lake to be deleted'))
      return { kind: 'lake', name: 'x' }
    },
  },
  'an object whose operator works on it, beside others that name it, and says nothing of them': {
    ...slow(/l2-operator/),
    async setUp(stage, namespace) {
      const group = 'l2.waits.test'
      await define(stage, group, 'Boat')
      await operator(stage, 'l2-operator', group)
      const spec = { riverRef: { name: 'x' } }
      await stage.make({ apiVersion: `${group}/v1`, kind: 'Boat', metadata: { name: 'b', namespace }, spec })
      return (await stuck(stage, { group, kind: 'River', namespace, finalizer: `${group}/cleanup` })).question
    },
  },
  'an object whose operator waits for the cloud': {
    ...slow(/l3-operator/),
    async setUp(stage, namespace) {
      const group = 'l3.waits.test'
      await define(stage, group, 'Duck')
      const spec = { pondRef: { name: 'x' } }
      await stage.make({ apiVersion: `${group}/v1`, kind: 'Duck', metadata: { name: 'd', namespace }, spec })
      await operator(stage, 'l3-operator', group)
      const status = says('Progressing', 'True', 'Deleting', 'waiting until the instance is gone at the provider')
      return (await stuck(stage, { group, kind: 'Pond', namespace, finalizer: `${group}/cleanup`, status })).question
    },
  },
  'an object about which its operator warned before it was deleted, of something that is missing': {
    ...slow(/l4-operator/),
    async setUp(stage, namespace) {
      const group = 'l4.waits.test'
      await define(stage, group, 'Creek')
      await operator(stage, 'l4-operator', group)
      const object = {
        apiVersion: `${group}/v1`,
        kind: 'Creek',
        metadata: { name: 'x', namespace, finalizers: [`${group}/f`] },
      }
      await stage.make(object)
      await warn(stage, object, 'Failed', 'secrets "passwords" not found', 'l4-operator', 600_000)
      await stage.remove(object)
      return { kind: 'creek', name: 'x' }
    },
  },
  'an object on a node that is well': {
    ...slow(/l5-operator/),
    async setUp(stage, namespace) {
      const group = 'l5.waits.test'
      await operator(stage, 'l5-operator', group)
      await node(stage, namespace, true)
      const status = { phase: 'Running', nodeName: namespace }
      return (await stuck(stage, { group, kind: 'Brook', namespace, finalizer: `${group}/cleanup`, status })).question
    },
  },
  'an object that lists a Job of its life, which failed, and one of its end that runs': {
    ...slow(/l6-operator/),
    async setUp(stage, namespace) {
      const group = 'l6.waits.test'
      await operator(stage, 'l6-operator', group)
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } }
      const job = {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'end', namespace },
        spec: { suspend: true, template },
      }
      const entry = { group: 'batch', kind: 'Job', namespace, name: 'end' }
      const { question } = await stuck(stage, {
        group,
        kind: 'Stream6',
        namespace,
        finalizer: `${group}/f`,
        status: { resources: [entry] },
      })
      await stage.make(job)
      return question
    },
  },
  'a released volume that is kept': {
    ...notStuck,
    async setUp(stage) {
      const object = volume('kept-volume', { persistentVolumeReclaimPolicy: 'Retain' })
      await stage.make(object)
      await stage.status(object, { phase: 'Released' })
      return { kind: 'pv', name: 'kept-volume' }
    },
  },
  'a Service of a class of load balancers whose controller runs': {
    ...slow(/corp-lb/),
    async setUp(stage, namespace) {
      const system = await stage.namespace('corp-lb-system')
      const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'corp-lb' } }
      const deployment = workload(system, 'corp-lb')
      await stage.make(
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'corp-lb', namespace: system } },
        { ...rbac, kind: 'ClusterRole', rules: [{ apiGroups: [''], resources: ['services'], verbs: ['*'] }] },
        {
          ...rbac,
          kind: 'ClusterRoleBinding',
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'corp-lb' },
          subjects: [{ kind: 'ServiceAccount', name: 'corp-lb', namespace: system }],
        },
        deployment,
      )
      await stage.until(deployment, ({ status }) => (status?.readyReplicas ?? 0) > 0)
      const object = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'x', namespace, finalizers: ['service.kubernetes.io/load-balancer-cleanup'] },
        spec: { type: 'LoadBalancer', loadBalancerClass: 'example.org/corp-lb', ports: [{ port: 80 }] },
      }
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'svc', name: 'x' }
    },
  },
  'an owner in the foreground whose dependent is a pod in its grace period': {
    title: '',
    verdict: 'will-end',
    cause: 'grace-period',
    responsible: /./,
    async setUp(stage, namespace) {
      await node(stage, namespace, true)
      const owner = configMap(namespace, 'owner')
      const [made] = await stage.make(owner)
      const metadata = ownerOf(owner, made?.metadata.uid ?? '', { blockOwnerDeletion: true })
      const spec = { terminationGracePeriodSeconds: 3600 }
      const object = await runningPod(stage, namespace, 'p', namespace, { spec, metadata })
      await stage.remove(owner, { propagationPolicy: 'Foreground' })
      await stage.until(object, (one) => one.metadata.deletionTimestamp !== undefined)
      return { kind: 'cm', name: 'owner' }
    },
  },
  'an operator whose log tells of a wait that is over': {
    ...slow(/l11-operator/),
    async setUp(stage, namespace) {
      const group = 'l11.waits.test'
      await operatorWithLog(
        stage,
        'l11-operator',
        group,
        `Rill ${namespace}/x: removing backups, 3 left at the provider`,
      )
      await define(stage, group, 'Weir')
      await stage.make({ apiVersion: `${group}/v1`, kind: 'Weir', metadata: { name: 'left', namespace } })
      return (await stuck(stage, { group, kind: 'Rill', namespace, finalizer: `${group}/cleanup` })).question
    },
  },
}
