/** What an extender is sent, and which of its answers count. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/generated/types.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createCluster, type NodeInfo } from '../node-info.ts'
import { podInfoOf } from '../pod-info.ts'
import { node, pod } from '../test-objects.ts'
import { type ExtenderSettings, extendersOf, filteredBy, prioritizedBy } from './extender.ts'

const cluster = createCluster()
cluster.setNode({ ...node('n'), metadata: { name: 'n', managedFields: [{ manager: 'm' }] } })
const nodes = [cluster.nodes.get('n') as NodeInfo]
const managed = pod('p')
const asking = podInfoOf({ ...managed, metadata: { ...managed.metadata, managedFields: [{ manager: 'm' }] } } as Pod)
const SETTINGS: ExtenderSettings = {
  urlPrefix: 'http://extender.example/a/',
  filterVerb: 'filter',
  prioritizeVerb: 'prioritize',
  preemptVerb: '',
  bindVerb: '',
  weight: 2,
  timeoutMs: 1000,
  nodeCacheCapable: true,
  managedResources: new Set(),
  ignorable: false,
  tls: { insecure: false },
}

/** Extenders that answer so in turn, and what was sent to them and logged. */
async function answering(texts: readonly string[], more: Partial<ExtenderSettings> = {}) {
  const sent: string[] = []
  const logged: unknown[] = []
  const runtime = simulatedRuntime(1)
  const log = {
    ...runtime.log,
    info: (_: number, message: string, fields?: object) => void logged.push({ message, ...fields }),
  }
  const left = [...texts]
  const extenders = await extendersOf(
    { ...runtime, log },
    texts.map(() => ({ ...SETTINGS, ...more })),
    (settings) => ({
      settings,
      post: async (url, body) => {
        sent.push(`${url} ${body}`)
        return { status: 200, text: left.shift() ?? '' }
      },
    }),
  )
  return { extenders, sent, logged }
}
const filtered = async (text: string) => {
  const { extenders } = await answering([text])
  const { fitting } = await filteredBy(extenders, asking, nodes)
  return fitting.map(({ name }) => name)
}

test('a question has the pod without managedFields and kind, and the nodes by name, or whole', async () => {
  const url = 'http://extender.example/a/filter'
  const aPod =
    '{"metadata":{"name":"p","namespace":"default","uid":"p","labels":{}},"spec":{"containers":[{"name":"c"}]}}'
  const byName = await answering(['{"NodeNames":["n"]}'])
  await filteredBy(byName.extenders, asking, nodes)
  assert.deepEqual(byName.sent, [`${url} {"Pod":${aPod},"Nodes":null,"NodeNames":["n"]}`])
  const whole = await answering(['{"Nodes":{"items":[{"metadata":{"name":"n"}}]}}'], { nodeCacheCapable: false })
  await filteredBy(whole.extenders, asking, nodes)
  const aNode =
    '{"metadata":{"name":"n","managedFields":[{"manager":"m"}]},"spec":{},"status":{"allocatable":{"cpu":"2","memory":"1Gi","pods":"10"}}}'
  assert.deepEqual(whole.sent, [`${url} {"Pod":${aPod},"Nodes":{"metadata":{},"items":[${aNode}]},"NodeNames":null}`])
})

test('an answer is read as Go reads it, and one of other types is none', async () => {
  const field = 'Go struct field'
  for (const [text, why] of [
    ['{"NodeNames":"n"}', `cannot unmarshal string into ${field} ExtenderFilterResult.NodeNames of type []string`],
    ['{"nodenames":[5]}', `cannot unmarshal number into ${field} ExtenderFilterResult.NodeNames of type string`],
    ['[]', 'cannot unmarshal array into Go value of type v1.ExtenderFilterResult'],
    ['{"Error":5}', `cannot unmarshal number into ${field} ExtenderFilterResult.Error of type string`],
    [
      '{"FailedNodes":"x"}',
      `cannot unmarshal string into ${field} ExtenderFilterResult.FailedNodes of type map[string]string`,
    ],
    [
      '{"FailedNodes":{"n":1}}',
      `cannot unmarshal number into ${field} ExtenderFilterResult.FailedNodes of type string`,
    ],
    ['{"Nodes":{"items":{}}}', `cannot unmarshal object into ${field} NodeList.Nodes.items of type []v1.Node`],
  ] as const)
    await assert.rejects(filtered(text), { message: `json: ${why}` }, text)
  assert.deepEqual(await filtered('{"NodeNames":["m"],"nodeNames":["n"],"FailedNodes":{"n":null},"Error":null}'), ['n'])
  assert.deepEqual(await filtered('null'), [])
})

test('of scores that are no whole numbers nothing counts that their extender said', async () => {
  for (const wrong of ['"7"', '1.5', '1e3', '99999999999999999999', 'true']) {
    const texts = [`[{"Host":"n","Score":9},{"Host":"n","Score":${wrong}}]`, '[{"host":"n","score":3},null]']
    const { extenders, logged } = await answering(texts)
    const scores = await prioritizedBy(extenders, asking, nodes)
    assert.equal(scores.get('n'), 3 * 2 * 10, wrong)
    assert.equal(logged.length, 1)
  }
})

test('an ignorable extender that fails is passed over, and logged', async () => {
  const { extenders, logged } = await answering(['{"Error":"it broke"}'], { ignorable: true })
  assert.deepEqual((await filteredBy(extenders, asking, nodes)).fitting, nodes)
  const message = 'An extender failed and is passed over'
  assert.deepEqual(logged, [{ message, extender: SETTINGS.urlPrefix, err: 'it broke' }])
})
