import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer as createWebServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { after, test } from 'node:test'
import { liveRuntime } from '../../../base/live-runtime.ts'
import { hookReachOf, type Pod } from '../../pod.ts'
import type { ContainerConfig, PodSandboxConfig, ProbeAction } from '../runtime.ts'
import { connect, dialFailure } from './connection.ts'
import { createCriRuntime } from './cri-runtime.ts'
import { type Answers, StandInRefusal, startRuntimeStandIn } from './stand-in.ts'

const runtime = liveRuntime()

async function stage(answers: Answers, family: 'IPv4' | 'IPv6' = 'IPv4') {
  const standIn = await startRuntimeStandIn(answers)
  const connection = connect(runtime.clock, standIn.endpoint, 'runtime')
  after(() => {
    connection.close()
    standIn.close()
  })
  const cri = createCriRuntime(runtime, {
    family,
    connection,
    cluster: 'c1',
    nodeName: 'n1',
    terminationMessage: async ({ exit_code }) => (exit_code === 3 ? 'left' : ''),
  })
  return { cri, asked: standIn.asked }
}

const sandbox: PodSandboxConfig = {
  metadata: { name: 'p', namespace: 'ns', uid: 'u', attempt: 0 },
  hostname: 'p',
  labels: { app: 'a', 'io.kubernetes.pod.uid': 'forged', 'skiff.dev/cluster': 'forged' },
  annotations: { note: 'x' },
  hostNetwork: false,
  real: {
    logDirectory: '/var/log/pods/ns_p_u',
    dns: { servers: ['1.1.1.1'], searches: ['s'], options: ['ndots:5'] },
    portMappings: [{ protocol: 'TCP', container_port: 80, host_port: 8080, host_ip: '' }],
    runtimeHandler: 'kata',
    linux: {
      cgroup_parent: '/skiff-c1/burstable/podu',
      sysctls: { 'net.core.somaxconn': '9' },
      security_context: {
        namespace_options: { network: 'POD', ipc: 'POD', pid: 'CONTAINER' },
        privileged: false,
        supplemental_groups: [7],
        seccomp: { profile_type: 'RuntimeDefault' },
      },
    },
  },
}

const container: ContainerConfig = {
  metadata: { name: 'c', attempt: 2 },
  image: 'busybox',
  command: ['sh'],
  args: ['-c', 'true'],
  workingDir: '/w',
  envs: { A: 'ä' },
  mounts: [{ containerPath: '/v', volume: 'v', hostPath: '/host/v', readOnly: true }],
  labels: { 'io.kubernetes.pod.uid': 'u' },
  annotations: {},
  runsToCompletion: false,
  real: {
    logPath: 'c/2.log',
    tty: false,
    stdin: true,
    stdinOnce: true,
    devices: [],
    cdiDevices: ['example.test/kind=a'],
    stopSignal: 'SIGRTMIN+1',
    sandbox,
    linux: {
      resources: { cpu_shares: 102, memory_limit_in_bytes: 67_108_864, oom_score_adj: 999 },
      security_context: {
        namespace_options: { network: 'POD', ipc: 'POD', pid: 'CONTAINER' },
        privileged: false,
        supplemental_groups: [],
        run_as_user: { value: 1000 },
        masked_paths: ['/proc/kcore'],
        readonly_paths: [],
      },
    },
  },
}

test('a sandbox is asked for with the labels by which it is found again, which a pod cannot forge', async () => {
  const { cri, asked } = await stage({ RunPodSandbox: () => ({ pod_sandbox_id: 's1' }) })
  assert.equal(await cri.runPodSandbox(sandbox), 's1')
  const { config, runtime_handler } = asked[0]!.request as never as {
    config: Record<string, unknown>
    runtime_handler: string
  }
  assert.equal(runtime_handler, 'kata')
  assert.deepEqual(
    { ...(config['labels'] as object) },
    {
      app: 'a',
      'io.kubernetes.pod.name': 'p',
      'io.kubernetes.pod.namespace': 'ns',
      'io.kubernetes.pod.uid': 'u',
      'skiff.dev/cluster': 'c1',
      'skiff.dev/node': 'n1',
    },
  )
  assert.equal(config['log_directory'], '/var/log/pods/ns_p_u')
  assert.deepEqual(config['dns_config'], sandbox.real?.dns)
  const linux = config['linux'] as { cgroup_parent: string; security_context: { supplemental_groups: number[] } }
  assert.equal(linux.cgroup_parent, '/skiff-c1/burstable/podu')
  assert.deepEqual(linux.security_context.supplemental_groups, [7])
})

test('a container is asked for with its command, variables, mounts, limits and user', async () => {
  const { cri, asked } = await stage({ CreateContainer: () => ({ container_id: 'c1' }) })
  assert.equal(await cri.createContainer('s1', container), 'c1')
  const { pod_sandbox_id, config } = asked[0]!.request as never as {
    pod_sandbox_id: string
    config: Record<string, unknown>
  }
  assert.equal(pod_sandbox_id, 's1')
  const { envs, mounts, linux, metadata, command, args, log_path, stdin_once, stop_signal } = config as Record<
    string,
    unknown
  >
  assert.deepEqual({ ...(metadata as object) }, { name: 'c', attempt: 2 })
  assert.deepEqual(
    [command, args, log_path, stdin_once, stop_signal],
    [['sh'], ['-c', 'true'], 'c/2.log', true, 'SIGNAL_SIGRTMINPLUS1'],
  )
  assert.deepEqual(JSON.parse(JSON.stringify(config['CDI_devices'])), [{ name: 'example.test/kind=a' }])
  const [env] = envs as { key: string; value: Buffer }[]
  assert.deepEqual([env?.key, env?.value.toString()], ['A', 'ä'])
  const [mount] = mounts as { container_path: string; host_path: string; readonly: boolean; propagation: string }[]
  assert.deepEqual(
    [mount?.container_path, mount?.host_path, mount?.readonly, mount?.propagation],
    ['/v', '/host/v', true, 'PROPAGATION_PRIVATE'],
  )
  const { resources, security_context } = linux as never as {
    resources: { cpu_shares: number; memory_limit_in_bytes: number }
    security_context: { run_as_user: { value: number }; masked_paths: string[] }
  }
  assert.deepEqual([resources.cpu_shares, resources.memory_limit_in_bytes], [102, 67_108_864])
  assert.deepEqual([security_context.run_as_user.value, security_context.masked_paths], [1000, ['/proc/kcore']])
})

test('only what has the labels of this cluster and node is asked for, and a status is read once for each state', async () => {
  let state = 'CONTAINER_RUNNING'
  const one = { id: 'c1', pod_sandbox_id: 's1', metadata: { name: 'c', attempt: 1 }, created_at: 1e15, labels: {} }
  const { cri, asked } = await stage({
    ListContainers: () => ({ containers: [{ ...one, state }] }),
    ContainerStatus: () => ({
      status: {
        ...one,
        state,
        started_at: 2e15,
        finished_at: 3e15,
        exit_code: state === 'CONTAINER_EXITED' ? 3 : 0,
        reason: 'Error',
      },
    }),
  })
  const [running] = await cri.listContainers({})
  await cri.listContainers({})
  assert.deepEqual([running?.state, running?.startedAt, running?.metadata.attempt], ['running', 2e9, 1])
  state = 'CONTAINER_EXITED'
  const [exited] = await cri.listContainers({ labels: { 'io.kubernetes.pod.uid': 'u' } })
  assert.deepEqual([exited?.state, exited?.exitCode, exited?.message, exited?.finishedAt], ['exited', 3, 'left', 3e9])
  assert.deepEqual(
    asked.map(({ method }) => method),
    ['ListContainers', 'ContainerStatus', 'ListContainers', 'ListContainers', 'ContainerStatus'],
  )
  const { filter } = asked[3]!.request as never as { filter: { label_selector: Record<string, string> } }
  assert.deepEqual(
    { ...filter.label_selector },
    { 'skiff.dev/cluster': 'c1', 'skiff.dev/node': 'n1', 'io.kubernetes.pod.uid': 'u' },
  )
})

test('a container that is gone meanwhile is passed over; any other failure is told in the runtime’s words', async () => {
  const one = {
    id: 'c1',
    pod_sandbox_id: 's1',
    metadata: { name: 'c', attempt: 1 },
    created_at: 1,
    state: 'CONTAINER_RUNNING',
  }
  const { cri } = await stage({
    ListContainers: () => ({ containers: [one] }),
    ContainerStatus: () => {
      throw new StandInRefusal('NOT_FOUND', 'no such container')
    },
    StopContainer: () => {
      throw new StandInRefusal('NOT_FOUND', 'no such container')
    },
    StartContainer: () => {
      throw new StandInRefusal('UNKNOWN', 'exec: "nope": executable file not found')
    },
  })
  assert.deepEqual(await cri.listContainers({}), [])
  await cri.stopContainer('c1', 2)
  await assert.rejects(cri.startContainer('c1'), {
    name: 'RuntimeError',
    message: 'exec: "nope": executable file not found',
  })
})

test('an image is pulled with each of the credentials in turn, never without where there are some, and all failures are told', async () => {
  const { cri, asked } = await stage({
    PullImage: ({ auth }: { auth: { username: string } | null }) => {
      if (auth === null || auth.username === 'good') return { image_ref: 'sha256:1' }
      throw new StandInRefusal('UNKNOWN', `denied ${auth.username}`)
    },
  })
  const { signal } = new AbortController()
  const of = (username: string) => ({ username, password: 'p', secret: { uid: 'u', namespace: 'n', name: username } })
  const answer = await cri.pullImage('i', {}, signal, [of('bad'), of('good')])
  assert.deepEqual(answer, { id: 'sha256:1', credentials: of('good') })
  assert.equal(asked.length, 2)
  await assert.rejects(cri.pullImage('i', {}, signal, [of('bad'), of('bad')]), { message: 'denied bad' })
  await assert.rejects(cri.pullImage('i', {}, signal, [of('bad'), of('worse')]), {
    message: '[denied bad, denied worse]',
  })
  assert.deepEqual(await cri.pullImage('i', {}, signal), { id: 'sha256:1' })
})

test('a command of a probe succeeds by its exit code, and its output is told', async () => {
  const { cri, asked } = await stage({
    ExecSync: ({ cmd }: { cmd: string[] }) => ({
      stdout: Buffer.from('o'),
      stderr: Buffer.from('e'),
      exit_code: cmd.length - 1,
    }),
  })
  const { signal } = new AbortController()
  const run = (command: string[]) =>
    cri.probe('c1', { kind: 'liveness', handler: { exec: { command } }, timeoutSeconds: 3 }, signal)
  assert.deepEqual(await run(['true']), { success: true, output: 'oe' })
  assert.deepEqual(await run(['a', 'b']), { success: false, output: 'oe' })
  assert.equal((asked[0]!.request as never as { timeout: number }).timeout, 3)
})

test('a command that cannot be run, or takes too long, is told apart', async () => {
  let code: 'UNKNOWN' | 'DEADLINE_EXCEEDED' = 'UNKNOWN'
  const { cri } = await stage({
    ExecSync: () => {
      throw new StandInRefusal(code, 'failed to start exec')
    },
  })
  const { signal } = new AbortController()
  const run = () =>
    cri.probe('c1', { kind: 'liveness', handler: { exec: { command: ['a', 'b'] } }, timeoutSeconds: 1 }, signal)
  const output = 'rpc error: code = Unknown desc = failed to start exec'
  assert.deepEqual(await run(), { success: false, output, errored: 'unknown' })
  code = 'DEADLINE_EXCEEDED'
  assert.deepEqual(await run(), { success: false, output: 'command timed out: "a b" timed out after 1s' })
})

test('gRPC’s health check of a port that nothing listens on fails as one that has no time left', async () => {
  const { cri } = await stage({})
  const { signal } = new AbortController()
  const action = {
    kind: 'readiness',
    handler: { grpc: { port: 1, service: '' } },
    timeoutSeconds: 5,
    podIP: '127.0.0.1',
  } as const
  const output = 'timeout: failed to connect service "127.0.0.1:1" within 5s: context deadline exceeded'
  assert.deepEqual(await cri.probe('c1', action, signal), { success: false, output })
})

test('a gRPC probe that no longer matters ends at once', async () => {
  const { cri } = await stage({})
  // It takes connections and says nothing.
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const abort = new AbortController()
  const handler = { grpc: { port, service: '' } }
  const probe = cri.probe('c1', { kind: 'liveness', handler, timeoutSeconds: 3600, podIP: '127.0.0.1' }, abort.signal)
  const [socket] = await once(silent, 'connection')
  abort.abort()
  await assert.rejects(probe, { name: 'AbortError' })
  socket.destroy()
  silent.close()
})

test('a probe that is refused a connection, or names no port, fails and says so', async () => {
  const { cri } = await stage({})
  const { signal } = new AbortController()
  const http = (port: number | string) =>
    cri.probe(
      'c1',
      {
        kind: 'readiness',
        handler: { httpGet: { port, path: '/x' } },
        timeoutSeconds: 5,
        podIP: '127.0.0.1',
        ports: [{ name: 'web', containerPort: 1 }],
      },
      signal,
    )
  const refused = 'Get "http://127.0.0.1:1/x": dial tcp 127.0.0.1:1: connect: connection refused'
  assert.deepEqual(await http('web'), { success: false, output: refused })
  assert.deepEqual(await http('none'), { success: false, output: 'port "none" not found', errored: 'unknown' })
  const elsewhere = { httpGet: { host: 'no..such', port: 80, path: '/' } }
  const { output } = await cri.probe('c1', { kind: 'readiness', handler: elsewhere, timeoutSeconds: 5 }, signal)
  assert.match(String(output), /^Get "http:\/\/no\.\.such:80\/": dial tcp: lookup no\.\.such on [^ ]+: no such host$/)
})

test('a probe that is refused a connection tells the address and the port that refused it, also of a name and after a redirect', async (t) => {
  const { cri } = await stage({})
  const { signal } = new AbortController()
  const server = createWebServer((_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/y' }).end())
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const outputOf = async (handler: ProbeAction['handler']) =>
    (await cri.probe('c1', { kind: 'readiness', handler, timeoutSeconds: 5, podIP: '127.0.0.1' }, signal)).output
  const { address, family } = await lookup('localhost')
  const refused = (at: string) => `dial tcp ${at}:1: connect: connection refused`
  const local = refused(family === 6 ? `[${address}]` : address)
  assert.deepEqual(
    [
      await outputOf({ httpGet: { port, path: '/x' } }),
      await outputOf({ httpGet: { host: 'localhost', port: 1, path: '/x' } }),
      await outputOf({ tcpSocket: { host: 'localhost', port: 1 } }),
      await outputOf({ tcpSocket: { port: 1 } }),
    ],
    [
      `Get "http://127.0.0.1:1/y": ${refused('127.0.0.1')}`,
      `Get "http://localhost:1/x": ${local}`,
      local,
      refused('127.0.0.1'),
    ],
  )
})

/** A server of HTTP on loopback that answers and notes all it is asked. */
async function web(answer: (asked: IncomingMessage, response: ServerResponse) => void) {
  const asked: IncomingMessage[] = []
  const server = createWebServer((request, response) => {
    asked.push(request)
    answer(request, response)
  }).listen(0, '127.0.0.1')
  after(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { cri } = await stage({})
  const get = (httpGet: object, kind: 'readiness' | 'postStart' = 'readiness', timeoutSeconds = 5) => {
    const handler = { httpGet: { port, ...httpGet } }
    return cri.probe('c1', { kind, handler, timeoutSeconds, podIP: '127.0.0.1' }, new AbortController().signal)
  }
  return { asked, get, port }
}

test('an HTTP probe escapes its path, leaves out the fragment and sends the headers that it names', async () => {
  const { asked, get } = await web((_, response) => response.end())
  const httpHeaders = [
    { name: 'X-Two', value: '1' },
    { name: 'X-Two', value: '2' },
    { name: 'Accept', value: '' },
    { name: 'Host', value: 'my.host' },
  ]
  assert.equal((await get({ path: '/a b/%20?c=d#e', httpHeaders })).success, true)
  const { url, headersDistinct, headers } = asked[0]!
  assert.equal(url, '/a%20b/%20?c=d')
  assert.deepEqual([headersDistinct['x-two'], headers.accept, headers.host], [['1', '2'], undefined, 'my.host'])
  assert.equal((await get({ path: 'plain' })).success, true)
  assert.deepEqual([asked[1]?.url, asked[1]?.headers.accept, asked[1]?.headers.connection], ['/plain', '*/*', 'close'])
  assert.equal(asked[1]?.headers['user-agent'], 'kube-probe/1.37')
  assert.equal((await get({ path: '/é?q=é \u{1f600}' })).success, true)
  assert.equal(asked[2]?.url, '/%C3%A9?q=%C3%A9%20%F0%9F%98%80')
})

test('redirects are followed on the same host; what ends elsewhere, or nowhere, is a success to be told of', async () => {
  const { asked, get } = await web((request, response) => {
    const to = { '/other': 'http://example.test/', '/loop': '/loop', '/found': '/here' }[request.url ?? '']
    const status = request.url === '/here' ? 200 : 302
    response.writeHead(status, to === undefined ? {} : { location: to }).end('body')
  })
  const warning = 'Probe terminated redirects, Response body: body'
  assert.deepEqual(await get({ path: '/other' }), { success: true, output: '', warning })
  assert.deepEqual(await get({ path: '/nowhere' }), { success: true, output: '', warning })
  assert.deepEqual(await get({ path: '/found' }), { success: true, output: '' })
  assert.deepEqual(await get({ path: '/other' }, 'postStart'), { success: true, output: '' })
  asked.length = 0
  assert.deepEqual(await get({ path: '/loop' }), { success: false, output: 'Get "/loop": stopped after 10 redirects' })
  assert.equal(asked.length, 11)
})

test('a probe whose answer does not come whole was not done, whatever its head said; a hook has been done, and a long answer is one', async () => {
  const { get } = await web((request, response) => {
    if (request.url === '/long') return void response.end('x'.repeat(100_000))
    response.writeHead(request.url === '/away' ? 302 : 200, { 'content-length': '9', location: 'http://example.test/' })
    response.write('x', () => request.url === '/cut' && response.destroy())
  })
  const late = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)'
  for (const [path, output] of [
    ['/mute', late],
    ['/away', late],
    ['/cut', 'unexpected EOF'],
  ] as const)
    assert.deepEqual(await get({ path }, 'readiness', 0.2), { success: false, output, errored: 'failure' }, path)
  assert.equal((await get({ path: '/mute' }, 'postStart', 0.2)).success, true)
  assert.equal((await get({ path: '/long' })).success, true)
})

test('a hook by HTTPS whose server speaks HTTP is done by HTTP, without credentials, whatever is answered; a probe fails', async () => {
  const { asked, get, port } = await web((request, response) => {
    response.writeHead(request.url === '/500?a=b' ? 500 : 302, { location: 'http://example.test/' }).end()
  })
  const httpHeaders = [
    { name: 'Authorization', value: 'Bearer x' },
    { name: 'X-A', value: 'b' },
  ]
  const https = { scheme: 'HTTPS', path: '/500?a=b', httpHeaders }
  assert.deepEqual(await get(https, 'postStart'), { success: true, output: '' })
  assert.deepEqual(await get({ ...https, path: '/redirected' }, 'postStart'), { success: true, output: '' })
  const hooks = asked.filter(({ method }) => method === 'GET')
  assert.deepEqual(
    hooks.map(({ url, headers }) => [url, headers.authorization, headers['x-a'], headers['user-agent']]),
    ['/500?a=b', '/redirected'].map((path) => [path, undefined, 'b', 'kube-lifecycle/1.37']),
  )
  assert.equal(
    (await get(https)).output,
    `Get "https://127.0.0.1:${port}/500?a=b": http: server gave HTTP response to HTTPS client`,
  )
})

test('a probe of what speaks neither HTTP nor TLS says so', async (t) => {
  let said = 'SSH-2.0-x\r\n'
  const ssh = createServer((socket) => void socket.resume().end(said)).listen(0, '127.0.0.1')
  t.after(() => void ssh.close())
  await once(ssh, 'listening')
  const { port } = ssh.address() as AddressInfo
  const { cri } = await stage({})
  const outputOf = async (httpGet: object) => {
    const action = { kind: 'readiness', handler: { httpGet: { port, ...httpGet } }, timeoutSeconds: 5 } as const
    return (await cri.probe('c1', { ...action, podIP: '127.0.0.1' }, new AbortController().signal)).output
  }
  assert.match(await outputOf({}), /^Get "http:\/\/127\.0\.0\.1:\d+\/": .*malformed HTTP response "SSH-2\.0-x"$/)
  assert.equal(
    await outputOf({ scheme: 'HTTPS' }),
    `Get "https://127.0.0.1:${port}/": tls: first record does not look like a TLS handshake`,
  )
  said = 'HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc'
  assert.match(await outputOf({}), /HTTP\/1\.x transport connection broken: bad Content-Length "-3"$/)
  said = `HTTP/1.1 200 OK\r\nContent-Length: a${' '.repeat(60_000)}b\r\n\r\n`
  const began = performance.now()
  assert.match(await outputOf({}), /bad Content-Length "a {60000}b"$/)
  assert.ok(performance.now() - began < 4000, 'a long one is told of at once')
})

test('a hook by HTTP of a pod without an address of its own, in the node’s network, must name its host', async () => {
  const { asked, get } = await web((_, response) => response.end())
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    spec: { hostNetwork: true, containers: [] },
  } as unknown as Pod
  const container = { name: 'c', image: 'i' }
  const { cri } = await stage({})
  const action = { kind: 'preStop', handler: { httpGet: { port: 1 } }, timeoutSeconds: 5 } as const
  const { success, output } = await cri.probe(
    'c1',
    { ...action, ...hookReachOf(pod, container, ['127.0.0.1']) },
    new AbortController().signal,
  )
  assert.deepEqual([success, output], [false, 'failed to find networking container'])
  assert.equal((await get({ host: '127.0.0.1' }, 'postStart')).success, true)
  assert.equal(asked.length, 1)
})

test('what is told of a hook’s command: how it ended, and apart what it printed', async () => {
  const { cri } = await stage({
    ExecSync: () => ({ stdout: Buffer.from('o'), stderr: Buffer.from('e'), exit_code: 5 }),
  })
  const action = { kind: 'postStart', handler: { exec: { command: ['a', 'b'] } }, timeoutSeconds: 5 } as const
  assert.deepEqual(await cri.probe('c1', action, new AbortController().signal), {
    success: false,
    output: "command 'a b' exited with 5: e",
    said: 'oe',
  })
})

test('images in use are those of all containers, also of others; images are removed by id', async () => {
  const one = { id: 'c', pod_sandbox_id: 's', metadata: { name: 'c', attempt: 0 }, created_at: 1, labels: {} }
  const { cri, asked } = await stage({
    ListContainers: () => ({ containers: [{ ...one, image: { image: 'i:1' }, image_ref: 'sha256:1' }] }),
    ListImages: () => ({ images: [{ id: 'sha256:2', repo_tags: ['j:1'], repo_digests: [], size: 5, pinned: true }] }),
    ImageFsInfo: () => ({
      image_filesystems: [
        { fs_id: { mountpoint: '/var/lib/images' }, used_bytes: { value: '70' }, inodes_used: { value: '3' } },
      ],
    }),
  })
  assert.deepEqual(await cri.real?.imagesInUse(), new Set(['i:1', 'sha256:1']))
  assert.equal(asked[0]?.request['filter'], null)
  assert.deepEqual(await cri.listImages?.(), [{ id: 'sha256:2', names: ['j:1'], size: 5, pinned: true }])
  assert.equal(await cri.real?.imageDirectory(), '/var/lib/images')
  assert.deepEqual(await cri.real?.imageUse(), { bytes: 70, inodes: 3 })
  await cri.real?.removeImage('sha256:2')
  const { image } = asked.at(-1)!.request as never as { image: { image: string } }
  assert.equal(image.image, 'sha256:2')
})

test('images and users of mounts are told as a kubelet tells them', async () => {
  const { cri, asked } = await stage({ CreateContainer: () => ({ container_id: 'c1' }) })
  const mapping = [{ host_id: 131_072, container_id: 0, length: 65_536 }]
  const users = { mode: 'POD', uids: mapping, gids: mapping } as const
  const image = { id: 'sha256:1', reference: 'example.test/i:1', subPath: 'd' }
  await cri.createContainer('s1', {
    ...container,
    mounts: [
      { containerPath: '/i', volume: 'i', readOnly: true, image, users: { mode: 'NODE' } },
      { containerPath: '/v', volume: 'v', hostPath: '/host/v', readOnly: false, users },
    ],
  })
  const { config } = asked[0]!.request as never as { config: { mounts: Record<string, unknown>[] } }
  const [first, second] = config.mounts
  assert.equal(first?.['host_path'], '')
  assert.equal(first?.['image_sub_path'], 'd')
  const { image: id, user_specified_image } = first!['image'] as { image: string; user_specified_image: string }
  assert.deepEqual([id, user_specified_image], ['sha256:1', 'example.test/i:1'])
  assert.deepEqual(first?.['uidMappings'], [])
  assert.deepEqual([second?.['uidMappings'], second?.['gidMappings']], [mapping, mapping])
  assert.equal(second?.['image'], null)
})

test('what a runtime tells of itself is what the node has; one that tells nothing has nothing', async () => {
  const { cri: old } = await stage({ Status: () => ({ status: { conditions: [] } }) })
  assert.deepEqual(await old.real?.features(), { handlers: [], supplementalGroupsPolicy: false })
  const { cri } = await stage({
    Status: () => ({
      runtime_handlers: [{ features: { recursive_read_only_mounts: true, user_namespaces: true } }, { name: 'runc' }],
      features: { supplemental_groups_policy: true },
    }),
  })
  assert.deepEqual(await cri.real?.features(), {
    handlers: [
      { name: '', recursiveReadOnlyMounts: true, userNamespaces: true },
      { name: 'runc', recursiveReadOnlyMounts: false, userNamespaces: false },
    ],
    supplementalGroupsPolicy: true,
  })
})

test('changes are told of this node’s own pods; a runtime that has no events says so', async () => {
  const sandboxOf = (labels: object) => ({ metadata: { uid: 'u' }, labels })
  const { cri } = await stage({
    GetContainerEvents: () => [
      {
        container_id: 'c1',
        container_event_type: 'CONTAINER_STOPPED_EVENT',
        pod_sandbox_status: sandboxOf({ 'skiff.dev/cluster': 'c1', 'skiff.dev/node': 'n1' }),
      },
      {
        container_id: 'c2',
        container_event_type: 'CONTAINER_STARTED_EVENT',
        pod_sandbox_status: sandboxOf({ 'skiff.dev/cluster': 'c1', 'skiff.dev/node': 'n2' }),
      },
      { container_id: 's1', container_event_type: 'CONTAINER_DELETED_EVENT' },
    ],
  })
  const told: unknown[] = []
  const { signal } = new AbortController()
  await cri.real?.events((event) => told.push(event), signal)
  assert.deepEqual(told, [
    { type: 'stopped', podUid: 'u', containerId: 'c1' },
    { type: 'deleted', podUid: '', containerId: 's1' },
  ])
  const { cri: old } = await stage({})
  await assert.rejects(old.real?.events(() => {}, signal) ?? Promise.resolve(), /GetContainerEvents/)
})

test('with whom a container began is told where the runtime tells it', async () => {
  const labels = { 'skiff.dev/cluster': 'c1', 'skiff.dev/node': 'n1' }
  const one = { id: 'c1', pod_sandbox_id: 's1', metadata: { name: 'c' }, state: 'CONTAINER_RUNNING', labels }
  const linux = { uid: 1000, gid: 0, supplemental_groups: [0, 2000] }
  const { cri } = await stage({
    ListContainers: () => ({ containers: [one] }),
    ContainerStatus: () => ({ status: { ...one, user: { linux } } }),
  })
  const [status] = await cri.listContainers({})
  assert.deepEqual(status?.user, { uid: 1000, gid: 0, supplementalGroups: [0, 2000] })
})

test('a pod’s first address is of the node’s first family, whichever the runtime tells first', async () => {
  const metadata = { name: 'p', namespace: 'ns', uid: 'u', attempt: 0 }
  const answers: Answers = {
    ListPodSandbox: () => ({ items: [{ id: 's1', metadata, state: 'SANDBOX_READY', created_at: 1e6, labels: {} }] }),
    PodSandboxStatus: () => ({
      status: { network: { ip: '10.244.0.5', additional_ips: [{ ip: 'fd00::5' }, { ip: 'fd00::6' }] } },
    }),
  }
  const ipsOf = async (family: 'IPv4' | 'IPv6') => {
    const [found] = await (await stage(answers, family)).cri.listPodSandboxes({})
    return found?.ips
  }
  assert.deepEqual(await ipsOf('IPv4'), ['10.244.0.5', 'fd00::5'])
  assert.deepEqual(await ipsOf('IPv6'), ['fd00::5', '10.244.0.5'])
})

test('a socket that nothing answers at is told of in the words of a kubelet', () => {
  const said = (problem: string) =>
    dialFailure(`No connection established. Last error: Error: connect ${problem} /run/c.sock. Resolution note: `)
  const dialing = 'connection error: desc = "transport: Error while dialing: dial unix /run/c.sock: connect: '
  assert.equal(said('ECONNREFUSED'), `${dialing}connection refused"`)
  assert.equal(said('ENOENT'), `${dialing}no such file or directory"`)
  assert.equal(dialFailure('container is gone'), undefined)
})
