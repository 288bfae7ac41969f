/** What an attacker writes who may write: expressions that never end, webhooks that call the server itself, hostile names. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTarget, type Target } from './attacker.ts'

let target: Target
before(async () => {
  target = await startTarget()
})
after(() => target?.stop())

const NS = '/api/v1/namespaces/attacked'
const ADMISSION = '/apis/admissionregistration.k8s.io/v1'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

async function isAlive(): Promise<void> {
  const { code, body } = await target.asAdmin('GET', '/readyz')
  assert.equal(`${code} ${body}`, '200 ok', 'the server must live on')
}

const definition = (plural: string, spec: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.attack.example.com` },
  spec: {
    group: 'attack.example.com',
    scope: 'Namespaced',
    names: { plural, kind: plural[0]?.toUpperCase() + plural.slice(1) },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
})
const numbers = { type: 'array', items: { type: 'integer' } }
const rule = (text: string, properties: object = { a: numbers, b: numbers }) => ({
  type: 'object',
  properties,
  'x-kubernetes-validations': [{ rule: text }],
})

// Refused when the definition is written.
const unbounded: Readonly<Record<string, object>> = {
  'loops in loops': rule('self.a.all(x, self.a.all(y, self.a.all(z, x + y + z > 0)))'),
  'a text in a text': rule('self.a.contains(self.b)', { a: { type: 'string' }, b: { type: 'string' } }),
  'a pattern from the object': rule('self.a.matches(self.b)', { a: { type: 'string' }, b: { type: 'string' } }),
  'a thousand brackets': rule(`${'('.repeat(1000)}true${')'.repeat(1000)}`),
  'a literal of a megabyte': rule(`"${'x'.repeat(1_000_000)}" == ""`),
  'a pattern that looks ahead': { type: 'string', pattern: '^(?=a)b' },
  'a pattern that looks back': { type: 'string', pattern: '(a)\\1' },
  'a pattern that repeats too often': { type: 'string', pattern: '((a{1000}){1000}){1000}' },
}
for (const [what, spec] of Object.entries(unbounded))
  test(`a definition is refused for ${what}`, async () => {
    const { code, body } = await target.asAdmin('POST', DEFINITIONS, definition('refused', spec))
    assert.equal(code, 422, body.slice(0, 300))
    await isAlive()
  })

// Written, and ended when it runs.
const bounded: Readonly<Record<string, { readonly spec: object; readonly value: unknown; readonly code: number }>> = {
  'patterns that backtrack elsewhere': {
    spec: { type: 'string', pattern: '^(a+)+$' },
    value: `${'a'.repeat(50_000)}!`,
    code: 422,
  },
  'two long lists': {
    spec: rule('self.a.all(x, self.b[0] == 0)', {
      a: { ...numbers, maxItems: 10_000 },
      b: { ...numbers, maxItems: 100_000 },
    }),
    value: { a: Array(10_000).fill(0), b: Array(100_000).fill(0) },
    code: 201,
  },
  'lists that are compared at every turn': {
    spec: rule('self.a.all(x, self.b == self.c)', {
      a: { ...numbers, maxItems: 1000 },
      b: { ...numbers, maxItems: 1000 },
      c: { ...numbers, maxItems: 1000 },
    }),
    value: { a: Array(1000).fill(0), b: Array(1000).fill(0), c: Array(1000).fill(0) },
    code: 201,
  },
}
for (const [i, [what, { spec, value, code: wanted }]] of Object.entries(bounded).entries())
  test(`a custom resource is judged in time: ${what}`, async () => {
    const plural = `judged${i}`
    const made = await target.asAdmin('POST', DEFINITIONS, definition(plural, spec))
    assert.equal(made.code, 201, made.body.slice(0, 500))
    const path = `/apis/attack.example.com/v1/namespaces/attacked/${plural}`
    // Established in a moment: a watch that ends waits for it without a clock.
    for (let n = 0; n < 50 && (await target.asAdmin('GET', path)).code !== 200; n++)
      await target.asAdmin('GET', `${DEFINITIONS}?watch=1&timeoutSeconds=1`)
    const object = {
      apiVersion: 'attack.example.com/v1',
      kind: `J${plural.slice(1)}`,
      metadata: { name: 'x' },
      spec: value,
    }
    const { code, body } = await target.asAdmin('POST', path, object)
    assert.equal(code, wanted, body.slice(0, 300))
    await isAlive()
  })

const doubling = Array.from({ length: 40 }, (_, i) => ({
  name: `v${i}`,
  expression: i === 0 ? '[object.metadata.name]' : `[variables.v${i - 1}, variables.v${i - 1}]`,
}))
const policies: Readonly<Record<string, { readonly kind: 'Mutating' | 'Validating'; readonly spec: object }>> = {
  'variables that double are compared': {
    kind: 'Validating',
    spec: { validations: [{ expression: '[variables.v39] == [[variables.v38, variables.v38]]' }] },
  },
  'variables that double are flattened': {
    kind: 'Validating',
    spec: { validations: [{ expression: 'variables.v39.flatten(100).size() > 0' }] },
  },
  'variables that double are patched in': {
    kind: 'Mutating',
    spec: {
      mutations: [
        {
          patchType: 'JSONPatch',
          jsonPatch: { expression: '[JSONPatch{op: "add", path: "/data", value: variables.v39}]' },
        },
      ],
    },
  },
  'variables that double are applied': {
    kind: 'Mutating',
    spec: {
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{data: Object.data{b: variables.v39}}' },
        },
      ],
    },
  },
  'a patch that copies itself': {
    kind: 'Mutating',
    spec: {
      mutations: [
        {
          patchType: 'JSONPatch',
          jsonPatch: {
            expression: `[${Array.from({ length: 60 }, (_, i) => `JSONPatch{op: "copy", from: "/metadata", path: "/metadata/x${i}"}`).join(', ')}]`,
          },
        },
      ],
    },
  },
}
for (const [i, [what, { kind, spec }]] of Object.entries(policies).entries())
  test(`a policy ends: ${what}`, async () => {
    const name = `endless-${i}`
    const collection = `${ADMISSION}/${kind.toLowerCase()}admissionpolicies`
    const bindings = `${ADMISSION}/${kind.toLowerCase()}admissionpolicybindings`
    const object = (suffix: string, more: object) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}AdmissionPolicy${suffix}`,
      metadata: { name },
      spec: more,
    })
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
    const more = kind === 'Mutating' ? { reinvocationPolicy: 'Never' } : {}
    const made = await target.asAdmin(
      'POST',
      collection,
      object('', { matchConstraints: { resourceRules }, variables: doubling, failurePolicy: 'Fail', ...more, ...spec }),
    )
    assert.equal(made.code, 201, made.body.slice(0, 500))
    const actions = kind === 'Mutating' ? {} : { validationActions: ['Deny'] }
    const bound = await target.asAdmin('POST', bindings, object('Binding', { policyName: name, ...actions }))
    assert.equal(bound.code, 201, bound.body.slice(0, 500))
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'p-' } }
    const answer = await target.asAdmin('POST', `${NS}/configmaps`, body)
    await target.asAdmin('DELETE', `${bindings}/${name}`)
    await target.asAdmin('DELETE', `${collection}/${name}`)
    assert.ok([403, 422, 500].includes(answer.code), `${answer.code} ${answer.body.slice(0, 300)}`)
    await isAlive()
  })

for (const kind of ['Mutating', 'Validating'] as const)
  test(`a ${kind} webhook that is the server itself, and concerns everything, fails and can be removed`, async () => {
    const collection = `${ADMISSION}/${kind.toLowerCase()}webhookconfigurations`
    const made = await target.asAdmin('POST', collection, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: 'loop' },
      webhooks: [
        {
          name: 'loop.attack.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          timeoutSeconds: 2,
          reinvocationPolicy: kind === 'Mutating' ? 'IfNeeded' : undefined,
          clientConfig: { url: `https://localhost:${target.port}${NS}/configmaps` },
          rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'], scope: '*' }],
        },
      ],
    })
    assert.equal(made.code, 201, made.body.slice(0, 300))
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'looped' } }
    const { code } = await target.asAdmin('POST', `${NS}/configmaps`, body)
    assert.equal((await target.asAdmin('DELETE', `${collection}/loop`)).code, 200)
    assert.equal(code, 500)
    await isAlive()
  })

// Names that mean something to JavaScript, where kinds have maps; JSON as text, so that they are keys of their own.
const maps: Readonly<Record<string, readonly [path: string, object: (map: string) => string]>> = {
  'data of a Secret': [`${NS}/secrets`, (map) => `"kind":"Secret","stringData":${map}`],
  'binary data': [`${NS}/configmaps`, (map) => `"kind":"ConfigMap","binaryData":${map}`],
  'a node selector': [
    `${NS}/pods`,
    (map) =>
      `"kind":"Pod","spec":{"serviceAccountName":"nobody","nodeSelector":${map},"containers":[{"name":"c","image":"i"}]}`,
  ],
  'limits of a container': [
    `${NS}/pods`,
    (map) =>
      `"kind":"Pod","spec":{"serviceAccountName":"nobody","containers":[{"name":"c","image":"i","resources":{"limits":${map}}}]}`,
  ],
  'a quota': [`${NS}/resourcequotas`, (map) => `"kind":"ResourceQuota","spec":{"hard":${map}}`],
  'a limit range': [
    `${NS}/limitranges`,
    (map) => `"kind":"LimitRange","spec":{"limits":[{"type":"Container","default":${map}}]}`,
  ],
  'the selector of a Service': [
    `${NS}/services`,
    (map) => `"kind":"Service","spec":{"selector":${map},"ports":[{"port":80}]}`,
  ],
  'labels of a template': [
    `/apis/apps/v1/namespaces/attacked/deployments`,
    (map) =>
      `"kind":"Deployment","spec":{"selector":{"matchLabels":${map}},"template":{"metadata":{"labels":${map}},"spec":{"containers":[{"name":"c","image":"i"}]}}}`,
  ],
  'parameters of a class': [
    '/apis/storage.k8s.io/v1/storageclasses',
    (map) => `"kind":"StorageClass","provisioner":"x.example.com/y","parameters":${map}`,
  ],
  'extras of a review': [
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    (map) =>
      `"kind":"SubjectAccessReview","spec":{"user":"u","extra":${map.replace('"1"', '["1"]')},"resourceAttributes":{"verb":"get","resource":"pods"}}`,
  ],
  'capacity of a volume': [
    '/api/v1/persistentvolumes',
    (map) =>
      `"kind":"PersistentVolume","spec":{"capacity":${map},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}`,
  ],
  'properties of a definition': [
    DEFINITIONS,
    (map) =>
      `"kind":"CustomResourceDefinition","spec":{"group":"attack.example.com","scope":"Namespaced","names":{"plural":"proto","kind":"Proto"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","default":${map},"properties":${map.replace('"1"', '{"type":"string","default":"x"}')}}}}}}]}`,
  ],
}
for (const [where, [path, object]] of Object.entries(maps))
  for (const name of ['__proto__', 'constructor', 'toString'])
    test(`${name} in ${where} pollutes nothing`, async () => {
      const version = path.startsWith('/apis/') ? path.split('/').slice(2, 4).join('/') : 'v1'
      const named = path === DEFINITIONS ? '"name":"proto.attack.example.com"' : '"generateName":"p-"'
      const text = `{"apiVersion":"${version}","metadata":{${named}},${object(`{"${name}":"1"}`)}}`
      const { code, body } = await target.asAdmin('POST', `${path}?dryRun=All`, text)
      assert.ok([201, 400, 422].includes(code), `${code} ${body.slice(0, 300)}`)
      const { body: clean } = await target.asAdmin('POST', `${NS}/configmaps?dryRun=All`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { generateName: 'clean-' },
      })
      assert.deepEqual(Object.keys(JSON.parse(clean)), ['kind', 'apiVersion', 'metadata'])
      await isAlive()
    })
