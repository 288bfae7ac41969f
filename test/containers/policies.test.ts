/** NetworkPolicies between real containers, on a machine of its own. Each test goes on where the one before it ended. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'
import { IMAGE, LINKED, NODE, pod, podWithPrograms, service, WHO, wget, who } from './traffic.ts'

const policy = (name: string, app: string, spec: object) => ({
  kind: 'NetworkPolicy',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name },
  spec: { podSelector: { matchLabels: { app } }, ...spec },
})

describe('network policies', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  const field = (name: string, path: string) => machine.kubectl('get', 'pod', name, '-o', `jsonpath=${path}`).stdout
  const isReady = (name: string) => field(name, '{.status.conditions[?(@.type=="Ready")].status}') === 'True'
  const ipOf = (name: string) => field(name, '{.status.podIP}')
  /** A second is enough on one machine: what is dropped never answers. */
  const reaches = (from: string, at: string) => who(machine.kubectl('exec', from, '--', ...wget(at, 1))) !== undefined
  const untilReached = (from: string, at: string, wanted: boolean) =>
    until(`${from} ${wanted ? 'reaches' : 'does not reach'} ${at}`, () => reaches(from, at) === wanted)

  before(async () => {
    machine = await startContainerMachine()
    // As Docker leaves it.
    assert.equal(machine.run('iptables', '-P', 'FORWARD', 'DROP').status, 0)
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach')
    assert.equal(status, 0, stderr)
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
    const serve = `${WHO}; exec sleep 99999`
    const ports = [{ name: 'web', containerPort: 8080 }]
    machine.apply(
      pod('web', 'web', serve, {}, { ports }),
      pod('client', 'client', serve),
      pod('other', 'other', serve),
      service('web', '10.96.0.77'),
    )
    for (const name of ['web', 'client', 'other']) await until(`${name} is ready`, () => isReady(name))
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('where no policy selects a pod everything reaches it', async () => {
    await untilReached('client', `${ipOf('web')}:8080`, true)
    await untilReached('client', '10.96.0.77', true)
  })

  test('one that allows nothing keeps all out, on the same node too, but the node itself; the pod’s own ways stay open', async () => {
    machine.apply(policy('deny', 'web', { policyTypes: ['Ingress'] }))
    await untilReached('client', `${ipOf('web')}:8080`, false)
    assert.equal(reaches('other', '10.96.0.77'), false)
    assert.ok(who(machine.run(...wget(`${ipOf('web')}:8080`))), 'the node')
    assert.ok(reaches('web', `${ipOf('client')}:8080`), 'what it asks for is answered')
    assert.ok(reaches('web', '10.96.0.77'), 'itself by its own Service')
    assert.ok(isReady('web'))
  })

  test('those that a policy names come in, by a named port, also by a Service and when they come later', async () => {
    const ingress = [{ from: [{ podSelector: { matchLabels: { app: 'client' } } }], ports: [{ port: 'web' }] }]
    machine.apply(policy('allow', 'web', { ingress }))
    await untilReached('client', `${ipOf('web')}:8080`, true)
    assert.ok(reaches('client', '10.96.0.77'))
    assert.equal(reaches('other', `${ipOf('web')}:8080`), false)
    machine.kubectl('label', 'pod', 'other', 'app=client', '--overwrite')
    await untilReached('other', `${ipOf('web')}:8080`, true)
    machine.kubectl('label', 'pod', 'other', 'app=other', '--overwrite')
    await untilReached('other', `${ipOf('web')}:8080`, false)
  })

  test('what leaves a pod is held back too, by address blocks with exceptions; names are found all the same', async () => {
    const allBut = (ip: string) => ({ ipBlock: { cidr: '0.0.0.0/0', except: [`${ip}/32`] } })
    machine.apply(policy('out', 'client', { policyTypes: ['Egress'], egress: [{ to: [allBut(ipOf('other'))] }] }))
    await untilReached('client', `${ipOf('other')}:8080`, false)
    assert.ok(reaches('client', `${ipOf('web')}:8080`))
    machine.apply(policy('out', 'client', { policyTypes: ['Egress'] }))
    await untilReached('client', `${ipOf('web')}:8080`, false)
    assert.match(
      machine.kubectl('exec', 'client', '--', 'nslookup', 'web.default.svc.cluster.local').stdout,
      /10\.96\.0\.77/,
    )
  })

  test('a pod that gives another’s address as its own is not heard', async () => {
    assert.equal(machine.kubectl('delete', 'networkpolicy', 'out').status, 0)
    const hear = `const { appendFileSync } = require('node:fs'); appendFileSync('/tmp/heard', '')
      require('node:dgram').createSocket('udp4').on('message', (said) => appendFileSync('/tmp/heard', said + ' ')).bind(5353)`
    const container = { securityContext: { capabilities: { add: ['NET_ADMIN'] } } }
    machine.apply(
      podWithPrograms('ear', 'ear', `${WHO}; ${LINKED}; exec ${NODE} -e "${hear}"`),
      podWithPrograms('forger', 'client', `${WHO}; ${LINKED}; exec sleep 99999`, container),
    )
    for (const name of ['ear', 'forger']) await until(`${name} is ready`, () => isReady(name))
    const client = { podSelector: { matchLabels: { app: 'client' } } }
    machine.apply(policy('ear', 'ear', { ingress: [{ from: [client] }] }))
    const heard = () => machine.kubectl('exec', 'ear', '--', 'cat', '/tmp/heard').stdout.trim().split(' ')
    const say = (what: string, from: string) => {
      const send = `const socket = require('node:dgram').createSocket('udp4')
        socket.bind(0, '${from}', () => socket.send('${what}', 5353, '${ipOf('ear')}', () => socket.close()))`
      assert.equal(machine.kubectl('exec', 'forger', '--', NODE, '-e', send).status, 0)
    }
    const untilHeard = (what: string) =>
      until(what, () => {
        say(what, ipOf('forger'))
        return heard().includes(what)
      })
    await untilHeard('before')
    machine.kubectl('label', 'pod', 'forger', 'app=other', '--overwrite')
    await until('it is kept out', () => !reaches('forger', `${ipOf('ear')}:8080`))
    const { status, stderr } = machine.kubectl(
      'exec',
      'forger',
      '--',
      'ip',
      'address',
      'add',
      `${ipOf('client')}/32`,
      'dev',
      'eth0',
    )
    assert.equal(status, 0, stderr)
    for (let i = 0; i < 3; i++) say('forged', ipOf('client'))
    machine.kubectl('label', 'pod', 'forger', 'app=client', '--overwrite')
    await untilHeard('after')
    assert.ok(!heard().includes('forged'), heard().join(' '))
  })

  test('when policies go everything is open again, and down leaves nothing of them', async () => {
    assert.equal(machine.kubectl('delete', 'networkpolicy', '--all').status, 0)
    await untilReached('client', `${ipOf('web')}:8080`, true)
    await untilReached('other', '10.96.0.77', true)
    const { status, stderr } = machine.skiff('down')
    assert.equal(status, 0, stderr)
    assert.doesNotMatch(machine.run('nft', 'list', 'ruleset').stdout, /skiff/)
    assert.equal(machine.run('iptables', '-S', 'FORWARD').stdout, '-P FORWARD DROP\n')
  })
})
