import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pod } from '../pod.ts'
import { groupsOfPeriods, podsByGroup, shutdownGroupsOf } from './shutdown-groups.ts'
import { shutdownRecord } from './shutdown-record.ts'

const pod = (name: string, priority?: number): Pod =>
  ({ metadata: { name }, spec: { containers: [], ...(priority === undefined ? {} : { priority }) } }) as unknown as Pod

test('a pod is of the highest priority that it reaches, or of the lowest there is', () => {
  const groups = [
    { priority: 1000, seconds: 10 },
    { priority: -3, seconds: 20 },
    { priority: 2_000_000_000, seconds: 5 },
  ]
  const pods = [pod('low', -10), pod('none'), pod('below', 999), pod('at', 1000), pod('node', 2_000_001_000)]
  assert.deepEqual(
    podsByGroup(groups, pods).map(([{ seconds }, own]) => [seconds, own.map(({ metadata }) => metadata.name)]),
    [
      [20, ['low', 'none', 'below']],
      [10, ['at']],
      [5, ['node']],
    ],
  )
})

test('critical pods have the last part of the whole time, and no time is none', () => {
  assert.deepEqual(groupsOfPeriods(20, 5), [
    { priority: 0, seconds: 15 },
    { priority: 2_000_000_000, seconds: 5 },
  ])
  assert.deepEqual(groupsOfPeriods(0, 0), [])
})

test('what a kubelet does not take of the settings is refused', () => {
  const own = [{ priority: 0, seconds: 60 }]
  assert.deepEqual(shutdownGroupsOf({}), [])
  assert.deepEqual(shutdownGroupsOf({ shutdownGracePeriodByPodPriority: own }), own)
  assert.deepEqual(shutdownGroupsOf({ shutdownGracePeriodMs: 20_000, shutdownGracePeriodCriticalPodsMs: 5000 }), [
    { priority: 0, seconds: 15 },
    { priority: 2_000_000_000, seconds: 5 },
  ])
  for (const [flags, why] of [
    [{ shutdownGracePeriodMs: 5000, shutdownGracePeriodCriticalPodsMs: 6000 }, /CriticalPods is longer than/],
    [{ shutdownGracePeriodCriticalPodsMs: 6000 }, /CriticalPods is longer than/],
    [{ shutdownGracePeriodMs: 999 }, /either zero or at least one second/],
    [{ shutdownGracePeriodMs: 5000, shutdownGracePeriodByPodPriority: own }, /in place of shutdownGracePeriod/],
  ] as const)
    assert.throws(() => shutdownGroupsOf(flags), why)
})

test('the times of a shutdown are kept as a kubelet keeps them', () => {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-shutdown-'))
  const file = join(directory, 'graceful_node_shutdown_state')
  const record = shutdownRecord(file)
  assert.deepEqual(record.read(), {})
  const start = Date.parse('2026-11-26T17:23:02Z')
  record.write({ start })
  assert.equal(
    readFileSync(file, 'utf8'),
    '{"startTime":"2026-11-26T17:23:02.000000Z","endTime":"0001-01-01T00:00:00Z"}',
  )
  assert.deepEqual(record.read(), { start })
  writeFileSync(file, '{"startTime":"2026-11-26T17:23:02.935372109Z","endTime":"2026-11-26T17:23:18.880890795Z"}')
  assert.deepEqual(record.read(), { start: start + 935, end: start + 16_880 })
  rmSync(directory, { recursive: true })
})
