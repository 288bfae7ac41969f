/** What a pod of an attacker, and a user with all rights in one namespace, cannot reach on real nodes. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'
import { IMAGE, LINKED, NODE, pod, podWithPrograms } from './traffic.ts'

/** Asks a kubelet's server for its pods, as nobody and then with the pod's own token. */
const ASK_KUBELET = `
  const https = require('node:https')
  const token = require('node:fs').readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/token', 'utf8')
  const ask = (headers) => new Promise((resolve) => {
    const [host, port] = process.argv.slice(1)
    https.get({ host, port, path: '/pods', headers, rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', (error) => resolve(error.code))
  })
  ask({}).then(async (nobody) => console.log(nobody, await ask({ authorization: 'Bearer ' + token })))`

/** A machine whose disk is nearly full runs it too. */
const FLAGS = [
  ...['--runtime', 'cri', '--nodes', '2', '--port', '0', '--detach'],
  ...['--eviction-hard', 'memory.available<100Mi'],
]

describe('an attacker on real nodes', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  const field = (name: string, path: string) => machine.kubectl('get', 'pod', name, '-o', `jsonpath=${path}`).stdout
  const ready = (name: string) =>
    until(`${name} is ready`, () => field(name, '{.status.conditions[?(@.type=="Ready")].status}') === 'True')
  const on = (node: string) => ({ nodeName: node })

  before(async () => {
    machine = await startContainerMachine()
    const { status, stderr } = machine.skiff('up', ...FLAGS)
    assert.equal(status, 0, stderr)
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
    writeFileSync(join(machine.directory, 'secret-of-the-host'), 'host')
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('neither links nor dots in a subPath lead out of the volume, nor a link that comes while the pod starts', async () => {
    const volumes = [{ name: 'v', emptyDir: {} }]
    const mounts = (subPath: string) => ({
      volumeMounts: [{ name: 'v', mountPath: '/out', subPath }],
      readinessProbe: null,
    })
    const links = {
      name: 'links',
      image: IMAGE,
      imagePullPolicy: 'Never',
      command: [
        '/bin/busybox',
        'sh',
        '-c',
        `busybox ln -s ${machine.directory} /v/link; busybox ln -s /v/link /v/twice`,
      ],
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
    }
    const spec = { volumes, initContainers: [links] }
    for (const [name, subPath] of [
      ['direct', 'link'],
      ['through', 'link/data'],
      ['twice', 'twice'],
    ] as const) {
      machine.apply(pod(name, 'a', 'cat /out/*; exec sleep 9999', spec, mounts(subPath)))
      const why = await until(`${name} is refused`, () => {
        const message = field(name, '{.status.containerStatuses[0].state.waiting.message}')
        return /subPath/i.test(message) && message
      })
      assert.ok(!why.includes('secret-of-the-host'), why)
      machine.kubectl('delete', 'pod', name, '--grace-period=0', '--force')
    }
    assert.throws(() => machine.apply(pod('dots', 'a', 'true', spec, mounts('../..'))), /must not contain '\.\.'/)
    // As an expression it is only known on the node.
    const expr = pod('expr', 'a', 'exec sleep 9999', spec, {
      env: [{ name: 'WAY', value: '../../../../../..' }],
      volumeMounts: [{ name: 'v', mountPath: '/out', subPathExpr: '$(WAY)' }],
      readinessProbe: null,
    })
    machine.apply(expr)
    await until('expr is refused', () => field('expr', '{.status.containerStatuses[0].state.waiting.message}'))
    assert.equal(field('expr', '{.status.containerStatuses[0].state.running}'), '')
    machine.kubectl('delete', 'pod', 'expr', '--grace-period=0', '--force')
  })

  test('a kubelet’s server tells a pod nothing, on its own node and on another, with the pod’s token neither', async () => {
    machine.apply(podWithPrograms('asks', 'asks', `${LINKED}; httpd -p 8080; exec sleep 9999`, {}))
    await ready('asks')
    const nodes = machine.kubectl(
      'get',
      'nodes',
      '-o',
      'jsonpath={range .items[*]}{.status.addresses[0].address} {.status.daemonEndpoints.kubeletEndpoint.Port}{"\\n"}{end}',
    )
    const addresses = nodes.stdout.trim().split('\n')
    assert.equal(addresses.length, 2)
    for (const address of addresses) {
      const asked = machine.kubectl('exec', 'asks', '--', NODE, '-e', ASK_KUBELET, ...address.split(' '))
      assert.equal(asked.stdout, '401 403\n', `${address}: ${asked.stderr}`)
    }
  })

  test('a node reads the secrets of its own pods alone, and changes no other node', async () => {
    const secret = (name: string) => ({ kind: 'Secret', apiVersion: 'v1', metadata: { name }, stringData: { k: 'v' } })
    const holds = (name: string, node: string) =>
      pod(name, name, 'httpd -p 8080; exec sleep 9999', {
        ...on(node),
        volumes: [{ name: 's', secret: { secretName: `of-${name}` } }],
      })
    machine.apply(secret('of-one'), secret('of-two'), holds('one', 'skiff-1'), holds('two', 'skiff-2'))
    for (const name of ['one', 'two']) await ready(name)
    const as = (node: string, ...words: readonly string[]) =>
      machine.kubectl(...words, `--as=system:node:${node}`, '--as-group=system:nodes')
    assert.equal(as('skiff-2', 'get', 'secret', 'of-two').status, 0)
    assert.match(as('skiff-2', 'get', 'secret', 'of-one').stderr, /Forbidden/)
    assert.match(as('skiff-2', 'get', 'secrets').stderr, /Forbidden/)
    assert.match(as('skiff-2', 'label', 'node', 'skiff-1', 'a=b').stderr, /Forbidden/)
    assert.match(as('skiff-2', 'delete', 'pod', 'one').stderr, /Forbidden/)
    assert.match(
      as('skiff-2', 'create', 'token', 'default', '--bound-object-kind=Pod', '--bound-object-name=one').stderr,
      /Forbidden|forbidden/,
    )
  })

  test('whatever names, labels and annotations say, nothing of it is run by a shell or read by nft', async () => {
    const sly = `"; touch ${machine.directory}/run; $(touch ${machine.directory}/run) \` } add table ip sly; #`
    const annotations = { 'example.test/sly': sly }
    const base = pod('sly', 'sly', 'httpd -p 8080; exec sleep 9999', {
      hostAliases: [{ ip: '192.0.2.1', hostnames: ['sly.test'] }],
      dnsConfig: { options: [{ name: 'sly', value: sly }] },
    })
    machine.apply(
      { ...base, metadata: { ...base.metadata, annotations } },
      {
        kind: 'Service',
        apiVersion: 'v1',
        metadata: { name: 'sly', annotations },
        spec: { selector: { app: 'sly' }, ports: [{ port: 80, targetPort: 8080 }] },
      },
      {
        kind: 'NetworkPolicy',
        apiVersion: 'networking.k8s.io/v1',
        metadata: { name: 'sly', annotations },
        spec: { podSelector: {}, ingress: [{}] },
      },
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'sly' }, data: { sly } },
    )
    await ready('sly')
    const { stdout } = machine.run('nft', 'list', 'ruleset')
    assert.match(stdout, /table ip skiff-[0-9a-f]+-services/)
    assert.doesNotMatch(stdout, /sly/)
    assert.equal(machine.run('test', '-e', join(machine.directory, 'run')).status, 1)
  })

  test('a log that has become a link to a file of the host is not read', async () => {
    // Only who may write below /var/log on the node can do that: what is read is still a log of the container alone.
    const directory = machine.run('sh', '-c', 'ls -d /var/log/pods/default_asks_*/c').stdout.trim()
    const link = `ln -sf ${machine.directory}/secret-of-the-host ${directory}/0.log`
    assert.equal(machine.run('sh', '-c', link).status, 0)
    const { stdout } = machine.kubectl('logs', 'asks')
    assert.doesNotMatch(stdout, /host/)
  })
})
