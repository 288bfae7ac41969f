import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { measuredNodes } from './measured-nodes.ts'

interface Told {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly rate?: number
}

function summary({ seconds, cpuSeconds, rate }: Told, containers: readonly string[] = ['c']): string {
  const time = new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()
  const cpu = { time, usageCoreNanoSeconds: cpuSeconds * 1e9, ...(rate === undefined ? {} : { usageNanoCores: rate }) }
  const stats = { cpu, memory: { workingSetBytes: 1024 } }
  return JSON.stringify({
    node: stats,
    pods: [{ podRef: { uid: 'u' }, containers: containers.map((name) => ({ name, ...stats })) }],
  })
}

test('a rate takes two answers, and the second comes by itself', async () => {
  const runtime = simulatedRuntime(1)
  const answers = [summary({ seconds: 0, cpuSeconds: 10 }), summary({ seconds: 15, cpuSeconds: 13 })]
  let asked = 0
  const stop = new AbortController()
  const nodes = measuredNodes(runtime, async () => answers[Math.min(asked++, 1)] ?? '', stop.signal)
  assert.equal(await runtime.complete(nodes.node('n')), undefined)
  assert.equal(await runtime.complete(nodes.pod('n', 'u')), undefined)
  assert.equal(asked, 1, 'one answer is for all who ask now')
  await runtime.advance(16_000)
  const { used, windowMs } = (await runtime.complete(nodes.pod('n', 'u'))) ?? {}
  assert.deepEqual([used?.get('c')?.cpuNanoCores, windowMs], [200_000_000, 15_000])
  assert.equal((await runtime.complete(nodes.node('n')))?.used.memoryBytes, 1024)
  await runtime.advance(400_000)
  const before = asked
  await runtime.advance(400_000)
  assert.equal(asked, before, 'a node that is not asked about is left alone')
  stop.abort()
})

test('a rate that the kubelet tells is taken; a counter that fell back, half an answer and none are no metrics', async () => {
  const ask = async (...answers: readonly string[]) => {
    const runtime = simulatedRuntime(1)
    const stop = new AbortController()
    let asked = 0
    const nodes = measuredNodes(runtime, async () => answers[Math.min(asked++, answers.length - 1)] ?? '', stop.signal)
    await runtime.complete(nodes.pod('n', 'u'))
    await runtime.advance(16_000)
    const found = await runtime.complete(nodes.pod('n', 'u'))
    stop.abort()
    return found?.used.get('c')?.cpuNanoCores
  }
  assert.equal(await ask(summary({ seconds: 0, cpuSeconds: 1, rate: 7 })), 7)
  assert.equal(await ask(summary({ seconds: 0, cpuSeconds: 9 }), summary({ seconds: 15, cpuSeconds: 1 })), undefined)
  assert.equal(await ask(summary({ seconds: 0, cpuSeconds: 9 }, [])), undefined)
  assert.equal(await ask('{"pods": [{"podRef": {"uid": "u"}, "containers": [{"name": "c"}]}]}'), undefined)
  assert.equal(await ask('no JSON'), undefined)
})
