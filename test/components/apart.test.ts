/** skiff's four parts as processes of their own, over HTTPS, with the real kubectl. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { requests } from '../../src/controllers/certificates/fixtures.ts'
import { createHttpsClient } from '../../src/http/client.ts'
import { withoutKubectl } from '../kubectl.ts'
import { type AuditEvent, freePort, type Processes, startProcesses } from './processes.ts'

const MANAGER = 'system:kube-controller-manager'
const SCHEDULER = 'system:kube-scheduler'

const delegating = (kubeconfig: string, port: number) => [
  ...['--kubeconfig', kubeconfig, '--authentication-kubeconfig', kubeconfig, '--authorization-kubeconfig', kubeconfig],
  ...['--bind-address', '127.0.0.1', '--secure-port', String(port)],
]

async function startAll(at: Processes) {
  const [manager, scheduler, node] = await Promise.all([
    at.kubeconfigOf(MANAGER),
    at.kubeconfigOf(SCHEDULER),
    at.kubeconfigOf('system:node:n1', 'system:nodes'),
  ])
  const ports = { manager: await freePort(), scheduler: await freePort() }
  const pki = at.file('pki')
  const processes = {
    manager: at.start(
      ...['controller-manager', ...delegating(manager, ports.manager), '--use-service-account-credentials'],
      ...['--root-ca-file', `${pki}/ca.crt`, '--service-account-private-key-file', `${pki}/sa.key`],
      ...['--cluster-signing-cert-file', `${pki}/ca.crt`, '--cluster-signing-key-file', `${pki}/ca.key`],
      ...['--cluster-signing-duration', '2h', '--kube-api-qps', '500', '--kube-api-burst', '500'],
    ),
    scheduler: at.start('scheduler', ...delegating(scheduler, ports.scheduler)),
    node: at.start('kubelet', '--kubeconfig', node, '--hostname-override', 'n1'),
  }
  await Promise.all([
    processes.manager.until(/The controllers run/),
    processes.scheduler.until(/The scheduler runs/),
    processes.node.until(/is ready/),
  ])
  return { ...processes, ports }
}

test('the parts apart are one cluster: rollout, cascades, a namespace, a Job, a StatefulSet; and end in order', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  const { manager, scheduler, node, ports } = await startAll(at)
  const { kubectl } = at

  await kubectl('create', 'deployment', 'web', '--image=nginx', '--replicas=3')
  assert.match(await kubectl('rollout', 'status', 'deployment/web', '--timeout=30s'), /successfully rolled out/)
  await kubectl('set', 'image', 'deployment/web', 'nginx=nginx:2')
  assert.match(await kubectl('rollout', 'status', 'deployment/web', '--timeout=30s'), /successfully rolled out/)
  await kubectl('delete', 'deployment', 'web', '--cascade=foreground', '--timeout=30s')
  assert.equal(await kubectl('get', 'replicasets,pods', '-o', 'name'), '')

  await kubectl.send('create', job('once'))
  await kubectl('wait', '--for=condition=complete', 'job/once', '--timeout=30s')
  await kubectl('create', 'namespace', 'short')
  await kubectl('-n', 'short', 'create', 'deployment', 'web', '--image=nginx', '--replicas=2')
  await kubectl('-n', 'short', 'rollout', 'status', 'deployment/web', '--timeout=30s')
  await kubectl('delete', 'namespace', 'short', '--timeout=30s')
  await kubectl.send('create', statefulSet('db'))
  assert.match(
    await kubectl('rollout', 'status', 'statefulset/db', '--timeout=30s'),
    /partitioned roll out|rolling update complete|2 pods/,
  )

  await kubectl.send('create', {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'jane' },
    spec: { request: requests.jane, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
  })
  await kubectl('certificate', 'approve', 'jane')
  await kubectl('wait', '--for=jsonpath={.status.certificate}', 'csr/jane', '--timeout=30s')
  const { certificate } = (await kubectl.json('get', 'csr', 'jane')).status
  const signed = new X509Certificate(Buffer.from(certificate, 'base64'))
  // From five minutes ago, for as long as the flag says.
  assert.equal(Math.round((Date.parse(signed.validTo) - Date.parse(signed.validFrom)) / 60_000), 125)

  // Each controller spoke as its own account.
  const users = new Set(at.writes().map(({ user }) => user.username))
  for (const account of ['deployment-controller', 'replicaset-controller', 'generic-garbage-collector'])
    assert.ok(users.has(`system:serviceaccount:kube-system:${account}`), account)

  // The ports: health for everybody, metrics for whom a role lets.
  const { ca, cert, key } = credentials(at)
  assert.ok(ca)
  for (const [port, name] of [
    [ports.manager, 'controller-manager'],
    [ports.scheduler, 'scheduler'],
  ] as const) {
    const health = await ask(port, '/healthz?verbose')
    assert.match(health.text, /^\[\+\]leaderElection ok$/m)
    for (const path of ['/metrics', '/statusz', '/flagz']) assert.equal((await ask(port, path)).status, 403, path)
    assert.match(
      (await ask(port, '/statusz', { cert, key })).text,
      /^\nkube-\S+ statusz\nWarning: [\s\S]*\nUp: 0 hr [\s\S]*\nBinary version: 1\.37\.1\n/,
    )
    assert.match((await ask(port, '/flagz', { cert, key })).text, new RegExp(`^secure-port: ${port}$`, 'm'))
    assert.deepEqual(await ask(port, '/nope', { cert, key }), { status: 404, text: '404 page not found\n' })
    const metrics = (await ask(port, '/metrics', { cert, key })).text
    assert.match(metrics, /^rest_client_requests_total\{/m)
    assert.match(metrics, new RegExp(`^leader_election_master_status\\{name="kube-${name}"\\} 1$`, 'm'))
  }
  assert.match((await ask(ports.manager, '/healthz?verbose')).text, /^\[\+\]deployment-controller ok$/m)
  for (const path of ['/livez', '/readyz']) {
    assert.equal((await ask(ports.scheduler, path)).text, 'ok')
    // As kube-controller-manager, which has /healthz alone.
    assert.equal((await ask(ports.manager, path)).status, 404)
  }
  assert.equal((await ask(ports.scheduler, '/metrics/resources')).status, 403)
  assert.equal((await ask(ports.scheduler, '/metrics/resources', { cert, key })).status, 200)
  assert.match((await ask(ports.scheduler, '/readyz?verbose')).text, /^\[\+\]sched-handler-sync ok$/m)

  for (const one of [manager, scheduler, node]) {
    one.child.kill('SIGTERM')
    assert.equal(await one.ended, 0, one.said)
  }
  for (const lease of ['kube-controller-manager', 'kube-scheduler']) {
    const { spec } = await kubectl.json('-n', 'kube-system', 'get', 'lease', lease)
    assert.equal(spec.holderIdentity ?? '', '', lease)
    assert.equal(spec.leaseDurationSeconds, 1)
  }
})

async function ask(port: number, path: string, as: object = {}) {
  const client = createHttpsClient({ server: `https://127.0.0.1:${port}`, insecureSkipTlsVerify: true, ...as })
  try {
    const answer = await client.send({ method: 'GET', path })
    return { status: answer.status, text: Buffer.from(await answer.bytes()).toString() }
  } finally {
    client.close()
  }
}

function credentials(at: Processes): { readonly ca: string; readonly cert: string; readonly key: string } {
  const { ca = '', cert = '', key = '' } = endpointFromKubeconfig(readFileSync(at.file('kubeconfig'), 'utf8'))
  return { ca, cert, key }
}

test('a controller of the manager asks no faster than --kube-api-qps and --kube-api-burst let it', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  const pki = at.file('pki')
  const port = await freePort()
  const manager = at.start(
    ...['controller-manager', ...delegating(await at.kubeconfigOf(MANAGER), port)],
    ...['--use-service-account-credentials', '--service-account-private-key-file', `${pki}/sa.key`],
    ...['--kube-api-qps', '8', '--kube-api-burst', '1'],
  )
  await manager.until(/The controllers run/)
  const pods = 16
  await at.kubectl('create', 'deployment', 'web', '--image=nginx', `--replicas=${pods}`)
  const made = `--for=jsonpath={.status.replicas}=${pods}`
  await at.kubectl('wait', made, 'deployment/web', '--timeout=120s')
  const by = (name: string, isWanted: (event: AuditEvent) => boolean) => {
    const user = `system:serviceaccount:kube-system:${name}`
    const found = at.writes().filter((event) => event.user.username === user && isWanted(event))
    return { count: found.length, took: (found.at(-1)?.at ?? 0) - (found[0]?.at ?? 0) }
  }
  const creates = by(
    'replicaset-controller',
    ({ verb, requestURI }) => verb === 'create' && /\/pods\b/.test(requestURI),
  )
  assert.equal(creates.count, pods)
  // The first needs no wait; of each that follows it is an eighth of a second, less what the audit's milliseconds leave out.
  assert.ok(creates.took >= (pods - 2) * 125, `${pods} pods within ${creates.took} ms`)

  // That of namespaces asks for so much that it may ask twenty times as often, and a hundred times at once. Nothing else deletes here.
  await at.kubectl('create', 'namespace', 'short')
  await at.kubectl('delete', 'namespace', 'short', '--timeout=120s')
  const deletes = by('namespace-controller', ({ verb }) => verb === 'deletecollection')
  assert.ok(deletes.count > 30, `${deletes.count} collections`)
  const { cert, key } = credentials(at)
  const { text } = await ask(port, '/metrics', { cert, key })
  const ofDeletes = /^rest_client_rate_limiter_duration_seconds_(sum|count)\{.*verb="DELETE".*\} (.*)$/gm
  const told = new Map([...text.matchAll(ofDeletes)].map(([, what, value]) => [what, Number(value)]))
  const [count, sum] = [told.get('count') ?? 0, (told.get('sum') ?? 0) * 1000]
  assert.ok(count >= deletes.count, `${count} of ${deletes.count} went through a limit`)
  assert.ok(sum < (count * 125) / 4, `${count} waited ${sum} ms for their turn`)
})

test('a controller manager whose user may change nothing says so', async () => {
  await using at = await startProcesses()
  const manager = at.start('controller-manager', '--kubeconfig', await at.kubeconfigOf(MANAGER), '--secure-port', '0')
  await manager.until(/warning: this user may not delete pods.* --use-service-account-credentials/)
})

test('an API server that cannot start lets its directory go', async () => {
  await using at = await startProcesses()
  const dir = at.file('another')
  const apiserver = at.start('apiserver', '--data-dir', dir, '--etcd-servers', 'nonsense')
  await apiserver.until(/"nonsense" is no URL/)
  await apiserver.ended
  assert.equal(existsSync(join(dir, 'pid')), false)
  for (const flag of ['--etcd-prefix', '--etcd-compaction-interval', '--lease-reuse-duration-seconds']) {
    const value = flag === '--etcd-prefix' ? '/a' : flag.endsWith('seconds') ? '60' : '5m'
    const lonely = at.start('apiserver', '--data-dir', dir, flag, value)
    await lonely.until(new RegExp(`${flag} needs --etcd-servers`))
    assert.notEqual(await lonely.ended, 0)
  }
})

const statefulSet = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: {
    replicas: 2,
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'a', image: 'a' }], terminationGracePeriodSeconds: 1 },
    },
  },
})

const job = (name: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: {
    template: {
      metadata: { annotations: { 'sim.skiff.dev/exit-after': '100ms' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] },
    },
  },
})
