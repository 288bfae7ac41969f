/** `startCluster({ crds, objects })`, and the typed clients of what comes out. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isNotFound, type KubeObject, StartError, startCluster } from '../src/cluster/index.ts'
import { typedClients } from '../tools/typed-clients.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-initial-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0
const file = (text: string, name = `${++files}.yaml`) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const definition = (plural: string, kind: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.test.example.com}
spec:
  group: test.example.com
  scope: Namespaced
  names: {plural: ${plural}, kind: ${kind}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
const POD = { containers: [{ name: 'c', image: 'i' }] }

interface Widget extends KubeObject {
  readonly spec: { readonly size: number }
}

test('definitions are served and objects there, pods in namespaces of their own too, when startCluster resolves', async () => {
  const bases = join(folder, 'bases')
  mkdirSync(bases)
  writeFileSync(join(bases, 'a.yaml'), `---\n${definition('widgets', 'Widget')}---\n# nothing\n`)
  writeFileSync(join(bases, 'b.json'), JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }))
  writeFileSync(join(bases, 'kustomization.yaml'), 'resources: [a.yaml]\n')
  writeFileSync(join(bases, 'readme.md'), '{{ no manifest')
  const manifests = file(`apiVersion: v1
kind: Pod
metadata: {name: p, namespace: later}
spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: List
items:
- {apiVersion: test.example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: 3}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: later}}
---
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}}
`)
  const options = {
    crds: [bases],
    objects: [manifests, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'q' }, spec: POD }],
  }
  const dataDir = join(folder, 'data')
  const cluster = await startCluster({ ...options, dataDir })
  const { client } = cluster
  try {
    const widgets = client.custom<Widget>('test.example.com/v1', 'widgets', 'default')
    assert.equal((await widgets.get('w')).spec.size, 3)
    assert.equal((await client.core.pods('later').get('p')).spec?.serviceAccountName, 'default')
    assert.equal((await client.core.pods('default').get('q')).spec?.containers[0]?.name, 'c')
    assert.deepEqual((await client.core.configMaps().list({ fieldSelector: 'metadata.name=m' })).items.length, 1)
    await client.core.pods('default').create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'r' }, spec: POD })
    await widgets.patch('w', 'merge', { spec: { size: 4 } })
    await assert.rejects(client.apps.deployments('default').get('none'), (error) => isNotFound(error))
    assert.equal((await client.autoscaling.horizontalPodAutoscalers('').list()).items.length, 0)
  } finally {
    await cluster.stop()
  }
  const again = await startCluster({ ...options, dataDir })
  try {
    const widgets = again.client.custom<Widget>('test.example.com/v1', 'widgets', 'default')
    assert.equal((await widgets.get('w')).spec.size, 4, 'what is there stays as it is')
  } finally {
    await again.stop()
  }
})

test('a definition that is there becomes what is given', async () => {
  const dataDir = join(folder, 'again')
  const one = file(definition('gadgets', 'Gadget'))
  await (await startCluster({ dataDir, components: ['apiserver'], crds: [one] })).stop()
  const more = file(definition('gadgets', 'Gadget').replace('kind: Gadget}', 'kind: Gadget, shortNames: [gd]}'))
  const cluster = await startCluster({ dataDir, components: ['apiserver'], crds: [more] })
  try {
    const { spec } = await cluster.client.apiextensions.customResourceDefinitions().get('gadgets.test.example.com')
    assert.deepEqual(spec.names.shortNames, ['gd'])
  } finally {
    await cluster.stop()
  }
})

test('what `kwokctl snapshot export` wrote is read: times that are offsets, owners by the uids that they have here', async () => {
  const about = (name: string, uid: string, owners = '') => `apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {told: "$(time-offset-nanosecond -7859262155)"}
  creationTimestamp: "$(time-offset-nanosecond -7859262155)"
  name: ${name}
  namespace: default
  uid: ${uid}
${owners}
`
  const owner = (name: string, uid: string) =>
    `  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: ${name}, uid: ${uid}, controller: true}]`
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((one) => `${one.repeat(8)}-0000-4000-8000-000000000000`) as [
    string,
    string,
    string,
    string,
  ]
  const documents = [
    about('third', c, owner('second', b)),
    about('second', b, owner('first', a)),
    about('first', a),
    // One that owns itself: it is made all the same, and then collected.
    about('fourth', d, owner('fourth', d)),
    // It is there already, and its address is taken.
    'apiVersion: v1\nkind: Service\nmetadata: {name: kubernetes}\nspec: {clusterIP: 10.96.0.1, ports: [{port: 443}]}\n',
  ]
  const before = Date.now()
  const cluster = await startCluster({ storage: 'memory', nodes: 0, objects: [file(documents.join('---\n'))] })
  try {
    const maps = cluster.client.core.configMaps('default')
    const first = await maps.get('first')
    const told = Date.parse(first.metadata.annotations?.['told'] ?? '')
    assert.ok(Math.abs(told - (before - 7859)) < 60_000, first.metadata.annotations?.['told'])
    for (const [name, of] of [
      ['second', first],
      ['third', await maps.get('second')],
    ] as const) {
      const { metadata } = await maps.get(name)
      assert.deepEqual(
        metadata.ownerReferences?.map(({ uid }) => uid),
        [of.metadata.uid],
      )
    }
  } finally {
    await cluster.stop()
  }
})

test('what is wrong ends the start in one line that names the file', async () => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [
      { crds: [join(folder, 'missing.yaml')] },
      /^open .*missing\.yaml: no such file or directory: name a file of YAML or JSON/,
    ],
    [{ crds: [file('kind: [')] }, /^\S+\.yaml: /],
    [{ crds: [file('a: 1\n')] }, /^\S+\.yaml: it has no apiVersion or no kind$/],
    [{ crds: [file('just text')] }, /^\S+\.yaml: it is no object$/],
    [{ crds: [file('apiVersion: v1\nkind: Pod\n')] }, /^\S+\.yaml: there is no CustomResourceDefinition in it$/],
    [
      { crds: [file(definition('a', 'A').replace('group: test', 'group: toast'))] },
      /^\S+\.yaml: .*CustomResourceDefinition a\.test.*is invalid/,
    ],
    [
      { objects: [file('apiVersion: v2\nkind: Pod\n')] },
      /^\S+\.yaml: Pod without a name: the cluster does not serve v2 Pod$/,
    ],
    [
      { objects: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'none' }, spec: POD }] },
      /^Pod p: namespaces "none" not found$/,
    ],
    [
      { objects: [file('a: &a [1]\n---\napiVersion: v1\nkind: ConfigMap\n')] },
      /^\S+\.yaml, document 1: it has no apiVersion/,
    ],
  ]
  for (const [options, words] of cases)
    await assert.rejects(startCluster({ storage: 'memory', nodes: 0, ...options }), (error: Error) => {
      assert.ok(error instanceof StartError, String(error))
      assert.match(error.message, words)
      assert.ok(!error.message.includes('\n'), error.message)
      return true
    })
})

test('the names of typed clients are what tools/typed-clients.ts writes', () => {
  const written = readFileSync(fileURLToPath(new URL('../src/cluster/typed-clients.ts', import.meta.url)), 'utf8')
  assert.equal(written, typedClients())
})
