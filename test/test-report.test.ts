/** What is told of a cluster in which a test has failed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCluster } from '../src/cluster/index.ts'

test('a report tells what is with pods as kubectl does, how many of a set are ready, and Events in their order', async (t) => {
  const cluster = await startCluster({ clock: 'manual', storage: 'memory' })
  t.after(() => cluster.stop())
  const fork = await cluster.fork()
  const template = (name: string, image: string) => ({
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: 'c', image }] },
  })
  const set = (name: string, image: string) => ({
    apiVersion: 'apps/v1' as const,
    kind: 'Deployment' as const,
    metadata: { name },
    spec: { replicas: 2, selector: { matchLabels: { app: name } }, template: template(name, image) },
  })
  const { apps } = fork.client
  await apps.deployments('default').create(set('good', 'nginx'))
  await apps.deployments('default').create(set('absent', 'registry.invalid/x'))
  await apps.daemonSets('default').create({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'each' },
    spec: { selector: { matchLabels: { app: 'each' } }, template: template('each', 'sim.skiff.dev/exit-code:1') },
  })
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await fork.client.apiextensions.customResourceDefinitions().create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'caches.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'caches', kind: 'Cache' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  await fork.clock.advance('1m')
  const statuses = {
    silent: undefined,
    counting: { readyReplicas: 2 },
    odd: {
      readyReplicas: {},
      conditions: [
        { type: {}, status: 1 },
        { type: 'Good', status: 'False', reason: {} },
      ],
    },
  }
  for (const [name, status] of Object.entries(statuses))
    await fork.client.resource({ group: 'example.com', version: 'v1', resource: 'caches' }).create({
      apiVersion: 'example.com/v1',
      kind: 'Cache',
      metadata: { name, namespace: 'default' },
      spec: { replicas: 3 },
      status,
    })

  const [objects = '', events = ''] = (await fork.report('default')).split('\nevents:\n')
  const line = (begin: string) => objects.split('\n').find((one) => one.startsWith(`  ${begin}`))
  assert.match(line('Pod default/absent-') ?? '', /; (ErrImagePull|ImagePullBackOff); ready 0\/1; /)
  assert.match(line('Pod default/good-') ?? '', /; Running; ready 1\/1; /)
  assert.match(line('Pod default/each-') ?? '', /; (CrashLoopBackOff|Error); ready 0\/1, restarts \d \(\d+s ago\); /)
  assert.match(line('Deployment default/absent') ?? '', /^ {2}Deployment default\/absent; ready 0\/2; Available=False/)
  assert.match(line('ReplicaSet default/good-') ?? '', /; ready 2\/2$/)
  assert.match(line('DaemonSet default/each') ?? '', /; ready 0\/1$/)
  assert.deepEqual(
    ['silent', 'counting', 'odd'].map((name) => line(`Cache default/${name}`)?.trim()),
    ['Cache default/silent', 'Cache default/counting; ready 2/3', 'Cache default/odd; Good=False'],
  )
  assert.doesNotMatch(objects, /ClusterTrustBundle/)
  const first = (reason: string) => events.search(new RegExp(` ${reason} .*good`))
  assert.ok(first('ScalingReplicaSet') < first('Scheduled'))
})
