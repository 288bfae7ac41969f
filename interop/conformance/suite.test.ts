import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { groupOf, summary } from './results.ts'
import { isSerial, resultsIn, runBatch } from './suite.ts'

const spec = (name: string, State: string, message?: string) => ({
  ContainerHierarchyTexts: ['[sig-node] Pods'],
  LeafNodeText: name,
  LeafNodeType: 'It',
  State,
  RunTime: 2_140_000_000,
  ...(message === undefined ? {} : { Failure: { Message: message } }),
})

test('a report tells what passed, what failed and why, and what a test left out by itself', () => {
  const report = [
    {
      SpecReports: [
        spec('runs', 'passed'),
        spec('breaks', 'failed', 'first\n\nsecond'),
        spec('hangs', 'timedout'),
        spec('was not asked for', 'skipped'),
        spec('needs two nodes', 'skipped', 'Requires at least 2 nodes'),
      ],
    },
  ]
  assert.deepEqual(resultsIn(report), [
    { name: '[sig-node] Pods runs', state: 'passed', seconds: 2.1 },
    { name: '[sig-node] Pods breaks', state: 'failed', seconds: 2.1, reason: 'first\nsecond' },
    { name: '[sig-node] Pods hangs', state: 'failed', seconds: 2.1, reason: 'timedout' },
    { name: '[sig-node] Pods needs two nodes', state: 'skipped', seconds: 2.1, reason: 'Requires at least 2 nodes' },
  ])
})

/** A batch whose program ends at once and has written this report. */
async function batchThatSays(reports: readonly object[] | undefined, names: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-batch-'))
  let given: readonly string[] = []
  const start = (args: readonly string[]) => {
    given = args
    if (reports !== undefined) writeFileSync(join(directory, 'b.json'), JSON.stringify(reports))
    const child = new EventEmitter() as ChildProcess
    setImmediate(() => child.emit('close', 1))
    return child
  }
  const results = await runBatch({ names, kubeconfig: 'k', kubectl: 'c', directory, id: 'b', start })
  rmSync(directory, { recursive: true })
  return { results, given }
}

test('a test of which the program does not tell has failed, with the reason of the whole run where there is one', async () => {
  const names = ['[sig-node] Pods runs', '[sig-node] Pods (all) [Slow]']
  const killed = await batchThatSays(undefined, names)
  assert.deepEqual(
    killed.results.map(({ state, reason }) => [state, reason]),
    names.map(() => ['failed', 'e2e.test ended with 1 before it told of this test (b.log)']),
  )
  const suite = { ...spec('', 'failed', 'no node is ready'), LeafNodeType: 'SynchronizedBeforeSuite' }
  const partly = await batchThatSays([{ SpecReports: [suite, spec('runs', 'passed')] }], names)
  assert.deepEqual(
    partly.results.map(({ state, reason }) => [state, reason]),
    [
      ['passed', undefined],
      ['failed', 'no node is ready'],
    ],
  )
})

test('names are asked for as they are written', async () => {
  const { given } = await batchThatSays([], ['[sig-node] Pods (all) [Slow]', 'a.b'])
  const focus = given.find((word) => word.startsWith('--ginkgo.focus='))
  const asked = new RegExp(focus!.slice('--ginkgo.focus='.length))
  assert.ok(asked.test('Kubernetes e2e suite [sig-node] Pods (all) [Slow]'))
  assert.ok(!asked.test('Kubernetes e2e suite [sig-node] Pods (all) [Slow] twice'))
  assert.ok(!asked.test('Kubernetes e2e suite axb'))
})

test('the summary counts by group and gives the reason of each failure', () => {
  assert.deepEqual([groupOf('[sig-apps] Job'), isSerial('[sig-apps] Daemon set [Serial] runs')], ['sig-apps', true])
  const lines = summary([
    { name: '[sig-node] a', state: 'passed', seconds: 1.2 },
    { name: '[sig-node] b', state: 'failed', seconds: 2, reason: 'one\ntwo' },
  ]).split('\n')
  assert.match(lines[1]!, /^sig-node +1 +1 +0 +3$/)
  assert.deepEqual(lines.slice(3), ['failed: [sig-node] b', '    one', '    two'])
})
