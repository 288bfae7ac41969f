import assert from 'node:assert/strict'
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { messageOf } from '../base/errors.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { issue } from '../cluster/certificate.ts'
import { controllerManager, controllerManagerOfFlags } from './controller-manager.ts'
import { asksFor, parseFlags, type ReadFlags, readFlags } from './flags.ts'
import type { ComponentCommand } from './process.ts'
import { scheduler, schedulerOfFlags } from './scheduler.ts'

/**
 * With what kube-scheduler and kube-controller-manager v1.37.1 said to each on 2026-11-27; nothing where they ran. What they refuse once an API
 * server answers is here too. Of the controller manager those alone that the scheduler answers otherwise or does not know.
 */
const ANSWERS: Readonly<Record<string, readonly (readonly [args: string, answer: string])[]>> = JSON.parse(
  readFileSync(new URL('./component-answers.json', import.meta.url), 'utf8'),
)
const SAYS = '(says something of itself)'

/** Where skiff has other words, or refuses what it does not do: by what is in the command line. */
const OTHERWISE = [
  // What skiff does not do.
  /emulated-version=(kube=)?1\.36$/,
  /write-config-to/,
  /cloud-provider=external|external-cloud-volume-plugin=(foo|aws)$/,
  /^--cidr-allocator-type=$/,
  /^--(mirroring-)?endpoint(slice)?s?-updates-batch-period=-1s/,
  /^--(pvclaimbinder|resource-quota)-sync-period=(-1|0)s/,
  /^--(large-cluster-size|unhealthy-zone)-threshold=|^--(secondary-)?node-eviction-rate=(-1|0|2)$/,
  /pv-recycler-pod-template-filepath-(nfs|hostpath)=DIR/,
  /^--cluster-signing-(kube\S+|legacy-unknown)-cert-file=\S+ --cluster-signing-(kube\S+|legacy-unknown)-key-file=DIR\/missing/,
  /selinux-warning-controller/,
  /node-cidr-mask-size=30/,
  // Times that would leave nothing to be done.
  /^--cluster-signing-duration=/,
  /^--horizontal-pod-autoscaler-sync-period=/,
  // Other parsers.
  /broken\.yaml/,
  /info-buffer-size=-$/,
  // OpenSSL has none such.
  /RC4/,
  // Gates of older versions.
  /emulated-version=1\.20 --feature-gates=AllAlpha/,
]

const runtime = simulatedRuntime(1)
const folder = mkdtempDisposableSync(join(tmpdir(), 'skiff-component-answers-'))
after(() => folder.remove())
const DIR = folder.path

const kubeconfig = (cluster: string, user = '', context = 'cluster: a, user: u', current = 'c') =>
  `apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {${cluster}}}]\nusers: [{name: u, user: {${user}}}]\ncontexts: [{name: c, context: {${context}}}]\ncurrent-context: ${current}\n`
const SERVER = 'server: "https://127.0.0.1:1"'
const configuration = (rest: string) =>
  `apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n${rest}\n`
const connected = (rest: string, more = '') =>
  configuration(`clientConnection: {kubeconfig: ${DIR}/kube.conf${more}}\n${rest}`)
const migration = (version: string, rest: string) =>
  `apiVersion: controllermanager.config.k8s.io/${version}\nkind: LeaderMigrationConfiguration\n${rest}\n`
const [ca, serving, admin] = ['ca', 'serving', 'admin'].map((commonName) =>
  issue(runtime, { commonName, usage: 'ca', validDays: 3 }),
)
mkdirSync(join(DIR, 'certs'))
for (const [name, text] of Object.entries({
  'ca.crt': ca?.cert,
  'ca.key': ca?.key,
  'serving.crt': serving?.cert,
  'serving.key': serving?.key,
  'admin.key': admin?.key,
  'empty.pem': '',
  'text.pem': 'hello',
  'list.yaml': '- a\n',
  'broken.yaml': 'a: [b\n  c: {',
  'pod.yaml': 'apiVersion: v1\nkind: Pod\n',
  'kube.conf': kubeconfig(SERVER),
  'noctx.conf': kubeconfig(SERVER, '', 'cluster: a, user: u', 'nope'),
  'nocluster.conf': kubeconfig(SERVER, '', 'cluster: b, user: u'),
  'nouser.conf': kubeconfig(SERVER, '', 'cluster: a, user: v'),
  'noserver.conf': kubeconfig('server: ""'),
  'badca.conf': kubeconfig(`${SERVER}, certificate-authority-data: aGVsbG8=`),
  'missingca.conf': kubeconfig(`${SERVER}, certificate-authority: /nope.pem`),
  'missingcert.conf': kubeconfig(SERVER, 'client-certificate: /nope.crt, client-key: /nope.key'),
  'certonly.conf': kubeconfig(SERVER, 'client-certificate: /nope.crt'),
  'two.conf': kubeconfig(SERVER, 'token: a, username: b, password: c'),
  'badserver.conf': kubeconfig('server: "http://["'),
  'badexec.conf': kubeconfig(SERVER, 'exec: {command: ""}'),
  'betaexec.conf': kubeconfig(SERVER, 'exec: {command: "true", apiVersion: client.authentication.k8s.io/v1beta1}'),
  'v1exec.conf': kubeconfig(SERVER, 'exec: {command: "true", apiVersion: client.authentication.k8s.io/v1}'),
  'alphaexec.conf': kubeconfig(SERVER, 'exec: {command: "true", apiVersion: client.authentication.k8s.io/v1alpha1}'),
  'wrongtype.conf': kubeconfig('server: 5'),
  'unknownfield.conf': kubeconfig(`${SERVER}, foo: 1`),
  'tokenfile.conf': kubeconfig(SERVER, 'tokenFile: /nope'),
  'provider.conf': kubeconfig(SERVER, 'auth-provider: {name: foo}'),
  'badproxy.conf': kubeconfig(`${SERVER}, proxy-url: "foo://x"`),
  'sched.yaml': connected(''),
  'lm.yaml': migration('v1', 'leaderName: x\nresourceLock: leases'),
  'lmbad.yaml': migration('v1', 'controllerLeaders: [{}]'),
  'lmsame.yaml': migration('v1', 'leaderName: kube-controller-manager'),
  'lmok.yaml': migration('v1', 'leaderName: x\ncontrollerLeaders: [{name: node-ipam-controller, component: "*"}]'),
  'schedbad.yaml': connected('parallelism: -1'),
  'schedkube.yaml': configuration('clientConnection: {kubeconfig: /nope}'),
  'schednokube.yaml': configuration(''),
  'schedle.yaml': connected('leaderElection: {leaseDuration: 12s}'),
  'schedlebad.yaml': configuration('leaderElection: {leaseDuration: 1s}'),
  'schedmany.yaml': configuration(
    'parallelism: -1\npercentageOfNodesToScore: 101\nleaderElection: {leaseDuration: 1s, resourceLock: foo}',
  ),
  'schedplugin.yaml': connected('profiles: [{plugins: {score: {enabled: [{name: Nope}]}}}]'),
  'schedunknown.yaml': configuration('foo: 1'),
  'schedburst.yaml': connected('', ', burst: -5'),
}))
  writeFileSync(join(DIR, name), text ?? '')

/** What it says to that line; nothing where it would run. */
function answer(command: ComponentCommand, read: (flags: ReadFlags) => unknown, line: string): string {
  const given = line.split(' ')
  const without = given.map((arg) => arg.replace(/^(!|--)/, '').replace(/=.*/s, ''))
  const usual = Object.entries({ kubeconfig: 'DIR/kube.conf', 'secure-port': '10000' })
    .filter(([name]) => !without.includes(name))
    .map(([name, value]) => `--${name}=${value}`)
  const args = [...usual, ...given.filter((arg) => !arg.startsWith('!'))].map((arg) => arg.replaceAll('DIR', DIR))
  try {
    const values = parseFlags(command.counterpart, command.flags, args, command.judge)
    if (asksFor(values, 'help') || asksFor(values, 'version')) return SAYS
    read(readFlags(command.flags, values))
    return ''
  } catch (error) {
    // What they tell in several lines is told in one here.
    return messageOf(error)
      .replaceAll(DIR, 'DIR')
      .replace(/\s*\n\s*/g, ' ')
  }
}

for (const [name, command, read] of [
  ['kube-scheduler', scheduler, (flags: ReadFlags) => schedulerOfFlags(runtime, flags)],
  ['kube-controller-manager', controllerManager, (flags: ReadFlags) => controllerManagerOfFlags(runtime, flags)],
] as const)
  test(`${name}'s command lines and files: taken or refused alike, in its words and order`, () => {
    const asked = ANSWERS[name] ?? []
    const isOurs = (line: string) => OTHERWISE.some((pattern) => pattern.test(line))
    const told = asked.map(([line, wanted]) => ({ line, wanted, found: answer(command, read, line) }))
    assert.deepEqual(
      told.filter(({ line, wanted, found }) => wanted !== found && !isOurs(line)),
      [],
    )
    assert.ok(told.filter(({ line }) => !isOurs(line)).length > 250)
  })

// kube-controller-manager v1.37.1, which was asked, takes the Lease twice.
test('a Lease that would be that of both elections of a leader migration is refused in one line', () => {
  const answered = (line: string) =>
    answer(controllerManager, (flags) => controllerManagerOfFlags(runtime, flags), `--enable-leader-migration ${line}`)
  const refusal = (name: string) =>
    `--leader-elect-resource-name: the Lease "${name}" is that of the leader migration: each needs one of its own`
  assert.equal(answered('--leader-migration-config=DIR/lmsame.yaml'), refusal('kube-controller-manager'))
  assert.equal(
    answered('--leader-elect-resource-name=cloud-provider-extraction-migration'),
    refusal('cloud-provider-extraction-migration'),
  )
  for (const other of ['--leader-elect-resource-name=own', '--leader-elect=false'])
    assert.equal(answered(`--leader-migration-config=DIR/lmsame.yaml ${other}`), '')
})
