/** S6: what the API server does on create, as kubectl shows it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubectl, kubectlFor, withoutKubectl } from '../kubectl.ts'
import { configMap, type E2eCluster, pod, startE2eCluster } from './cluster.ts'

describe('S6', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  let kubectl: Kubectl
  before(async () => {
    cluster = await startE2eCluster('--components', 'apiserver', '--disable-admission-plugins', 'ServiceAccount')
    await cluster.kubectl('create', 'namespace', 's6')
    kubectl = kubectlFor(cluster.kubeconfig, 's6')
  })
  after(() => cluster.stop())

  const raw = (path: string, object: object) =>
    kubectl.run(['create', '--raw', path, '-f', '-'], JSON.stringify(object))

  test('a pod starts Pending with its QoS class, system fields and defaults, whatever the client sent', async () => {
    const sent = pod(
      'fresh',
      {},
      {
        metadata: {
          deletionTimestamp: '2020-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 5,
          generation: 7,
          uid: 'mine',
        },
      },
    )
    const { out, err } = await raw('/api/v1/namespaces/s6/pods', { ...sent, status: { phase: 'Running' } })
    assert.equal(err, '')
    const made = JSON.parse(out)
    assert.equal(made.status.phase, 'Pending')
    assert.equal(made.status.qosClass, 'BestEffort')
    assert.equal(made.metadata.generation, 1)
    assert.equal(made.metadata.deletionTimestamp, undefined)
    assert.equal(made.metadata.deletionGracePeriodSeconds, undefined)
    assert.match(made.metadata.uid, /^[0-9a-f]{8}-/)
    assert.match(made.metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT/)
    assert.equal(made.spec.restartPolicy, 'Always')
    assert.equal(made.spec.terminationGracePeriodSeconds, 30)
    assert.deepEqual(
      made.spec.tolerations.map(({ key }: { key: string }) => key),
      ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'],
      'mutating admission comes before validation',
    )
    assert.equal(made.metadata.managedFields[0].operation, 'Update')
  })

  test('guaranteed and burstable pods get their class', async () => {
    const sized = (name: string, resources: object) =>
      pod(name, {}, { spec: { containers: [{ name: 'main', image: 'busybox', resources }] } })
    await kubectl.send(
      'create',
      sized('guaranteed', { limits: { cpu: '1', memory: '1Gi' } }),
      sized('burstable', { requests: { cpu: '1' } }),
    )
    const classes = await kubectl(
      'get',
      'pods',
      'guaranteed',
      'burstable',
      '-o',
      'jsonpath={.items[*].status.qosClass}',
    )
    assert.equal(classes, 'Guaranteed Burstable')
  })

  test('the body must be of the path: its namespace, its version, its kind', async () => {
    const namespace = await raw('/api/v1/namespaces/s6/configmaps', configMap('a', { namespace: 'other' }))
    assert.match(namespace.err, /the namespace of the provided object does not match the namespace sent on the request/)
    const version = await raw('/apis/apps/v1/namespaces/s6/deployments', {
      apiVersion: 'apps/v1beta1',
      kind: 'Deployment',
      metadata: { name: 'a' },
    })
    assert.match(version.err, /\(BadRequest\)/)
    const kind = await raw('/api/v1/namespaces/s6/configmaps', pod('a'))
    assert.match(kind.err, /\(BadRequest\)/)
  })

  test('what is invalid is named by its field', async () => {
    const { code, err } = await kubectl.run(
      ['create', '-f', '-'],
      JSON.stringify(pod('Bad_Name', {}, { spec: { containers: [] } })),
    )
    assert.equal(code, 1)
    assert.match(err, /The Pod "Bad_Name" is invalid:/)
    assert.match(err, /metadata\.name: Invalid value: "Bad_Name"/)
    assert.match(err, /spec\.containers: Required value/)
  })

  test('a dry run stops before storage but still answers AlreadyExists', async () => {
    const dry = ['create', '--dry-run=server', '-f', '-']
    const first = await kubectl.run(dry, JSON.stringify(configMap('dry')))
    assert.equal(first.code, 0, first.err)
    assert.match((await kubectl.run(['get', 'configmap', 'dry'])).err, /NotFound/)
    await kubectl.send('create', configMap('dry'))
    assert.match(
      (await kubectl.run(dry, JSON.stringify(configMap('dry')))).err,
      /AlreadyExists.*configmaps "dry" already exists/,
    )
  })

  test('generateName makes names that differ', async () => {
    const made = await Promise.all(
      [1, 2, 3].map(async () => {
        const { out } = await raw('/api/v1/namespaces/s6/configmaps', {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { generateName: 'gen-' },
        })
        return JSON.parse(out).metadata.name as string
      }),
    )
    for (const name of made) assert.match(name, /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    assert.equal(new Set(made).size, 3)
  })

  test('a name whose object is terminating already exists, and the message says so', async () => {
    await kubectl.send('create', configMap('going', { finalizers: ['example.com/held'] }))
    await kubectl('delete', 'configmap', 'going', '--wait=false')
    const { err } = await kubectl.run(['create', '-f', '-'], JSON.stringify(configMap('going')))
    assert.match(err, /AlreadyExists\): .*object is being deleted: configmaps "going" already exists/)
  })

  test('a namespace that is not there or terminating takes nothing new', async () => {
    const absent = await kubectl.run(['create', 'configmap', 'a', '-n', 'nowhere'])
    assert.match(absent.err, /namespaces "nowhere" not found/)
    await cluster.kubectl('create', 'namespace', 'ending')
    await cluster.kubectl('delete', 'namespace', 'ending', '--wait=false')
    const ending = await kubectl.run(['create', 'configmap', 'a', '-n', 'ending'])
    assert.match(
      ending.err,
      /configmaps "a" is forbidden: unable to create new content in namespace ending because it is being terminated/,
    )
  })
})
