/** Healthy objects that look like the documented causes: `why` says "not stuck", that they end by themselves, or who works on them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { formatMicroTime } from '../../src/base/clock.ts'
import { attachment, claim, ownerOf, type Question, volume } from './cases/case.ts'
import { furtherLookAlikes } from './cases/further-look-alikes.ts'
import { waitingLookAlikes } from './cases/waiting-look-alikes.ts'
import { configMap, define, node, operator, pod, runningPod, type Stage, startStage, warn } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(async () => stage?.stop())

interface LookAlike {
  readonly verdict: 'not-stuck' | 'will-end' | 'slow'
  setUp(namespace: string): Promise<Question>
}

const held = { finalizers: ['acme.test/cleanup'] }
const stubborn = { 'sim.skiff.dev/ignore-sigterm': 'true' }
const isRunning = ({ status }: Fields) => status?.phase === 'Running'

/** A custom resource with a finalizer, and the operator of its group. */
async function withOperator(namespace: string, kind: string, more: Fields = {}): Promise<Fields> {
  const group = `${kind.toLowerCase()}.healthy.test`
  await define(stage, group, kind)
  await operator(stage, `${kind.toLowerCase()}-operator`, group)
  const object = {
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: 'x', namespace, finalizers: [`${group}/cleanup`] },
    ...more,
  }
  await stage.make(object)
  return object
}

const LOOK_ALIKES: Readonly<Record<string, LookAlike>> = {
  'an object whose deletes a policy refuses elsewhere, and about which a webhook that is gone is not asked': {
    verdict: 'not-stuck',
    async setUp(namespace) {
      const metadata = { name: `far-${namespace}` }
      const admission = 'admissionregistration.k8s.io/v1'
      const rule = { apiGroups: [''], apiVersions: ['*'], operations: ['DELETE'], resources: ['configmaps'] }
      const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'elsewhere' } }
      const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'false' }] }
      const policy = { apiVersion: admission, kind: 'ValidatingAdmissionPolicy', metadata, spec }
      const binding = {
        apiVersion: admission,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata,
        spec: { policyName: metadata.name, validationActions: ['Deny'], matchResources: { namespaceSelector } },
      }
      const config = webhook(metadata.name, '', 'Fail')
      const [hook] = config['webhooks']
      const matchConditions = [{ name: 'others', expression: "oldObject.metadata.name != 'a'" }]
      const hooks = { ...config, webhooks: [{ ...hook, rules: [rule], matchConditions }] }
      await stage.make(configMap(namespace, 'a'), policy, binding, hooks)
      return { kind: 'cm', name: 'a', remove: [binding, policy, hooks] }
    },
  },
  'an object with a finalizer that is not being deleted': {
    verdict: 'not-stuck',
    async setUp(namespace) {
      await stage.make(configMap(namespace, 'a', held))
      return { kind: 'cm', name: 'a' }
    },
  },
  'a pod in its grace period that is deleted in the foreground, and the claim of its ephemeral volume': {
    verdict: 'will-end',
    async setUp(namespace) {
      const object = pod(
        namespace,
        'p',
        {
          volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim(namespace, 'p-v')['spec'] } } }],
          nodeName: namespace,
        },
        {},
      )
      await node(stage, namespace, true)
      await stage.make(object)
      const own = claim(namespace, 'p-v')
      await stage.until(own, () => true)
      await stage.status(object, {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'main',
            image: 'i',
            imageID: '',
            ready: true,
            restartCount: 0,
            state: { running: {} },
            lastState: {},
          },
        ],
      })
      await stage.remove(object, { propagationPolicy: 'Foreground' })
      await stage.until(own, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'pod', name: 'p' }
    },
  },
  'a pod that runs': {
    verdict: 'not-stuck',
    async setUp(namespace) {
      await stage.make(pod(namespace, 'p'))
      return { kind: 'po', name: 'p' }
    },
  },
  'a pod whose budget allows no disruption, on a node that nobody drains': {
    verdict: 'not-stuck',
    async setUp(namespace) {
      const labels = { app: 'guarded' }
      const budget = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'g', namespace },
        spec: { minAvailable: 1, selector: { matchLabels: labels } },
      }
      await stage.make(pod(namespace, 'p', {}, { labels }), budget)
      await stage.until(budget, ({ status }) => status?.currentHealthy === 1)
      return { kind: 'pdb', name: 'g' }
    },
  },
  'a node that is cordoned and has nothing to drain': {
    verdict: 'not-stuck',
    async setUp(namespace) {
      const object = await node(stage, namespace, true)
      await stage.of(object).patch(namespace, 'merge', { spec: { unschedulable: true } } as never)
      return { kind: 'node', name: namespace }
    },
  },
  'a pod in its grace period': {
    verdict: 'will-end',
    async setUp(namespace) {
      const object = pod(namespace, 'p', {}, { annotations: stubborn })
      await stage.make(object)
      await stage.until(object, isRunning)
      await stage.remove(object)
      return { kind: 'pod', name: 'p' }
    },
  },
  'a namespace whose pod is in its grace period': {
    verdict: 'will-end',
    async setUp(namespace) {
      const object = pod(namespace, 'p', {}, { annotations: stubborn })
      await stage.make(object)
      await stage.until(object, isRunning)
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      await stage.until(object, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'ns', name: namespace }
    },
  },
  'a foreground owner whose pod is in its grace period': {
    verdict: 'will-end',
    async setUp(namespace) {
      const owner = configMap(namespace, 'owner')
      const [made] = await stage.make(owner)
      const more = ownerOf(owner, made?.metadata.uid ?? '', { blockOwnerDeletion: true })
      const object = pod(namespace, 'p', {}, { annotations: stubborn, ...more })
      await stage.make(object)
      await stage.until(object, isRunning)
      await stage.remove(owner, { propagationPolicy: 'Foreground' })
      await stage.until(object, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'cm', name: 'owner' }
    },
  },
  'a claim whose pod is in its grace period': {
    verdict: 'will-end',
    async setUp(namespace) {
      await node(stage, namespace, true)
      const object = claim(namespace, 'data')
      await stage.make(object)
      const user = await runningPod(stage, namespace, 'user', namespace, {
        spec: { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] },
      })
      await stage.remove(user)
      await stage.remove(object)
      return { kind: 'pvc', name: 'data' }
    },
  },
  'a pod that has just outlived its grace period': {
    verdict: 'slow',
    async setUp(namespace) {
      await node(stage, namespace, true)
      const object = await runningPod(stage, namespace, 'p', namespace)
      await stage.remove(object, { gracePeriodSeconds: 1 })
      return { kind: 'pod', name: 'p', later: 20_000 }
    },
  },
  'an object whose operator runs': {
    verdict: 'slow',
    async setUp(namespace) {
      await stage.remove(await withOperator(namespace, 'Alpha'))
      return { kind: 'alpha', name: 'x' }
    },
  },
  'a definition whose instances have an operator that runs': {
    verdict: 'slow',
    async setUp(namespace) {
      const object = await withOperator(namespace, 'Bravo')
      await stage.remove({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'bravos.bravo.healthy.test' },
      })
      await stage.until(object, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'crd', name: 'bravos.bravo.healthy.test' }
    },
  },
  'a namespace with an object whose operator runs': {
    verdict: 'slow',
    async setUp(namespace) {
      const object = await withOperator(namespace, 'Charlie')
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      await stage.until(object, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'ns', name: namespace }
    },
  },
  'a foreground owner whose dependent has an operator that runs': {
    verdict: 'slow',
    async setUp(namespace) {
      await operator(stage, 'delta-operator', '')
      const owner = configMap(namespace, 'owner')
      const [made] = await stage.make(owner)
      const more = ownerOf(owner, made?.metadata.uid ?? '', { blockOwnerDeletion: true })
      const object = configMap(namespace, 'x', { finalizers: ['delta.test/cleanup'], ...more })
      await stage.make(object)
      await stage.remove(owner, { propagationPolicy: 'Foreground' })
      await stage.until(object, ({ metadata }) => metadata.deletionTimestamp !== undefined)
      return { kind: 'cm', name: 'owner' }
    },
  },
  'warnings that are older than the deletion': {
    verdict: 'slow',
    async setUp(namespace) {
      const object = await withOperator(namespace, 'Echo')
      await warn(stage, object, 'ReconcileError', 'failed to reach the API: timed out', 'echo-operator', 600_000)
      await stage.remove(object)
      return { kind: 'echo', name: 'x' }
    },
  },
  'a condition that tells of going, not of failing': {
    verdict: 'slow',
    async setUp(namespace) {
      const object = await withOperator(namespace, 'Foxtrot')
      await stage.remove(object)
      await stage.status(object, {
        conditions: [{ type: 'Ready', status: 'False', reason: 'Deleting', message: 'the instance is going' }],
      })
      return { kind: 'foxtrot', name: 'x' }
    },
  },
  'a webhook that may fail, whose service is gone': {
    verdict: 'slow',
    async setUp(namespace) {
      const object = await withOperator(namespace, 'Golf')
      await stage.remove(object)
      const hook = webhook('lenient', 'golf.healthy.test', 'Ignore')
      await stage.make(hook)
      return { kind: 'golf', name: 'x', remove: [hook] }
    },
  },
  'a webhook of other kinds, whose service is gone': {
    verdict: 'slow',
    async setUp(namespace) {
      const object = await withOperator(namespace, 'Hotel')
      await stage.remove(object)
      const hook = webhook('elsewhere', 'other.healthy.test', 'Fail')
      await stage.make(hook)
      return { kind: 'hotel', name: 'x', remove: [hook] }
    },
  },
  'an object that names a Secret that is there': {
    verdict: 'slow',
    async setUp(namespace) {
      await stage.make({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'cloud', namespace } })
      await stage.remove(await withOperator(namespace, 'India', { spec: { credentialsSecretRef: { name: 'cloud' } } }))
      return { kind: 'india', name: 'x' }
    },
  },
  'a Service of type LoadBalancer whose cloud controller leads': {
    verdict: 'slow',
    async setUp(namespace) {
      const lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'cloud-controller-manager', namespace: 'kube-system' },
        spec: { holderIdentity: 'ccm', leaseDurationSeconds: 15, renewTime: formatMicroTime(Date.now()) },
      }
      const object = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'lb', namespace, finalizers: ['service.kubernetes.io/load-balancer-cleanup'] },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      }
      await stage.make(lease, object)
      await stage.remove(object)
      return { kind: 'svc', name: 'lb', remove: [lease] }
    },
  },
  'a volume that is attached to a node with its driver, whose attacher runs': {
    verdict: 'slow',
    async setUp(namespace) {
      await node(stage, namespace, true)
      await operator(stage, 'acme-csi-attacher', 'storage.k8s.io')
      await stage.make({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSINode',
        metadata: { name: namespace },
        spec: { drivers: [{ name: 'csi.acme.test', nodeID: 'n' }] },
      })
      const object = attachment(namespace, namespace, namespace)
      await stage.make(volume(namespace), object)
      await stage.remove(object)
      return { kind: 'volumeattachment', name: namespace }
    },
  },
  'an object whose controller is outside of the cluster and writes to it': {
    verdict: 'slow',
    async setUp(namespace) {
      await define(stage, 'outside.test', 'Remote')
      const object = {
        apiVersion: 'outside.test/v1',
        kind: 'Remote',
        metadata: { name: 'r', namespace, finalizers: ['outside.test/cleanup'] },
      }
      await stage.make(object)
      await stage.remove(object)
      const marked = Date.parse((await stage.of(object).get('r')).metadata.deletionTimestamp ?? '')
      // Times are whole seconds: a write of the next one is surely later than the deletion.
      const later = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'clock', namespace } }
      await stage.make({ ...later, data: { k: '0' } })
      for (let now = 0; now <= marked; )
        now = Date.parse(
          (await stage.of(later).patch('clock', 'merge', { data: { k: String(Date.now()) } })).metadata
            .managedFields?.[0]?.time ?? '',
        )
      await stage.of(object).patch('r', 'merge', { status: { phase: 'Deleting' } } as never, {
        subresource: 'status',
        fieldManager: 'remote-controller',
      })
      return { kind: 'remote', name: 'r' }
    },
  },
  'a controller outside of the cluster that holds a lease': {
    verdict: 'slow',
    async setUp(namespace) {
      await define(stage, 'leased.test', 'Tenant')
      const object = {
        apiVersion: 'leased.test/v1',
        kind: 'Tenant',
        metadata: { name: 't', namespace, finalizers: ['leased.test/cleanup'] },
      }
      const lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'tenant-controller', namespace },
        spec: { holderIdentity: 'laptop', leaseDurationSeconds: 15, renewTime: formatMicroTime(Date.now()) },
      }
      await stage.make(object, lease)
      await stage.remove(object)
      return { kind: 'tenant', name: 't' }
    },
  },
}

function webhook(name: string, group: string, failurePolicy: string): Fields {
  const service = { namespace: 'gone-system', name: 'gone', path: '/' }
  const rules = [{ operations: ['UPDATE', 'DELETE'], apiGroups: [group], apiVersions: ['*'], resources: ['*'] }]
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: `${name}.acme.test`,
        clientConfig: { service, caBundle: '' },
        rules,
        failurePolicy,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 1,
      },
    ],
  }
}

const ALL: Readonly<Record<string, LookAlike>> = {
  ...LOOK_ALIKES,
  ...Object.fromEntries(
    Object.entries({ ...furtherLookAlikes, ...waitingLookAlikes }).map(([title, { setUp, verdict }]) => [
      title,
      {
        verdict: verdict as LookAlike['verdict'],
        setUp: (namespace: string) => setUp(stage, namespace),
      },
    ]),
  ),
}

for (const [number, [title, one]] of Object.entries(ALL).entries()) {
  test(title, async () => {
    const namespace = await stage.namespace(`healthy-${number}`)
    const { kind, name, later = 0, remove = [], undo, ...more } = await one.setUp(namespace)
    const { said, exitCode } = await stage.why(kind, name, more.namespace ?? namespace, { later })
    const told = JSON.stringify(said, undefined, 1)
    assert.equal(said['verdict'], one.verdict, told)
    assert.equal(said['stuck'], false)
    assert.equal(exitCode, { 'not-stuck': 0, 'will-end': 10, slow: 11 }[one.verdict])
    for (const object of remove) await stage.remove(object)
    await undo?.()
  })
}
