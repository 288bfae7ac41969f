/**
 * More requests than are worked on at once, against a server as the command starts it: a webhook keeps those of one namespace
 * waiting for as long as a test wants.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { createAsker } from '../conformance/ask.ts'
import { type StartedCluster, startSkiff } from '../conformance/server.ts'

const file = (name: string) => readFileSync(new URL(`../conformance/hook/${name}`, import.meta.url))

/** A webhook that allows when the test says so, one review after the other; tells whose it was. */
async function startHook() {
  const held: { readonly user: string; readonly allow: () => void }[] = []
  let arrived = () => {}
  const server = createServer({ cert: file('cert.pem'), key: file('key.pem') }, (incoming, outgoing) => {
    let text = ''
    incoming.on('data', (chunk) => {
      text += chunk
    })
    incoming.on('end', () => {
      const { apiVersion, kind, request } = JSON.parse(text)
      const allow = () =>
        outgoing.end(JSON.stringify({ apiVersion, kind, response: { uid: request.uid, allowed: true } }))
      held.push({ user: request.userInfo.username, allow })
      arrived()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    held,
    /** Resolves when so many have arrived. */
    async until(count: number) {
      while (held.length < count)
        await new Promise<void>((resolve) => {
          arrived = resolve
        })
    },
    close: () => server.close(),
  }
}

let cluster: StartedCluster
let asker: ReturnType<typeof createAsker>
let hook: Awaited<ReturnType<typeof startHook>>

const ask = (m: string, p: string, body?: object, h: Record<string, string> = {}) =>
  asker.call({ m, p, h, ...(body === undefined ? {} : { b: JSON.stringify(body) }) })
const as = (user: string) => ({ 'impersonate-user': user })
const FLOW = '/apis/flowcontrol.apiserver.k8s.io/v1'

async function create(path: string, apiVersion: string, kind: string, name: string, more: object) {
  const answer = await ask('POST', path, { apiVersion, kind, metadata: { name }, ...more })
  assert.equal(answer.code, 201, answer.text)
}

before(async () => {
  hook = await startHook()
  const limits = ['--max-requests-inflight', '100', '--max-mutating-requests-inflight', '100']
  cluster = await startSkiff(['--components', 'apiserver', ...limits])
  asker = createAsker(cluster.kubeconfig)
  await create('/api/v1/namespaces', 'v1', 'Namespace', 'slow', {})
  await create(
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    'rbac.authorization.k8s.io/v1',
    'ClusterRoleBinding',
    'all',
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: ['greedy', 'modest', 'other'].map((name) => ({
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'User',
        name,
      })),
    },
  )
  await create(
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    'hold',
    {
      webhooks: [
        {
          name: 'hold.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          timeoutSeconds: 30,
          clientConfig: { url: hook.url, caBundle: file('cert.pem').toString('base64') },
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'slow' } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        },
      ],
    },
  )
  // One seat, and room for two of each flow.
  await create(
    `${FLOW}/prioritylevelconfigurations`,
    'flowcontrol.apiserver.k8s.io/v1',
    'PriorityLevelConfiguration',
    'narrow',
    {
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 1,
          borrowingLimitPercent: 0,
          limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 1, queueLengthLimit: 2 } },
        },
      },
    },
  )
  await create(`${FLOW}/flowschemas`, 'flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', 'narrow', {
    spec: {
      priorityLevelConfiguration: { name: 'narrow' },
      matchingPrecedence: 50,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: ['greedy', 'modest'].map((name) => ({ kind: 'User', user: { name } })),
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
        },
      ],
    },
  })
})
after(async () => {
  asker?.close()
  hook?.close()
  await cluster?.stop()
})

test('a client that asks too much is turned away with 429 and Retry-After, while all others are served', async () => {
  const path = '/api/v1/namespaces/slow/configmaps'
  const creates: Promise<{ code: number }>[] = []
  const send = async (user: string) => {
    const sent = ask(
      'POST',
      path,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: `${user}-` } },
      as(user),
    )
    creates.push(sent)
    return sent
  }
  /** Those that wait at the level, once they all do. */
  const waiting = async (count: number) => {
    for (;;) {
      const { text } = await ask('GET', '/metrics')
      if (text.includes(`current_inqueue_requests{flow_schema="narrow",priority_level="narrow"} ${count}\n`)) return
    }
  }
  void send('greedy')
  await hook.until(1)
  void send('greedy')
  void send('greedy')
  await waiting(2)

  const refused = await ask(
    'POST',
    path,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'no' } },
    as('greedy'),
  )
  assert.equal(refused.code, 429)
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal(refused.text, 'Too many requests, please try again later.\n')

  // Other levels, administrators and health have nothing to do with it.
  assert.equal((await ask('GET', '/api/v1/namespaces', undefined, as('other'))).code, 200)
  assert.equal((await ask('GET', '/api/v1/namespaces/slow')).code, 200)
  assert.equal((await ask('GET', '/livez', undefined, as('greedy'))).code, 200)

  // And who shares the level has his turn before those that the greedy one sent earlier.
  void send('modest')
  await waiting(3)
  for (let i = 0; i < 4; i++) {
    await hook.until(i + 1)
    hook.held[i]?.allow()
  }
  assert.deepEqual(
    (await Promise.all(creates)).map(({ code }) => code),
    [201, 201, 201, 201],
  )
  assert.deepEqual(
    hook.held.map(({ user }) => user),
    ['greedy', 'greedy', 'modest', 'greedy'],
  )
  const { text } = await ask('GET', '/metrics')
  assert.match(text, /rejected_requests_total\{flow_schema="narrow",priority_level="narrow",reason="queue-full"\} 1/)
})

test('a schema that names no level there is takes nothing, and says so', async () => {
  const spec = {
    priorityLevelConfiguration: { name: 'nowhere' },
    matchingPrecedence: 40,
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: 'other' } }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      },
    ],
  }
  await create(`${FLOW}/flowschemas`, 'flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', 'dangling', { spec })
  const dangling = async () => JSON.parse((await ask('GET', `${FLOW}/flowschemas/dangling`)).text)
  const uidOf = async () =>
    (await ask('GET', '/version', undefined, as('other'))).headers['x-kubernetes-pf-flowschema-uid']
  const made = await dangling()
  assert.notEqual(await uidOf(), made.metadata.uid)
  const condition = async (status: string) => {
    for (;;) {
      const found = (await dangling()).status?.conditions?.[0]
      if (found?.status === status) return found
    }
  }
  const { reason, message } = await condition('True')
  assert.equal(reason, 'NotFound')
  assert.match(message, /"nowhere" but there is no such object$/)
  await create(
    `${FLOW}/prioritylevelconfigurations`,
    'flowcontrol.apiserver.k8s.io/v1',
    'PriorityLevelConfiguration',
    'nowhere',
    {
      spec: { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } } },
    },
  )
  assert.equal((await condition('False')).reason, 'Found')
  assert.equal(await uidOf(), made.metadata.uid)
})

test('what every cluster has is whose it is in Kubernetes: who makes it, and who judges it', async () => {
  for (;;) {
    const { metadata } = JSON.parse((await ask('GET', `${FLOW}/flowschemas/exempt`)).text)
    const managers: string[] = metadata.managedFields.map(({ manager }: { manager: string }) => manager).sort()
    if (managers.length < 2) continue
    const of = (what: string) => `api-priority-and-fairness-config-${what}-v1`
    assert.deepEqual(managers, [of('consumer'), of('producer')])
    break
  }
  const { metadata } = JSON.parse((await ask('GET', '/api/v1/namespaces/default')).text)
  assert.deepEqual(Object.keys(metadata.managedFields[0].fieldsV1), ['f:metadata'])
})
