import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { kubeconfigText } from '../client/kubeconfig-text.ts'
import { CONTROLLER_NAMES } from '../controllers/manager.ts'
import { USUAL_OPTIONS } from '../controllers/podautoscaler/settings.ts'
import { accessOf } from './access.ts'
import { autoscalerOptionsOf } from './autoscaler-options.ts'
import { chosenControllers, syncsOf } from './chosen-controllers.ts'
import { type Flag, parseFlags, readFlags } from './flags.ts'
import { KUBE_CONTROLLER_MANAGER_FLAGS } from './kube-controller-manager-flags.ts'
import { KUBE_SCHEDULER_FLAGS } from './kube-scheduler-flags.ts'
import { KUBELET_FLAGS } from './kubelet-configuration/settings.ts'
import { electionOfFlags } from './leading.ts'
import { schedulerSettings } from './scheduler-configuration/scheduler-settings.ts'

const read = (table: ReadonlyMap<string, Flag>, ...args: string[]) => readFlags(table, parseFlags('x', table, args))
const folder = mkdtempSync(join(tmpdir(), 'skiff-flags-'))
after(() => rmSync(folder, { recursive: true }))
const why = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

test("kubeadm's command lines are taken, but what skiff lacks is refused with the flag's name", () => {
  const pki = '/etc/kubernetes/pki'
  const manager = [
    ...['--authentication-kubeconfig=/etc/kubernetes/controller-manager.conf', '--bind-address=127.0.0.1'],
    ...['--authorization-kubeconfig=/etc/kubernetes/controller-manager.conf', `--client-ca-file=${pki}/ca.crt`],
    ...['--cluster-name=kubernetes', `--cluster-signing-cert-file=${pki}/ca.crt`],
    ...[`--cluster-signing-key-file=${pki}/ca.key`, '--controllers=*,bootstrapsigner,tokencleaner'],
    ...['--kubeconfig=/etc/kubernetes/controller-manager.conf', '--leader-elect=true'],
    ...[`--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`, `--root-ca-file=${pki}/ca.crt`],
    ...[`--service-account-private-key-file=${pki}/sa.key`, '--use-service-account-credentials=true'],
  ]
  const flags = read(KUBE_CONTROLLER_MANAGER_FLAGS, ...manager)
  assert.equal(flags.bool('use-service-account-credentials'), true)
  assert.equal(flags.ms('node-monitor-grace-period'), 50_000)
  assert.deepEqual(chosenControllers(flags.list('controllers'), true), CONTROLLER_NAMES)
  assert.equal(
    why(() => chosenControllers(['*', 'selinux-warning-controller'], true)),
    '--controllers=selinux-warning-controller: skiff does not have this controller',
  )
  assert.equal(
    why(() => chosenControllers(['foo', '-bar'], true)),
    '["foo" is not in the list of known controllers, "bar" is not in the list of known controllers]',
  )
  assert.match(
    why(() => read(KUBE_CONTROLLER_MANAGER_FLAGS, '--cidr-allocator-type=CloudAllocator')),
    /^--cidr-allocator-type=CloudAllocator: skiff does not do what this asks for/,
  )
  assert.equal(
    why(() =>
      read(
        KUBE_CONTROLLER_MANAGER_FLAGS,
        '--node-eviction-rate=0.10',
        '--node-monitor-period=5000ms',
        '--resource-quota-sync-period=1h',
      ),
    ),
    '--resource-quota-sync-period=1h: skiff does not do what this asks for; it is as with 5m0s',
  )
  assert.equal(
    why(() => read(KUBE_SCHEDULER_FLAGS, '--leader-elect-retry-period=2')),
    'invalid argument "2" for "--leader-elect-retry-period" flag: time: missing unit in duration "2"',
  )
  assert.match(
    why(() => read(KUBELET_FLAGS, '--cloud-provider=external')),
    /^--cloud-provider=external: skiff does not do what this asks for/,
  )
})

test('--controllers takes names and their older forms, with and without a star', () => {
  const offByDefault = ['bootstrap-signer-controller', 'token-cleaner-controller']
  const usual = CONTROLLER_NAMES.filter((name) => !offByDefault.includes(name))
  assert.deepEqual(chosenControllers(undefined, true), usual)
  assert.deepEqual(chosenControllers(['deployment', 'namespace-controller'], true), [
    'namespace-controller',
    'deployment-controller',
  ])
  const without = chosenControllers(['*', '-garbagecollector', '-selinux-warning-controller'], true)
  assert.deepEqual(
    without,
    usual.filter((name) => name !== 'garbage-collector-controller'),
  )
  assert.deepEqual(chosenControllers([], false), without)
  assert.equal(
    why(() => chosenControllers(['foo'], true)),
    '"foo" is not in the list of known controllers',
  )
})

test('--concurrent-*-syncs are for the controllers that are there, and with none they do nothing', () => {
  const flags = (...args: string[]) => read(KUBE_CONTROLLER_MANAGER_FLAGS, ...args)
  const syncs = syncsOf(flags('--concurrent-gc-syncs=3'))
  assert.equal(syncs.get('garbage-collector-controller'), 3)
  assert.equal(syncs.get('daemonset-controller'), 2)
  for (const name of syncs.keys()) assert.ok(CONTROLLER_NAMES.includes(name), name)
  assert.equal(syncsOf(flags('--concurrent-gc-syncs=-5')).get('garbage-collector-controller'), 0)
})

test('leader election is by flags, and times that leave no room are refused unless it is off', () => {
  const of = (...args: string[]) => electionOfFlags(read(KUBE_SCHEDULER_FLAGS, ...args), 'kube-scheduler')
  assert.deepEqual(of(), {
    enabled: true,
    namespace: 'kube-system',
    name: 'kube-scheduler',
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2000,
  })
  assert.match(
    why(() => of('--leader-elect-lease-duration=5s')),
    /leaseDuration must be greater than renewDeadline/,
  )
  assert.equal(of('--leader-elect-lease-duration=5s', '--leader-elect=false').enabled, false)
})

test('a KubeSchedulerConfiguration goes before the flags, and what it asks for beyond them is refused by its path', () => {
  const file = join(folder, 'config.yaml')
  const of = (text: string) => {
    writeFileSync(file, `kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\n${text}`)
    return schedulerSettings(read(KUBE_SCHEDULER_FLAGS, '--kubeconfig=flag', '--config', file))
  }
  const settings = of(
    'clientConnection: {kubeconfig: /x, qps: 7}\nleaderElection: {leaderElect: false}\nprofiles: [{schedulerName: mine}]\n',
  )
  assert.equal(settings.kubeconfig, '/x')
  assert.deepEqual(
    settings.profiles.map(({ schedulerName }) => schedulerName),
    ['mine'],
  )
  assert.deepEqual(settings.limits, { qps: 7, burst: 100 })
  assert.equal(settings.election.enabled, false)
  const refused = (text: string) => why(() => of(text)).replace(`--config ${file}: `, '')
  assert.match(refused('percentageOfNodesToScore: 101'), /^percentageOfNodesToScore: /)
  assert.match(refused('nonsense: 1'), /unknown field "nonsense"/)
  assert.match(refused('leaderElection: {renewDeadline: soon}'), /invalid duration "soon"/)
  writeFileSync(file, 'kind: Pod')
  assert.match(
    why(() => schedulerSettings(read(KUBE_SCHEDULER_FLAGS, '--config', file))),
    /Object 'apiVersion' is missing in 'kind: Pod'/,
  )
})

test('--master stands in for the server of a kubeconfig, or for a kubeconfig', () => {
  const runtime = simulatedRuntime(1)
  const file = join(folder, 'config')
  writeFileSync(
    file,
    'clusters: [{name: c, cluster: {server: "https://a:1"}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n',
  )
  const serverOf = (master?: string) => {
    const access = accessOf(runtime, kubeconfigText(file), master)
    access.transport.close()
    return access.server
  }
  assert.equal(serverOf(), 'https://a:1')
  assert.equal(serverOf('https://b:2'), 'https://b:2')
  assert.equal(serverOf('nowhere'), 'http://nowhere')
  assert.equal(
    why(() => serverOf('http://[')),
    'host must be a URL or a host:port pair: "http://["',
  )
  const alone = accessOf(runtime, undefined, 'https://b:2')
  alone.transport.close()
  assert.equal(alone.server, 'https://b:2')
})

test("the autoscaler's flags are kube-controller-manager's, and so are its defaults", () => {
  assert.deepEqual(autoscalerOptionsOf(read(KUBE_CONTROLLER_MANAGER_FLAGS)), USUAL_OPTIONS)
  const own = ['--horizontal-pod-autoscaler-tolerance=0', '--horizontal-pod-autoscaler-downscale-stabilization=30s']
  assert.deepEqual(autoscalerOptionsOf(read(KUBE_CONTROLLER_MANAGER_FLAGS, ...own)), {
    ...USUAL_OPTIONS,
    tolerance: 0,
    downscaleStabilizationMs: 30_000,
  })
  assert.equal(
    why(() => autoscalerOptionsOf(read(KUBE_CONTROLLER_MANAGER_FLAGS, '--horizontal-pod-autoscaler-sync-period=0s'))),
    '--horizontal-pod-autoscaler-sync-period must be greater than 0',
  )
})
