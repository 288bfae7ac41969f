/** What is sent by mistake or malice: bodies, names and bytes on the wire. All of it is refused, and the server lives on. */
import assert from 'node:assert/strict'
import net from 'node:net'
import { after, before, test } from 'node:test'
import { type Attempt, startTarget, type Target } from './attacker.ts'

let target: Target
before(async () => {
  target = await startTarget()
})
after(() => target?.stop())

const NS = '/api/v1/namespaces/attacked'

async function isAlive(): Promise<void> {
  const { code, body } = await target.asAdmin('GET', '/readyz')
  assert.equal(`${code} ${body}`, '200 ok', 'the server must live on')
}

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
  'a timeout of a million digits': { method: 'GET', path: `/healthz?timeout=${'1'.repeat(1_000_000)}` },
  'a manager of nothing but control characters': {
    method: 'POST',
    path: `${NS}/configmaps?fieldManager=${'%01'.repeat(300_000)}`,
    body: configMap('"data":{}'),
  },
  'a certificate request of beginnings': {
    method: 'POST',
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    body: JSON.stringify({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'x' },
      spec: {
        signerName: 'example.com/x',
        usages: Array.from({ length: 50_000 }, (_, i) => i.toString(36)),
        request: Buffer.from('-----BEGIN A-----\n'.repeat(60_000)).toString('base64'),
      },
    }),
  },
  'a pod of equal spread constraints, ports and paths': {
    method: 'POST',
    path: `${NS}/pods`,
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x' },
      spec: {
        serviceAccountName: 'nobody',
        containers: [{ name: 'c', image: 'x', ports: Array(20_000).fill({ name: 'a', containerPort: 1 }) }],
        topologySpreadConstraints: Array(10_000).fill({
          maxSkew: 1,
          topologyKey: 'k',
          whenUnsatisfiable: 'DoNotSchedule',
        }),
        volumes: [{ name: 'v', configMap: { name: 'x', items: Array(10_000).fill({ key: 'a', path: 'a' }) } }],
      },
    }),
  },
  'a quota of scopes that are none': {
    method: 'POST',
    path: `${NS}/resourcequotas`,
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'x' },
      spec: { hard: { pods: '1' }, scopes: Array.from({ length: 50_000 }, (_, i) => `s${i}`) },
    }),
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
