import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Attempt, startTarget, type Target } from './attacker.ts'

let target: Target
before(async () => {
  target = await startTarget()
})
after(() => target?.stop())

const NS = '/api/v1/namespaces/attacked'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ref = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })

async function isAlive(): Promise<void> {
  const { code, body } = await target.asAdmin('GET', '/readyz')
  assert.equal(`${code} ${body}`, '200 ok', 'the server must live on')
}

// What somebody with an identity and no rights tries: all of it is refused, whatever the path looks like.
const refused: Readonly<Record<string, Attempt>> = {
  'reading secrets': { path: `${NS}/secrets` },
  'reading secrets of all namespaces': { path: '/api/v1/secrets' },
  'a double slash': { path: '/api/v1//secrets' },
  'a dot segment': { path: '/api/v1/namespaces/attacked/../kube-system/secrets' },
  'an escaped dot segment': { path: '/api/v1/namespaces/attacked/%2e%2e/kube-system/secrets' },
  'an escaped slash': { path: '/api/v1/namespaces/attacked%2f..%2fkube-system/secrets' },
  'health in front': { path: '/healthz/../api/v1/secrets' },
  'health in front, escaped': { path: '/healthz/%2e%2e/api/v1/secrets' },
  'readyz behind': { path: '/api/v1/secrets/readyz' },
  'upper case': { path: '/API/v1/secrets' },
  'the old watch path': { path: '/api/v1/watch/secrets' },
  metrics: { path: '/metrics' },
  'a profile': { path: '/debug/pprof/heap' },
  'logs of the host': { path: '/logs/../etc/passwd' },
  'the proxy of a node': { path: '/api/v1/nodes/n/proxy/' },
  'the proxy of a service': { path: '/api/v1/namespaces/kube-system/services/https:kubernetes:/proxy/' },
  exec: { method: 'POST', path: `${NS}/pods/p/exec?command=sh` },
  'a token of another account': {
    method: 'POST',
    path: '/api/v1/namespaces/kube-system/serviceaccounts/default/token',
    body: '{}',
  },
  'a binding of his own': {
    method: 'POST',
    path: `${RBAC}/clusterrolebindings`,
    body: JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'mine' },
      roleRef: ref('ClusterRole', 'cluster-admin'),
      subjects: [{ kind: 'ServiceAccount', name: 'nobody', namespace: 'attacked' }],
    }),
  },
  'a role that aggregates into admin': {
    method: 'POST',
    path: `${RBAC}/clusterroles`,
    body: JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'x', labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    }),
  },
  'changing cluster-admin': {
    method: 'PATCH',
    path: `${RBAC}/clusterroles/cluster-admin`,
    body: '{}',
    headers: { 'content-type': 'application/merge-patch+json' },
  },
  'approving a certificate': {
    method: 'PUT',
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval',
    body: '{}',
  },
  'a webhook that sees everything': {
    method: 'POST',
    path: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    body: '{}',
  },
  'an APIService': { method: 'POST', path: '/apis/apiregistration.k8s.io/v1/apiservices', body: '{}' },
  'deleting a namespace': { method: 'DELETE', path: '/api/v1/namespaces/kube-system' },
  'deleting all secrets': { method: 'DELETE', path: '/api/v1/namespaces/kube-system/secrets' },
  'another method in a header': {
    method: 'GET',
    path: '/api/v1/namespaces/kube-system',
    headers: { 'x-http-method-override': 'DELETE' },
  },
  'another path in a header': {
    path: '/healthzx',
    headers: { 'x-original-url': '/healthz', 'x-rewrite-url': '/healthz' },
  },
  'an impersonated administrator': {
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'kubernetes-admin', 'impersonate-group': 'system:masters' },
  },
  'impersonated groups': {
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'system:serviceaccount:attacked:nobody', 'impersonate-group': 'system:masters' },
  },
  'an impersonated controller': {
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'system:serviceaccount:kube-system:generic-garbage-collector' },
  },
  'an impersonated node': {
    path: `${NS}/secrets`,
    headers: { 'impersonate-user': 'system:node:n', 'impersonate-group': 'system:nodes' },
  },
  'front proxy headers': {
    path: `${NS}/secrets`,
    headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
  },
  'escalation by a review of himself': {
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    method: 'POST',
    body: '{}',
  },
}

for (const [what, attempt] of Object.entries(refused))
  test(`without rights there is no way in: ${what}`, async () => {
    const { code, body } = await target.attempt({ ...attempt, token: target.token })
    assert.ok([301, 400, 403, 404, 405].includes(code), `${code} ${body.slice(0, 300)}`)
    assert.ok(!body.includes('"kind":"SecretList"') && !body.includes('root:'), body.slice(0, 300))
  })

// What even an administrator's client may send by mistake or malice: a clear refusal, and the server lives on.
const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)
const configMap = (more: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},${more}}`
const yaml = { 'content-type': 'application/yaml' }
const hostile: Readonly<Record<string, Attempt>> = {
  'deep objects': { method: 'POST', path: `${NS}/configmaps`, body: deep('{"a":', '}', 200_000) },
  'deep lists': { method: 'POST', path: `${NS}/configmaps`, body: deep('[', ']', 500_000) },
  'deep lists inside an object': {
    method: 'POST',
    path: `${NS}/configmaps`,
    body: configMap(`"data":${deep('[', ']', 100_000)}`),
  },
  'deep YAML': { method: 'POST', path: `${NS}/configmaps`, body: deep('[', ']', 100_000), headers: yaml },
  'a YAML bomb': {
    method: 'POST',
    path: `${NS}/configmaps`,
    headers: yaml,
    body: `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((n, i) => `${n}: &${n} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`)
      .join('\n')}`,
  },
  'a YAML anchor to itself': { method: 'POST', path: `${NS}/configmaps`, body: 'a: &a [*a]', headers: yaml },
  'YAML with many keys and a complex one': {
    method: 'POST',
    path: `${NS}/configmaps`,
    body: '? [a, b]\n: c',
    headers: yaml,
  },
  'a body over 3 MiB': { method: 'POST', path: `${NS}/configmaps`, body: 'x'.repeat(4 * 1024 * 1024) },
  'a number too large': { method: 'POST', path: `${NS}/configmaps`, body: configMap(`"data":{"a":1e99999}`) },
  'a number of many digits': {
    method: 'POST',
    path: `${NS}/configmaps`,
    body: configMap(`"data":${'9'.repeat(100_000)}`),
  },
  'invalid UTF-8': {
    method: 'POST',
    path: `${NS}/configmaps`,
    body: Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe, 0xc0]), Buffer.from('"}')]),
  },
  'a null byte in a name': { method: 'GET', path: `${NS}/configmaps/a%00b` },
  'an escape that is none': { method: 'GET', path: `${NS}/configmaps/%zz` },
  'a name of 8 kB': { method: 'GET', path: `${NS}/configmaps/${'x'.repeat(8000)}` },
  'protobuf that is none': {
    method: 'POST',
    path: `${NS}/configmaps`,
    body: Buffer.from('k8s\0\xff\xff\xff\xff\xff', 'latin1'),
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
  },
  'protobuf that says it is long': {
    method: 'POST',
    path: `${NS}/configmaps`,
    body: Buffer.from([0x6b, 0x38, 0x73, 0, 0x12, 0xff, 0xff, 0xff, 0xff, 0x7f]),
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
  },
  'an unknown encoding': {
    method: 'POST',
    path: `${NS}/configmaps`,
    body: '{}',
    headers: { 'content-encoding': 'br', 'content-type': 'application/x-evil' },
  },
  'a selector of parentheses': {
    method: 'GET',
    path: `${NS}/pods?labelSelector=${encodeURIComponent('a in ('.repeat(2000))}`,
  },
  'a field selector of garbage': {
    method: 'GET',
    // Terms without a field select everything, as in Kubernetes; one about a field that is none is refused.
    path: `${NS}/pods?fieldSelector=${encodeURIComponent(`${',,,==,!='.repeat(500)},bogus==x`)}`,
  },
  'a continue token of garbage': { method: 'GET', path: `${NS}/pods?limit=1&continue=${'A'.repeat(5000)}` },
  'a negative limit': { method: 'GET', path: `${NS}/pods?limit=-1&continue=x` },
  'a resourceVersion of text': { method: 'GET', path: `${NS}/pods?resourceVersion=x` },
  'a huge resourceVersion': { method: 'GET', path: `${NS}/pods?resourceVersion=99999999999999999999999` },
  'a JSON patch to everywhere': {
    method: 'PATCH',
    path: `${NS}`,
    body: '[{"op":"copy","from":"","path":"/metadata/annotations"}]',
    headers: { 'content-type': 'application/json-patch+json' },
  },
  'a JSON patch that doubles': {
    method: 'PATCH',
    path: `${NS}`,
    body: JSON.stringify(Array(10_001).fill({ op: 'test', path: '/kind', value: 'Namespace' })),
    headers: { 'content-type': 'application/json-patch+json' },
  },
  'a patch of the prototype': {
    method: 'PATCH',
    path: `${NS}`,
    body: '[{"op":"add","path":"/__proto__/polluted","value":"yes"}]',
    headers: { 'content-type': 'application/json-patch+json' },
  },
  'a patch of the constructor': {
    method: 'PATCH',
    path: `${NS}`,
    body: '[{"op":"add","path":"/constructor/prototype/polluted","value":"yes"}]',
    headers: { 'content-type': 'application/json-patch+json' },
  },
  'an apply that is a list': {
    method: 'PATCH',
    path: `${NS}?fieldManager=m`,
    body: '[]',
    headers: { 'content-type': 'application/apply-patch+yaml' },
  },
  'many query parameters': { method: 'GET', path: `${NS}/pods?${'limit=x&'.repeat(1500)}` },
}

for (const [what, attempt] of Object.entries(hostile))
  test(`bad input is refused and the server lives on: ${what}`, async () => {
    const { code, body } = await target.attempt({ ...attempt, cert: target.admin })
    assert.ok((code >= 400 && code < 500) || code === 0, `${code} ${body.slice(0, 300)}`)
    await isAlive()
  })

// Names that mean something to JavaScript are plain data.
for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'])
  for (const [where, body] of Object.entries({
    data: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"p-"},"data":{"${name}":"x"}}`,
    labels: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"p-","labels":{"${name}":"x"}}}`,
    annotations: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"p-","annotations":{"${name}":"x"}}}`,
    root: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"p-"},"${name}":{"polluted":"yes"}}`,
  }))
    test(`${name} in ${where} pollutes nothing`, async () => {
      const { code, body: answer } = await target.asAdmin('POST', `${NS}/configmaps`, body)
      assert.ok(code === 201 || code === 400 || code === 422, `${code} ${answer}`)
      const plain = await target.asAdmin('POST', `${NS}/configmaps`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { generateName: 'clean-' },
      })
      assert.ok(!plain.body.includes('polluted') && !plain.body.includes('"x"'), plain.body)
      if (code === 201 && where !== 'root' && !/^__/.test(name)) assert.ok(answer.includes(`"${name}":"x"`), answer)
    })

// Requests as text, for what no client library would send.
const line = (text: string, ...headers: string[]) => `${[text, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`
const raw: Readonly<Record<string, string>> = {
  'two content lengths': `${line('POST /healthz HTTP/1.1', 'Content-Length: 5', 'Content-Length: 50')}hello`,
  'a length and chunks': `${line('POST /healthz HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\nGET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n\r\n`,
  'chunks spelled oddly': `${line('POST /healthz HTTP/1.1', 'Transfer-Encoding: xchunked')}0\r\n\r\n`,
  'a space before the colon': line('GET /healthz HTTP/1.1', 'Authorization : Bearer x'),
  'a header that goes on in the next line': line('GET /healthz HTTP/1.1', 'X-A: b\r\n c'),
  'a newline in a header': line('GET /healthz HTTP/1.1', 'X-A: b\nX-Remote-User: admin'),
  'headers of a megabyte': line('GET /healthz HTTP/1.1', `X-A: ${'a'.repeat(1024 * 1024)}`),
  'ten thousand headers': line('GET /healthz HTTP/1.1', ...Array.from({ length: 10_000 }, (_, i) => `X-${i}: a`)),
  'no method': line(' /healthz HTTP/1.1'),
  'a line of garbage': `${'\u0001\u0002\u0003'.repeat(50)}\r\n\r\n`,
  'HTTP/9': line('GET /healthz HTTP/9.9'),
  'an absolute form of another host': line('GET https://evil.example.com/api/v1/secrets HTTP/1.1'),
  CONNECT: line('CONNECT 127.0.0.1:22 HTTP/1.1'),
  TRACE: line('TRACE / HTTP/1.1', 'Authorization: Bearer secret'),
}

for (const [what, bytes] of Object.entries(raw))
  test(`the wire is not fooled: ${what}`, async () => {
    const answer = await target.raw(bytes)
    assert.ok(!answer.includes('SecretList') && !answer.includes('Bearer secret'), answer.slice(0, 300))
    assert.ok((answer.match(/^HTTP\/1\.1 2/gm) ?? []).length <= 1, answer.slice(0, 300))
    await isAlive()
  })

test('connections that never say a word do not keep others out', async () => {
  const silent = Array.from({ length: 300 }, () => net.connect(target.port, target.host).on('error', () => {}))
  await isAlive()
  for (const socket of silent) socket.destroy()
})

test('requests that come a byte at a time do not keep others out', async () => {
  const slow = Array.from({ length: 50 }, () => target.raw('GET /healthz HT', { quietMs: 1500 }))
  await isAlive()
  await Promise.all(slow)
})

/** A certificate with the administrator's names, signed by somebody else. */
function certificate(extra: readonly string[], days: string): { cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'foreign-'))
  try {
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
    const subject = ['-subj', '/O=system:masters/CN=kubernetes-admin']
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      'k',
      '-out',
      'c',
      '-days',
      days,
      ...subject,
      ...extra,
    )
    return { cert: readFileSync(join(folder, 'c'), 'utf8'), key: readFileSync(join(folder, 'k'), 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

for (const [what, extra] of Object.entries({
  'that signs itself': [],
  'that says it is an authority': ['-addext', 'basicConstraints=critical,CA:TRUE'],
  'for servers': ['-addext', 'extendedKeyUsage=serverAuth'],
}))
  test(`a foreign certificate ${what} is nobody's`, async () => {
    const { code } = await target.attempt({ path: `${NS}/secrets`, cert: certificate(extra, '1') })
    assert.ok(code === 401 || code === 0, String(code))
  })

test('nobody grants what he does not hold, by role, binding or aggregation', async () => {
  const user = { 'impersonate-user': 'climber' }
  await target.asAdmin('POST', `${RBAC}/namespaces/attacked/roles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'climber' },
    rules: [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'rolebindings'],
        verbs: ['create', 'get', 'update', 'patch'],
      },
    ],
  })
  await target.asAdmin('POST', `${RBAC}/namespaces/attacked/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'climber' },
    roleRef: ref('Role', 'climber'),
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'climber' }],
  })
  const role = (rules: unknown) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'up' },
    rules,
  })
  const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const tries = [
    target.asAdmin('POST', `${RBAC}/namespaces/attacked/roles`, role(everything), user),
    target.asAdmin(
      'POST',
      `${RBAC}/namespaces/attacked/roles`,
      role([{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]),
      user,
    ),
    target.asAdmin(
      'PATCH',
      `${RBAC}/namespaces/attacked/roles/climber`,
      { rules: everything },
      { ...user, 'content-type': 'application/merge-patch+json' },
    ),
    target.asAdmin(
      'PATCH',
      `${RBAC}/namespaces/attacked/roles/climber?fieldManager=m&force=true`,
      { ...role(everything), metadata: { name: 'climber' } },
      { ...user, 'content-type': 'application/apply-patch+yaml' },
    ),
    ...['cluster-admin', 'edit', 'system:kube-controller-manager'].map((name) =>
      target.asAdmin(
        'POST',
        `${RBAC}/namespaces/attacked/rolebindings`,
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: `b-${name.replaceAll(':', '-')}` },
          roleRef: ref('ClusterRole', name),
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'climber' }],
        },
        user,
      ),
    ),
  ]
  for (const { code, body } of await Promise.all(tries))
    assert.ok(code === 403 || (code === 201 && body.includes('"name":"edit"')), `${code} ${body.slice(0, 300)}`)
  assert.equal((await target.asAdmin('GET', `${NS}/secrets`, undefined, user)).code, 403)
})

test('a group with a comma in its name is one group, behind a proxy and impersonated', async () => {
  const whoami = async (attempt: Partial<Attempt>) => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const body = '{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}'
    const answer = await target.attempt({ method: 'POST', path, body, ...attempt })
    return JSON.parse(answer.body).status?.userInfo?.groups
  }
  const group = ['devs,system:masters', 'b, system:masters']
  const all = [...group, 'system:authenticated']
  const proxied = { 'x-remote-user': 'u', 'x-remote-group': group, 'x-remote-extra-%zz': 'x' }
  assert.deepEqual(await whoami({ cert: target.frontProxy, headers: proxied }), all)
  const impersonated = { 'impersonate-user': 'u', 'impersonate-group': group }
  assert.deepEqual(await whoami({ cert: target.admin, headers: impersonated }), all)
})
