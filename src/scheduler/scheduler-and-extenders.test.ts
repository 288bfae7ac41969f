/** What else happens while an extender thinks of a pod. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { full, ours, startedAs } from './scheduler-fixture.test.ts'
import { node } from './test-objects.ts'

const EXTENDER = {
  urlPrefix: 'http://extender.example',
  filterVerb: 'filter',
  prioritizeVerb: '',
  preemptVerb: '',
  bindVerb: '',
  weight: 0,
  timeoutMs: 1000,
  nodeCacheCapable: true,
  managedResources: new Set<string>(),
  ignorable: false,
  tls: { insecure: false },
}

interface Asked {
  readonly NodeNames?: readonly string[]
}

/** A scheduler with an extender that says what it thinks of a question when it is let to. */
async function thinking(
  says: (question: Asked) => object,
  verbs: object,
  ...nodes: readonly ReturnType<typeof node>[]
) {
  const waiting: (() => void)[] = []
  const it = await startedAs(
    {
      extenders: [{ ...EXTENDER, ...verbs }],
      extenderOf: (settings) => ({
        settings,
        post: (_, body) => {
          const text = JSON.stringify(says(JSON.parse(body) as Asked))
          return new Promise((resolve) => waiting.push(() => resolve({ status: 200, text })))
        },
      }),
    },
    ...nodes,
  )
  const answer = () => {
    waiting.shift()?.()
    return it.runtime.settle()
  }
  return { it, answer, waiting }
}

test('while an extender thinks nothing else is decided; what has changed then is looked at anew', async () => {
  const questions: string[][] = []
  const { it, answer } = await thinking(
    ({ NodeNames = [] }) => {
      questions.push([...NodeNames].sort())
      return { NodeNames: NodeNames.includes('large') ? ['large'] : NodeNames }
    },
    {},
    node('small', { allocatable: { cpu: '2' } }),
    node('large', { allocatable: { cpu: '9' } }),
  )
  await it.add(ours('a', {}, full), ours('b', {}, full))
  it.put('nodes', node('large', { spec: { unschedulable: true } }))
  await it.runtime.settle()
  await answer()
  assert.deepEqual([it.nodeOf('a'), it.nodeOf('b')], [undefined, undefined])
  await answer()
  assert.deepEqual([it.nodeOf('a'), it.nodeOf('b')], ['small', undefined])
  assert.deepEqual(questions, [['large', 'small'], ['small']], 'b fits nowhere, and no extender is asked')
})

test('what happened while an extender thought helps a pod that was refused', async () => {
  const { it, answer, waiting } = await thinking(() => ({ NodeNames: [] }), {}, node('n'))
  await it.add(ours('a'))
  it.put('nodes', node('m'))
  await it.runtime.settle()
  await answer()
  assert.equal(waiting.length, 1, 'it is asked again at once')
})

test('no pod makes room for one that went, or was replaced, while an extender thought of it', async () => {
  const victims = { NodeNameToMetaVictims: { n: { Pods: [{ UID: 'low' }] } } }
  const { it, answer, waiting } = await thinking(() => victims, { filterVerb: '', preemptVerb: 'preempt' }, node('n'))
  await it.add(ours('low', { priority: 1 }, full), ours('high', { priority: 9 }, full))
  it.of('pods').remove('default/high')
  await it.add({
    ...ours('high', { priority: 1 }, full),
    metadata: { name: 'high', namespace: 'default', uid: 'second' },
  })
  await answer()
  assert.equal(waiting.length, 0, 'the second one may preempt nothing')
  assert.ok(it.of('pods').get('default/low'), 'it was not driven out')
  it.of('pods').remove('default/low')
  await it.runtime.settle()
  assert.equal(it.nodeOf('high'), 'n', 'no room is kept for the first one')
})

test('a pod that took the name of one while an extender thought of that has its turn, and one that goes gets no node', async () => {
  const { it, answer } = await thinking(() => ({ NodeNames: ['n'] }), {}, node('n'))
  const second = { ...ours('a'), metadata: { name: 'a', namespace: 'default', uid: 'second' } }
  await it.add(ours('a'))
  it.of('pods').remove('default/a')
  await it.add(second)
  await answer()
  await answer()
  assert.equal(it.nodeOf('a'), 'n')
  await it.add(ours('b'))
  await it.change('b', (pod) => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }))
  await answer()
  assert.equal(it.nodeOf('b'), undefined)
})

test('a node that went while an extender thought counts no more among those that were refused', async () => {
  const { it, answer } = await thinking(
    ({ NodeNames = [] }) => ({ FailedNodes: Object.fromEntries(NodeNames.map((name) => [name, 'no'])) }),
    {},
    ...['n', 'm', 'small'].map((name) => node(name, { allocatable: { cpu: name === 'small' ? '1' : '2' } })),
  )
  await it.add(ours('a', { preemptionPolicy: 'Never' }, full))
  it.of('nodes').remove('/m')
  it.of('nodes').remove('/small')
  await it.runtime.settle()
  await answer()
  assert.match(it.events().join(), /^FailedScheduling: 0\/1 nodes are available: 1 no\. preemption/)
})
