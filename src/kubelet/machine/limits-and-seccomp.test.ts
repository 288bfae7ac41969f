/** What a kubelet is configured to ask of the runtime for all pods, as a kubelet v1.37.1 asked containerd for it on 2026-11-26. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Container, Pod } from '../pod.ts'
import { createCgroups, settings } from './cgroups.ts'
import { containerResources, podResources } from './cpu-shares-and-memory-limits.ts'
import { podDirectories } from './pod-directories.ts'
import { containerSecurity, sandboxSecurity } from './security-context.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-limits-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const container = (more: object = {}): Container => ({ name: 'c', image: 'i', ...more }) as Container
const podOf = (containers: readonly Container[], more: object = {}): Pod =>
  ({ metadata: { name: 'p', namespace: 'ns', uid: 'u' }, spec: { containers, ...more } }) as unknown as Pod
const users = { mode: 'NODE', uids: [], gids: [] } as const
const limited = container({ resources: { limits: { cpu: '250m', memory: '64Mi' }, requests: { cpu: '100m' } } })

test('quotas are counted in the configured period, or there are none', () => {
  const pod = podOf([limited])
  const of = (periodUs: number | undefined) => {
    const { cpu_shares, cpu_period, cpu_quota } = containerResources(pod, limited, 8n, { periodUs })
    return { cpu_shares, cpu_period, cpu_quota }
  }
  assert.deepEqual(of(50_000), { cpu_shares: 102, cpu_period: 50_000, cpu_quota: 12_500 })
  assert.deepEqual(of(undefined), { cpu_shares: 102, cpu_period: undefined, cpu_quota: undefined })
  assert.deepEqual(settings('cpu', podResources(pod, { periodUs: 50_000 })), [
    ...[
      ['cpu.shares', '102'] as const,
      ['cpu.cfs_period_us', '50000'] as const,
      ['cpu.cfs_quota_us', '12500'] as const,
    ],
  ])
  const unlimited = podResources(pod, { periodUs: undefined })
  assert.deepEqual(settings('cpu', unlimited), [
    ...[['cpu.shares', '102'] as const, ['cpu.cfs_quota_us', '-1'] as const],
  ])
  assert.deepEqual(
    settings('all', unlimited).find(([file]) => file === 'cpu.max'),
    ['cpu.max', 'max'],
  )
})

test('a pod has no more processes than the kubelet lets it, in both versions of cgroups', () => {
  const pod = podOf([limited])
  const [one, two] = [join(folder, 'one'), join(folder, 'two')]
  const own = join(one, 'pids/skiff-k/burstable/podu')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'pids.max'), '')
  createCgroups('k', 'cgroupfs', one, { periodUs: 100_000, pids: 777 }).make(pod)
  assert.equal(readFileSync(join(own, 'pids.max'), 'utf8'), '777')
  mkdirSync(join(two, 'pids'), { recursive: true })
  createCgroups('k', 'cgroupfs', two).make(pod)
  assert.ok(!existsSync(join(two, 'pids/skiff-k')), 'without a limit that group is the runtime’s')
  assert.deepEqual(settings('all', podResources(pod), 777).at(-1), ['pids.max', '777'])
})

test('with seccompDefault a container without a profile has the runtime’s; its sandbox has that always', () => {
  const seccomp = (own: object, common: object, seccompDefault: boolean) => {
    const one = container({ securityContext: own })
    const pod = podOf([one], { securityContext: common })
    return [
      sandboxSecurity(pod, users).seccomp?.profile_type,
      containerSecurity(pod, one, undefined, users, undefined, seccompDefault).seccomp?.profile_type,
    ]
  }
  const unconfined = { seccompProfile: { type: 'Unconfined' } }
  assert.deepEqual(seccomp({}, {}, false), ['RuntimeDefault', 'Unconfined'])
  assert.deepEqual(seccomp({}, {}, true), ['RuntimeDefault', 'RuntimeDefault'])
  assert.deepEqual(seccomp({}, unconfined, true), ['RuntimeDefault', 'Unconfined'])
  assert.deepEqual(seccomp({ privileged: true }, {}, false), ['RuntimeDefault', 'Unconfined'])
  assert.deepEqual(seccomp({ privileged: true }, {}, true), ['RuntimeDefault', 'RuntimeDefault'])
})

test('logs of pods are where podLogsDir says, and go from there', () => {
  const logs = join(folder, 'logs')
  const directories = podDirectories(join(folder, 'root'), logs)
  const own = directories.logs(podOf([limited]))
  assert.equal(own, join(logs, 'ns_p_u'))
  mkdirSync(own, { recursive: true })
  directories.remove('u')
  assert.ok(!existsSync(own))
})
