/** Further healthy objects that look like documented causes. */
import { formatMicroTime, formatTime } from '../../../src/base/clock.ts'
import { node, operator, pod, runningPod } from '../stage.ts'
import type { Case } from './case.ts'
import { stuck } from './other-software.ts'
import { conditionOf, hookConfig, hookServer, policy, settle } from './servers-that-judge.ts'

/** Conditions that name failures and tell of none. */
const OF_NO_FAILURE = [
  ['NotReady', 'False', 'AsExpected', 'no errors found'],
  ['Unhealthy', 'False', 'AsExpected', 'no failures'],
  ['VpcReady', 'False', 'Deleting', 'waiting for the network to go; 0 errors so far'],
  ['Ready', 'Unknown', 'New', 'has not been looked at yet: no error'],
] as const

const withConditionOfNone = OF_NO_FAILURE.map(([type, status, reason, message], at): [string, Case] => {
  const [group, name] = [`none${at}.test`, `none${at}-operator`]
  return [
    `an object of an operator at work, whose condition ${type} is ${status}: ${message}`,
    {
      title: '',
      async setUp(stage, namespace) {
        const condition = conditionOf(type, status, reason, message)
        const object = { group, kind: 'Calm', namespace, finalizer: `${group}/f`, status: condition }
        const { question } = await stuck(stage, object)
        await operator(stage, name, group)
        return question
      },
      verdict: 'slow',
      cause: 'controller-at-work',
      responsible: new RegExp(name),
    },
  ]
})

export const furtherLookAlikes: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(withConditionOfNone),
  'an object whose controller runs in a pod of its own': {
    title: '',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, { group: 'b1.test', kind: 'Bare', namespace: ns, finalizer: 'b1.test/f' })
      const sys = await stage.namespace('b1-system')
      await stage.make(
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'b1-controller', namespace: sys } },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'b1' },
          rules: [{ apiGroups: ['b1.test'], resources: ['*'], verbs: ['*'] }],
        },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRoleBinding',
          metadata: { name: 'b1' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'b1' },
          subjects: [{ kind: 'ServiceAccount', name: 'b1-controller', namespace: sys }],
        },
        pod(sys, 'b1-controller', { serviceAccountName: 'b1-controller' }),
      )
      await stage.until(pod(sys, 'b1-controller'), ({ status }) => status?.['phase'] === 'Running')
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /b1-controller/,
  },
  'an object whose finalizer only its operator may take off, by a policy, and the operator runs': {
    title: '',
    async setUp(stage, ns) {
      const { question, object } = await stuck(stage, {
        group: 'dh2.test',
        kind: 'Guarded',
        namespace: ns,
        finalizer: 'dh2.test/protect',
      })
      await operator(stage, 'dh2-operator', 'dh2.test')
      const [p, b] = policy(
        'hp2',
        { apiGroups: ['dh2.test'], operations: ['UPDATE'], resources: ['*'] },
        {
          validations: [
            {
              expression: "request.userInfo.username == 'system:serviceaccount:dh2-operator-system:dh2-operator'",
              message: 'Removing finalizers is forbidden',
            },
          ],
        },
      )
      await stage.make(p, b)
      await settle(stage, object)
      return { ...question, remove: [b, p] }
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /dh2-operator/,
  },
  'a pod in its grace period, and an aggregated API that is down': {
    title: '',
    async setUp(stage, ns) {
      await node(stage, 'h5', true)
      const a = {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: 'v1beta1.down.metrics.test' },
        spec: {
          group: 'down.metrics.test',
          version: 'v1beta1',
          groupPriorityMinimum: 100,
          versionPriority: 100,
          insecureSkipTLSVerify: true,
          service: { name: 'metrics-server', namespace: 'kube-system' },
        },
      }
      await stage.make(a)
      const p = await runningPod(stage, ns, 'p', 'h5', { spec: { terminationGracePeriodSeconds: 600 } })
      await stage.remove(p)
      return { kind: 'pod', name: 'p', remove: [a] }
    },
    verdict: 'will-end',
    cause: 'grace-period',
    responsible: /h5/,
  },
  'an object of an operator of which an older install is scaled to nothing': {
    title: '',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'h7.test',
        kind: 'Seven',
        namespace: ns,
        finalizer: 'h7.test/f',
      })
      await operator(stage, 'h7-operator-old', 'h7.test', { replicas: 0 })
      await operator(stage, 'h7-operator', 'h7.test')
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /h7-operator/,
  },
  'an object whose condition of before tells of work': {
    title: '',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'h10.test',
        kind: 'Ten',
        namespace: ns,
        finalizer: 'h10.test/f',
        status: conditionOf('Progressing', 'True', 'Creating', 'replica 2 of 3 is not ready yet'),
      })
      await operator(stage, 'h10-operator', 'h10.test')
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /h10-operator/,
  },
  'an object about whose update a webhook is asked that runs and accepts': {
    title: '',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'h11.test',
        kind: 'Eleven',
        namespace: ns,
        finalizer: 'h11.test/f',
      })
      await operator(stage, 'h11-operator', 'h11.test')
      const s = await hookServer(() => ({ allowed: true }))
      const h = hookConfig(
        'ValidatingWebhookConfiguration',
        'h11',
        { operations: ['UPDATE', 'DELETE'], apiGroups: ['h11.test'], resources: ['*'] },
        { clientConfig: s.clientConfig },
      )
      await stage.make(h)
      return { ...question, remove: [h], undo: s.close }
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /h11-operator/,
  },
  'an object whose condition says what it waits for': {
    title: '',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'h12.test',
        kind: 'Twelve',
        namespace: ns,
        finalizer: 'h12.test/f',
        status: conditionOf(
          'Ready',
          'False',
          'Deleting',
          'waiting for cloud resources to be deleted',
          formatTime(Date.now()),
        ),
      })
      await operator(stage, 'h12-operator', 'h12.test')
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /h12-operator/,
  },
  'an object with a field that its schema no longer allows, and that no update changes': {
    title: '',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'h13.test',
        kind: 'Thirteen',
        namespace: ns,
        finalizer: 'h13.test/f',
        spec: { size: 1 },
      })
      await operator(stage, 'h13-operator', 'h13.test')
      const crd = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'thirteens.h13.test' },
      }
      await stage.of(crd).patch('thirteens.h13.test', 'json', [
        {
          op: 'replace',
          path: '/spec/versions/0/schema/openAPIV3Schema',
          value: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer', minimum: 3 } } } },
          },
        },
      ])
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /h13-operator/,
  },
  'an object in a namespace whose quota is used up and whose limits are narrow': {
    title: '',
    async setUp(stage, ns) {
      await stage.make(
        {
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { name: 'q', namespace: ns },
          spec: { hard: { persistentvolumeclaims: '0' } },
        },
        {
          apiVersion: 'v1',
          kind: 'LimitRange',
          metadata: { name: 'l', namespace: ns },
          spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '1Mi' } }] },
        },
      )
      await stage.until(
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: ns } },
        ({ status }) => status?.['used']?.['persistentvolumeclaims'] !== undefined,
      )
      const { question } = await stuck(stage, {
        group: 'h15.test',
        kind: 'Fifteen',
        namespace: ns,
        finalizer: 'h15.test/f',
      })
      await operator(stage, 'h15-operator', 'h15.test')
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /h15-operator/,
  },
  'an operator that leads, beside leases that others let go': {
    title: '',
    async setUp(stage, ns) {
      const { question } = await stuck(stage, {
        group: 'h19.test',
        kind: 'Nineteen',
        namespace: ns,
        finalizer: 'h19.test/f',
      })
      const sys = await operator(stage, 'h19-operator', 'h19.test')
      const lease = (name: string, holder: string, ago: number) => ({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace: sys },
        spec: {
          holderIdentity: holder,
          leaseDurationSeconds: 15,
          renewTime: formatMicroTime(Date.now() - ago),
        },
      })
      await stage.make(
        lease('old.h19.test', 'h19-operator-abc_1', 3_600_000),
        lease('h19.test', 'h19-operator-def_2', 0),
        lease('other', 'cron-1', 3_600_000),
      )
      return question
    },
    verdict: 'slow',
    cause: 'controller-at-work',
    responsible: /h19-operator/,
  },
  'a node that is drained, and a budget that allows it': {
    title: '',
    async setUp(stage, ns) {
      await node(stage, 'h20', true)
      await runningPod(stage, ns, 'p', 'h20', { metadata: { labels: { a: 'h20' } } })
      await stage.make({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'b', namespace: ns },
        spec: { minAvailable: 0, selector: { matchLabels: { a: 'h20' } } },
      })
      await stage.until(
        { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'b', namespace: ns } },
        ({ status }) => status?.['observedGeneration'] === 1,
      )
      await stage.status(
        { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: ns } },
        { conditions: [{ type: 'Ready', status: 'True' }] },
      )
      await stage
        .until(
          { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'b', namespace: ns } },
          ({ status }) => status?.['currentHealthy'] === 1,
        )
        .catch(() => {})
      await stage
        .of({ apiVersion: 'v1', kind: 'Node', metadata: {} })
        .patch('h20', 'merge', { spec: { unschedulable: true } } as never)
      return { kind: 'node', name: 'h20', namespace: '' }
    },
    verdict: 'not-stuck',
    cause: 'not-deleted',
    responsible: /^$/,
  },
}
