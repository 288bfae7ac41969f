/** Annotations that are fields inside Kubernetes, by every way of writing an object: as recorded from Kubernetes 1.37. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../src/api/object.ts'
import { startTestApi } from './harness.ts'

const namespace = 'n'
const GENERATION = 'deprecated.daemonset.template.generation'
const ROLLBACK = 'deprecated.deployment.rollback.to'
const apps = `/apis/apps/v1/namespaces/${namespace}`
const pods = {
  metadata: { labels: { a: 'b' } },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
}
const spec = { selector: { matchLabels: { a: 'b' } }, template: pods }

async function setup() {
  const api = await startTestApi()
  await api.namespace(namespace)
  const body = (kind: string, name: string, annotations: Fields, rest: Fields = { spec }) => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, annotations },
    ...rest,
  })
  return { api, body }
}

for (const [kind, resource, name, problem] of [
  ['DaemonSet', 'daemonsets', GENERATION, ''],
  ['Deployment', 'deployments', ROLLBACK, `failed to parse annotation[${ROLLBACK}]=x as int64: `],
] as const) {
  const words = `${problem}strconv.ParseInt: parsing "x": invalid syntax`

  test(`a ${kind} whose annotation is no number is refused by each verb in its way`, async () => {
    const { api, body } = await setup()
    assert.equal((await api.request('POST', `${apps}/${resource}`, body(kind, 'd', {}))).code, 201)
    const live = (await api.request('GET', `${apps}/${resource}/d`)).body
    const broken = { ...live, metadata: { ...live['metadata'], annotations: { [name]: 'x' } } }
    const patch = { metadata: { annotations: { [name]: 'x' } } }
    const bad = `${kind} in version "v1" cannot be handled as a ${kind}: ${words}`
    const at = `${apps}/${resource}/d`
    const applied = (of: string) => `failed to convert to unversioned (/${of}; apps/v1, Kind=${kind}): ${words}`
    const type = (contentType: string) => ({ 'content-type': `application/${contentType}` })
    for (const [answer, code, reason, message] of [
      [api.request('POST', `${apps}/${resource}`, body(kind, 'e', { [name]: 'x' })), 400, 'BadRequest', bad],
      [api.request('PUT', at, broken), 400, 'BadRequest', bad],
      [api.request('PUT', `${at}/status`, broken), 400, 'BadRequest', bad],
      [api.request('PATCH', at, patch, type('strategic-merge-patch+json')), 500, undefined, words],
      [api.request('PATCH', `${at}/status`, patch, type('strategic-merge-patch+json')), 500, undefined, words],
      [
        api.request('PATCH', at, patch, type('merge-patch+json')),
        422,
        'Invalid',
        /^ "" is invalid: patch: Invalid value: .*: .*invalid syntax$/,
      ],
      [
        api.request(
          'PATCH',
          `${at}?fieldManager=m&force=true`,
          body(kind, 'd', { [name]: 'x' }, {}),
          type('apply-patch+yaml'),
        ),
        500,
        undefined,
        applied('d'),
      ],
      [
        api.request(
          'PATCH',
          `${apps}/${resource}/e?fieldManager=m`,
          body(kind, 'e', { [name]: 'x' }),
          type('apply-patch+yaml'),
        ),
        500,
        undefined,
        applied('e'),
      ],
    ] as const) {
      const { code: got, body: status } = await answer
      assert.deepEqual([got, status['reason']], [code, reason], status['message'])
      if (typeof message === 'string') assert.equal(status['message'], message)
      else assert.match(status['message'], message)
    }
    await api.stop()
  })
}

test('the revision a Deployment is to go back to is part of its spec', async () => {
  const { api, body } = await setup()
  const at = `${apps}/deployments/d`
  const refused = await api.request('POST', `${apps}/deployments`, body('Deployment', 'd', { [ROLLBACK]: '-5' }))
  assert.equal(refused.code, 422)
  assert.equal(
    refused.body['message'],
    'Deployment.apps "d" is invalid: spec.rollback.version: Invalid value: -5: must be greater than or equal to 0',
  )
  const made = await api.request('POST', `${apps}/deployments`, body('Deployment', 'd', { [ROLLBACK]: '+3' }))
  assert.deepEqual(made.body['metadata'].annotations, { [ROLLBACK]: '3' })
  for (const text of ['7', '-5', '']) {
    const patch = { metadata: { annotations: { [ROLLBACK]: text, other: text } } }
    const status = await api.request('PATCH', `${at}/status`, patch, { 'content-type': 'application/merge-patch+json' })
    assert.equal(status.code, 200)
    assert.deepEqual(status.body['metadata'].annotations, { [ROLLBACK]: '3', other: text })
  }
  const partial = await api.request('GET', at, undefined, {
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  })
  assert.deepEqual(partial.body['metadata'].annotations, { other: '' })
  const patch = { metadata: { annotations: { [ROLLBACK]: '' } } }
  const cleared = await api.request('PATCH', at, patch, { 'content-type': 'application/merge-patch+json' })
  assert.deepEqual(cleared.body['metadata'].annotations, { other: '' })
  await api.stop()
})

test('annotations that once stood for init containers are dropped from pods and templates alone', async () => {
  const { api } = await setup()
  const old = ['alpha', 'beta'].flatMap((stage) =>
    ['init-containers', 'init-container-statuses'].map((name) => [`pod.${stage}.kubernetes.io/${name}`, 'x']),
  )
  const annotations = { ...Object.fromEntries(old), 'pod.beta.kubernetes.io/hostname': 'h' }
  const kept = { 'pod.beta.kubernetes.io/hostname': 'h' }
  const template = { ...pods, metadata: { ...pods.metadata, annotations } }
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'r', annotations },
    spec: { ...spec, template },
  }
  const { body: made } = await api.request('POST', `${apps}/replicasets`, set)
  assert.deepEqual(made['metadata'].annotations, annotations)
  assert.deepEqual(made['spec'].template.metadata.annotations, kept)
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', annotations }, spec: pods.spec }
  const { body: alone } = await api.request('POST', `/api/v1/namespaces/${namespace}/pods`, pod)
  assert.deepEqual(alone['metadata'].annotations, kept)
  assert.deepEqual(alone['metadata'].managedFields[0].fieldsV1['f:metadata'], {
    'f:annotations': { '.': {}, 'f:pod.beta.kubernetes.io/hostname': {} },
  })
  await api.stop()
})

test("an autoscaler's annotations that hold nothing, or that another version reads, are dropped", async () => {
  const { api } = await setup()
  const prefix = 'autoscaling.alpha.kubernetes.io/'
  const empty = {
    [`${prefix}metrics`]: 'x',
    [`${prefix}behavior`]: '{}',
    [`${prefix}conditions`]: '[]',
    [`${prefix}current-metrics`]: '[',
    [`${prefix}other`]: 'x',
  }
  const metrics = '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":5}}]'
  const scaled = { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' } }
  for (const [version, annotations, kept] of [
    ['v1', empty, { [`${prefix}other`]: 'x' }],
    ['v2', empty, { [`${prefix}other`]: 'x' }],
    ['v2', { [`${prefix}metrics`]: metrics }, undefined],
    ['v1', { [`${prefix}metrics`]: metrics }, { [`${prefix}metrics`]: metrics }],
  ] as const) {
    const apiVersion = `autoscaling/${version}`
    const { body } = await api.request(
      'POST',
      `/apis/${apiVersion}/namespaces/${namespace}/horizontalpodautoscalers?dryRun=All`,
      { apiVersion, kind: 'HorizontalPodAutoscaler', metadata: { name: 'h', annotations }, spec: scaled },
    )
    assert.deepEqual(body['metadata'].annotations, kept, body['message'])
    const owned = body['metadata'].managedFields[0].fieldsV1['f:metadata']?.['f:annotations']
    assert.deepEqual(Object.keys(owned ?? {}), (kept && ['.', ...Object.keys(kept).map((name) => `f:${name}`)]) || [])
  }
  await api.stop()
})
