/** Two nodes of real containers on a machine of their own: each test goes on where the one before it ended. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'
import { groupNames, groupsLeft, traces } from './traces.ts'
import { IMAGE, pod, service, WHO, wget, who } from './traffic.ts'

describe('several nodes on one machine', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  let untouched: ReturnType<typeof traces>
  let groups: readonly string[]
  const field = (kind: string, name: string, path: string) =>
    machine.kubectl('get', kind, name, '-o', `jsonpath=${path}`).stdout
  const ipOf = (name: string) => field('pod', name, '{.status.podIP}')
  const asked = (from: string, at: string) => who(machine.kubectl('exec', from, '--', ...wget(at, 2)))
  const untilReached = (from: string, at: string, wanted: boolean) =>
    until(`${from} ${wanted ? 'reaches' : 'does not reach'} ${at}`, () => (asked(from, at) !== undefined) === wanted)

  before(async () => {
    machine = await startContainerMachine()
    untouched = traces(machine)
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('up makes Ready nodes with addresses and ranges of their own, and image load reaches each', () => {
    const { status, stdout, stderr } = machine.skiff(
      'up',
      ...'--runtime cri --nodes 2 --simulated-nodes 2 --port 0 --detach'.split(' '),
    )
    assert.equal(status, 0, stderr)
    assert.match(stdout, /2 nodes: this machine, and 1 in namespaces of their own/)
    assert.match(stdout, /beside 2 nodes, simulated, for pods that tolerate it/)
    assert.match(machine.skiff('status').stdout, /^nodes: +4 of 4 ready, containerd /m)
    const ranges = ['skiff-1', 'skiff-2'].map((name) => field('node', name, '{.spec.podCIDR}'))
    assert.deepEqual(ranges, ['10.244.0.0/24', '10.244.1.0/24'])
    assert.equal(field('node', 'skiff-2', '{.status.addresses[?(@.type=="InternalIP")].address}'), '10.244.15.2')
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
  })

  test('pods of two nodes reach each other under their own addresses, by Services and names from either', async () => {
    const serve = `${WHO}; exec sleep 99999`
    machine.apply(
      pod('one', 'client', serve, { nodeName: 'skiff-1' }),
      pod('two', 'web', serve, { nodeName: 'skiff-2' }),
      service('web', '10.96.0.77'),
      service('one', '10.96.0.78', { selector: { app: 'client' } }),
    )
    for (const name of ['one', 'two'])
      await until(
        `${name} is ready`,
        () => field('pod', name, '{.status.conditions[?(@.type=="Ready")].status}') === 'True',
      )
    assert.deepEqual(asked('one', `${ipOf('two')}:8080`), { name: 'two', source: ipOf('one') })
    assert.deepEqual(asked('two', `${ipOf('one')}:8080`), { name: 'one', source: ipOf('two') })
    await untilReached('one', '10.96.0.77', true)
    assert.deepEqual(asked('two', '10.96.0.78'), { name: 'one', source: ipOf('two') })
    assert.equal(asked('two', 'one.default.svc.cluster.local')?.name, 'one')
    assert.ok(who(machine.run(...wget('10.96.0.77'))), 'from the machine')
  })

  test('simulated nodes beside them take the pods that tolerate it, and no others', async () => {
    const key = 'sim.skiff.dev/node'
    const simulated = {
      nodeSelector: { [key]: 'simulated' },
      tolerations: [{ key, operator: 'Exists' }],
      containers: [{ name: 'c', image: 'not-on-this-machine', imagePullPolicy: 'Never' }],
    }
    machine.apply(
      pod('real', 'real', `${WHO}; exec sleep 99999`),
      pod('simulated', 'simulated', '', simulated),
      pod('intolerant', 'simulated', '', { ...simulated, tolerations: [] }),
    )
    for (const name of ['real', 'simulated'])
      await until(`${name} runs`, () => field('pod', name, '{.status.phase}') === 'Running')
    assert.match(field('pod', 'real', '{.spec.nodeName}'), /^skiff-/)
    assert.match(field('pod', 'simulated', '{.spec.nodeName} {.status.podIP}'), /^simulated-[12] 100\.6\d\./)
    assert.equal(field('pod', 'intolerant', '{.spec.nodeName}'), '')
    assert.equal(machine.kubectl('delete', 'pod', 'simulated', 'intolerant', 'real', '--wait').status, 0)
  })

  test('logs, exec and port-forward find the second node’s kubelet', async () => {
    assert.equal(machine.kubectl('logs', 'two').status, 0)
    const left = machine.kubectl('exec', 'two', '--', 'sh', '-c', 'hostname; exit 7')
    assert.deepEqual([left.status, left.stdout], [7, 'two\n'])
    const forward = machine.start(join(process.cwd(), 'interop/bin/kubectl'), 'port-forward', 'pod/two', '18080:8080')
    try {
      await until('it is forwarded', () => who(machine.run(...wget('127.0.0.1:18080')))?.name === 'two')
    } finally {
      forward.kill()
    }
  })

  test('a policy holds for what comes from another node, by its pods’ labels', async () => {
    const at = `${ipOf('two')}:8080`
    const policy = (ingress: readonly object[]) => ({
      kind: 'NetworkPolicy',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: 'web' },
      spec: { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'], ingress },
    })
    machine.apply(policy([]))
    await untilReached('one', at, false)
    machine.apply(policy([{ from: [{ podSelector: { matchLabels: { app: 'client' } } }] }]))
    await untilReached('one', at, true)
    assert.deepEqual(asked('one', '10.96.0.77'), { name: 'two', source: ipOf('one') })
    const out = { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Egress'] }
    machine.apply({ ...policy([]), metadata: { name: 'out' }, spec: out })
    await untilReached('two', `${ipOf('one')}:8080`, false)
    const named = machine.kubectl('exec', 'two', '--', 'nslookup', 'one.default.svc.cluster.local')
    assert.match(named.stdout, /10\.96\.0\.78/)
    const now = traces(machine)
    const same = Object.keys(now).filter((what) => now[what] === untouched[what])
    assert.deepEqual(same, [], 'each of these is a trace that a node makes')
    groups = groupNames(machine)
    assert.deepEqual([groups.length, groupsLeft(groups)], [2, groups])
  })

  test('down leaves the machine as it was', () => {
    const { status, stderr } = machine.skiff('down')
    assert.equal(status, 0, stderr)
    assert.deepEqual([traces(machine), groupsLeft(groups)], [untouched, []])
    assert.deepEqual(readdirSync(join(machine.dataDir, 'kubelet')), [])
    assert.equal(existsSync(join(machine.dataDir, 'nodes/skiff-2/namespaces.json')), false)
  })
})
