import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { judgeRuntimeConfig } from '../cluster/runtime-config.ts'
import { judgeEmulatedVersion, judgeFeatureGates } from '../components/feature-gates.ts'
import { parseFlags } from '../components/flags.ts'
import { KUBE_APISERVER_FLAGS } from '../components/kube-apiserver-flags.ts'
import { judgeCommandLine } from '../components/kube-apiserver-rules.ts'
import { ETCD_FLAGS } from './etcd-flags.ts'
import { executableHelp } from './executables.ts'
import { apiServerFlags } from './options.ts'

const parse = (...args: readonly string[]) => parseFlags('kube-apiserver', KUBE_APISERVER_FLAGS, args)
const why = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  return ''
}
const NEEDED = [
  '--etcd-servers=http://127.0.0.1:1',
  '--service-account-key-file=k',
  '--service-account-signing-key-file=s',
  '--service-account-issuer=https://a.example',
]
const judged = (...args: readonly string[]) =>
  parseFlags('kube-apiserver', KUBE_APISERVER_FLAGS, args, (values) =>
    judgeCommandLine(values, { needsStoreAndKeys: true }),
  )
const options = (...args: readonly string[]) => apiServerFlags(judged(...NEEDED, ...args), undefined)

test('flags come as --a=b, --a b, bare, empty and repeated', () => {
  const values = parse(
    '--allow-privileged',
    '--authorization-mode=Node,RBAC',
    '--authorization-mode=Webhook',
    '--disable-admission-plugins=',
    '--secure-port',
    '1234',
    '--service-account-issuer=https://a,b',
    '--service-account-issuer=c',
    '-v=6',
  )
  assert.deepEqual(
    [...values],
    [
      ['allow-privileged', ['true']],
      ['authorization-mode', ['Node', 'RBAC', 'Webhook']],
      ['disable-admission-plugins', []],
      ['secure-port', ['1234']],
      ['service-account-issuer', ['https://a,b', 'c']],
      ['v', ['6']],
    ],
  )
})

test('what kube-apiserver refuses is refused in its words', () => {
  assert.equal(
    why(() => parse('--nonsense')),
    'unknown flag: --nonsense',
  )
  assert.equal(
    why(() => parse('----x')),
    'bad flag syntax: ----x',
  )
  assert.equal(
    why(() => parse('-x')),
    "unknown shorthand flag: 'x' in -x",
  )
  assert.equal(
    why(() => parse('extra')),
    '"kube-apiserver" does not take any arguments, got ["extra"]',
  )
  assert.equal(
    why(() => parse('--secure-port')),
    'flag needs an argument: --secure-port',
  )
  assert.match(
    why(() => parse('--secure-port=abc')),
    /^invalid argument "abc" for "--secure-port" flag: strconv\.ParseInt/,
  )
  assert.match(
    why(() => parse('--allow-privileged=maybe')),
    /strconv\.ParseBool/,
  )
  assert.match(
    why(() => parse('--bind-address=xx')),
    /failed to parse IP: "xx"/,
  )
  assert.match(
    why(() => options('--secure-port=0')),
    /^--secure-port 0 must be between 1 and 65535/,
  )
  assert.match(
    why(() => judged()),
    /--etcd-servers must be specified/,
  )
})

test('flags that kube-apiserver takes and does not list are taken', () => {
  const hidden = ['default-watch-cache-size', 'apiserver-count', 'kubelet-port', 'kubelet-read-only-port']
  assert.deepEqual([...parse(...hidden.map((name) => `--${name}=1`)).keys()], hidden)
})

test('admission plugins are judged as kube-apiserver judges them', () => {
  const both = (...args: readonly string[]) => why(() => options(...args))
  assert.equal(
    both('--enable-admission-plugins=Foo,LimitRanger', '--disable-admission-plugins=LimitRanger,Foo'),
    '[enable-admission-plugins plugin "Foo" is unknown, disable-admission-plugins plugin "Foo" is unknown, [Foo LimitRanger] in enable-admission-plugins and disable-admission-plugins overlapped]',
  )
  assert.equal(both('--admission-control=Foo'), 'admission-control plugin "Foo" is unknown')
  assert.match(both('--admission-control=LimitRanger', '--disable-admission-plugins=ServiceAccount'), /exclusive/)
  assert.equal(both('--disable-admission-plugins=EventRateLimit', '--enable-admission-plugins=PodResizeValidator'), '')
})

test('the older flag names all the admission plugins that there are to be', () => {
  const { cluster } = options('--admission-control=NamespaceLifecycle,LimitRanger')
  assert.deepEqual(cluster.enableAdmissionPlugins, ['NamespaceLifecycle', 'LimitRanger'])
  assert.ok(cluster.disableAdmissionPlugins?.includes('ValidatingAdmissionWebhook'))
  assert.ok(!cluster.disableAdmissionPlugins?.includes('LimitRanger'))
})

test('what skiff does not do is refused, its default is not', () => {
  assert.match(
    why(() => parse('--audit-log-version=audit.k8s.io/v2')),
    /--audit-log-version=audit.k8s.io\/v2: skiff does not do what this asks for; it is as with audit.k8s.io\/v1/,
  )
  assert.equal(
    why(() => parse('--audit-log-format=json')),
    '',
  )
  assert.match(
    why(() => parse('--service-account-lookup=false')),
    /skiff does not do what this asks for/,
  )
  assert.equal(
    why(() => parse('--enable-garbage-collector=true')),
    '',
  )
  assert.match(
    why(() => parse('--service-account-signing-endpoint=f')),
    /leave it out/,
  )
  assert.equal(
    why(() => parse('--watch-cache=false', '--delete-collection-workers=10')),
    '',
  )
})

test('a cluster is asked for as the flags say', () => {
  const { cluster, etcdServers, certDir } = options(
    '--bind-address=127.0.0.1',
    '--secure-port=1234',
    '--cert-dir=/nowhere',
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--max-requests-inflight=500',
    '--client-ca-file=',
  )
  assert.deepEqual(etcdServers, ['http://127.0.0.1:1'])
  assert.equal(certDir, '/nowhere')
  assert.deepEqual(cluster, {
    host: '127.0.0.1',
    port: 1234,
    components: ['apiserver'],
    storage: 'memory',
    allowPrivileged: false,
    enableAdmissionPlugins: [],
    disableAdmissionPlugins: ['ServiceAccount', 'NodeRestriction'],
    security: {
      authorizationMode: ['RBAC'],
      maxRequestsInflight: 500,
      serviceAccountIssuer: ['https://a.example'],
      serviceAccountKeyFile: ['k'],
      serviceAccountSigningKeyFile: 's',
    },
    logLevel: 0,
  })
})

test('without a mode of authorization everything is allowed, as kube-apiserver has it', () => {
  const modes = (...args: readonly string[]) => options(...args).cluster.security?.authorizationMode
  assert.deepEqual(modes(), ['AlwaysAllow'])
  assert.deepEqual(modes('--authorization-mode='), ['AlwaysAllow'])
  assert.deepEqual(modes('--authorization-mode=', '--authorization-mode=RBAC'), ['RBAC'])
  assert.equal(modes('--authorization-config=f'), undefined)
  const { cluster } = apiServerFlags(parse(...NEEDED), 'controllers')
  assert.deepEqual(cluster.security?.authorizationMode, ['AlwaysAllow'])
})

test('with the controllers simulated kubelets may do their work', () => {
  const { cluster } = apiServerFlags(parse(...NEEDED, '--authorization-mode=RBAC'), 'controllers')
  assert.deepEqual(cluster.components, ['apiserver', 'controllers', 'scheduler', 'kubelet', 'storage'])
  assert.deepEqual(cluster.security?.authorizationMode, ['Node', 'RBAC'])
  assert.match(
    why(() => apiServerFlags(parse(...NEEDED), 'scheduler')),
    /SKIFF_COMPONENTS=scheduler/,
  )
})

test('feature gates are judged as kube-apiserver judges them', () => {
  const gates = (...settings: readonly string[]) => judgeFeatureGates(settings)
  assert.deepEqual(gates('kube:DynamicResourceAllocation=true', 'kube:WatchList=true'), [])
  assert.deepEqual(gates('GenericWorkload=true'), [
    'feature gate GenericWorkload=true: skiff behaves as with GenericWorkload=false, its default',
  ])
  assert.equal(
    why(() => gates('Nope=true')),
    'unrecognized feature gate: Nope',
  )
  assert.match(
    why(() => gates('WatchList=x')),
    /^invalid value of WatchList=x, err: strconv\.ParseBool/,
  )
  assert.equal(
    why(() => gates('DynamicResourceAllocation=false')),
    'cannot set feature gate DynamicResourceAllocation to false, feature is locked to true',
  )
  assert.equal(
    why(() => gates('WorkloadWithJob=true')),
    'WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]',
  )
})

test('versions that are not here are warned of, and what an API server needs is not switched off', () => {
  const judge = (settings: readonly string[], isFair = true) =>
    judgeRuntimeConfig(
      settings,
      {
        served: new Map([
          ['v1', ['pods']],
          ['apps/v1', ['deployments']],
        ]),
        known: new Set(['apps/v1beta1']),
        optional: new Map([['apps/v1beta2', ['deployments']]]),
      },
      isFair,
    )
  assert.deepEqual(judge(['apps/v1=true', 'api/beta=false', 'apps/v1beta2', 'apps/v1beta2/deployments=true']), [])
  assert.equal(judge(['api/all=true']).length, 1)
  assert.deepEqual(judge(['apps/v1beta1=true', 'apps/v1beta1/deployments']), [
    '--runtime-config=apps/v1beta1=true: skiff does not serve apps/v1beta1',
    '--runtime-config=apps/v1beta1/deployments=true: skiff does not serve apps/v1beta1',
  ])
  assert.deepEqual(judge(['apps/v1=false']), [])
  assert.deepEqual(judge(['apps/v1/deployments=false']), [])
  assert.deepEqual(judge(['api/all=false', 'api/ga=true'], false), [])
  const NOT_FAIR = '--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true'
  const refused: readonly (readonly [settings: readonly string[], isFair: boolean, words: string])[] = [
    [['api/all=false'], true, `[${NOT_FAIR}, invalid runtime-config with only api/all=false]`],
    [['api/all=false', 'v1=true'], true, NOT_FAIR],
    [['api/ga=false', 'v1=true'], false, 'API group/version apiregistration.k8s.io/v1 must be enabled'],
    [['v1/pods=false'], true, '--runtime-config: an API server does not become ready without pods of v1'],
    [['foo/v1=true'], true, 'unknown api groups foo/v1'],
    [['api/foo=true'], true, 'unknown api groups api/foo'],
    [['v2=false'], true, 'runtime-config invalid key v2'],
    [['apps/v1/deployments/status=false'], true, 'runtime-config invalid key apps/v1/deployments/status'],
    [['api/all=x'], true, 'invalid value api/all=x'],
    [['apps/v3=true'], true, 'group version apps/v3 that has not been registered'],
  ]
  for (const [settings, isFair, words] of refused)
    assert.equal(
      why(() => judge(settings, isFair)),
      words,
    )
})

test('batches of the audit log that cannot be are refused', () => {
  const asked = (...flags: readonly string[]) =>
    why(() => options('--audit-log-path=-', ...flags.map((flag) => `--audit-log-${flag}`)))
  const words = (what: string) => `invalid audit batch log ${what}, must be a positive number`
  assert.equal(asked('mode=batch', 'batch-max-size=0'), words('max batch size 0'))
  assert.equal(asked('mode=batch', 'batch-buffer-size=-1'), words('buffer size -1'))
  assert.equal(asked('mode=batch', 'batch-throttle-enable', 'batch-throttle-burst=-1'), words('throttle QPS 0'))
  assert.equal(asked('mode=batch', 'batch-max-size=5'), '')
})

test('a certificate for a name is a file of it and one of its key, and perhaps names', () => {
  const asked = (value: string) => why(() => options(`--tls-sni-cert-key=${value}`))
  for (const value of ['', 'a', 'a,b,c', ':x', 'a,b,c:x'])
    assert.equal(
      asked(value),
      `invalid argument ${JSON.stringify(value)} for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths`,
    )
  assert.match(asked('a,b:'), /flag: empty names list is not allowed$/)
  const { security } = options('--tls-sni-cert-key=a,b', '--tls-sni-cert-key=c,d:x,*.y', '--goaway-chance=.01').cluster
  assert.deepEqual(security?.tlsSniCertKey, ['a,b', 'c,d:x,*.y'])
  assert.equal(security?.goawayChance, 0.01)
})

test('an emulated version is the own one, or refused', () => {
  const judge = (version: string) => why(() => judgeEmulatedVersion([version]))
  for (const own of ['1.37', 'kube=1.37', 'v1.37.0']) assert.equal(judge(own), '', own)
  assert.match(judge('kube=1.36'), /skiff behaves as v1\.37 alone/)
  assert.equal(judge('1.37.1'), 'patch version not allowed, got: kube=1.37.1')
  assert.equal(
    why(() => options('--emulated-version=1.38')),
    'emulation version 1.38 is not between [1.34, 1.37.0]',
  )
})

test('limits of requests without priority and fairness are asked for as such', () => {
  const { security } = options('--enable-priority-and-fairness=false', '--max-mutating-requests-inflight=0').cluster
  assert.equal(security?.enablePriorityAndFairness, false)
  assert.equal(security?.maxMutatingRequestsInflight, 0)
})

test('the launchers answer --help as the executables would', () => {
  for (const name of ['etcd', 'kube-apiserver'])
    assert.equal(readFileSync(new URL(`../../bin/launch/${name}.help`, import.meta.url), 'utf8'), executableHelp(name))
  assert.match(executableHelp('etcd'), /^\s*--unsafe-no-fsync\b/m)
  assert.doesNotMatch(executableHelp('kube-apiserver'), /^\s*--insecure-port\b/m)
  assert.ok(ETCD_FLAGS.size > 100)
})
