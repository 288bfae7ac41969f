/** The proxies of pods, services and nodes, to a server of this machine's own address (loopback is refused). */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createAsker } from '../../conformance/ask.ts'
import { type StartedCluster, startSkiff } from '../../conformance/server.ts'
import { addressBeyondLoopback, lacks } from '../machine.ts'
import { type StandIn, startKubeletStandIn } from './kubelet-stand-in.ts'

const address = addressBeyondLoopback() ?? ''

describe('proxies', { skip: lacks.address() }, () => {
  let cluster: StartedCluster
  let asker: ReturnType<typeof createAsker>
  let server: Server
  let kubelet: StandIn
  let port = 0
  const asked: IncomingMessage[] = []

  const ask = async (m: string, p: string, b?: unknown, h?: Record<string, string>) => {
    const { code, text, headers } = await asker.call({
      m,
      p,
      ...(b === undefined ? {} : { b: JSON.stringify(b) }),
      ...(h === undefined ? {} : { h }),
    })
    return { code, text, headers, message: () => JSON.parse(text).message as string }
  }
  const made = async (path: string, object: object) => {
    const { code, text } = await ask('POST', path, object)
    assert.equal(code, 201, text)
  }
  const status = (path: string, value: object) =>
    ask('PATCH', `${path}/status`, { status: value }, { 'content-type': 'application/merge-patch+json' })
  const PODS = '/api/v1/namespaces/default/pods'
  const SERVICES = '/api/v1/namespaces/default/services'
  const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

  before(async () => {
    server = createServer((request, response) => {
      asked.push(request)
      const url = request.url ?? ''
      if (url === '/moved') response.writeHead(302, { location: '/elsewhere?a=1' }).end()
      else if (url === '/away') response.writeHead(302, { location: 'http://example.com/x' }).end()
      else if (url === '/hops') response.writeHead(200, { connection: 'X-Hop', 'x-hop': '1', 'x-own': '1' }).end('hops')
      else if (url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/one">1</a>')
      else if (url === '/long') request.pipe(response.writeHead(200))
      else response.writeHead(418, { 'x-own': 'yes' }).end(`${request.method} ${url}`)
    })
    await new Promise<void>((resolve) => server.listen(0, address, resolve))
    port = (server.address() as AddressInfo).port
    kubelet = await startKubeletStandIn((request, response) => {
      response.end(`kubelet ${request.url}`)
      return true
    }, address)
    cluster = await startSkiff(['--components', 'apiserver', '--disable-admission-plugins', 'ServiceAccount'])
    asker = createAsker(cluster.kubeconfig)
    for (const name of ['real', 'make-believe']) {
      await made('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } })
      await status(`/api/v1/nodes/${name}`, {
        addresses: [{ type: 'InternalIP', address }],
        ...(name === 'real'
          ? { daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } } }
          : { nodeInfo: { containerRuntimeVersion: 'simulated://1' } }),
      })
      const spec = { nodeName: name, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }] }
      await made(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })
      await status(`${PODS}/${name}`, { podIP: address, podIPs: [{ ip: address }], phase: 'Running' })
    }
    const service = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec })
    const slice = (name: string, endpoint: object) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: 'web', port }],
      endpoints: [{ addresses: [address], ...endpoint }],
    })
    for (const [name, endpoint] of [
      ['of-a-pod', { targetRef: { kind: 'Pod', namespace: 'default', name: 'real' } }],
      ['of-nothing', {}],
      ['of-another', { targetRef: { kind: 'Pod', namespace: 'default', name: 'gone' } }],
      ['simulated', { targetRef: { kind: 'Pod', namespace: 'default', name: 'make-believe' } }],
    ] as const) {
      await made(SERVICES, service(name, { ports: [{ name: 'web', port: 80, targetPort: port }] }))
      await made(SLICES, slice(name, endpoint))
    }
    await made(
      SERVICES,
      service('outside', { type: 'ExternalName', externalName: address, ports: [{ name: 'web', port }] }),
    )
  })
  after(async () => {
    asker?.close()
    await cluster?.stop()
    server?.close()
    kubelet?.close()
  })

  test('a request goes on as it is, without its credentials, and its answer comes back', async () => {
    const { code, text, headers } = await ask(
      'PUT',
      `${PODS}/real/proxy/a/b%20c?x=1&y=%2F`,
      { k: 1 },
      { 'x-mine': 'yes' },
    )
    assert.deepEqual([code, text], [418, 'PUT /a/b%20c?x=1&y=%2F'])
    assert.equal(headers['x-own'], 'yes')
    const seen = asked.at(-1)?.headers ?? {}
    assert.deepEqual(
      [seen['x-mine'], seen['content-length'], seen.authorization, seen.host],
      ['yes', '7', undefined, `${address}:${port}`],
    )
  })

  test('what Connection names goes through neither way', async () => {
    const { headers } = await ask('GET', `${PODS}/real/proxy/hops`, undefined, { connection: 'X-Mine', 'x-mine': '1' })
    assert.deepEqual([headers['x-hop'], headers['x-own']], [undefined, '1'])
    assert.equal(asked.at(-1)?.headers['x-mine'], undefined)
  })

  test('a body comes back whole', async () => {
    const text = 'x'.repeat(1_000_000)
    assert.equal((await ask('POST', `${PODS}/http:real:${port}/proxy/long`, text)).text, JSON.stringify(text))
  })

  test('redirects and links of pages lead through the proxy, those to elsewhere do not', async () => {
    const moved = await ask('GET', `${PODS}/real/proxy/moved`)
    assert.deepEqual([moved.code, moved.headers['location']], [302, `${PODS}/real/proxy/elsewhere?a=1`])
    assert.equal((await ask('GET', `${PODS}/real/proxy/away`)).headers['location'], 'http://example.com/x')
    assert.equal((await ask('GET', `${PODS}/real/proxy/page`)).text, `<a href="${PODS}/real/proxy/one">1</a>`)
    const slash = await ask('GET', `${PODS}/real/proxy?q=1`)
    assert.deepEqual([slash.code, slash.headers['location']], [301, `${PODS}/real/proxy/?q=1`])
  })

  test('an encoded slash divides a path as another does, and what is asked for is told without detours', async () => {
    const told = async (path: string) => (await ask('GET', `${PODS}${path}`)).text
    for (const [path, asked] of [
      ['/real/proxy%2Fhealthz', '/healthz'],
      ['%2Freal/proxy/healthz', '/healthz'],
      ['/real/proxy/a%2Fb', '/a/b'],
      ['/real/proxy%2F', '/'],
      ['/real/proxy/a//b/', '/a/b/'],
      ['/real/proxy/a%2F%2Fb%2F', '/a/b/'],
      ['/real/proxy//a', '/a'],
      ['/real/proxy/%2e%2e/a', '/a'],
      ['/real/proxy/%252F', '/%252F'],
      ['/real/proxy/%3Fq%23%00%FF', '/%3Fq%23%00%FF'],
      ['/real/proxy/a+b;c=%3B,%26%C3%BC(!)%5B%22%7C@:$*', '/a+b;c=;,&%C3%BC%28%21%29%5B%22%7C@:$%2A'],
    ] as const)
      assert.equal(await told(path), `GET ${asked}`, path)
    assert.equal(await told('%2Freal%2Fproxy%2Fpage'), `<a href="${PODS}/real/proxy/one">1</a>`)
    const slash = await ask('GET', `${PODS}/real%2Fproxy?q=1`)
    assert.deepEqual([slash.code, slash.headers['location']], [301, `${PODS}/real/proxy/?q=1`])
  })

  test('admission is told the decoded path', async () => {
    const API = '/apis/admissionregistration.k8s.io/v1'
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/proxy'] }
    const validations = [
      { expression: 'false', messageExpression: `'<' + (has(object.path) ? object.path : '') + '>'` },
    ]
    const metadata = { name: 'paths' }
    const spec = { matchConstraints: { resourceRules: [rule] }, validations }
    await made(`${API}/validatingadmissionpolicies`, { metadata, spec })
    const binding = { metadata, spec: { policyName: 'paths', validationActions: ['Deny'] } }
    await made(`${API}/validatingadmissionpolicybindings`, binding)
    try {
      for (const [rest, told] of [
        ['', ''],
        ['/', '/'],
        ['/a//b/', '/a//b/'],
        ['/a%20b%2Fc', '/a b/c'],
        ['%2F%2Fx', '/x'],
        ['/%2e%2e/a', '/../a'],
        ['/%FF', '/\ufffd'],
      ])
        assert.equal(/<.*>/.exec((await ask('GET', `${PODS}/real/proxy${rest}`)).message())?.[0], `<${told}>`, rest)
    } finally {
      await ask('DELETE', `${API}/validatingadmissionpolicybindings/paths`)
    }
  })

  test('a service leads to its pods, by name and number of its port', async () => {
    for (const named of ['of-a-pod:web', 'of-a-pod:80', 'http:of-a-pod:web'])
      assert.equal((await ask('GET', `${SERVICES}/${named}/proxy/s`)).text, 'GET /s')
  })

  test('a service leads to nothing but its pods', async () => {
    for (const name of ['of-nothing', 'of-another', 'outside']) {
      const { code, message } = await ask('GET', `${SERVICES}/${name}:web/proxy/`)
      assert.deepEqual([code, message()], [503, `no endpoints available for service "${name}:web"`.replace(':web', '')])
    }
  })

  test('what has the address of a simulated pod is not asked', async () => {
    const before = asked.length
    for (const path of [`${PODS}/make-believe/proxy/`, `${SERVICES}/simulated:web/proxy/`]) {
      const { code, message } = await ask('GET', path)
      assert.equal(code, 503)
      assert.match(message(), /connection refused$/)
    }
    assert.equal((await ask('GET', '/api/v1/nodes/make-believe/proxy/pods')).code, 503)
    assert.equal(asked.length, before)
  })

  test('a node leads to its kubelet, as the API server', async () => {
    assert.equal((await ask('GET', '/api/v1/nodes/real/proxy/pods?a=b')).text, 'kubelet /pods?a=b')
    assert.equal(kubelet.clients.at(-1), 'kube-apiserver-kubelet-client')
    assert.equal((await ask('GET', `/api/v1/nodes/real:${port}/proxy/n`)).text, 'GET /n')
  })

  test('no address of this machine alone is led to, however it is written', async () => {
    for (const ip of [
      '127.0.0.1',
      '::1',
      '::ffff:127.0.0.1',
      '169.254.1.1',
      '0.0.0.0',
      'fe80::1',
      'localhost',
      '::1%lo',
    ]) {
      await status('/api/v1/nodes/real', { addresses: [{ type: 'InternalIP', address: ip }] })
      const { code, message } = await ask('GET', '/api/v1/nodes/real/proxy/pods')
      assert.deepEqual([ip, code, message()], [ip, 400, 'address not allowed'])
    }
  })

  test('what cannot be reached is said as Go says it', async () => {
    const { code, message } = await ask('GET', `${PODS}/real:1/proxy/`)
    assert.deepEqual(
      [code, message()],
      [503, `error trying to reach service: dial tcp ${address}:1: connect: connection refused`],
    )
  })
})
