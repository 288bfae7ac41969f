/** What skiff up's flags of kubelets come to. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { type NodeFlags, nodeFlags, nodeSettingsOf } from './node-flags.ts'

function settingsOf(...flags: readonly string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  for (const flag of nodeFlags()) command.addOption(flag)
  return nodeSettingsOf(command.parse(flags, { from: 'user' }).opts<NodeFlags>())
}

test('what pods have to end when the machine goes down', () => {
  assert.deepEqual(settingsOf(), {})
  assert.deepEqual(settingsOf('--shutdown-grace-period', '1m', '--shutdown-grace-period-critical-pods', '10s'), {
    shutdown: { shutdownGracePeriodMs: 60_000, shutdownGracePeriodCriticalPodsMs: 10_000 },
  })
  assert.deepEqual(settingsOf('--shutdown-grace-period-by-pod-priority', '-5=60,100000=20').shutdown, {
    shutdownGracePeriodByPodPriority: [
      { priority: -5, seconds: 60 },
      { priority: 100_000, seconds: 20 },
    ],
  })
})

for (const [flag, why] of [
  ['--shutdown-grace-period-by-pod-priority=0', /it is no list of priorities and seconds/],
  ['--shutdown-grace-period-by-pod-priority=2147483648=1', /it is no list of priorities and seconds/],
  ['--shutdown-grace-period=soon', /it is no duration/],
] as const)
  test(`not ${flag}`, () => {
    assert.throws(() => settingsOf(flag), why)
  })
