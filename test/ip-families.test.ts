/** Clusters of both address families, and of IPv6 alone, through the real kubectl: nodes, pods, Services and their endpoints. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startSkiff } from '../conformance/server.ts'
import { type Any, type Kubectl, kubectlFor, withoutKubectl } from './kubectl.ts'

const SERVICES = '10.96.0.0/16,fd00:10:96::/112'
const PODS = '10.244.0.0/16,fd00:10:244::/56'

const isOf4 = (ip: string) => /^10\.244\.\d+\.\d+$/.test(ip)
const isOf6 = (ip: string) => /^fd00:10:244:([0-9a-f]+:)?:[0-9a-f]+$/.test(ip)
const ipsOf = (list: readonly { ip: string }[] | undefined) => (list ?? []).map(({ ip }) => ip)

const podOf = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
const serviceOf = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }], ...spec },
})

/** The slices of a Service by family, once they hold `count` addresses of each of these families and there are no others. */
async function slicesOf(kubectl: Kubectl, service: string, families: readonly string[], count: number): Promise<Any> {
  using watch = kubectl.watch('endpointslices', '-l', `kubernetes.io/service-name=${service}`)
  const now = new Map<string, Any>()
  let passed = 0
  const byFamily = () =>
    Object.fromEntries(
      [...now.values()].map((slice) => [
        slice.addressType,
        (slice.endpoints ?? []).flatMap(({ addresses }: Any) => addresses).sort(),
      ]),
    )
  await watch.until(() => {
    for (; passed < watch.seen.length; passed++) {
      const { type, object } = watch.seen[passed] as (typeof watch.seen)[number]
      if (type === 'DELETED') now.delete(object.metadata.name)
      else now.set(object.metadata.name, object)
    }
    const found = byFamily()
    return (
      Object.keys(found).sort().join() === [...families].sort().join() &&
      Object.values(found).every((list: Any) => list.length === count)
    )
  })
  return byFamily()
}

test('a cluster of both families', { skip: withoutKubectl }, async (t) => {
  let cluster: Awaited<ReturnType<typeof startSkiff>>
  let kubectl: Kubectl
  before(async () => {
    cluster = await startSkiff(['--nodes', '2', '--service-cluster-ip-range', SERVICES, '--cluster-cidr', PODS])
    kubectl = kubectlFor(cluster.kubeconfig, 'default')
  })
  after(() => cluster?.stop())

  await t.test('nodes have a range and an address of each, those that users make too', async () => {
    const { items } = await kubectl.json('get', 'nodes')
    assert.deepEqual(
      items.map(({ spec }: Any) => [spec.podCIDR, spec.podCIDRs]),
      [
        ['10.244.0.0/21', ['10.244.0.0/21', 'fd00:10:244::/64']],
        ['10.244.8.0/21', ['10.244.8.0/21', 'fd00:10:244:1::/64']],
      ],
    )
    const addresses = items[0].status.addresses.filter(({ type }: Any) => type === 'InternalIP')
    assert.deepEqual(ipsOf(addresses.map(({ address }: Any) => ({ ip: address }))), ['172.18.0.2', 'fd00:172:18::2'])
    await kubectl.send('create', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'own' } })
    using watch = kubectl.watch('nodes', 'own')
    const { object } = await watch.until(({ object: { spec } }) => spec.podCIDRs !== undefined)
    assert.deepEqual(object.spec.podCIDRs, ['10.244.16.0/24', 'fd00:10:244:2::/64'])
    await kubectl('delete', 'node', 'own')
  })

  await t.test('pods have an address of each, and those of the host have the host’s', async () => {
    await kubectl.send('create', podOf('one'), podOf('two'), podOf('host', { hostNetwork: true }))
    await kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s')
    for (const name of ['one', 'two']) {
      const { status } = await kubectl.json('get', 'pod', name)
      const [first = '', second = '', ...more] = ipsOf(status.podIPs)
      assert.ok(isOf4(first) && isOf6(second) && more.length === 0, JSON.stringify(status.podIPs))
      assert.equal(status.podIP, first)
      assert.equal(status.hostIP, ipsOf(status.hostIPs)[0])
      assert.match(ipsOf(status.hostIPs)[1] ?? '', /^fd00:172:18::[23]$/)
    }
    const { status } = await kubectl.json('get', 'pod', 'host')
    assert.deepEqual(status.podIPs, status.hostIPs)
    await kubectl('delete', 'pod', 'host')
  })

  await t.test('a Service of two families has slices of both, and of one when it gives one back', async () => {
    await kubectl.send('create', serviceOf('both', { ipFamilyPolicy: 'PreferDualStack' }))
    const { spec } = await kubectl.json('get', 'service', 'both')
    assert.deepEqual(spec.ipFamilies, ['IPv4', 'IPv6'])
    assert.match(spec.clusterIPs.join(), /^10\.96\.\d+\.\d+,fd00:10:96::[0-9a-f]+$/)
    const slices = await slicesOf(kubectl, 'both', ['IPv4', 'IPv6'], 2)
    assert.ok(slices['IPv4'].every(isOf4) && slices['IPv6'].every(isOf6), JSON.stringify(slices))
    const endpoints = await kubectl.json('get', 'endpoints', 'both')
    assert.ok(ipsOf(endpoints.subsets[0].addresses).every(isOf4))
    await kubectl('patch', 'service', 'both', '-p', '{"spec":{"ipFamilyPolicy":"SingleStack"}}')
    await slicesOf(kubectl, 'both', ['IPv4'], 2)
  })

  await t.test('one whose first family is IPv6 has its Endpoints of that', async () => {
    const spec = { clusterIP: 'None', ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] }
    await kubectl.send('create', serviceOf('headless', spec))
    await slicesOf(kubectl, 'headless', ['IPv4', 'IPv6'], 2)
    const endpoints = await kubectl.json('get', 'endpoints', 'headless')
    assert.ok(ipsOf(endpoints.subsets[0].addresses).every(isOf6))
  })

  await t.test('its own Service has an address of the first family, its range is told of both', async () => {
    const { spec } = await kubectl.json('get', 'service', 'kubernetes')
    assert.deepEqual([spec.clusterIPs, spec.ipFamilies], [['10.96.0.1'], ['IPv4']])
    assert.equal((await kubectl.json('get', 'servicecidr', 'kubernetes')).spec.cidrs.join(), SERVICES)
  })
})

test('a cluster of IPv6 alone', { skip: withoutKubectl }, async (t) => {
  const cluster = await startSkiff(['--service-cluster-ip-range', 'fd00:10:96::/112'])
  t.after(() => cluster.stop())
  const kubectl = kubectlFor(cluster.kubeconfig, 'default')
  const { spec } = await kubectl.json('get', 'service', 'kubernetes')
  assert.deepEqual([spec.clusterIP, spec.ipFamilies, spec.ipFamilyPolicy], ['fd00:10:96::1', ['IPv6'], 'SingleStack'])
  await kubectl.send('create', podOf('one'), serviceOf('web', {}))
  await kubectl('wait', '--for=condition=Ready', 'pod', 'one', '--timeout=60s')
  const slices = await slicesOf(kubectl, 'web', ['IPv6'], 1)
  const { status } = await kubectl.json('get', 'pod', 'one')
  assert.deepEqual([slices['IPv6'], ipsOf(status.podIPs)], [[status.podIP], [status.podIP]])
  assert.ok(isOf6(status.podIP) && status.hostIP === 'fd00:172:18::2', JSON.stringify(status))
})

test('ranges that do not go together are refused in one line', async () => {
  const refused = (...args: readonly string[]) =>
    assert.rejects(startSkiff(args), (error: Error) => {
      assert.match(error.message, /--cluster-cidr: /)
      return true
    })
  await refused('--cluster-cidr', PODS)
  await refused('--cluster-cidr', '10.244.0.0/24', '--nodes', '2')
  await refused('--cluster-cidr', 'none')
  // Of real containers too: two nodes, and one more range for their own addresses.
  await refused('--runtime', 'cri', '--cluster-cidr', '10.244.0.0/23', '--nodes', '2')
  await refused('--runtime', 'cri', '--cluster-cidr', PODS)
  await refused(
    '--cluster-cidr',
    '10.244.0.0/16,fd00:10:244::/56',
    '--service-cluster-ip-range',
    'fd00:10:96::/112,10.96.0.0/16',
  )
})
