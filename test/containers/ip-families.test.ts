/**
 * Pods, Services and NetworkPolicies with addresses of both families, on two nodes of one machine; then a node with addresses of IPv6 alone. Each
 * test goes on where the one before it ended.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'
import { traces } from './traces.ts'
import { ASK, ECHO, IMAGE, LINKED, NODE, pod, podWithPrograms, service, WHO, wget, who } from './traffic.ts'

const BOTH = '10.96.0.0/16,fd00:10:96::/112'
const SERVE = `${WHO}; exec sleep 99999`
/** Whether the first thing that the pod sends is answered: a question for the gateway that is lost is asked again after a second. */
const FIRST = 'ping -6 -c 1 -W 1 $GATEWAY > /dev/null && echo answered || echo lost'
const GATEWAY = { env: [{ name: 'GATEWAY', value: 'fd00:10:244::1' }] }

describe('both address families', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  let untouched: ReturnType<typeof traces>
  const field = (kind: string, name: string, path: string) =>
    machine.kubectl('get', kind, name, '-o', `jsonpath=${path}`).stdout
  const ipsOf = (name: string) => field('pod', name, '{.status.podIPs[*].ip}').split(' ')
  const ip6Of = (name: string) => ipsOf(name).find((ip) => ip.includes(':')) ?? assert.fail(`${name} has no IPv6`)
  const at = (ip: string, port?: number) => `[${ip}]${port === undefined ? '' : `:${port}`}`
  const inPod = (name: string, ...command: readonly string[]) => machine.kubectl('exec', name, '--', ...command)
  const asked = (from: string, where: string, seconds = 2) => who(inPod(from, ...wget(where, seconds)))
  const untilReached = (from: string, where: string, wanted: boolean) =>
    until(`${from} ${wanted ? 'reaches' : 'does not reach'} ${where}`, () => {
      const found = asked(from, where, 1)
      return (found !== undefined) === wanted && (found ?? true)
    })
  const ready = async (...names: readonly string[]) => {
    for (const name of names)
      await until(
        `${name} is ready`,
        () => field('pod', name, '{.status.conditions[?(@.type=="Ready")].status}') === 'True',
      )
  }
  const up = (...args: readonly string[]) => {
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach', ...args)
    assert.equal(status, 0, stderr)
  }
  const inLan = (...command: readonly string[]) => machine.run('ip', 'netns', 'exec', 'lan', ...command)
  /** A Service of both families, whose address of IPv6 is known. */
  const both = (name: string, number: number, spec: object = {}) =>
    service(name, `10.96.0.${number}`, {
      clusterIPs: [`10.96.0.${number}`, `fd00:10:96::${number}`],
      ipFamilyPolicy: 'RequireDualStack',
      ...spec,
    })

  before(async () => {
    machine = await startContainerMachine()
    // Another machine, from which this one would take a default route if it told of one.
    const made = machine.run(
      'sh',
      '-ec',
      `ip netns add lan; ip link add lan0 type veth peer name eth0 netns lan
       ip address add 2001:db8:1::1/64 dev lan0 nodad; ip link set lan0 up
       ip netns exec lan sh -ec 'ip address add 2001:db8:1::2/64 dev eth0 nodad; ip link set eth0 up; ip route add default via 2001:db8:1::1'
       ip6tables -P FORWARD DROP`,
    )
    assert.equal(made.status, 0, made.stderr)
    await until('the link is there', () => !/tentative/.test(machine.run('ip', '-6', 'address').stdout))
    untouched = traces(machine)
    up('--nodes', '2', '--service-cluster-ip-range', BOTH)
    const loaded = machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE))
    assert.equal(loaded.status, 0, loaded.stderr)
    machine.apply(
      pod('one', 'web', `${FIRST}; ${SERVE}`, { nodeName: 'skiff-1' }, GATEWAY),
      pod('two', 'web', SERVE, { nodeName: 'skiff-2' }),
      podWithPrograms('client', 'client', `${LINKED}; ${SERVE}`),
      both('web', 77),
    )
    await ready('one', 'two', 'client')
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('nodes and pods have an address of each family, and the first packet of a pod is answered', () => {
    const ranges = ['skiff-1', 'skiff-2'].map((name) => field('node', name, '{.spec.podCIDRs[*]}'))
    assert.deepEqual(ranges, ['10.244.0.0/24 fd00:10:244::/64', '10.244.1.0/24 fd00:10:244:1::/64'])
    const addresses = '{.status.addresses[?(@.type=="InternalIP")].address}'
    assert.equal(field('node', 'skiff-2', addresses), '10.244.15.2 fd00:10:244:f::2')
    assert.equal(field('pod', 'two', '{.status.hostIPs[*].ip}'), '10.244.15.2 fd00:10:244:f::2')
    const [four = '', six = ''] = ipsOf('two')
    assert.deepEqual([four, six.replace(/[\da-f]+$/, '')], [field('pod', 'two', '{.status.podIP}'), 'fd00:10:244:1::'])
    const hosts = inPod('two', 'cat', '/etc/hosts').stdout
    assert.ok(hosts.endsWith(`${four}\ttwo\n${six}\ttwo\n`) && hosts.includes('::1\tlocalhost'), hosts)
    assert.equal(machine.kubectl('logs', 'one').stdout, 'answered\n')
  })

  test('only that the machine forwards has changed: its interfaces take routes from others as before', () => {
    const settings = 'cd /proc/sys/net/ipv6/conf; grep . all/forwarding */forwarding lan0/accept_ra'
    const said = machine.run('sh', '-c', settings).stdout
    assert.match(said, /^all\/forwarding:1$/m)
    assert.match(said, /^lan0\/forwarding:0$/m)
    assert.match(said, /^default\/forwarding:0$/m)
    assert.match(said, /^lan0\/accept_ra:1$/m)
  })

  test('pods of two nodes reach each other, by a Service too, which sees their own addresses', async () => {
    const [from, to] = [ip6Of('client'), ip6Of('two')]
    assert.deepEqual(asked('client', at(to, 8080)), { name: 'two', source: from })
    assert.deepEqual(asked('two', at(from, 8080)), { name: 'client', source: to })
    await untilReached('client', at('fd00:10:96::77'), true)
    await untilReached('two', at('fd00:10:96::77'), true)
    const answers = Array.from({ length: 8 }, () => asked('client', at('fd00:10:96::77')))
    assert.deepEqual(new Set(answers.map((one) => one?.name)), new Set(['one', 'two']))
    assert.deepEqual(new Set(answers.map((one) => one?.source)), new Set([from]))
    assert.ok(who(machine.run(...wget(at('fd00:10:96::77')))), 'the machine itself')
    machine.apply(both('self', 78, { selector: { app: 'client' } }))
    const own = await untilReached('client', at('fd00:10:96::78'), true)
    assert.notDeepEqual(own, { name: 'client', source: from }, 'a pod reaches itself by its own Service')
  })

  test('NodePorts and host ports are open on addresses of IPv6, and what pods send out has the machine’s address', async () => {
    const ports = [{ port: 80, targetPort: 8080, nodePort: 30080 }]
    const container = { ports: [{ containerPort: 8080, hostPort: 18080 }] }
    machine.apply(
      both('node', 79, { type: 'NodePort', ports }),
      pod('host-port', 'host-port', SERVE, { nodeName: 'skiff-1' }, container),
    )
    await ready('host-port')
    await untilReached('client', at('fd00:10:244::1', 30080), true)
    assert.ok(asked('one', at('fd00:10:244:f::2', 30080)), 'of the other node')
    assert.equal(machine.kubectl('label', 'pod', 'two', 'alone=two').status, 0)
    const backPorts = [{ port: 80, targetPort: 8080, nodePort: 30081 }]
    machine.apply(both('back', 85, { type: 'NodePort', ports: backPorts, selector: { alone: 'two' } }))
    const backs = await untilReached('two', at('fd00:10:244::1', 30081), true)
    assert.deepEqual(backs, { name: 'two', source: 'fd00:10:244:f::1' }, 'by the other node, back again')
    assert.equal(asked('two', '10.244.0.1:30081')?.name, 'two')
    assert.equal(who(inLan(...wget(at('2001:db8:1::1', 18080))))?.name, 'host-port')
    const listening = inLan('sh', '-c', 'busybox nc -l -p 7000 -e sh -c "echo hello" > /dev/null 2>&1 & sleep 0.2')
    assert.equal(listening.status, 0)
    const said = inPod('client', 'sh', '-c', 'echo | nc -w 2 2001:db8:1::2 7000')
    assert.match(said.stdout, /hello/, said.stderr)
  })

  test('an external address is led to endpoints from other machines; of policy Local, the client’s address is kept', async () => {
    machine.apply(
      both('out', 80, { externalIPs: ['2001:db8:7::7'] }),
      both('near', 81, { type: 'LoadBalancer', externalIPs: ['2001:db8:7::8'], externalTrafficPolicy: 'Local' }),
    )
    const source = async (ip: string) => (await until(ip, () => who(inLan(...wget(at(ip), 2))))).source
    assert.notEqual(await source('2001:db8:7::7'), '2001:db8:1::2')
    assert.equal(await source('2001:db8:7::8'), '2001:db8:1::2')
  })

  test('other machines reach neither the API server nor the DNS', () => {
    const port = field('endpointslice', 'kubernetes', '{.ports[0].port}')
    const connects = (where: string, to: string) =>
      inLan('busybox', 'timeout', '2', 'busybox', 'nc', where, to, '-e', '/bin/true').status === 0
    assert.ok(connects('2001:db8:1::1', '18080'), 'the way itself')
    for (const number of ['53', '9153', port]) assert.equal(connects('fd00:10:244::1', number), false, number)
    const open = machine.run('busybox', 'timeout', '2', 'busybox', 'nc', 'fd00:10:244::1', '53', '-e', '/bin/true')
    assert.equal(open.status, 0, 'from the machine')
  })

  test('a client with affinity stays with its endpoint', async () => {
    machine.apply(both('sticky', 82, { sessionAffinity: 'ClientIP' }))
    const { name } = (await until('an answer', () => asked('client', at('fd00:10:96::82')))) ?? assert.fail()
    const again = Array.from({ length: 6 }, () => asked('client', at('fd00:10:96::82'))?.name)
    assert.deepEqual(new Set(again), new Set([name]))
  })

  test('UDP goes to an endpoint, and a flow goes on at another when that ends', async () => {
    const echo = ECHO.replace("'udp4'", "'udp6'")
    const ports = [{ port: 53, targetPort: 5353, protocol: 'UDP' }]
    machine.apply(
      podWithPrograms('udp-1', 'udp', `${WHO}; ${echo}`),
      both('udp', 83, { selector: { app: 'udp' }, ports }),
    )
    await ready('udp-1')
    const script = ASK.replace("'udp4'", "'udp6'").replace('10.96.0.83', 'fd00:10:96::83')
    const ask = () => inPod('client', NODE, '-e', script).stdout
    await until('the first answer', () => ask() === 'udp-1\n')
    machine.apply(podWithPrograms('udp-2', 'udp', `${WHO}; ${echo}`))
    await ready('udp-2')
    assert.equal(machine.kubectl('delete', 'pod', 'udp-1').status, 0)
    await until('the second answer', () => ask() === 'udp-2\n', 20_000)
  })

  test('a Service without endpoints refuses at once, and a port that no Service has', async () => {
    machine.apply(both('none', 84, { selector: { app: 'nothing' } }))
    const refused = (where: string) => /Connection refused/.test(inPod('client', ...wget(where)).stderr)
    await until('it is refused', () => refused(at('fd00:10:96::84')))
    assert.ok(refused(at('fd00:10:96::77', 81)))
    const local = machine.run(...wget(at('fd00:10:96::84')))
    assert.match(local.stderr, /Connection refused/, 'from the machine')
  })

  test('names have addresses of both families, and addresses of both have names, asked at either address', async () => {
    machine.apply(both('heads', 0, { clusterIP: 'None', clusterIPs: ['None'] }))
    const look = (name: string, ...server: readonly string[]) =>
      [...inPod('client', 'nslookup', name, ...server).stdout.matchAll(/^Address: (\S+)$/gm)].map(([, ip]) => ip).sort()
    assert.deepEqual(look('web.default.svc.cluster.local'), ['10.96.0.77', 'fd00:10:96::77'])
    assert.deepEqual(look('web.default.svc.cluster.local', 'fd00:10:96::a'), ['10.96.0.77', 'fd00:10:96::77'])
    const all = ['one', 'two'].flatMap(ipsOf).sort()
    await until('all addresses', () => look('heads.default.svc.cluster.local').join() === all.join())
    assert.match(inPod('client', 'nslookup', 'fd00:10:96::77').stdout, /name = web\.default\.svc\.cluster\.local/)
    const ips = machine.kubectl(
      'get',
      'service',
      '-n',
      'kube-system',
      'kube-dns',
      '-o',
      'jsonpath={.spec.clusterIPs[*]}',
    )
    assert.equal(ips.stdout, '10.96.0.10 fd00:10:96::a')
  })

  test('NetworkPolicies hold by either address, across nodes, and neighbours find one another all the same', async () => {
    const policy = (name: string, app: string, spec: object) => ({
      ...{ kind: 'NetworkPolicy', apiVersion: 'networking.k8s.io/v1', metadata: { name } },
      spec: { podSelector: { matchLabels: { app } }, ...spec },
    })
    const web = at(ip6Of('two'), 8080)
    machine.apply(policy('web', 'web', { policyTypes: ['Ingress'] }))
    await untilReached('client', web, false)
    assert.equal(asked('client', `${ipsOf('two')[0]}:8080`, 1), undefined)
    machine.run('ip', '-6', 'neigh', 'flush', 'all')
    assert.ok(who(machine.run(...wget(at(ip6Of('one'), 8080)))), 'the node itself, which must find the pod anew')
    machine.apply(policy('web', 'web', { ingress: [{ from: [{ podSelector: { matchLabels: { app: 'client' } } }] }] }))
    await untilReached('client', web, true)
    assert.equal(asked('host-port', web, 1), undefined)
    const allBut = (...except: readonly string[]) => [{ from: [{ ipBlock: { cidr: 'fd00:10:244::/60', except } }] }]
    machine.apply(policy('web', 'web', { ingress: allBut(`${ip6Of('client')}/128`) }))
    await untilReached('client', web, false)
    await untilReached('host-port', web, true)
    assert.equal(asked('host-port', `${ipsOf('two')[0]}:8080`, 1), undefined, 'the block names nobody by IPv4')
    machine.apply(policy('out', 'host-port', { policyTypes: ['Egress'] }))
    await untilReached('host-port', web, false)
    const name = inPod('host-port', 'nslookup', 'web.default.svc.cluster.local', 'fd00:10:96::a')
    assert.match(name.stdout, /fd00:10:96::77/)
    assert.equal(machine.kubectl('delete', 'networkpolicy', '--all').status, 0)
    await untilReached('host-port', web, true)
  })

  test('a pod’s link answers for the node at once, whatever duplicate address detection had begun', () => {
    const settle = `import { linkSettler } from '${new URL('../../src/kubelet/machine/pod-links.ts', import.meta.url)}'
      await linkSettler('fd00:10:244::1')()`
    const { status, stdout, stderr } = machine.run(
      'sh',
      '-ec',
      `ip link add veth5e771e type veth peer name other
       ip link set other up; ip link set veth5e771e up
       ip address add fd00:10:244::1/128 dev veth5e771e
       ${process.execPath} --input-type=module -e "${settle}"
       ip -6 -oneline address show dev veth5e771e; ip link delete veth5e771e`,
    )
    assert.equal(status, 0, stderr)
    // What detection was under way for is gone, the link's own address too.
    assert.deepEqual(
      stdout.match(/(?<=inet6 ).*?(?= *\\)/g)?.map((one) => one.trim()),
      ['fd00:10:244::1/128 scope global nodad', 'fe80::1/64 scope link nodad'],
      stdout,
    )
  })

  test('a pod that gives another’s address as its own is not heard; whether the machine is still there it may ask', async () => {
    const container = { securityContext: { capabilities: { add: ['NET_ADMIN'] } } }
    machine.apply(podWithPrograms('forger', 'forger', `${LINKED}; ${SERVE}`, container, { nodeName: 'skiff-1' }))
    await ready('forger')
    const ping = (from: string) =>
      inPod('forger', 'ping', '-6', '-c', '1', '-W', '1', '-I', from, ip6Of('one')).status === 0
    const own = ip6Of('forger')
    const forged = 'fd00:10:244:7::7'
    assert.equal(inPod('forger', '/usr/bin/ip', 'address', 'add', `${forged}/128`, 'dev', 'eth0', 'nodad').status, 0)
    assert.deepEqual([ping(own), ping(forged)], [true, false])
    // What is dropped at once is no flow.
    const flows = machine.run('conntrack', '-L', '-f', 'ipv6', '-p', 'icmpv6').stdout
    assert.deepEqual([flows.includes(`src=${own} `), flows.includes(forged)], [true, false], flows)
    const gateway = (what: string, ...args: readonly string[]) => {
      const to = GATEWAY.env[0]?.value ?? ''
      const { status, stdout, stderr } = inPod('forger', '/usr/bin/ip', '-6', 'neigh', what, to, 'dev', 'eth0', ...args)
      assert.equal(status, 0, stderr)
      return stdout
    }
    const link = /lladdr (\S+)/.exec(gateway('show'))?.[1] ?? ''
    // It asks under the address of its link, and the machine by name of its own address.
    gateway('replace', 'lladdr', link, 'nud', 'probe')
    const state = await until('an answer', () => /REACHABLE|FAILED/.exec(gateway('show'))?.[0])
    assert.equal(state, 'REACHABLE')
  })

  test('the next process goes on, a family that it has no more goes, and down leaves the machine as it was', async () => {
    const kill = async () => {
      const pid = /^pid: +(\d+)$/m.exec(machine.skiff('status').stdout)?.[1] ?? ''
      assert.equal(machine.run('kill', '-9', pid).status, 0)
      await until('its end', () => machine.run('kill', '-0', pid).status !== 0)
    }
    const one = at(ip6Of('one'), 8080)
    await kill()
    assert.ok(who(machine.run(...wget(one))), 'traffic does not wait for the next start')
    up('--service-cluster-ip-range', '10.96.0.0/16')
    assert.doesNotMatch(
      machine.run('sh', '-c', 'nft list tables; ip -6 address').stdout,
      /ip6 skiff|fd00:10:244::1\/64/,
    )
    await kill()
    const { status, stderr } = machine.skiff('down')
    assert.equal(status, 0, stderr)
    assert.deepEqual(traces(machine), untouched)
  })

  test('a cluster of IPv6 alone has nothing of IPv4, and serves its clients in pods', async () => {
    rmSync(machine.dataDir, { recursive: true })
    up('--service-cluster-ip-range', 'fd00:10:96::/112', '--cluster-cidr', 'fd00:10:250::/60')
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
    const script = `${LINKED}; /programs/2/kubectl auth whoami -o name > /tmp/who 2>&1; ${SERVE}`
    machine.apply(podWithPrograms('alone', 'web', script), service('web', 'fd00:10:96::77'))
    await ready('alone')
    assert.match(ipsOf('alone').join(), /^fd00:10:250::[\da-f]+$/)
    await untilReached('alone', 'web', true)
    assert.match(inPod('alone', 'cat', '/tmp/who', '/etc/resolv.conf').stdout, /nameserver fd00:10:96::a/)
    const forward = machine.start(join(process.cwd(), 'interop/bin/kubectl'), 'port-forward', 'pod/alone', '18081:8080')
    try {
      await until('it is forwarded', () => who(machine.run(...wget('127.0.0.1:18081')))?.name === 'alone')
    } finally {
      forward.kill()
    }
    assert.doesNotMatch(machine.run('nft', 'list', 'tables').stdout, /table ip skiff/)
    assert.equal(machine.run('cat', '/proc/sys/net/ipv4/ip_forward').stdout, '0\n')
    assert.equal(machine.skiff('down').status, 0)
    assert.deepEqual(traces(machine), untouched)
  })

  test('what cannot be is said before anything starts: ranges that the machine has, IPv6 where it is switched off', () => {
    rmSync(machine.dataDir, { recursive: true })
    const refused = (...args: readonly string[]) => {
      const said = machine.skiff('up', ...'--runtime cri --port 0 --service-cluster-ip-range'.split(' '), ...args)
      assert.equal(said.status, 1)
      return said.stderr
    }
    const taken = refused('fd00:10:96::/112', '--cluster-cidr', '2001:db8:1::/60')
    assert.match(taken, /--cluster-cidr 2001:db8:1::\/60: this machine has routes or addresses there already/)
    const off = '/proc/sys/net/ipv6/conf/default/disable_ipv6'
    assert.equal(machine.run('sh', '-c', `echo 1 > ${off}`).status, 0)
    assert.match(refused(BOTH), /gives no addresses of IPv6.*net\.ipv6\.conf\.default\.disable_ipv6=0/)
  })
})
