/** A server that is asked about the images of pods, as a Kubernetes v1.37.1 was heard to ask one (2026-11-27). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../src/api/object.ts'
import { asList, asObject, asText } from '../src/api/unchecked.ts'
import { type Cluster, startCluster } from '../src/cluster/index.ts'

const REVIEW = { apiVersion: 'imagepolicy.k8s.io/v1alpha1', kind: 'ImageReview' }
const folder = mkdtempSync(join(tmpdir(), 'skiff-images-'))
const asked: string[] = []
let answer: { readonly code: number; readonly body: JsonObject } = { code: 200, body: {} }
const hook = createServer((request, response) => {
  let text = `${request.url} `
  request.on('data', (data) => (text += String(data)))
  request.on('end', () => {
    asked.push(text)
    response.writeHead(answer.code, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
})
const says = (status: JsonObject) => {
  answer = { code: 200, body: { ...REVIEW, status } }
}

const clusters: Cluster[] = []
async function clusterWith(defaultAllow: boolean): Promise<Cluster> {
  const file = join(folder, `admission-${defaultAllow}.json`)
  const imagePolicy = {
    kubeConfigFile: join(folder, 'hook.json'),
    allowTTL: 50,
    denyTTL: -1,
    retryBackoff: 1,
    defaultAllow,
  }
  const plugins = [{ name: 'ImagePolicyWebhook', configuration: { imagePolicy } }]
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins }),
  )
  const cluster = await startCluster({
    storage: 'memory',
    components: ['apiserver'],
    enableAdmissionPlugins: ['ImagePolicyWebhook'],
    disableAdmissionPlugins: ['ServiceAccount'],
    security: {
      admissionControlConfigFile: file,
    },
  })
  clusters.push(cluster)
  return cluster
}

let strict: Cluster
before(async () => {
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  const server = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/x`
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster: { server } }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  }
  writeFileSync(join(folder, 'hook.json'), JSON.stringify(kubeconfig))
  strict = await clusterWith(false)
})
after(async () => {
  await Promise.all(clusters.map((cluster) => cluster.stop()))
  hook.closeAllConnections()
  hook.close()
  rmSync(folder, { recursive: true })
})

const PODS = '/api/v1/namespaces/default/pods'
async function create(cluster: Cluster, name: string, image: string) {
  const annotations = { 'a.image-policy.k8s.io/x': '1', other: '2', 'x.image-policy.k8s.io': '3' }
  const spec = { initContainers: [{ name: 'i', image: 'init:1' }], containers: [{ name: 'a', image }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, annotations }, spec }
  asked.length = 0
  const { status, body } = await cluster.client.raw('POST', PODS, pod)
  return { status, message: asText((JSON.parse(body) as JsonObject)['message']), asked: [...asked] }
}

test('a server is told of images, some annotations and the namespace, and what it allowed is kept', async () => {
  says({ allowed: true })
  const first = await create(strict, 'a1', 'a:1')
  assert.equal(first.status, 201)
  assert.deepEqual(first.asked, [
    `/x?timeout=30s {"kind":"ImageReview","apiVersion":"imagepolicy.k8s.io/v1alpha1","metadata":{},"spec":{"containers":[{"image":"a:1"},{"image":"init:1"}],"annotations":{"a.image-policy.k8s.io/x":"1"},"namespace":"default"},"status":{"allowed":false}}`,
  ])
  says({ allowed: false })
  const { status, asked } = await create(strict, 'a2', 'a:1')
  assert.deepEqual([status, asked.length], [201, 0])
})

test('what it refuses is forbidden, in its words if it has any; -1 keeps nothing', async () => {
  const FORBIDDEN = 'pods "b" is forbidden: '
  for (const [said, words] of [
    [{ allowed: false, reason: 'no' }, 'image policy webhook backend denied one or more images: no'],
    [{ allowed: false }, 'one or more images rejected by webhook backend'],
  ] as const) {
    says(said)
    const { status, message, asked } = await create(strict, 'b', 'b:1')
    assert.deepEqual([status, message, asked.length], [403, `${FORBIDDEN}${words}`, 1])
  }
})

test('an answer of no kind is taken for a review', async () => {
  answer = { code: 200, body: {} }
  const empty = await create(strict, 'g', 'g:1')
  assert.equal(empty.message, 'pods "g" is forbidden: one or more images rejected by webhook backend')
})

test('where it fails it is asked five times, and defaultAllow says what stands', async () => {
  answer = { code: 500, body: {} }
  const refused = await create(strict, 'c', 'c:1')
  assert.deepEqual([refused.status, refused.asked.length], [403, 5])
  const open = await clusterWith(true)
  assert.equal((await create(open, 'c', 'c:1')).status, 201)
  answer = { code: 404, body: {} }
  const { status, message, asked } = await create(strict, 'd', 'd:1')
  const words = 'pods "d" is forbidden: the server could not find the requested resource'
  assert.deepEqual([status, message, asked.length], [403, words, 1])
})

test('a change of a pod is judged anew, containers for looking into it by themselves, a status not', async () => {
  says({ allowed: true })
  await create(strict, 'e', 'e:1')
  says({ allowed: false, reason: 'pp' })
  asked.length = 0
  const { body } = await strict.client.raw('GET', `${PODS}/e`)
  const pod = JSON.parse(body) as JsonObject
  const put = async (path: string, spec: JsonObject, labels: JsonObject = {}) => {
    const metadata = { ...asObject(pod['metadata']), labels }
    return (
      await strict.client.raw('PUT', `${PODS}/e${path}`, {
        ...pod,
        metadata,
        spec: { ...asObject(pod['spec']), ...spec },
      })
    ).status
  }
  const image = { ...asObject(asList(asObject(pod['spec'])['containers'])[0]), image: 'e:2' }
  assert.equal(await put('', { containers: [image] }), 403)
  const looking = { name: 'e', image: 'e:3', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }
  assert.equal(await put('/ephemeralcontainers', { ephemeralContainers: [looking] }), 403)
  assert.match(asked[1] ?? '', /"spec":\{"containers":\[\{"image":"e:3"\}\],/)
  assert.equal(await put('/status', {}), 200)
  assert.equal(asked.length, 2)
})
