/** Services of real containers: traffic that pods and the machine send, on a machine of its own. Each test goes on where the one before it ended. */
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'
import { ASK, ECHO, IMAGE, LINKED, NODE, pod, podWithPrograms, service, WHO, wget, who } from './traffic.ts'

/** The machine's own, which knows every name by the same address. */
function startNameServer(machine: ContainerMachine): void {
  const file = join(machine.directory, 'resolv.conf')
  writeFileSync(file, 'nameserver 127.0.0.1\n')
  assert.equal(machine.run('mount', '--bind', file, '/etc/resolv.conf').status, 0)
  const script = join(machine.directory, 'name-server.mjs')
  writeFileSync(
    script,
    `import { createSocket } from 'node:dgram'
    const socket = createSocket('udp4')
    socket.on('message', (query, { port, address }) => {
      const end = query.indexOf(0, 12) + 5
      const isA = query.readUInt16BE(end - 4) === 1
      const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 53])
      const answer = Buffer.concat([query.subarray(0, end), ...(isA ? [record] : [])])
      answer.writeUInt16BE(0x8180, 2)
      answer.writeUInt16BE(isA ? 1 : 0, 6)
      answer.writeUInt16BE(0, 10)
      socket.send(answer, port, address)
    })
    socket.bind(53, '127.0.0.1')`,
  )
  const started = machine.run('sh', '-c', `"$0" "$1" > /dev/null 2>&1 &`, process.execPath, script)
  assert.equal(started.status, 0, started.stderr)
}

describe('services', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  const field = (name: string, path: string) => machine.kubectl('get', 'pod', name, '-o', `jsonpath=${path}`).stdout
  const ready = (name: string) =>
    until(`${name} is ready`, () => field(name, '{.status.conditions[?(@.type=="Ready")].status}') === 'True')
  const up = (...args: readonly string[]) => {
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach', ...args)
    assert.equal(status, 0, stderr)
  }
  const inPod = (name: string, ...command: readonly string[]) =>
    machine.kubectl('exec', name, '-c', 'c', '--', ...command)
  const led = (what: string, ask: () => { readonly stdout: string }) => until(what, () => who(ask()))

  before(async () => {
    machine = await startContainerMachine()
    startNameServer(machine)
    up()
    const loaded = machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE))
    assert.equal(loaded.status, 0, loaded.stderr)
    const serve = `${WHO}; exec sleep 99999`
    machine.apply(
      pod('a', 'web', serve),
      pod('b', 'web', serve),
      podWithPrograms('client', 'client', `${LINKED}; ${serve}`),
    )
    for (const name of ['a', 'b', 'client']) await ready(name)
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('a client in a pod finds the API server by its variables, token and certificate', async () => {
    machine.apply({
      kind: 'ClusterRoleBinding',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'looks' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    })
    const looks = podWithPrograms(
      'looks',
      'looks',
      `${LINKED}; /programs/2/kubectl get pod client -o name; echo $?; exec sleep 99999`,
      {
        readinessProbe: undefined,
      },
    )
    machine.apply(looks)
    await until('its answer', () => /^\d+$/m.test(machine.kubectl('logs', 'looks').stdout))
    assert.equal(machine.kubectl('logs', 'looks').stdout, 'pod/client\n0\n')
  })

  test('a ClusterIP leads to every ready endpoint, which see the client’s own address', async () => {
    machine.apply(service('web', '10.96.0.77'))
    await led('an answer', () => inPod('client', ...wget('10.96.0.77')))
    const answers = Array.from({ length: 24 }, () => who(inPod('client', ...wget('10.96.0.77'))))
    assert.deepEqual(new Set(answers.map((one) => one?.name)), new Set(['a', 'b']))
    assert.deepEqual(new Set(answers.map((one) => one?.source)), new Set([field('client', '{.status.podIP}')]))
    assert.ok(who(machine.run(...wget('10.96.0.77'))), 'the machine itself reaches it too')
  })

  test('a pod reaches itself by its own Service', async () => {
    machine.apply(
      pod('self', 'self', `${WHO}; exec sleep 99999`),
      service('self', '10.96.0.78', { selector: { app: 'self' } }),
    )
    await ready('self')
    const { name, source } = await led('its own answer', () => inPod('self', ...wget('10.96.0.78')))
    assert.equal(name, 'self')
    assert.notEqual(source, field('self', '{.status.podIP}'))
  })

  test('a NodePort is open on the node’s address, for the machine and for pods', async () => {
    const ports = [{ port: 80, targetPort: 8080, nodePort: 30080 }]
    machine.apply(service('node', '10.96.0.79', { type: 'NodePort', ports }))
    const node = machine.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].status.addresses[0].address}').stdout
    await led('the machine’s answer', () => machine.run(...wget(`${node}:30080`)))
    assert.ok(who(inPod('client', ...wget(`${node}:30080`))))
    assert.equal(who(machine.run(...wget('127.0.0.1:30080'))), undefined)
  })

  test('an external address is led to endpoints; of policy Local, the client’s address is kept', async () => {
    machine.apply(
      service('out', '10.96.0.80', { externalIPs: ['192.0.2.7'] }),
      service('near', '10.96.0.81', {
        type: 'LoadBalancer',
        externalIPs: ['192.0.2.8'],
        externalTrafficPolicy: 'Local',
      }),
    )
    const masked = await led('an answer', () => inPod('client', ...wget('192.0.2.7')))
    assert.notEqual(masked.source, field('client', '{.status.podIP}'))
    const kept = await led('an answer', () => inPod('client', ...wget('192.0.2.8')))
    assert.equal(kept.source, field('client', '{.status.podIP}'))
  })

  test('with session affinity a client stays with its endpoint, and gets another when that goes', async () => {
    machine.apply(service('same', '10.96.0.82', { sessionAffinity: 'ClientIP' }))
    const { name } = await led('an answer', () => inPod('client', ...wget('10.96.0.82')))
    const answers = Array.from({ length: 12 }, () => who(inPod('client', ...wget('10.96.0.82')))?.name)
    assert.deepEqual(new Set(answers), new Set([name]))
    machine.kubectl('label', 'pod', name, 'app=gone', '--overwrite')
    await until('the other one', () => {
      const now = who(inPod('client', ...wget('10.96.0.82')))?.name
      return now !== undefined && now !== name
    })
    machine.kubectl('label', 'pod', name, 'app=web', '--overwrite')
  })

  test('UDP goes to an endpoint, and a flow goes on at another when that ends', async () => {
    const udp = podWithPrograms('udp-1', 'udp', `${WHO}; ${ECHO}`)
    const ports = [{ port: 53, targetPort: 5353, protocol: 'UDP' }]
    machine.apply(udp, service('udp', '10.96.0.83', { selector: { app: 'udp' }, ports }))
    await ready('udp-1')
    const ask = () => inPod('client', NODE, '-e', ASK).stdout
    await until('the first answer', () => ask() === 'udp-1\n')
    machine.apply(podWithPrograms('udp-2', 'udp', `${WHO}; ${ECHO}`))
    await ready('udp-2')
    assert.equal(machine.kubectl('delete', 'pod', 'udp-1').status, 0)
    await until('the second answer', () => ask() === 'udp-2\n', 20_000)
  })

  test('a Service without endpoints refuses at once, and a port that no Service has', async () => {
    machine.apply(service('none', '10.96.0.84', { selector: { app: 'nothing' } }))
    const refused = (at: string) => /Connection refused/.test(inPod('client', ...wget(at)).stderr)
    await until('it is refused', () => refused('10.96.0.84'))
    assert.ok(refused('10.96.0.77:81'))
  })

  test('an endpoint that ends serves on where no other is', async () => {
    machine.apply(
      pod('last', 'last', `trap '' TERM; ${WHO}; while :; do sleep 1; done`, { terminationGracePeriodSeconds: 60 }),
      service('last', '10.96.0.85', { selector: { app: 'last' } }),
    )
    await ready('last')
    await led('an answer', () => inPod('client', ...wget('10.96.0.85')))
    machine.kubectl('delete', 'pod', 'last', '--wait=false')
    const conditions = '{.items[0].endpoints[0].conditions}'
    const slices = [
      'get',
      'endpointslices',
      '-l',
      'kubernetes.io/service-name=last',
      '-o',
      `jsonpath=${conditions}`,
    ] as const
    await until('it ends', () => /"terminating":true/.test(machine.kubectl(...slices).stdout))
    machine.apply(service('mark', '10.96.0.86', { selector: { app: 'web' } }))
    await led('rules that are younger', () => inPod('client', ...wget('10.96.0.86')))
    assert.equal(who(inPod('client', ...wget('10.96.0.85')))?.name, 'last')
    machine.kubectl('delete', 'pod', 'last', '--grace-period=0', '--force')
  })

  test('pods find Services by their names, and other names by the machine’s own name server', async () => {
    const resolver = inPod('client', 'cat', '/etc/resolv.conf').stdout
    assert.match(resolver, /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local/m)
    assert.match(resolver, /^nameserver 10\.96\.0\.10\noptions ndots:5\n$/m)
    const events = machine.kubectl('get', 'events', '-o', 'jsonpath={.items[*].reason}').stdout
    assert.doesNotMatch(events, /MissingClusterDNS/)
    for (const name of ['web', 'web.default', 'web.default.svc.cluster.local'])
      await led(`an answer from ${name}`, () => inPod('client', ...wget(name)))
    machine.apply(service('heads', 'None'))
    const ips = ['a', 'b'].map((name) => field(name, '{.status.podIP}')).sort()
    const look = (name: string) =>
      [...inPod('client', 'nslookup', name).stdout.matchAll(/^Address: (\S+)$/gm)].map(([, ip]) => ip).sort()
    await until('both addresses', () => look('heads.default.svc.cluster.local').join() === ips.join())
    const back = inPod('client', 'nslookup', '10.96.0.77').stdout
    assert.match(back, /name = web\.default\.svc\.cluster\.local/)
    assert.match(inPod('client', 'nslookup', 'gone.default.svc.cluster.local').stdout, /NXDOMAIN/)
    assert.deepEqual(look('www.example.test'), ['192.0.2.53'])
    assert.deepEqual(look('kubernetes.default.svc.cluster.local'), ['10.96.0.1'])
  })

  test('a pod on the host’s network has the cluster’s names where it asks for them, and one may have its own', async () => {
    const sleeps = (name: string, spec: object) =>
      pod(name, name, 'exec sleep 99999', spec, { readinessProbe: undefined })
    const dnsConfig = { nameservers: ['192.0.2.99'], searches: ['mine.test'], options: [{ name: 'ndots', value: '2' }] }
    machine.apply(
      sleeps('on-host', { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
      sleeps('own-names', { dnsPolicy: 'None', dnsConfig }),
    )
    for (const name of ['on-host', 'own-names']) await ready(name)
    assert.match(
      inPod('on-host', 'nslookup', 'web').stdout,
      /^Name:\tweb\.default\.svc\.cluster\.local\nAddress: 10\.96\.0\.77$/m,
    )
    const own = 'search mine.test\nnameserver 192.0.2.99\noptions ndots:2\n'
    assert.equal(inPod('own-names', 'cat', '/etc/resolv.conf').stdout, own)
  })

  test('other machines reach neither the API server nor the DNS, though they know the way', () => {
    const made = machine.run(
      'sh',
      '-ec',
      `ip netns add lan; ip link add lan0 type veth peer name eth0 netns lan
       ip address add 192.0.2.129/25 dev lan0; ip link set lan0 up
       ip netns exec lan sh -ec 'ip address add 192.0.2.130/25 dev eth0; ip link set eth0 up; ip route add default via 192.0.2.129'`,
    )
    assert.equal(made.status, 0, made.stderr)
    const ask = (...command: readonly string[]) =>
      machine.run('ip', 'netns', 'exec', 'lan', 'busybox', 'timeout', '2', ...command).status
    const slice = machine.kubectl(
      'get',
      'endpointslice',
      'kubernetes',
      '-o',
      'jsonpath={.endpoints[0].addresses[0]} {.ports[0].port}',
    )
    const [address = '', port = ''] = slice.stdout.split(' ')
    assert.equal(ask('ping', '-c', '1', '192.0.2.129'), 0, 'the way itself')
    const connects = (to: string, at: string) => ask('busybox', 'nc', to, at, '-e', '/bin/true') === 0
    assert.equal(connects(address, port), false)
    assert.equal(connects('10.96.0.1', '443'), false)
    assert.notEqual(ask('busybox', 'nslookup', 'kubernetes.default.svc.cluster.local', address), 0)
    assert.equal(machine.run('busybox', 'timeout', '2', 'busybox', 'nc', address, port, '-e', '/bin/true').status, 0)
    machine.run('ip', 'netns', 'delete', 'lan')
  })

  test('a ruleset that others flush is made again', async () => {
    assert.equal(machine.run('nft', 'flush', 'ruleset').status, 0)
    machine.kubectl('annotate', 'service', 'web', 'touched=yes')
    machine.apply(service('after', '10.96.0.87'))
    await led('an answer', () => inPod('client', ...wget('10.96.0.87')))
    assert.ok(who(inPod('client', ...wget('10.96.0.77'))), 'older ones too')
  })

  test('rules outlive a process that is killed, the next one goes on, and down after a kill leaves nothing', async () => {
    const kill = async () => {
      const pid = /^pid: +(\d+)$/m.exec(machine.skiff('status').stdout)?.[1] ?? ''
      assert.equal(machine.run('kill', '-9', pid).status, 0)
      await until('its end', () => machine.run('kill', '-0', pid).status !== 0)
    }
    await kill()
    assert.ok(who(machine.run(...wget('10.96.0.77'))), 'traffic does not wait for the next start')
    up()
    machine.apply(service('again', '10.96.0.88'))
    await led('an answer', () => machine.run(...wget('10.96.0.88')))
    await kill()
    const { status, stdout, stderr } = machine.skiff('down')
    assert.equal(status, 0, stderr)
    assert.match(stdout, /its nodes are taken down/)
    assert.equal(machine.run('nft', 'list', 'ruleset').stdout, '')
    assert.equal(/skiff-/.test(machine.run('ip', '-o', 'link').stdout), false)
    assert.equal(machine.run('ip', 'route').stdout, '')
    assert.equal(machine.run('cat', '/proc/sys/net/ipv4/ip_forward').stdout, '0\n')
    assert.deepEqual(readdirSync(join(machine.directory, 'cni')), [])
  })

  test('without proxy and DNS nothing of them is there: others may do their work at the usual address', async () => {
    up('--components', 'apiserver,controllers,scheduler,kubelet')
    assert.equal(/services/.test(machine.run('nft', 'list', 'tables').stdout), false)
    assert.equal(machine.kubectl('get', 'services', '-n', 'kube-system', '-o', 'name').stdout, '')
    await ready('a')
    const config = inPod('a', 'cat', '/etc/resolv.conf').stdout
    assert.match(config, /^nameserver 10\.96\.0\.10$/m)
    const slice = machine.kubectl('get', 'endpointslice', 'kubernetes', '-o', 'jsonpath={.endpoints[0].addresses[0]}')
    assert.match(slice.stdout, /^10\.244\.\d+\.1$/)
    assert.equal(machine.skiff('down').status, 0)
  })
})
