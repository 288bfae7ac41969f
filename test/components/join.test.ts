/** Machines join a cluster by a token: `skiff token create`, `skiff join`, with the real kubectl. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Fields } from '../../src/api/object.ts'
import { certificateRequest } from '../../src/cluster/certificate.ts'
import { skiff } from '../e2e/cluster.ts'
import { type Kubectl, kubectlFor, withoutKubectl } from '../kubectl.ts'
import { freePort, startProcess } from './processes.ts'

const SHAPE =
  /^skiff join (https:\/\/127\.0\.0\.1:\d+) --token ([a-z0-9]{6}\.[a-z0-9]{16}) --discovery-token-ca-cert-hash (sha256:[0-9a-f]{64})\n$/

test('a token joins a machine, which asks for its certificate, goes on without the token, and runs pods', {
  skip: withoutKubectl,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-join-'))
  const [cluster, node] = [join(folder, 'cluster'), join(folder, 'node')]
  const started = await skiff('up', '--detach', '--data-dir', cluster, '--port', '0', '--nodes', '0')
  assert.equal(started.code, 0, started.err)
  const kubectl = kubectlFor(join(cluster, 'kubeconfig'))
  const running = new Set<ReturnType<typeof startProcess>>()
  const end = async (one: ReturnType<typeof startProcess>) => {
    running.delete(one)
    one.child.kill('SIGTERM')
    await one.ended
  }
  try {
    const made = await skiff('token', 'create', '--data-dir', cluster, '--description', 'for a test')
    assert.match(made.out, SHAPE)
    assert.match(made.err, /from this machine alone: start the cluster with --bind-address IP/)
    const [, server = '', token = '', hash = ''] = SHAPE.exec(made.out) ?? []
    const [id = ''] = token.split('.')
    const listed = await skiff('token', 'list', '--data-dir', cluster)
    assert.match(listed.out, new RegExp(`^${id}  \\S+Z  for a test\n$`))
    assert.ok(!listed.out.includes(token))

    const refused = async (line: RegExp, ...args: readonly string[]) => {
      const { code, err } = await skiff('join', '--data-dir', join(folder, 'refused'), ...args)
      assert.equal(code, 1)
      assert.match(err, /^skiff: [^\n]+\n$/)
      assert.match(err, line)
    }
    const other = `sha256:${'0'.repeat(64)}`
    const [tokenFlag, hashFlag] = ['--token', '--discovery-token-ca-cert-hash']
    await refused(/needs the server, --token and --discovery-token-ca-cert-hash/, server, tokenFlag, token)
    await refused(/another cluster, or an attacker/, server, tokenFlag, token, hashFlag, other)
    await refused(/is not signed with the token/, server, tokenFlag, `${id}.${'z'.repeat(16)}`, hashFlag, hash)
    await refused(/does not know the token zzzzzz/, server, tokenFlag, `zzzzzz.${'z'.repeat(16)}`, hashFlag, hash)
    await refused(/the token is none/, server, tokenFlag, 'secret', hashFlag, hash)
    await refused(/is no hash/, server, tokenFlag, token, hashFlag, 'md5:1')
    assert.equal(existsSync(join(folder, 'refused')), false)

    const first = startProcess(
      'join',
      server,
      tokenFlag,
      token,
      hashFlag,
      hash,
      '--data-dir',
      node,
      '--node-name',
      'w-1',
    )
    running.add(first)
    await first.until(/node w-1 is ready/)
    const file = join(node, 'pki', 'kubelet-client-current.pem')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(new X509Certificate(readFileSync(file)).subject, 'O=system:nodes\nCN=system:node:w-1')
    const [request] = JSON.parse(await kubectl('get', 'csr', '-o', 'json')).items
    assert.equal(request.spec.username, `system:bootstrap:${id}`)
    assert.equal(
      request.status.conditions[0].message,
      'Auto approving kubelet client certificate after SubjectAccessReview.',
    )
    await onlyItsOwn(kubectl, kubectlFor(join(node, 'kubelet.conf')))
    assert.deepEqual([...listensBeyondLoopback(pidOf(cluster)), ...listensBeyondLoopback(first.child.pid ?? 0)], [])
    await refused(/a node w-1 is there and ready/, server, tokenFlag, token, hashFlag, hash, '--node-name', 'w-1')

    await end(first)
    assert.equal(existsSync(join(node, 'bootstrap-kubelet.conf')), false)
    assert.equal((await skiff('token', 'delete', token, '--data-dir', cluster)).code, 0)
    assert.match((await skiff('token', 'delete', id, '--data-dir', cluster)).err, /there is no token/)
    const renamed = await skiff('join', '--data-dir', node, '--node-name', 'w-2')
    assert.equal(renamed.code, 1)
    assert.match(renamed.err, /is of the node w-1: leave --node-name out, or give w-2 a --data-dir of its own/)
    const healthz = await freePort()
    const again = startProcess(
      ...['join', '--data-dir', node, '--rotate-server-certificates'],
      ...['--healthz-port', String(healthz)],
    )
    running.add(again)
    await again.until(/node w-1 is ready/)
    assert.equal(await (await fetch(`http://127.0.0.1:${healthz}/healthz`)).text(), 'ok')
    await kubectl('run', 'p', '--image=nginx')
    await kubectl('wait', '--for=condition=Ready', 'pod/p', '--timeout=60s')
    assert.equal(await kubectl('get', 'pod', 'p', '-o', 'jsonpath={.spec.nodeName}'), 'w-1')
    await showsWhatIsApproved(kubectl, join(cluster, 'pki', 'ca.crt'))
    await answers(kubectl)
    await end(again)
  } finally {
    for (const one of running) await end(one)
    await skiff('down', '--data-dir', cluster)
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Tokens of whose Secret something is not as `skiff token create` has it, and ones that are gone. */
test('a token that has expired, is gone or is for something else joins nothing, and is refused in one line', {
  skip: withoutKubectl,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-tokens-'))
  const [cluster, node] = [join(folder, 'cluster'), join(folder, 'node')]
  const started = await skiff('up', '--detach', '--data-dir', cluster, '--port', '0', '--nodes', '0')
  assert.equal(started.code, 0, started.err)
  try {
    const kubectl = kubectlFor(join(cluster, 'kubeconfig'))
    const made = async () => {
      const { out } = await skiff('token', 'create', '--data-dir', cluster)
      const [, server = '', token = '', hash = ''] = SHAPE.exec(out) ?? []
      return { server, token, hash, secret: `bootstrap-token-${token.slice(0, 6)}` }
    }
    const refused = async ({ server, token, hash }: Awaited<ReturnType<typeof made>>, line: RegExp) => {
      const flags = ['--token', token, '--discovery-token-ca-cert-hash', hash, '--node-name', 'w-1']
      const { code, err } = await skiff('join', server, ...flags, '--data-dir', node)
      assert.equal(code, 1)
      assert.match(err, /^skiff: [^\n]+\n$/)
      assert.match(err, line)
    }
    const change = (secret: string, data: Fields) =>
      kubectl('-n', 'kube-system', 'patch', 'secret', secret, '--type=merge', '-p', JSON.stringify({ data }))
    const text = (value: string) => Buffer.from(value).toString('base64')
    for (const [data, line] of [
      [{ 'usage-bootstrap-authentication': null }, /lets nobody in by the token [a-z0-9]{6}: it may have been deleted/],
      [{ 'usage-bootstrap-authentication': text('false') }, /lets nobody in by the token/],
      [{ 'auth-extra-groups': null }, /the token [a-z0-9]{6} gives no right to join/],
      [{ 'auth-extra-groups': text('system:bootstrappers:others') }, /gives no right to join/],
    ] as const) {
      const one = await made()
      await change(one.secret, data)
      await refused(one, line)
    }
    const unknown = /does not know the token [a-z0-9]{6}: it may have expired/
    for (const data of [{ 'usage-bootstrap-signing': null }, { expiration: text('2020-01-01T00:00:00Z') }]) {
      const one = await made()
      await change(one.secret, data)
      await untilUnsigned(kubectl, one.secret)
      await refused(one, unknown)
    }
    const deleted = await made()
    assert.equal((await skiff('token', 'delete', deleted.token, '--data-dir', cluster)).code, 0)
    await untilUnsigned(kubectl, deleted.secret)
    await refused(deleted, unknown)
    assert.equal(existsSync(node), false)
    assert.deepEqual((await kubectl.json('get', 'csr')).items, [])
  } finally {
    await skiff('down', '--data-dir', cluster)
    rmSync(folder, { recursive: true, force: true })
  }
})

/** The signer takes its signature out of cluster-info a moment later. */
async function untilUnsigned(kubectl: Kubectl, secret: string): Promise<void> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const { data } = await kubectl.json('-n', 'kube-public', 'get', 'configmap', 'cluster-info')
    if (data[`jws-kubeconfig-${secret.slice(-6)}`] === undefined) return
    assert.ok(performance.now() < deadline, `cluster-info is still signed with ${secret}`)
    await setTimeout(100)
  }
}

test('ten machines join at once by one token: each is a node by a certificate of its own, and one that comes with a name of theirs is refused', {
  skip: withoutKubectl,
  timeout: 300_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-ten-'))
  const cluster = join(folder, 'cluster')
  const started = await skiff('up', '--detach', '--data-dir', cluster, '--port', '0', '--nodes', '0')
  assert.equal(started.code, 0, started.err)
  const names = Array.from({ length: 10 }, (_, i) => `w-${i}`)
  const running: ReturnType<typeof startProcess>[] = []
  try {
    const kubectl = kubectlFor(join(cluster, 'kubeconfig'))
    const { out } = await skiff('token', 'create', '--data-dir', cluster)
    const [, server = '', token = '', hash = ''] = SHAPE.exec(out) ?? []
    const flags = [server, '--token', token, '--discovery-token-ca-cert-hash', hash]
    for (const name of names)
      running.push(startProcess('join', ...flags, '--data-dir', join(folder, name), '--node-name', name))
    await Promise.all(running.map((one, i) => one.until(new RegExp(`node ${names[i]} is ready`))))
    const nodes = (await kubectl.json('get', 'nodes')).items.map(({ metadata }: Fields) => metadata.name)
    assert.deepEqual(nodes.sort(), names)
    const certificates = names.map(
      (name) => new X509Certificate(readFileSync(join(folder, name, 'pki', 'kubelet-client-current.pem'))),
    )
    assert.deepEqual(
      certificates.map(({ subject }) => subject),
      names.map((name) => `O=system:nodes\nCN=system:node:${name}`),
    )
    assert.equal(new Set(certificates.map(({ serialNumber }) => serialNumber)).size, names.length)
    const more = await skiff('join', ...flags, '--data-dir', join(folder, 'more'), '--node-name', 'w-3')
    assert.match(more.err, /a node w-3 is there and ready/)
    await kubectl('create', 'deployment', 'd', '--image=nginx', '--replicas=20')
    await kubectl('wait', '--for=jsonpath={.status.readyReplicas}=20', 'deployment/d', '--timeout=120s')
  } finally {
    for (const one of running) one.child.kill('SIGTERM')
    await Promise.all(running.map(({ ended }) => ended))
    await skiff('down', '--data-dir', cluster)
    rmSync(folder, { recursive: true, force: true })
  }
})

/** With the node's certificate: another node's is not approved, and another node cannot be written. */
async function onlyItsOwn(kubectl: Kubectl, node: Kubectl): Promise<void> {
  const ask = (name: string, commonName: string) =>
    node.send('create', {
      ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name } },
      spec: {
        request: Buffer.from(certificateRequest({ commonName, organizations: ['system:nodes'] }).request).toString(
          'base64',
        ),
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    })
  await ask('another', 'system:node:w-2')
  await ask('own', 'system:node:w-1')
  await kubectl('wait', '--for=jsonpath={.status.certificate}', 'csr/own', '--timeout=60s')
  const { status } = await kubectl.json('get', 'csr', 'another')
  assert.deepEqual(status, {})
  const { code, err } = await node.run(
    ['create', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'w-2' } }),
  )
  assert.equal(code, 1)
  assert.match(err, /node "w-1" is not allowed to modify node "w-2"/)
}

/** No controller approves the certificate of a node's server; until someone does, it shows none. */
async function showsWhatIsApproved(kubectl: Kubectl, ca: string): Promise<void> {
  const { items } = await kubectl.json('get', 'csr')
  const request = items.find(({ spec }: Fields) => spec.signerName === 'kubernetes.io/kubelet-serving')
  assert.deepEqual([request.spec.username, request.status], ['system:node:w-1', {}])
  const { status } = await kubectl.json('get', 'node', 'w-1')
  const ask = () =>
    spawnSync('curl', ['-s', '--cacert', ca, `https://127.0.0.1:${status.daemonEndpoints.kubeletEndpoint.Port}/pods`])
  assert.equal(ask().status, 35)
  await kubectl('certificate', 'approve', request.metadata.name)
  const deadline = performance.now() + 60_000
  while (ask().status === 35) {
    assert.ok(performance.now() < deadline, 'no certificate is shown')
    await setTimeout(200)
  }
  assert.equal(`${ask().stdout}`, 'Unauthorized')
}

const pidOf = (dataDir: string) => Number.parseInt(readFileSync(join(dataDir, 'pid'), 'utf8'), 10)

/** Where the process listens for others, of Linux's tables of its network. */
function listensBeyondLoopback(pid: number): readonly string[] {
  if (process.platform !== 'linux') return []
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return ''
    }
  })
  const lines = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1),
  )
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
    const isLoopback = /^0100007F:|^0{24}01000000:|^0000000000000000FFFF00000100007F:/.test(local)
    return state === '0A' && !isLoopback && links.includes(`socket:[${inode}]`) ? [local] : []
  })
}

/** The node's own server, which the API server asks: what pods said, what is run in them. */
async function answers(kubectl: Kubectl): Promise<void> {
  const exec = [
    { command: ['date'], stdout: 'today\n' },
    { command: ['false'], exitCode: 3 },
  ]
  await kubectl.send('create', {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: 'says', annotations: { 'sim.skiff.dev/exec': JSON.stringify(exec) } },
    spec: { containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', 'echo hello; sleep 1000'] }] },
  })
  await kubectl('wait', '--for=condition=Ready', 'pod/says', '--timeout=60s')
  assert.equal(await kubectl('logs', 'says'), 'hello\n')
  assert.equal(await kubectl('exec', 'says', '--', 'date'), 'today\n')
  assert.equal((await kubectl.run(['exec', 'says', '--', 'false'])).code, 3)
  // Whoever asks it without the API server must be known to that.
  const { status } = await kubectl.json('get', 'node', 'w-1')
  const port = status.daemonEndpoints.kubeletEndpoint.Port
  const { stdout } = spawnSync('curl', ['-sk', '-w', '%{http_code}', `https://127.0.0.1:${port}/pods`])
  assert.equal(String(stdout), 'Unauthorized401')
}

test('what other machines reach is told: in the Service kubernetes, in the certificate and by token create; nonsense is refused', {
  skip: withoutKubectl,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-advertise-'))
  const up = (...flags: readonly string[]) =>
    skiff('up', '--detach', '--data-dir', folder, '--port', '0', '--nodes', '0', ...flags)
  try {
    for (const [address, words] of [
      ['127.0.0.1', /is not to be reached from other machines/],
      ['0.0.0.0', /is not to be reached from other machines/],
      ['here', /is no IPv4 address/],
    ] as const) {
      const { code, err } = await up('--advertise-address', address)
      assert.equal(code, 1)
      assert.match(err, words)
    }
    assert.equal((await up('--bind-address', 'here')).code, 2)
    const started = await up('--bind-address', '0.0.0.0', '--advertise-address', '192.0.2.7')
    assert.equal(started.code, 0, started.err)
    // The API server, and nothing beside it.
    if (process.platform === 'linux') assert.equal(new Set(listensBeyondLoopback(pidOf(folder))).size, 1)
    const kubectl = kubectlFor(join(folder, 'kubeconfig'))
    const path = 'jsonpath={.subsets[0].addresses[*].ip}'
    assert.equal(await kubectl('get', 'endpoints', 'kubernetes', '-o', path), '192.0.2.7')
    assert.match(
      new X509Certificate(readFileSync(join(folder, 'pki', 'apiserver.crt'))).subjectAltName ?? '',
      /IP Address:192\.0\.2\.7/,
    )
    const { out, err } = await skiff('token', 'create', '--data-dir', folder)
    assert.match(out, /^skiff join https:\/\/192\.0\.2\.7:\d+ /)
    assert.equal(err, '')
  } finally {
    await skiff('down', '--data-dir', folder)
    rmSync(folder, { recursive: true, force: true })
  }
})
