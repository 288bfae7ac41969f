/** What people do with kubectl all day that is no deletion: find, apply, diff, label, ask who may do what. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Any, kubectlFor, withoutKubectl } from '../kubectl.ts'
import { configMap, type E2eCluster, startE2eCluster } from './cluster.ts'

const deployment = (replicas: number, image: string, more: Any = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', ...more.metadata },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image, ...more.container }] },
    },
  },
})

describe('kubectl', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster('--components', 'apiserver,controllers')
  })
  after(() => cluster?.stop())

  test('api-resources prints what a real cluster prints', async () => {
    const printed = await cluster.kubectl('api-resources', '-o', 'wide', '--no-headers')
    const lines = printed
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().replace(/ +/g, ' '))
    const recorded = readFileSync(new URL('./api-resources.txt', import.meta.url), 'utf8')
      .trimEnd()
      .split('\n')
    assert.deepEqual(lines, recorded)
  })

  test('version tells the Kubernetes it speaks for', async () => {
    const { serverVersion } = await cluster.kubectl.json('version')
    assert.equal(serverVersion.gitVersion, 'v1.37.1+skiff')
  })

  test('apply creates, changes only what differs, and drops what is no longer there', async () => {
    const kubectl = await cluster.namespace('apply')
    const env = [{ name: 'A', value: '1' }]
    assert.match(await kubectl.send('apply', deployment(1, 'app:1', { container: { env } })), /created/)
    await kubectl('scale', 'deployment/web', '--replicas=3')
    const wanted: Any = deployment(1, 'app:2')
    delete wanted.spec.replicas
    assert.match(await kubectl.send('apply', wanted), /configured/)
    assert.match(await kubectl.send('apply', wanted), /unchanged/)
    const { spec } = await kubectl.json('get', 'deployment', 'web')
    const [container] = spec.template.spec.containers
    assert.deepEqual([container.image, container.env], ['app:2', undefined])
  })

  test('diff shows what apply would change, and changes nothing', async () => {
    const kubectl = await cluster.namespace('diff')
    await kubectl.send('apply', configMap('c', {}, { key: 'old' }))
    const file = JSON.stringify(configMap('c', {}, { key: 'new' }))
    for (const how of [[], ['--server-side']]) {
      const { code, out } = await kubectl.run(['diff', ...how, '-f', '-'], file)
      assert.equal(code, 1)
      assert.match(out, /^- {2}key: old\n\+ {2}key: new$/m)
    }
    assert.equal((await kubectl.json('get', 'configmap', 'c')).data.key, 'old')
  })

  test('server-side apply owns fields, and says whose they are', async () => {
    const kubectl = await cluster.namespace('server-side')
    const serverSide = (object: object, manager: string, ...more: string[]) =>
      kubectl.run(['apply', '--server-side', `--field-manager=${manager}`, ...more, '-f', '-'], JSON.stringify(object))
    assert.match((await serverSide(configMap('c', {}, { a: '1' }), 'mine')).out, /serverside-applied/)
    const other = await serverSide(configMap('c', {}, { a: '2' }), 'yours')
    assert.match(other.err, /conflict with "mine": \.data\.a/)
    assert.equal((await serverSide(configMap('c', {}, { a: '2' }), 'yours', '--force-conflicts')).code, 0)
    assert.doesNotMatch(await kubectl('get', 'configmap', 'c', '-o', 'yaml'), /managedFields/)
    const { metadata } = await kubectl.json('get', 'configmap', 'c', '--show-managed-fields')
    assert.deepEqual(
      metadata.managedFields.map(({ manager, operation, fieldsV1 }: Any) => [manager, operation, fieldsV1['f:data']]),
      [['yours', 'Apply', { 'f:a': {} }]],
    )
  })

  test('client-side apply hands over to server-side apply', async () => {
    const kubectl = await cluster.namespace('migrate')
    await kubectl.send('apply', configMap('c', {}, { a: '1', b: '1' }))
    const { code, err } = await kubectl.run(
      ['apply', '--server-side', '-f', '-'],
      JSON.stringify(configMap('c', {}, { a: '2' })),
    )
    assert.equal(code, 0, err)
    assert.deepEqual((await kubectl.json('get', 'configmap', 'c')).data, { a: '2' })
  })

  test('label, annotate, patch, set and replace change one object', async () => {
    const kubectl = await cluster.namespace('change')
    await kubectl.send('create', deployment(1, 'app:1'))
    await kubectl('label', 'deployment', 'web', 'tier=front')
    assert.match((await kubectl.run(['label', 'deployment', 'web', 'tier=back'])).err, /already has a value/)
    await kubectl('label', 'deployment', 'web', 'tier=back', '--overwrite')
    await kubectl('annotate', 'deployment', 'web', 'note=one')
    await kubectl('annotate', 'deployment', 'web', 'note-')
    await kubectl('patch', 'deployment', 'web', '-p', '{"spec":{"paused":true}}')
    await kubectl(
      'patch',
      'deployment',
      'web',
      '--type=json',
      '-p',
      '[{"op":"replace","path":"/spec/replicas","value":2}]',
    )
    await kubectl('set', 'env', 'deployment/web', 'MODE=fast')
    const { metadata, spec } = await kubectl.json('get', 'deployment', 'web')
    assert.deepEqual(
      [metadata.labels.tier, metadata.annotations?.note, spec.paused, spec.replicas],
      ['back', undefined, true, 2],
    )
    assert.deepEqual(spec.template.spec.containers[0].env, [{ name: 'MODE', value: 'fast' }])
    // kubectl replaces what it has just read: its controller must have written the last of its status before.
    for (const [field, value] of [
      ['observedGeneration', metadata.generation],
      ['replicas', 2],
    ])
      await kubectl('wait', 'deployment/web', `--for=jsonpath={.status.${field}}=${value}`, '--timeout=60s')
    await kubectl.send('replace', deployment(1, 'app:3'))
    assert.equal(
      await kubectl('get', 'deployment', 'web', '-o=jsonpath={.spec.template.spec.containers[0].image}'),
      'app:3',
    )
  })

  test('unknown fields are refused, or warned about', async () => {
    const kubectl = await cluster.namespace('strict')
    const wrong = JSON.stringify({ ...configMap('c'), dta: { a: 'b' } })
    const refused = await kubectl.run(['apply', '-f', '-'], wrong)
    assert.match(refused.err, /strict decoding error: unknown field "dta"/)
    const warned = await kubectl.run(['apply', '--validate=warn', '-f', '-'], wrong)
    assert.deepEqual([warned.code, /^Warning: unknown field "dta"$/m.test(warned.err)], [0, true])
  })

  test('a token of a service account is somebody, who may do what roles say', async () => {
    const kubectl = await cluster.namespace('tokens')
    await kubectl('create', 'serviceaccount', 'robot')
    await kubectl('create', 'role', 'reader', '--verb=get,list', '--resource=configmaps')
    await kubectl('create', 'rolebinding', 'reader', '--role=reader', '--serviceaccount=tokens:robot')
    const token = (await kubectl('create', 'token', 'robot')).trim()
    const config = JSON.parse(await kubectl('config', 'view', '--raw', '-o', 'json'))
    config.users[0].user = { token }
    const robotConfig = join(cluster.dataDir, 'robot.kubeconfig')
    writeFileSync(robotConfig, JSON.stringify(config), { mode: 0o600 })
    const robot = kubectlFor(robotConfig, 'tokens')
    const { status } = await robot.json('auth', 'whoami')
    assert.equal(status.userInfo.username, 'system:serviceaccount:tokens:robot')
    assert.match(await robot('get', 'configmaps'), /kube-root-ca\.crt/)
    assert.match((await robot.run(['get', 'secrets'])).err, /cannot list resource "secrets" in API group ""/)
    const as = '--as=system:serviceaccount:tokens:robot'
    assert.equal(await kubectl('auth', 'can-i', 'list', 'configmaps', as), 'yes\n')
    const no = await kubectl.run(['auth', 'can-i', 'delete', 'configmaps', as])
    assert.deepEqual([no.code, no.out], [1, 'no\n'])
    assert.match(await kubectl('auth', 'can-i', '--list', as), /^configmaps +\[\] +\[\] +\[get list\]$/m)
    assert.match(await kubectl('auth', 'whoami'), /kubernetes-admin/)
  })

  test('get prints tables, columns, names and versions', async () => {
    const kubectl = await cluster.namespace('prints')
    await kubectl.send('create', configMap('one', { labels: { a: 'b' } }, { k: 'v' }), configMap('two'))
    assert.match(await kubectl('get', 'cm', '-L', 'a'), /^NAME +DATA +AGE +A\n/)
    assert.equal(await kubectl('get', 'cm', '-l', 'a=b', '-o', 'name'), 'configmap/one\n')
    assert.equal(
      await kubectl('get', 'cm', 'one', '-o', 'custom-columns=N:.metadata.name,K:.data.k', '--no-headers'),
      'one   v\n',
    )
    const sorted = await kubectl('get', 'cm', '--sort-by=.metadata.name', '-o', 'name')
    assert.deepEqual(sorted.trim().split('\n').slice(-2), ['configmap/one', 'configmap/two'])
    assert.match(await kubectl('describe', 'cm', 'one'), /^k:\n----\nv$/m)
    assert.match(await kubectl('get', 'all'), /^$/)
  })
})
