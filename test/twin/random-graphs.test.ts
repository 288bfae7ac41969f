/**
 * A hundred random graphs are planned from a kubeconfig and then really deleted: what goes, what stays and the order of what led to
 * what are as planned.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Journal, KeptRecord } from '../../src/api/journal.ts'
import { deleteStage } from '../../src/inspect/plan/delete-deed.ts'
import { type Plan, planIn, readModel } from '../../src/inspect/plan/plan.ts'
import { type Graph, isOfGraph, makeGraph, prepareGraph } from './random-graphs.ts'
import { DEFINITIONS, definition, type Stage, startStage } from './stage.ts'

const BATCHES = 5
const GRAPHS = 20
/** A controller may look a second sooner or later: where its seconds begin is chance. */
const LOOSE_MS = 1500

for (let batch = 0; batch < BATCHES; batch++)
  test(`graphs ${batch * GRAPHS} to ${(batch + 1) * GRAPHS - 1}`, async () => {
    const stage = await startStage(2)
    try {
      const { client } = stage.cluster
      const seeds = Array.from({ length: GRAPHS }, (_, at) => batch * GRAPHS + at)
      await stage.make(DEFINITIONS, definition())
      for (const seed of seeds) await prepareGraph(client, seed, `g${seed}`)
      await stage.cluster.clock.advance('1s')
      const graphs: Graph[] = []
      for (const seed of seeds) graphs.push(await makeGraph(client, seed, `g${seed}`, 'skiff-1'))
      await stage.cluster.clock.advance('5m')

      const model = await readModel(stage.source)
      const known = new Set(model.read.resources.flatMap(({ items }) => items.map(({ metadata }) => metadata.uid)))
      // All at once: they are in namespaces of their own, and nothing of one reaches another.
      const stages = graphs.map(({ namespace, request }) => deleteStage(model.read, namespace, request))
      const run: (typeof stages)[number]['run'] = async (doing) => {
        for (const one of stages) await one.run(doing)
      }
      const plan = await planIn(stage.source, model, { what: 'all', stages: [{ what: 'all', run }] }, { orders: 0 })
      const after = await revisionOf(stage)
      const began = stage.cluster.clock.now.getTime()
      await run({
        client: stage.cluster.client,
        clock: stage.cluster.clock,
        kinds: model.read.kinds,
        named() {},
        changed() {},
        refused() {},
        asks() {},
        inAnyOrder: (requests) => requests,
        between: async () => {},
        progress: async () => false,
      })
      await stage.cluster.clock.advance('10m')
      const { records } = await journal(stage, after)
      for (const { namespace } of graphs) compare(namespace, plan, records, known, began)
    } finally {
      await stage.stop()
    }
  })

async function journal(stage: Stage, after: number): Promise<Journal> {
  return JSON.parse((await stage.cluster.client.raw('GET', `/skiff.dev/journal?after=${after}`)).body)
}
const revisionOf = async (stage: Stage) => (await journal(stage, 0)).revision

function compare(
  graph: string,
  { goes, stays }: Plan,
  records: readonly KeptRecord[],
  known: ReadonlySet<string | undefined>,
  began: number,
) {
  const isOf = (object: Parameters<typeof isOfGraph>[0]) => isOfGraph(object, graph)
  const name = ({ resource, name }: { resource: string; name: string }) => `${resource}/${name}`
  const own = records.filter((record) => isOf(record) && known.has(record.uid))
  const removed = own.filter(({ after }) => after === undefined)
  // Whatever another order of controllers would do, the source does what the twin did.
  const planned = goes.filter(({ object, certainty }) => isOf(object) && certainty !== 'if others act')
  assert.deepEqual(planned.map(({ object }) => name(object)).sort(), removed.map(name).sort(), `${graph}: what goes`)

  const last = new Map(own.map((record) => [record.uid, record]))
  const left = [...last.values()].filter(({ after }) => after?.deletionTimestamp !== undefined)
  const staying = stays.filter(({ object }) => isOf(object))
  assert.deepEqual(staying.map(({ object }) => name(object)).sort(), left.map(name).sort(), `${graph}: what stays`)

  const place = new Map(removed.map(({ uid }, at) => [uid, at]))
  const order = new Map(planned.map(({ object, order }) => [object.uid, order]))
  for (const { object, removed: span } of planned.filter(({ object }) => object.kind === 'Pod')) {
    const took = (last.get(object.uid)?.time ?? 0) - began
    const text = `${graph}: ${name(object)} took ${took} ms, planned ${JSON.stringify(span)}`
    assert.ok(took >= span.least - LOOSE_MS && took <= span.most + LOOSE_MS, text)
  }
  for (const { object, cause = '', order: own } of planned) {
    const above = order.get(cause)
    if (above === undefined) continue
    const [real, realAbove] = [place.get(object.uid) ?? 0, place.get(cause) ?? 0]
    assert.equal(own < above, real < realAbove, `${graph}: the order of ${name(object)} and what led to its end`)
  }
}
