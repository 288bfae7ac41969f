import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject, KubeObject } from '../object.ts'
import { schemaOf } from '../schema/builtin.ts'
import { StatusError } from '../status.ts'
import { applyPatch, type PatchType } from './patch.ts'

const deploymentSchema = schemaOf('io.k8s.api.apps.v1.Deployment')
const configMapSchema = schemaOf('io.k8s.api.core.v1.ConfigMap')

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}

const configMap: KubeObject = freeze({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'c', labels: { x: '1' }, finalizers: ['a/a', 'a/b', 'a/c'] },
  data: { k: 'v', n: 'w' },
})

const deployment: KubeObject = freeze({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name: 'd', finalizers: ['a/a', 'a/b', 'a/c'], labels: { x: '1' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        volumes: [{ name: 'v', emptyDir: {} }],
        containers: [
          {
            name: 'c',
            image: 'i',
            args: ['1', '2'],
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
          },
          { name: 'd', image: 'j' },
        ],
        securityContext: {},
      },
    },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
  },
})

function patched(type: PatchType, patch: Json, live: KubeObject = configMap): KubeObject {
  return applyPatch({ type, patch, live, schema: live === configMap ? configMapSchema : deploymentSchema }).object
}

function refusal(run: () => unknown): [number, string] {
  try {
    run()
  } catch (error) {
    if (error instanceof StatusError) return [error.code, error.message]
    throw error
  }
  throw new assert.AssertionError({ message: 'the patch was not refused' })
}

const podSpec = (spec: Json): Json => ({ spec: { template: { spec } } })
const smp = (patch: Json) => patched('strategic', patch, deployment)
const specOf = (object: KubeObject) => object['spec'].template.spec

test('a merge patch changes what it names and shares the rest', () => {
  const made = patched('merge', { metadata: { labels: { x: null, y: '2' } } })
  assert.deepEqual(made.metadata.labels, { y: '2' })
  assert.equal(made['data'], configMap['data'])
  assert.equal(made.metadata.finalizers, configMap.metadata.finalizers)
})

test('a merge patch drops nulls of values that are new', () => {
  const made = patched('merge', { spec: { a: null, b: { c: null } }, data: { k: { z: null } } })
  assert.deepEqual(made['spec'], { b: {} })
  assert.deepEqual(made['data'], { k: {}, n: 'w' })
})

test('a merge patch that is no object is refused in the words of Kubernetes', () => {
  assert.deepEqual(
    refusal(() => patched('merge', [])),
    [400, 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
  )
  assert.deepEqual(
    refusal(() => patched('merge', null)),
    [400, 'Invalid JSON Patch'],
  )
})

test('keys like __proto__ are plain data', () => {
  const patch = JSON.parse('{"data":{"__proto__":"x","constructor":"y"}}') as Json
  for (const type of ['merge', 'strategic'] as const) {
    const data = patched(type, patch)['data']
    assert.equal(Object.getPrototypeOf(data), Object.prototype)
    assert.deepEqual(Object.keys(data).sort(), ['__proto__', 'constructor', 'k', 'n'])
  }
  const data = patched('json', [{ op: 'add', path: '/data/__proto__', value: 'x' }])['data']
  assert.ok(Object.hasOwn(data, '__proto__'))
})

test('a result that cannot be decoded is told with the patched object, its changed parts sorted', () => {
  const result = applyPatch({
    type: 'json',
    patch: [{ op: 'add', path: '/data/a', value: 5 }],
    live: configMap,
    schema: configMapSchema,
  })
  assert.equal(
    result.invalid('wrong').message,
    ` "" is invalid: patch: Invalid value: ${JSON.stringify(
      '{"apiVersion":"v1","data":{"a":5,"k":"v","n":"w"},"kind":"ConfigMap","metadata":{"name":"c","labels":{"x":"1"},"finalizers":["a/a","a/b","a/c"]}}',
    )}: wrong`,
  )
})

test('JSON patch operations', () => {
  const finalizers = (...patch: Json[]) => patched('json', patch).metadata.finalizers
  assert.deepEqual(finalizers({ op: 'add', path: '/metadata/finalizers/-', value: 'z' }), ['a/a', 'a/b', 'a/c', 'z'])
  assert.deepEqual(finalizers({ op: 'add', path: '/metadata/finalizers/0', value: 'z' }), ['z', 'a/a', 'a/b', 'a/c'])
  assert.deepEqual(finalizers({ op: 'add', path: '/metadata/finalizers/-1', value: 'z' }), ['a/a', 'a/b', 'a/c', 'z'])
  assert.deepEqual(finalizers({ op: 'remove', path: '/metadata/finalizers/-1' }), ['a/a', 'a/b'])
  assert.deepEqual(finalizers({ op: 'replace', path: '/metadata/finalizers/+1', value: 'q' }), ['a/a', 'q', 'a/c'])
  const data = (...patch: Json[]) => patched('json', patch)['data']
  assert.deepEqual(data({ op: 'replace', path: '/data/new', value: '1' }), { k: 'v', n: 'w', new: '1' })
  assert.deepEqual(data({ op: 'move', from: '/data/k', path: '/data/q' }), { n: 'w', q: 'v' })
  assert.deepEqual(data({ op: 'copy', from: '/data/k', path: '/data/q' }), { k: 'v', n: 'w', q: 'v' })
  assert.deepEqual(data({ op: 'add', path: '/data/a~1b~0', value: '1' }), { k: 'v', n: 'w', 'a/b~': '1' })
  assert.deepEqual(data({ op: 'test', path: '/data/absent', value: null }), configMap['data'])
})

test('JSON patch operations that do not apply get one answer', () => {
  for (const patch of [
    [{}],
    [{ op: 'bogus', path: '/a' }],
    [{ op: 'add', path: '/absent/a', value: 1 }],
    [{ op: 'add', path: '/metadata/finalizers/4', value: 1 }],
    [{ op: 'add', path: '', value: {} }],
    [{ op: 'remove', path: '/data/absent' }],
    [{ op: 'remove', path: '/metadata/finalizers/3' }],
    [{ op: 'test', path: '/data/k' }],
    [{ op: 'test', path: '/absent/a', value: null }],
    [{ op: 'move', path: '/data/q', from: '/data/absent' }],
    [{ op: 'add', path: '/data/k/x', value: 1 }],
  ] as Json[]) {
    assert.deepEqual(
      refusal(() => patched('json', patch)),
      [422, 'the server rejected our request due to an error in our request'],
    )
  }
})

test('a JSON patch has a form and a size', () => {
  assert.deepEqual(
    refusal(() => patched('json', { a: 1 })),
    [400, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
  )
  const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/k', value: 'v' }))
  assert.deepEqual(
    refusal(() => patched('json', many)),
    [413, 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001'],
  )
  const result = applyPatch({
    type: 'json',
    patch: [{ op: 'add', path: '/data/a', value: '1', bogus: 1 }],
    live: configMap,
    schema: configMapSchema,
  })
  assert.deepEqual(result.strictErrors, [{ kind: 'json patch unknown', path: '[0].bogus' }])
})

test('a patch nested without end is refused, not run', () => {
  let patch: Json = {}
  for (let i = 0; i < 100_000; i++) patch = { a: patch }
  for (const type of ['merge', 'strategic'] as const) {
    assert.deepEqual(
      refusal(() => patched(type, patch)),
      [400, 'invalid JSON patch'],
    )
  }
})

test('a strategic merge patch merges lists by their merge key; what is new stands first', () => {
  const spec = specOf(
    smp(
      podSpec({
        containers: [
          { name: 'n', image: 'q' },
          { name: 'c', image: 'r' },
        ],
      }),
    ),
  )
  assert.deepEqual(
    spec.containers.map((c: { name: string; image: string }) => [c.name, c.image]),
    [
      ['n', 'q'],
      ['c', 'r'],
      ['d', 'j'],
    ],
  )
  assert.equal(spec.containers[2], specOf(deployment).containers[1])
  assert.equal(spec.volumes, specOf(deployment).volumes)
})

test('a strategic merge patch merges lists of scalars as sets', () => {
  assert.deepEqual(smp({ metadata: { finalizers: ['a/z', 'a/a'] } }).metadata.finalizers, ['a/z', 'a/a', 'a/b', 'a/c'])
  assert.deepEqual(smp({ metadata: { '$deleteFromPrimitiveList/finalizers': ['a/b'] } }).metadata.finalizers, [
    'a/a',
    'a/c',
  ])
})

test('$setElementOrder orders a list, with or without changes to it', () => {
  const names = (patch: Json) => specOf(smp(podSpec(patch))).containers.map((c: { name: string }) => c.name)
  const order = [{ name: 'd' }, { name: 'c' }]
  assert.deepEqual(names({ '$setElementOrder/containers': order }), ['d', 'c'])
  assert.deepEqual(
    names({
      '$setElementOrder/containers': [{ name: 'd' }, { name: 'n' }, { name: 'c' }],
      containers: [
        { name: 'n', image: 'q' },
        { name: 'd', $patch: 'delete' },
      ],
    }),
    ['n', 'c'],
  )
  assert.deepEqual(
    refusal(() => smp({ metadata: { '$setElementOrder/finalizers': ['a/c'], finalizers: ['a/x'] } })),
    [500, "The order in patch list:\n[a/x]\n doesn't match $setElementOrder list:\n[a/c]\n"],
  )
})

test('an order of no items and directives beside an order do what they do in Kubernetes', () => {
  const replace = { $patch: 'replace' }
  const remove = (name: string) => ({ name, $patch: 'delete' })
  const [c, d, n, m] = ['c', 'd', 'n', 'm'].map((name) => ({ name })) as never as [Json, Json, Json, Json]
  const cases: [
    field: 'containers' | 'initContainers' | 'finalizers',
    order: Json[],
    patch: Json[],
    made: string | string[],
  ][] = [
    // Kubernetes sorts what the order does not name by the order there was, in which what is new has no place.
    ['containers', [], [n], ['c', 'd', 'n']],
    ['containers', [], [n, m], ['c', 'd', 'm', 'n']],
    ['containers', [], [replace, n, d, m, c], ['c', 'm', 'd', 'n']],
    ['initContainers', [], [n, m], ['m', 'n']],
    ['finalizers', [], ['a/x'], ['a/a', 'a/b', 'a/c', 'a/x']],
    ['finalizers', [], ['a/c', 'a/x', 'a/b'], ['a/x', 'a/a', 'a/b', 'a/c']],
    // What is new takes the place of what is deleted.
    ['containers', [n], [n], ['n', 'c', 'd']],
    ['containers', [n], [n, remove('c')], ['d', 'n']],
    ['containers', [n, m], [n, m, remove('d')], ['c', 'n', 'm']],
    // Other directives than deletions stand before the last item that the order names.
    ['containers', [c], [replace], []],
    ['containers', [n], [replace, n], ['n']],
    ['containers', [n, d], [n, replace], ['n']],
    ['containers', [n], [n, replace], 'The order in patch list'],
    ['containers', [c], [c, { name: 'd', $patch: 'merge' }], 'The order in patch list'],
    ['initContainers', [n], [n, replace], 'The order in patch list'],
    ['finalizers', ['a/c'], [replace], 'list element types are not identical'],
    ['containers', [null], [], 'value for key 0 is not a map'],
    ['containers', [c, 'd'], [c], 'value for key 1 is not a map'],
    ['containers', [c, d, null], [c], 'expected a map[string]interface {}, but received a %!s(<nil>)'],
    ['initContainers', [], [], 'no elements in any of the given slices'],
    ['initContainers', [null], [], 'no elements in any of the given slices'],
    ['initContainers', [], [replace], []],
    ['initContainers', [n], [remove('n')], []],
  ]
  for (const [field, order, list, made] of cases) {
    const patch = { [`$setElementOrder/${field}`]: order, [field]: list }
    const merged = () => smp(field === 'finalizers' ? { metadata: patch } : podSpec(patch))
    const label = JSON.stringify(patch)
    if (typeof made === 'string') {
      const [code, message] = refusal(merged) as [number, string]
      assert.equal(code, 500, label)
      assert.ok(message.startsWith(made), `${label}: ${message}`)
    } else {
      const items: Json[] = (field === 'finalizers' ? merged().metadata.finalizers : specOf(merged())[field]) ?? []
      assert.deepEqual(
        items.map((item) => (typeof item === 'string' ? item : (item as { name: string }).name)),
        made,
        label,
      )
    }
  }
})

test('$patch replaces and deletes objects and items', () => {
  assert.deepEqual(smp({ metadata: { labels: { $patch: 'replace', q: '1' } } }).metadata.labels, { q: '1' })
  assert.deepEqual(smp({ metadata: { labels: { $patch: 'delete', q: '1' } } }).metadata.labels, {})
  const containers = (patch: Json) => specOf(smp(podSpec({ containers: patch }))).containers
  assert.deepEqual(containers([{ name: 'c', image: 'x' }, { $patch: 'replace' }]), [{ name: 'c', image: 'x' }])
  assert.deepEqual(containers([{ name: 'c', $patch: 'delete' }]), [{ name: 'd', image: 'j' }])
  assert.equal(specOf(smp(podSpec({ affinity: { $patch: 'replace', nodeAffinity: {} } }))).affinity, undefined)
  assert.deepEqual(specOf(smp(podSpec({ initContainers: [{ name: 'n', $patch: 'delete' }] }))).initContainers, [])
})

test('$retainKeys clears the other fields', () => {
  const made = smp({ spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } })
  assert.deepEqual(made['spec'].strategy, { type: 'Recreate' })
  assert.deepEqual(
    refusal(() => smp({ spec: { strategy: { $retainKeys: [], type: 'Recreate' } } })),
    [400, 'invalid patch format of retainKeys'],
  )
})

test('a strategic merge patch is refused in the words of Kubernetes', () => {
  const cases: [Json, number, string][] = [
    [podSpec({ $setElementOrder: 1 }), 500, 'expected a []interface {}, but received a int64'],
    [podSpec({ '$setElementOrder/containers': null }), 500, 'expected a []interface {}, but received a %!s(<nil>)'],
    [
      podSpec({ '$setElementOrder/containers': [{ name: 'c' }], containers: [{ name: 'c' }, null] }),
      500,
      'expected a map[string]interface {}, but received a %!s(<nil>)',
    ],
    [
      podSpec({ '$setElementOrder/containers': [{ name: 'c' }], containers: [{ $patch: 'x' }] }),
      500,
      'unknown patch type: x in map: map[$patch:x]',
    ],
    [{ metadata: { $setElementOrder: ['a'] } }, 400, 'invalid patch format of setElementOrder list'],
    [{ metadata: { $deleteFromPrimitiveList: ['a'] } }, 400, 'invalid patch format of primitive list'],
    [
      { metadata: { '$setElementOrder/bogus': ['a/c'] } },
      500,
      'unable to find api field in struct ObjectMeta for the json field "bogus"',
    ],
    [
      podSpec({ securityContext: { $patch: 'merge', a: 1 } }),
      500,
      'unknown patch type: merge in map: map[$patch:merge a:1]',
    ],
    [
      podSpec({ containers: [{ name: 'c', $patch: 'merge' }] }),
      500,
      'merging lists cannot yet be specified in the patch',
    ],
    [podSpec({ containers: [{ image: 'x' }] }), 500, 'map: map[image:x] does not contain declared merge key: name'],
    [
      { metadata: { '$setElementOrder/labels': ['x'] } },
      500,
      'expected a []interface {}, but received a map[string]interface {}',
    ],
    [[], 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [
      { metadata: { labels: { x: 1 } } },
      422,
      ' "" is invalid: patch: Invalid value: "map[metadata:map[labels:map[x:1]]]": cannot convert int64 to string',
    ],
    [
      { spec: { replicas: 'x' } },
      422,
      ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": unrecognized type: int32',
    ],
    [
      podSpec({ containers: {} }),
      422,
      ' "" is invalid: patch: Invalid value: "map[spec:map[template:map[spec:map[containers:map[]]]]]": cannot restore slice from map',
    ],
  ]
  for (const [patch, code, message] of cases)
    assert.deepEqual(
      refusal(() => smp(patch)),
      [code, message],
    )
})

test('long lists are merged in time that grows with their length', () => {
  const [container] = (deployment as never as { spec: { template: { spec: { containers: JsonObject[] } } } }).spec
    .template.spec.containers
  const many = (value: string) => ({
    spec: {
      template: {
        spec: {
          containers: [{ ...container, env: Array.from({ length: 20_000 }, (_, i) => ({ name: `E${i}`, value })) }],
        },
      },
    },
  })
  const after = patched('strategic', many('2') as never, { ...deployment, ...many('1') } as never)
  assert.match(JSON.stringify(after), /"E19999","value":"2"/)
})
