/** Rules of `why` that no case needs: each alone, on a server without controllers that holds what they would have written. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { formatMicroTime, formatTime } from '../../src/base/clock.ts'
import { attachment, claim, failingHook, volume } from './cases/case.ts'
import { configMap, define, node, pod, runningPod, type Stage, startStage, warn } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage('--components', 'apiserver')
  await stage.make({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } })
})
after(async () => stage?.stop())

const told = ({ said }: { readonly said: Fields }) => [said['verdict'], said['cause'].kind]

const budget = (name: string, app: string, spec: Fields = {}): Fields => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'default' },
  spec: { minAvailable: 1, selector: { matchLabels: { app } }, ...spec },
})
const counted = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }

/** A pod on a node of its own that is cordoned, with budgets that select it. */
async function guarded(name: string, isReady: boolean, ...budgets: readonly Fields[]): Promise<void> {
  const cordoned = await node(stage, name, true)
  await stage.of(cordoned).patch(name, 'merge', { spec: { unschedulable: true } } as never)
  const object = await runningPod(stage, 'default', name, name, { metadata: { labels: { app: name } } })
  await stage.status(object, { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] })
  for (const one of budgets) {
    await stage.make(one)
    await stage.status(one, counted)
  }
}

test('a pod on a node that is cordoned waits for its budget, and so do the node and the budget', async () => {
  await guarded('d1', true, budget('d1', 'd1'))
  for (const [kind, name] of [
    ['pod', 'd1'],
    ['pdb', 'd1'],
    ['node', 'd1'],
  ] as const) {
    const asked = await stage.why(kind, name)
    assert.deepEqual(told(asked), ['refused', 'budget'], kind)
    assert.match(asked.said['sentence'], /1 of 1 pods are healthy, and it wants 1/)
  }
})

test('two budgets of one pod refuse every eviction, whatever they allow', async () => {
  await guarded('d2', true, budget('d2', 'd2'), budget('d2-other', 'd2'))
  for (const name of ['d2', 'd2-other']) await stage.status(budget(name, 'd2'), { ...counted, disruptionsAllowed: 1 })
  const asked = await stage.why('pod', 'd2')
  assert.deepEqual(told(asked), ['refused', 'budget'])
  assert.match(asked.said['sentence'], /more than one budget selects the pod \(d2, d2-other\)/)
})

test('a pod that is not ready may go where its budget says so', async () => {
  await guarded('d3', false, budget('d3', 'd3', { unhealthyPodEvictionPolicy: 'AlwaysAllow' }))
  assert.equal((await stage.why('pod', 'd3')).said['verdict'], 'not-stuck')
  await guarded('d4', false, budget('d4', 'd4', { minAvailable: 2 }))
  await stage.status(budget('d4', 'd4'), { ...counted, desiredHealthy: 2 })
  assert.deepEqual(told(await stage.why('pod', 'd4')), ['refused', 'budget'])
})

test('a budget that cannot count tells why', async () => {
  await guarded('d5', true, budget('d5', 'd5'))
  const message = 'found no controllers for pod "d5"'
  const at = formatTime(Date.now())
  const failed = { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message, lastTransitionTime: at }
  await stage.status(budget('d5', 'd5'), { ...counted, conditions: [failed] })
  assert.match((await stage.why('pod', 'd5')).said['sentence'], /found no controllers/)
})

test('a volume whose claim was made anew is not in use by that', async () => {
  const [made] = await stage.make(claim('default', 'anew'))
  const of = (uid: string) => ({
    claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'anew', uid },
  })
  for (const [name, uid] of [
    ['own', made?.metadata.uid ?? ''],
    ['former', '11111111-2222-3333-4444-555555555555'],
  ] as const) {
    const object = volume(name, of(uid), { finalizers: ['kubernetes.io/pv-protection'] })
    await stage.make(object)
    await stage.status(object, { phase: 'Bound' })
    await stage.remove(object)
  }
  assert.equal((await stage.why('pv', 'own')).said['cause'].kind, 'in-use')
  assert.notEqual((await stage.why('pv', 'former')).said['cause'].kind, 'in-use')
})

test('an attachment to a node that is not there, and to one that is silent', async () => {
  await stage.make(volume('disk'), volume('disk-2'))
  await node(stage, 'quiet', false)
  for (const [name, on] of [
    ['to-nowhere', 'nowhere'],
    ['to-quiet', 'quiet'],
  ] as const) {
    const object = attachment(name, on, 'disk')
    await stage.make(object)
    await stage.remove(object)
  }
  assert.deepEqual(told(await stage.why('volumeattachment', 'to-nowhere')), ['nobody', 'missing-node'])
  assert.ok(JSON.stringify((await stage.why('volumeattachment', 'to-quiet')).said).includes('silent-node'))
})

test('a container that is said to run long after the grace period is told of, though no Event is there', async () => {
  await node(stage, 'long', true)
  const object = await runningPod(stage, 'default', 'long', 'long', { spec: { terminationGracePeriodSeconds: 1 } })
  await stage.remove(object, { gracePeriodSeconds: 1 })
  const late = await stage.why('pod', 'long', 'default', { later: 45_000 })
  assert.deepEqual(told(late), ['slow', 'kubelet-at-work'])
  assert.match(late.said['sentence'], /passed \d+ s ago, and .* is still said to run; no Event says why/)
})

test('a Secret that a field or an annotation names and that is not there is what its controller needs', async () => {
  const group = 'needs.acme.test'
  await define(stage, group, 'Need')
  const thing = (name: string, more: Fields, metadata: Fields = {}): Fields => ({
    apiVersion: `${group}/v1`,
    kind: 'Need',
    metadata: { name, namespace: 'default', finalizers: [`${group}/f`], ...metadata },
    ...more,
  })
  const ones = [
    thing('field', { spec: { access: { credentialsSecretName: 'gone-1' } } }),
    thing('plain', { spec: { access: { secretName: 'gone-2' } } }),
    thing('annotated', {}, { annotations: { [`${group}/credentials-from`]: 'gone-3' } }),
  ]
  await stage.make(...ones)
  for (const [at, one] of ones.entries()) {
    await stage.remove(one)
    const { said } = await stage.why(`needs.${group}`, one['metadata'].name)
    assert.match(JSON.stringify(said), new RegExp(`secrets/gone-${at + 1} in namespace default does not exist`))
  }
})

test('annotations that tell what is done with secrets name none, and of very many names some are looked at', async () => {
  const group = 'habits.acme.test'
  await define(stage, group, 'Habit')
  const named = async (name: string, annotations: Fields) => {
    const metadata = { name, namespace: 'default', finalizers: [`${group}/f`], annotations }
    const object = { apiVersion: `${group}/v1`, kind: 'Habit', metadata }
    await stage.make(object)
    await stage.remove(object)
    const asked: string[] = []
    const instead = (path: string) => void asked.push(path)
    const { said } = await stage.why(`habits.${group}`, name, 'default', { instead })
    return { told: JSON.stringify(said), asked: asked.filter((path) => /\/secrets\b/.test(path)).length }
  }
  const words = { 'generate-secret': 'weekly', 'rotate-credentials': '2026-01-01', secret: 'true', 'secret-from': '3' }
  const keyed = Object.entries(words).map(([key, word]) => [`${group}/${key}`, word])
  assert.doesNotMatch((await named('habits', Object.fromEntries(keyed))).told, /secrets\/|needs-missing/)
  const many = Array.from({ length: 60 }, (_, at) => [`${group}/n${at}-secret-name`, `gone-${at}`])
  const { told, asked } = await named('many', Object.fromEntries(many))
  assert.match(told, /needs-missing/)
  assert.ok(asked > 0 && asked <= 20, `${asked} requests`)
})

test('a namespace of the same name is a part where software of the group marked it, unless the object is in it', async () => {
  await define(stage, 'twin.acme.test', 'Twin')
  // Its controller is there, by a lease.
  const spec = { holderIdentity: 'twin-operator', leaseDurationSeconds: 15, renewTime: formatMicroTime(Date.now()) }
  const metadata = { name: 'twin-operator', namespace: 'default' }
  await stage.make({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
  const twin = async (name: string, namespace: string, annotated: string) => {
    const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations: { [annotated]: 'x' } } }
    const metadata = { name, namespace, finalizers: ['twin.acme.test/f'] }
    const object = { apiVersion: 'twin.acme.test/v1', kind: 'Twin', metadata }
    await stage.make(space)
    await stage.make(object)
    await stage.remove(object)
    await stage.remove(space)
    return JSON.stringify((await stage.why('twins.twin.acme.test', name, namespace)).said)
  }
  const isPart = /"kind":"part"/
  assert.match(await twin('apart', 'default', 'cd.twin.acme.test/of'), isPart)
  assert.doesNotMatch(await twin('within', 'within', 'cd.twin.acme.test/of'), isPart)
  assert.doesNotMatch(await twin('stranger', 'default', 'nottwin.acme.test/of'), isPart)
})

test('of what is missing it is told whether its namespace is', async () => {
  const { said, exitCode } = await stage.why('cm', 'none', 'no-such-namespace')
  assert.equal(exitCode, 4)
  assert.match(said['sentence'], /neither does its namespace no-such-namespace/)
  const object = configMap('default', 'before')
  await stage.make(object)
  await warn(stage, object, 'Pruned', 'removed by the pruner', 'pruner')
  await stage.remove(object)
  assert.match((await stage.why('cm', 'before')).said['sentence'], /Pruned: removed by the pruner/)
})

test('a namespace tells which API its controller could not find out about', async () => {
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'undiscovered' } }
  await stage.make(space)
  await stage.remove(space)
  const at = formatTime(Date.now())
  const message =
    'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery'
  const failed = { type: 'NamespaceDeletionDiscoveryFailure', status: 'True', reason: 'DiscoveryFailed', message }
  await stage.status(space, { conditions: [{ ...failed, lastTransitionTime: at }] })
  const { said } = await stage.why('ns', 'undiscovered')
  assert.match(JSON.stringify(said), /metrics\.k8s\.io\/v1beta1/)
})

test('a pod that no node has, and which is marked, is no matter of a kubelet', async () => {
  const object = pod('default', 'nowhere', {}, { finalizers: ['acme.test/f'] })
  await stage.make(object)
  await stage.remove(object, { gracePeriodSeconds: 0 })
  assert.deepEqual(told(await stage.why('pod', 'nowhere')), ['nobody', 'controller-missing'])
})

test('of a webhook that is only quoted the complaint stays, and a delete is offered where it is asked about the object', async () => {
  const group = 'quotes.acme.test'
  await define(stage, group, 'Quote')
  const quote = async (name: string, apiGroups: readonly string[], failurePolicy: string) => {
    const rules = { apiGroups, operations: ['UPDATE'], resources: ['*'] }
    const hook = failingHook(name, rules)
    const metadata = { name, namespace: 'default', finalizers: [`${group}/f`] }
    const object = { apiVersion: `${group}/v1`, kind: 'Quote', metadata }
    const [webhook] = hook['webhooks']
    await stage.make(object)
    await stage.remove(object)
    const message = `Internal error occurred: failed calling webhook "${webhook.name}": no endpoints available for service "gone"`
    await stage.status(object, { conditions: [{ type: 'Ready', status: 'False', reason: 'Error', message }] })
    await stage.make({ ...hook, webhooks: [{ ...webhook, failurePolicy }] })
    const { said } = await stage.why(`quotes.${group}`, name)
    await stage.remove(hook)
    return { kind: said['cause'].kind, chain: JSON.stringify(said['chain']), ways: JSON.stringify(said['waysOut']) }
  }
  const elsewhere = await quote('elsewhere', ['far.acme.test'], 'Fail')
  assert.equal(elsewhere.kind, 'admission-refuses')
  assert.match(elsewhere.chain, /controller-failing/)
  assert.match(elsewhere.ways, /let the server of webhook/)
  assert.doesNotMatch(elsewhere.ways, /delete its configuration/)
  const lenient = await quote('lenient', ['far.acme.test'], 'Ignore')
  assert.equal(lenient.kind, 'controller-failing')
  assert.doesNotMatch(lenient.chain, /admission-refuses/)
  assert.doesNotMatch(lenient.ways, /delete its configuration/)
  const asked = await quote('asked', [group], 'Fail')
  assert.equal(asked.kind, 'admission-refuses')
  assert.match(asked.ways, /delete its configuration/)
})
