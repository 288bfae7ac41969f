/** Two API servers over one etcd, as `skiff up --etcd-servers` in two directories that were given the same pki/. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Endpoints } from '../../src/api/generated/types.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { isNotFound } from '../../src/api/status.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../../src/cluster/index.ts'
import { type Kubectl, kubectlFor, withoutKubectl } from '../kubectl.ts'
import { lacks } from '../machine.ts'
import { startEtcd } from './member.ts'

const skip = lacks.etcd()
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const root = mkdtempSync(join(tmpdir(), 'skiff-replicas-'))
const undo: (() => Promise<unknown>)[] = []
after(async () => {
  for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end()
  rmSync(root, { recursive: true, force: true })
})

/** Each started when the one before it is ready. */
async function replicas(
  names: readonly string[],
  options: ClusterOptions | ((i: number) => ClusterOptions) = {},
): Promise<readonly Cluster[]> {
  const etcd = await startEtcd()
  undo.push(etcd.stop)
  const started: Cluster[] = []
  const folder = mkdtempSync(join(root, 'c-'))
  for (const name of names) {
    const dataDir = join(folder, name)
    if (started.length > 0) cpSync(join(folder, names[0] ?? '', 'pki'), join(dataDir, 'pki'), { recursive: true })
    const chosen = typeof options === 'function' ? options(started.length) : options
    const cluster = await startCluster({ ...chosen, dataDir, etcd: { servers: etcd.servers } })
    undo.push(cluster.stop)
    started.push(cluster)
  }
  return started
}

const configMap = (name: string, data: Readonly<Record<string, string>> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

test('no read is older than a write that another API server was answered', { skip }, async () => {
  const [one, two] = await replicas(['a', 'b'], { components: ['apiserver'] })
  assert.ok(one !== undefined && two !== undefined)
  const at = (cluster: Cluster) => cluster.client.resource(CONFIG_MAPS).namespace('default')
  for (let i = 0; i < 100; i++) {
    const name = `c${i}`
    const writer = at(i % 2 === 0 ? one : two)
    const reader = at(i % 2 === 0 ? two : one)
    const created = await writer.create(configMap(name, { k: '0' }))
    assert.equal((await reader.get(name)).metadata.uid, created.metadata.uid)
    const updated = await reader.update({ ...created, data: { k: '1' } })
    const listed = await writer.list()
    assert.equal(listed.items.find(({ metadata }) => metadata.name === name)?.['data']?.k, '1')
    assert.ok(Number(listed.metadata.resourceVersion) >= Number(updated.metadata.resourceVersion))
    // Decided by what the other one wrote: no error, and no change lost, by an older state.
    await writer.patch(name, 'merge', { data: { k: '2' } })
    assert.equal((await reader.patch(name, 'merge', { data: { k: '2' } }))['data']?.k, '2')
    await reader.delete(name)
    await assert.rejects(writer.get(name), isNotFound)
    await assert.rejects(writer.delete(name), isNotFound)
  }
})

test('pages and watches go on at the other API server', { skip }, async () => {
  const [one, two] = await replicas(['a', 'b'], { components: ['apiserver'] })
  assert.ok(one !== undefined && two !== undefined)
  const at = (cluster: Cluster) => cluster.client.resource(CONFIG_MAPS).namespace('default')
  for (const name of ['p', 'q', 'r', 's']) await at(one).create(configMap(name))
  const first = await at(one).list({ limit: 3 })
  await at(one).create(configMap('later'))
  await at(one).delete('s')
  const rest = await at(two).list({ limit: 3, continue: first.metadata.continue ?? '' })
  assert.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion)
  assert.deepEqual(
    [...first.items, ...rest.items].map(({ metadata }) => metadata.name).filter((name) => name?.length === 1),
    ['p', 'q', 'r', 's'],
  )
  const ending = new AbortController()
  const watch = await at(two).watch({ resourceVersion: first.metadata.resourceVersion }, ending.signal)
  const seen: string[] = []
  while (seen.length < 2) {
    const event = await watch.next()
    seen.push(`${event?.type} ${event?.object.metadata.name}`)
  }
  assert.deepEqual(seen, ['ADDED later', 'DELETED s'])
  ending.abort()
})

test('controllers, scheduler and nodes run in one process; another takes over when it ends', { skip }, async () => {
  const [one, two] = await replicas(['a', 'b'], { nodes: 2 })
  assert.ok(one !== undefined && two !== undefined)
  const leases = two.client.resource(LEASES).namespace('kube-system')
  const names = ['kube-controller-manager', 'kube-scheduler', 'skiff-simulated-nodes']
  const holders = async () =>
    Promise.all(names.map(async (name) => String((await leases.get(name))['spec']?.holderIdentity)))
  const before = await holders()
  assert.ok(before.every((holder) => holder !== ''))
  await two.client
    .resource({ group: 'apps', version: 'v1', resource: 'deployments' })
    .namespace('default')
    .create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 4,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'nginx' }] },
        },
      },
    })
  const ready = (wanted: number) =>
    changes(two, 'deployments', 'apps', (object) => (object['status']?.readyReplicas ?? 0) === wanted)
  await ready(4)
  await one.stop()
  await two.client
    .resource({ group: 'apps', version: 'v1', resource: 'deployments' })
    .namespace('default')
    .patch('web', 'merge', { spec: { replicas: 6 } })
  await ready(6)
  const now = await holders()
  for (const [i, holder] of now.entries()) assert.ok(holder !== '' && holder !== before[i], names[i])
})

test('two API servers never give the same address or port, and a quota holds for both', { skip }, async () => {
  const servers = await replicas(['a', 'b'], {
    components: ['apiserver', 'controllers'],
    security: { serviceNodePortRange: '30000-30039', serviceClusterIpRange: '10.96.0.0/26' },
  })
  const both = (i: number, resource: string) =>
    (servers[i % 2] as Cluster).client.resource({ group: '', version: 'v1', resource }).namespace('default')
  const made = await Promise.allSettled(
    Array.from({ length: 36 }, (_, i) =>
      both(i, 'services').create({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: `s${i}`, namespace: 'default' },
        spec: { type: 'NodePort', ports: [{ port: 80 }] },
      }),
    ),
  )
  const services = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  assert.equal(services.length, 36, String(made.find((each) => each.status === 'rejected')?.reason))
  assert.equal(new Set(services.map((service) => service['spec']?.clusterIP)).size, 36)
  assert.equal(new Set(services.map((service) => service['spec']?.ports[0].nodePort)).size, 36)

  await both(0, 'resourcequotas').create({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'default' },
    spec: { hard: { secrets: '7' } },
  })
  // Once one server tells that it is counted, it holds at the other.
  await changes(servers[0] as Cluster, 'resourcequotas', '', (quota) => quota['status']?.used?.secrets !== undefined)
  const secrets = await Promise.allSettled(
    Array.from({ length: 24 }, (_, i) =>
      both(i, 'secrets').create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `x${i}`, namespace: 'default' },
      }),
    ),
  )
  assert.equal(secrets.filter(({ status }) => status === 'fulfilled').length, 7)
})

test('each tells of the store, and of all servers over it', { skip }, async () => {
  const [one, two] = await replicas(['a', 'b'], { components: ['apiserver'] })
  assert.ok(one !== undefined && two !== undefined)
  const told = async ({ client }: Cluster) => JSON.parse((await client.raw('GET', '/skiff.dev/store')).body)
  const status = await told(one)
  assert.equal(status.driver, 'etcd')
  assert.ok(status.size > 0 && status.revision > 1)
  assert.deepEqual(status.replicas.map(({ url }: { url: string }) => url).sort(), [one.url, two.url].sort())
  assert.equal(status.replicas.find(({ id }: { id: string }) => id === status.own).url, one.url)
  await one.stop()
  assert.deepEqual(
    (await told(two)).replicas.map(({ url }: { url: string }) => url),
    [two.url],
  )
})

test('members of etcd that are away are told of, also while they are most of them and nothing else can be told', {
  skip,
}, async () => {
  const etcd = await startEtcd({ size: 3 })
  undo.push(etcd.stop)
  const dataDir = mkdtempSync(join(root, 'm-'))
  const cluster = await startCluster({ components: ['apiserver'], dataDir, etcd: { servers: etcd.servers } })
  undo.push(cluster.stop)
  const told = async () => JSON.parse((await cluster.client.raw('GET', '/skiff.dev/store')).body)
  assert.equal((await told()).faults, undefined)
  const away = etcd.members.slice(1)
  for (const member of away) await member.kill()
  const { faults, size, replicas } = await told()
  assert.deepEqual([size, replicas], [undefined, undefined])
  const lines = (faults as string[]).map((fault) => fault.replace(/ \(.*\)/, ''))
  for (const { url } of away)
    assert.ok(lines.includes(`the member at ${url.slice(7)} does not answer: start it again, or look at its log`))
  for (const member of away) await member.start()
})

test('the kubernetes Service leads to every API server that lives', { skip }, async () => {
  const [one, two] = await replicas(['a', 'b'], (i) => ({
    components: ['apiserver'],
    advertiseAddress: `10.99.0.${i + 1}`,
  }))
  assert.ok(one !== undefined && two !== undefined)
  const addresses = async () => {
    const client = two.client.resource({ group: '', version: 'v1', resource: 'endpoints' }).namespace('default')
    const { subsets = [] } = (await client.get('kubernetes')) as Endpoints
    return subsets.flatMap((subset) => subset.addresses?.map(({ ip }) => ip) ?? [])
  }
  assert.deepEqual(await addresses(), ['10.99.0.1', '10.99.0.2'])
  await one.stop()
  assert.deepEqual(await addresses(), ['10.99.0.2'])
})

/** Resolves when an object of the resource is as wanted. */
async function changes(
  { client }: Cluster,
  resource: string,
  group: string,
  isWanted: (object: KubeObject) => boolean,
): Promise<void> {
  const ending = new AbortController()
  const watch = await client.resource({ group, version: 'v1', resource }).watch({}, ending.signal)
  for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
    if (event.type !== 'BOOKMARK' && isWanted(event.object)) break
  }
  ending.abort()
}

test('logs and commands of simulated pods are answered by every server, whichever runs their nodes', {
  skip: skip || withoutKubectl,
}, async () => {
  const [one, two] = await replicas(['a', 'b'])
  assert.ok(one !== undefined && two !== undefined)
  const clients = [one, two].map((cluster) => {
    const file = join(mkdtempSync(join(root, 'k-')), 'kubeconfig')
    writeFileSync(file, cluster.kubeconfig)
    return kubectlFor(file, 'default')
  })
  const [first, second] = clients
  assert.ok(first !== undefined && second !== undefined)
  const exec = JSON.stringify([{ command: 'whoami', stdout: 'me\n', exitCode: 3 }])
  const annotations = { 'sim.skiff.dev/log': 'a line\n', 'sim.skiff.dev/exec': exec }
  await first.send('create', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', annotations },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  await first('wait', '--for=condition=Ready', 'pod/p', '--timeout=60s')
  const check = async (kubectl: Kubectl) => {
    assert.equal(await kubectl('logs', 'p'), 'a line\n')
    const { code, out } = await kubectl.run(['exec', 'p', '--', 'whoami'])
    assert.deepEqual([code, out], [3, 'me\n'])
  }
  for (const kubectl of clients) await check(kubectl)

  await one.stop()
  // The nodes are the other server's once it leads, which is promised within 20 s.
  const until = Date.now() + 20_000
  while ((await second.run(['logs', 'p'])).code !== 0) {
    assert.ok(Date.now() < until, 'the other server does not answer for the nodes')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await check(second)
})
