/** The server of the page against a cluster: which requests it refuses, what it answers, and that a delete is the only thing it writes. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse, stringify } from 'yaml'
import type { KubeObject } from '../../src/api/object.ts'
import type { SceneObject } from '../../src/ui/protocol.ts'
import { type Stage, serve, startStage, type Visitor } from './stage.ts'

let stage: Stage
let visitor: Visitor
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const PODS = { group: '', version: 'v1', resource: 'pods' }
const HOSTILE = '<img src=x onerror=alert(1)>\u001b[2J\u202eevil\u0007'

before(async () => {
  stage = await startStage()
  visitor = await stage.visit()
})
after(() => stage.stop())

const make = (gvr: typeof CONFIG_MAPS, object: object) =>
  stage.cluster.client.resource(gvr).create(object as KubeObject)
const configMap = (name: string, metadata: object = {}) =>
  make(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata } })
const named = (name: string) => (objects: ReadonlyMap<string, SceneObject>) =>
  [...objects.values()].some((object) => object.name === name)
const asQuery = ({ group, version, resource, namespace, name }: SceneObject) =>
  new URLSearchParams({ group, version, resource, namespace, name }).toString()
const one = (objects: readonly SceneObject[], name: string) =>
  objects.find((object) => object.name === name) as SceneObject

/** With headers that fetch does not let through. */
const statusOf = (path: string, headers: Record<string, string>, method = 'GET') =>
  new Promise<number>((resolve, reject) => {
    const sent = plainRequest(`${stage.base}${path}`, { method, headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end()
  })

test('nothing is told without the session that a link opens, and a link opens one once', async () => {
  for (const path of ['/', '/page.js', '/api/session', '/api/watch?namespace=default', '/api/why', '/nowhere'])
    assert.equal((await fetch(`${stage.base}${path}`)).status, 401, path)
  const link = stage.ui.newLink()
  const first = await fetch(link)
  assert.equal(first.status, 200)
  assert.match(first.headers.get('set-cookie') ?? '', /HttpOnly; SameSite=Strict/)
  assert.equal((await fetch(link)).status, 401)
  assert.equal((await visitor.ask('/')).status, 200)
  assert.equal((await visitor.ask('/nowhere')).status, 404)
})

test('the cookie is for the folder of this page alone: other servers of the address do not get it, and outside nothing is told', async () => {
  const link = new URL(stage.ui.newLink())
  const cookie = (await fetch(link)).headers.get('set-cookie') ?? ''
  assert.match(link.pathname, /^\/[\w-]{43}\/$/)
  assert.ok(cookie.endsWith(`; Path=${link.pathname}`), cookie)
  const headers = { cookie: visitor.cookie }
  for (const path of ['/', '/page.js', '/api/session', `/${'x'.repeat(43)}/api/session`, link.pathname.slice(0, -1)])
    assert.equal((await fetch(`${stage.origin}${path}`, { headers })).status, 401, path)
})

test('other hosts and other pages are refused with a session too', async () => {
  const { cookie } = visitor
  const host = stage.origin.slice('http://'.length)
  assert.equal(await statusOf('/api/session', { cookie, host }), 200)
  assert.equal(await statusOf('/api/session', { cookie, host: 'evil.test' }), 421)
  assert.equal(await statusOf('/api/session', { cookie, host, origin: 'http://evil.test' }), 403)
  assert.equal(await statusOf('/api/session', { cookie, host, 'sec-fetch-site': 'cross-site' }), 403)
})

test('it listens at 127.0.0.1 alone: at no other address of this machine is there anything', async () => {
  const { port } = new URL(stage.origin)
  // 127.0.0.2 is an address of every machine with Linux; elsewhere one of the machine's own has to do.
  const others = Object.values(networkInterfaces()).flatMap((ones) => ones ?? [])
  const outer = others.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address)
  for (const address of [...(process.platform === 'linux' ? ['127.0.0.2'] : []), ...outer])
    await assert.rejects(fetch(`http://${address}:${port}/`), TypeError, address)
})

test('a question without the session token is refused: no page but its own asks, and none deletes', async () => {
  const { uid = '' } = (await configMap('kept')).metadata
  const question = { ...CONFIG_MAPS, namespace: 'default', name: 'kept', uid, cascade: 'background' }
  const send = (headers: Record<string, string>) =>
    fetch(`${stage.base}/api/delete`, {
      method: 'POST',
      headers: { cookie: visitor.cookie, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(question),
    })
  assert.equal((await send({})).status, 403)
  assert.equal((await send({ 'x-skiff-csrf': (await stage.visit()).csrf })).status, 403)
  for (const path of ['/api/why', '/api/timeline?scope=default', '/api/namespaces'])
    assert.equal((await fetch(`${stage.base}${path}`, { headers: { cookie: visitor.cookie } })).status, 403, path)
  const form = await visitor.ask('/api/delete', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: JSON.stringify(question),
  })
  assert.equal(form.status, 400)
  await stage.cluster.client.resource(CONFIG_MAPS).namespace('default').get('kept')
})

test('every answer keeps a browser to this server: no other script, no frame, no type guessed', async () => {
  for (const path of ['/', '/page.js', '/api/session', '/nowhere']) {
    const { headers } = await visitor.ask(path)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/, path)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/)
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('access-control-allow-origin'), null)
  }
})

test('what is there is told, and each change of it, until it is gone', async () => {
  await configMap('passing', { finalizers: ['example.com/held'] })
  const maps = stage.cluster.client.resource(CONFIG_MAPS).namespace('default')
  const there = one(await visitor.until('default', named('passing')), 'passing')
  assert.deepEqual(there.finalizers, ['example.com/held'])
  assert.equal(there.deleted, undefined)
  const isGoing = visitor.until('default', (all) => one([...all.values()], 'passing')?.deleted !== undefined)
  await maps.delete('passing')
  await isGoing
  const isGone = visitor.until('default', (all) => all.size > 0 && !named('passing')(all))
  await maps.patch('passing', 'merge', { metadata: { finalizers: [] } })
  await isGone
})

test('pods and nodes tell their state, and a custom kind is there as soon as it is served', async () => {
  await make(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'runs', namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  const isRunning = (all: ReadonlyMap<string, SceneObject>) => one([...all.values()], 'runs')?.state === 'Running 1/1'
  const objects = await visitor.until('default', isRunning)
  const { node, health } = one(objects, 'runs')
  assert.equal(health, 'well')
  const on = one(objects, node ?? '')
  assert.deepEqual([on.state, on.nature], ['Ready', 'simulated'])

  const shops = { group: 'acme.test', version: 'v1', resource: 'shops' }
  const isShown = visitor.until('default', named('corner'))
  await make(
    { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'shops.acme.test' },
      spec: {
        group: 'acme.test',
        scope: 'Namespaced',
        names: { plural: 'shops', singular: 'shop', kind: 'Shop', listKind: 'ShopList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
  )
  for (;;) {
    const made = await make(shops, {
      apiVersion: 'acme.test/v1',
      kind: 'Shop',
      metadata: { name: 'corner', namespace: 'default' },
    }).catch(() => undefined)
    if (made !== undefined) break
    await stage.cluster.client.discover()
  }
  await isShown
})

test('of a Secret nothing of its values is told, by no question', async () => {
  const value = 'hunter2hunter2'
  const coded = Buffer.from(value).toString('base64')
  const applied = JSON.stringify({ data: { password: coded } })
  const { uid = '' } = (
    await make(
      { group: '', version: 'v1', resource: 'secrets' },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: 'keys',
          namespace: 'default',
          annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied },
        },
        data: { password: coded },
      },
    )
  ).metadata
  const objects = await visitor.until('default', named('keys'))
  const query = asQuery(one(objects, 'keys'))
  const question = {
    group: '',
    version: 'v1',
    resource: 'secrets',
    namespace: 'default',
    name: 'keys',
    uid,
    cascade: 'background',
  }
  const told = [
    JSON.stringify(objects),
    (await visitor.ask(`/api/why?${query}`)).text,
    (await visitor.ask(`/api/object?${query}`)).text,
    (await visitor.post('/api/plan', question)).text,
    (await visitor.post('/api/delete', question)).text,
    (await visitor.ask(`/api/timeline?scope=default&uid=${uid}&${query}`)).text,
  ]
  for (const text of told) {
    assert.match(text, /keys|labels|marked|gone/)
    assert.equal(text.includes(value) || text.includes(coded), false, text.slice(0, 300))
  }
})

test('a plan is made without a write, and the delete that it was for is done as asked, of that very object', async () => {
  const { uid: owner = '' } = (await configMap('owner')).metadata
  await configMap('owned', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner }] })
  const question = { ...CONFIG_MAPS, namespace: 'default', name: 'owner', uid: owner, cascade: 'orphan' }
  const before = stage.asked.length
  const { json: plan } = await visitor.post('/api/plan', question)
  assert.deepEqual(
    plan.goes.map(({ object }: { object: SceneObject }) => object.name),
    ['owner'],
  )
  assert.deepEqual(
    plan.orphaned.map(({ object }: { object: SceneObject }) => object.name),
    ['owned'],
  )
  assert.deepEqual(
    stage.asked.slice(before).filter((line) => !line.startsWith('GET ')),
    [
      'POST /apis/authentication.k8s.io/v1/selfsubjectreviews?dryRun=All',
      'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews?dryRun=All',
    ],
  )
  assert.equal((await visitor.post('/api/delete', { ...question, uid: 'another' })).status, 409)
  assert.equal((await visitor.post('/api/delete', question)).status, 200)
  const left = await visitor.until('default', (all) => !named('owner')(all) && named('owned')(all))
  assert.deepEqual(one(left, 'owned').owners, [])
  const { json: replay } = await visitor.ask(
    `/api/timeline?scope=default&uid=${owner}&${asQuery({ ...question, kind: '' } as never)}`,
  )
  assert.equal(replay.source, 'journal')
  assert.deepEqual(
    replay.steps.filter((step: { uid: string }) => step.uid === owner).map((step: { after: string }) => step.after),
    ['going', 'gone'],
  )
  const { json: endings } = await visitor.ask('/api/timeline?scope=default')
  assert.ok(endings.items.some(({ object }: { object: SceneObject }) => object.uid === owner))
})

test('why is told with the objects that each link speaks of', async () => {
  await configMap('stuck', { finalizers: ['example.com/none'] })
  await stage.cluster.client.resource(CONFIG_MAPS).namespace('default').delete('stuck')
  const stuck = one(await visitor.until('default', named('stuck')), 'stuck')
  const { json: why } = await visitor.ask(`/api/why?${asQuery(stuck)}`)
  assert.equal(why.verdict, 'nobody')
  assert.equal(why.chain.objects[0].name, 'stuck')
  const { json: survey } = await visitor.ask('/api/why')
  assert.ok(survey.items.some(({ object }: { object: SceneObject }) => object.name === 'stuck'))
})

test('details are asked for by name, whatever is legal in one, and of what is not there it is said', async () => {
  const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
  const name = 'a,b=c d'
  const metadata = { name, labels: { team: 'blue' } }
  await make(roles, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules: [] })
  const ask = (asked: string) => visitor.ask(`/api/object?${new URLSearchParams({ ...roles, name: asked })}`)
  const { status, json } = await ask(name)
  assert.equal(status, 200, json.message)
  assert.deepEqual(json.labels, [['team', 'blue']])
  const missing = await ask('a,b')
  assert.equal(missing.status, 404)
  assert.match(missing.json.message, /"a,b" not found/)
  for (const path of ['a/b', 'a%2Fb', '..', '']) assert.equal((await ask(path)).status, 400, path)
})

test('text that a terminal or a reader would take for something else is told by its code points', async () => {
  const pods = stage.cluster.client.resource(PODS).namespace('default')
  const containers = [{ name: 'c', image: 'i' }]
  const metadata = { name: 'hostile', namespace: 'default', finalizers: ['example.com/x'] }
  await make(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, schedulerName: 'none' } })
  await pods.patch('hostile', 'merge', { status: { reason: HOSTILE } }, { subresource: 'status' })
  const objects = await visitor.until(
    'default',
    (all) => one([...all.values()], 'hostile')?.state?.includes('evil') === true,
  )
  const { state } = one(objects, 'hostile')
  assert.equal(state, '<img src=x onerror=alert(1)>\\u001b[2J\\u202eevil\\u0007 0/1')
  const { status, text } = await visitor.ask(`/api/why?version=v1&name=x&resource=${encodeURIComponent('a\u202eb')}`)
  assert.equal(status, 422)
  assert.ok(!text.includes('\u202e') && text.includes('a\\\\u202eb'), text)
})

test('it has the rights of its kubeconfig: what may not be read is named, what may not be done is refused, what was seen to end is told', async () => {
  const { cluster } = stage
  const { client } = cluster
  const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
  const metadata = { name: 'reader', namespace: 'default' }
  await make(
    { group: '', version: 'v1', resource: 'serviceaccounts' },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  )
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }]
  await make(rbac('roles'), { apiVersion, kind: 'Role', metadata, rules })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' }
  const subjects = [{ kind: 'ServiceAccount', ...metadata }]
  await make(rbac('rolebindings'), { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects })
  const { body } = await client.raw('POST', '/api/v1/namespaces/default/serviceaccounts/reader/token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: {},
  })
  const folder = mkdtempSync(join(tmpdir(), 'skiff-ui-'))
  const config = parse(cluster.kubeconfig)
  config.users = [{ name: config.users[0].name, user: { token: JSON.parse(body).status.token } }]
  writeFileSync(join(folder, 'kubeconfig'), stringify(config), { mode: 0o600 })
  const served = await serve(join(folder, 'kubeconfig'))
  try {
    const reader = await served.visit()
    const { uid = '' } = (await configMap('seen')).metadata
    const ends = reader.until('default', (all) => named('seen')(all))
    const object = one(await ends, 'seen')
    assert.equal((await reader.ask('/api/namespaces')).status, 403)
    const refused = await reader.post('/api/delete', { ...object, cascade: 'background' })
    assert.equal(refused.status, 403)
    assert.match(refused.json.message, /cannot delete resource "configmaps"/)
    const isGone = reader.until('default', (all) => all.size > 0 && !named('seen')(all))
    await client.resource(CONFIG_MAPS).namespace('default').delete('seen')
    await isGone
    const { json } = await reader.ask('/api/timeline?scope=default')
    assert.equal(json.source, 'recording')
    assert.ok(
      json.items.some(
        (item: { object: SceneObject; state: string }) => item.object.uid === uid && item.state === 'gone',
      ),
    )
    assert.ok((await reader.unseen('default')).includes('secrets'))
  } finally {
    await served.stop()
    rmSync(folder, { recursive: true })
  }
})

test('what is no question is answered in one line', async () => {
  const bad: readonly (readonly [string, object])[] = [
    ['/api/delete', { ...CONFIG_MAPS, namespace: 'default', name: '../secrets/x', uid: 'u', cascade: 'background' }],
    ['/api/delete', { ...CONFIG_MAPS, namespace: 'default', name: 'x', uid: 'u', cascade: 'everything' }],
    ['/api/delete', { ...CONFIG_MAPS, namespace: 'default', name: 'x', cascade: 'orphan' }],
    [
      '/api/plan',
      { ...CONFIG_MAPS, namespace: 'default', name: 'x', uid: 'u', cascade: 'orphan', gracePeriodSeconds: -1 },
    ],
    ['/api/plan', [1]],
  ]
  for (const [path, body] of bad) {
    const { status, json } = await visitor.post(path, body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(json.message, /^[^\n]+$/)
  }
  assert.equal((await visitor.ask('/api/why?resource=nothings&version=v1&name=x')).status, 422)
  assert.equal((await visitor.ask('/api/nothing')).status, 404)
  assert.equal((await visitor.post('/api/plan', 'x'.repeat(70_000))).status, 413)
})
