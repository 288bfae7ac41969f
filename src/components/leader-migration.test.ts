import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageOf } from '../base/errors.ts'
import { divided, leaderMigrationIn, runUnderLeases } from './leader-migration.ts'

const file = (version: string, ...lines: readonly string[]) =>
  [`apiVersion: controllermanager.config.k8s.io/${version}`, 'kind: LeaderMigrationConfiguration', ...lines].join('\n')
const NO_NAME = 'leaderName: Required value: leaderName must be set for LeaderMigrationConfiguration'
const NO_LOCK = (lock: string) =>
  `resourceLock: Invalid value: "${lock}": resource Lock must be one of 'leases' or 'endpoints'`
const unread = (problems: string) => `failed to parse leader migration configuration: [${problems}]`

test('what is wrong in a file is told as kube-controller-manager v1.37.1 told it (2026-11-27)', () => {
  for (const [text, wanted] of [
    ['', "Object 'Kind' is missing in ''"],
    [file('v1'), unread(NO_NAME)],
    [file('v1', 'leaderName: ""'), unread(NO_NAME)],
    [
      file('v1', 'leaderName: 5'),
      'json: cannot unmarshal number into Go struct field LeaderMigrationConfiguration.leaderName of type string',
    ],
    [file('v1', 'LeaderName: x'), 'strict decoding error: unknown field "LeaderName"'],
    [file('v1', 'leaderName: x', 'resourceLock: leases'), 'strict decoding error: unknown field "resourceLock"'],
    [
      file('v1', 'leaderName: x', 'controllerLeaders: [{name: a, component: b, extra: 1}]'),
      'strict decoding error: unknown field "controllerLeaders[0].extra"',
    ],
    [
      file('v1', 'leaderName: x', 'controllerLeaders: [{name: 5}]'),
      'json: cannot unmarshal number into Go struct field ControllerLeaderConfiguration.controllerLeaders.name of type string',
    ],
    [
      file('v1', 'leaderName: x', 'controllerLeaders: {}'),
      'json: cannot unmarshal object into Go struct field LeaderMigrationConfiguration.controllerLeaders of type []v1.ControllerLeaderConfiguration',
    ],
    [
      file('v1', 'leaderName: x', 'controllerLeaders: [a]'),
      'json: cannot unmarshal string into Go struct field LeaderMigrationConfiguration.controllerLeaders of type v1.ControllerLeaderConfiguration',
    ],
    [
      file('v1', 'leaderName: x', "controllerLeaders: [{name: a, component: b}, {name: '', component: ''}, {name: x}]"),
      unread(
        'controllerLeaders[1].component: Required value controllerLeaders[1].name: Required value controllerLeaders[2].component: Required value',
      ),
    ],
    [
      file('v2', 'leaderName: x'),
      'no kind "LeaderMigrationConfiguration" is registered for version "controllermanager.config.k8s.io/v2" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [file('v1alpha1', 'leaderName: x'), unread(NO_LOCK(''))],
    [
      file('v1alpha1', 'resourceLock: foo', 'controllerLeaders: [{}]'),
      unread(
        `${NO_NAME} ${NO_LOCK('foo')} controllerLeaders[0].component: Required value controllerLeaders[0].name: Required value`,
      ),
    ],
    [
      file('v1beta1', 'resourceLock: 5'),
      'json: cannot unmarshal number into Go struct field LeaderMigrationConfiguration.resourceLock of type string',
    ],
    [file('v1beta1', 'leaderName: x', 'resourceLock: leases'), ''],
    [file('v1', "leaderName: ' a/b'"), ''],
    ['{"apiVersion":"controllermanager.config.k8s.io/v1","kind":"LeaderMigrationConfiguration","leaderName":"x"}', ''],
  ] as const)
    assert.equal(problemOf(text), wanted, text)
})

function problemOf(text: string): string {
  try {
    leaderMigrationIn(text)
    return ''
  } catch (error) {
    return messageOf(error)
  }
}

test('each controller runs with one Lease or with none: by its own name, the last entry counts, and tokens are made with the main one', () => {
  const leaders = [
    ...[
      '{name: replicaset-controller, component: kube-controller-manager}',
      '{name: deployment-controller, component: "*"}',
    ],
    ...[
      '{name: namespace-controller, component: cloud-controller-manager}',
      '{name: job, component: kube-controller-manager}',
    ],
    '{name: cronjob-controller, component: kube-controller-manager}',
    '{name: cronjob-controller, component: cloud-controller-manager}',
    '{name: serviceaccount-token-controller, component: cloud-controller-manager}',
    '{name: garbage-collector-controller, component: kube-controller-manager}',
  ]
  const migration = leaderMigrationIn(file('v1', 'leaderName: x', `controllerLeaders: [${leaders.join(', ')}]`))
  const names = [
    'replicaset',
    'deployment',
    'namespace',
    'job',
    'cronjob',
    'serviceaccount-token',
    'garbage-collector',
    'storage-version-migrator',
  ]
  const { main, migrated } = divided(
    names.map((name) => `${name}-controller`),
    migration,
  )
  assert.deepEqual(main, ['job-controller', 'serviceaccount-token-controller'])
  assert.deepEqual(migrated, [
    'replicaset-controller',
    'deployment-controller',
    'garbage-collector-controller',
    'storage-version-migrator-controller',
  ])
})

test('a Lease that no controller runs under is held, and nothing is started; the second is asked for once the first ones run', async () => {
  const done = async (main: readonly string[], migrated: readonly string[], canRun = true) => {
    const steps: string[] = []
    const won = (name: string) => ({
      won: async () => {
        steps.push(`lease of ${name}`)
        return undefined
      },
    })
    const elections = { main: won('main'), migrated: won('migration') }
    await runUnderLeases({ main, migrated }, elections, async (_, controllers) => {
      steps.push(controllers.join(' '))
      return canRun
    })
    return steps
  }
  assert.deepEqual(await done(['a', 'b'], ['c']), ['lease of main', 'a b', 'lease of migration', 'c'])
  assert.deepEqual(await done(['a'], []), ['lease of main', 'a', 'lease of migration'])
  assert.deepEqual(await done([], ['c']), ['lease of main', 'lease of migration', 'c'])
  assert.deepEqual(await done(['a'], ['c'], false), ['lease of main', 'a'])
})
