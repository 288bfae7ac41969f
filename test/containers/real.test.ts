/** Pods of real containers, on a machine of its own: each test goes on where the one before it ended. */
import assert from 'node:assert/strict'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'

const IMAGE = 'example.test/busybox:1'
const sh = (script: string) => ['/bin/busybox', 'sh', '-c', script]

function pod(name: string, containers: readonly object[], spec: object = {}) {
  const whole = containers.map((one) => ({ name: 'c', image: IMAGE, imagePullPolicy: 'Never', ...one }))
  return { kind: 'Pod', apiVersion: 'v1', metadata: { name }, spec: { containers: whole, ...spec } }
}

describe('real containers', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  const field = (name: string, path: string) => machine.kubectl('get', 'pod', name, '-o', `jsonpath=${path}`).stdout
  const ready = (name: string) =>
    until(`${name} is ready`, () => field(name, '{.status.conditions[?(@.type=="Ready")].status}') === 'True')
  const ownFolders = () => ['', 'pods', 'memory'].map((name) => join(machine.dataDir, 'kubelet/skiff-1', name))
  const modes = () => machine.run('stat', '-c', '%a', ...ownFolders()).stdout
  const up = () => {
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach')
    assert.equal(status, 0, stderr)
  }

  before(async () => {
    machine = await startContainerMachine()
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('up makes this machine a Ready node, and image load an image of it', () => {
    up()
    const loaded = machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE))
    assert.deepEqual([loaded.status, loaded.stdout], [0, `${IMAGE}\n`], loaded.stderr)
    assert.match(machine.skiff('image', 'list').stdout, /^example\.test\/busybox:1 +[0-9a-f]{12} +\d/m)
    assert.match(machine.skiff('status').stdout, /^nodes: +1 of 1 ready, containerd /m)
    const bad = machine.skiff('image', 'load', '/etc/passwd')
    assert.deepEqual([bad.status, bad.stdout], [1, ''])
    assert.match(bad.stderr, /^skiff: cannot load \/etc\/passwd: .*\n$/)
  })

  test('a pod has its volumes, variables and user, and is seen through logs and exec', async () => {
    machine.apply(
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'map' }, data: { key: 'mapped' } },
      { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'secret' }, stringData: { key: 'hidden' } },
      pod(
        'one',
        [
          {
            command: sh(
              'cat /from/init /map/key /secret/key; echo; cat /sub; echo; echo $IP $(id -u):$(id -G); echo last; exec sleep 9999',
            ),
            env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
            readinessProbe: { exec: { command: sh('test -f /from/init') }, periodSeconds: 1 },
            resources: { limits: { cpu: '200m', memory: '64Mi' } },
            volumeMounts: [
              { name: 'from', mountPath: '/from' },
              { name: 'map', mountPath: '/map' },
              { name: 'map', mountPath: '/sub', subPath: 'key' },
              { name: 'secret', mountPath: '/secret' },
            ],
          },
        ],
        {
          securityContext: { runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000 },
          terminationGracePeriodSeconds: 1,
          initContainers: [
            {
              name: 'init',
              image: IMAGE,
              imagePullPolicy: 'Never',
              command: sh('echo made > /from/init'),
              volumeMounts: [{ name: 'from', mountPath: '/from' }],
            },
          ],
          volumes: [
            { name: 'from', emptyDir: { medium: 'Memory' } },
            { name: 'map', configMap: { name: 'map' } },
            { name: 'secret', secret: { secretName: 'secret', defaultMode: 0o400 } },
          ],
        },
      ),
    )
    await ready('one')
    const ip = field('one', '{.status.podIP}')
    assert.match(ip, /^10\.244\.\d+\.\d+$/)
    const { stdout } = machine.kubectl('logs', 'one', '-c', 'c')
    assert.equal(stdout, `made\nmappedhidden\nmapped\n${ip} 1000:3000 2000\nlast\n`)
    assert.equal(machine.kubectl('logs', 'one', '--tail=1').stdout, 'last\n')
    assert.equal(modes(), '750\n750\n750\n')
    const left = machine.kubectl('exec', 'one', '-c', 'c', '--', ...sh('cat /etc/hostname; exit 7'))
    assert.deepEqual([left.status, left.stdout], [7, 'one\n'])
    const limits = globSync('/sys/fs/cgroup/{memory/,}skiff-*/burstable/pod*/*/{memory.limit_in_bytes,memory.max}')
    assert.ok(limits.some((file) => readFileSync(file, 'utf8').trim() === String(64 * 1024 * 1024)))
    const metrics = machine.kubectl('get', '--raw', '/api/v1/nodes/skiff-1/proxy/metrics/cadvisor').stdout
    const told = (name: string, labels: string) =>
      Number(new RegExp(`^container_${name}\\{${labels}pod="one"\\} (\\S+) \\d+$`, 'm').exec(metrics)?.[1])
    assert.equal(told('spec_memory_limit_bytes', 'container="c",.*'), 64 * 1024 * 1024)
    assert.ok(told('memory_working_set_bytes', 'container="c",.*') > 0)
    assert.ok(told('cpu_usage_seconds_total', 'container="c",cpu="total",.*') > 0)
    assert.ok(told('network_receive_bytes_total', 'container="",.*interface="eth0",.*') > 0)
  })

  test('a container that fails is started again, with what it left in its status', async () => {
    const securityContext = { runAsUser: 1000 }
    machine.apply(pod('fails', [{ command: sh('echo bye; echo why > /dev/termination-log; exit 3'), securityContext }]))
    const path = '{.status.containerStatuses[0].lastState.terminated}'
    const last = await until('its second start', () => field('fails', path) || undefined)
    const { exitCode, message, reason } = JSON.parse(last)
    assert.deepEqual([exitCode, message, reason], [3, 'why\n', 'Error'])
    assert.equal(machine.kubectl('logs', 'fails', '--previous').stdout, 'bye\n')
    const refused = pod('root', [{ command: sh('true'), securityContext: { runAsNonRoot: true } }])
    machine.apply(refused)
    await until('its refusal', () =>
      /CreateContainerConfigError/.test(field('root', '{.status.containerStatuses[0].state}')),
    )
    assert.equal(machine.kubectl('delete', 'pod', 'fails', 'root', '--grace-period=1').status, 0)
  })

  test('a claim without a class gets a directory of this node, which its next pod finds again and which goes with it', async () => {
    const resources = { requests: { storage: '1Gi' } }
    const keeps = (name: string, command: string) =>
      pod(name, [{ command: sh(command), volumeMounts: [{ name: 'data', mountPath: '/data' }] }], {
        securityContext: { runAsUser: 1000 },
        restartPolicy: 'Never',
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      })
    machine.apply(
      {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources },
      },
      keeps('writes', 'echo kept > /data/file'),
    )
    const ended = (name: string) => until(`${name} ends`, () => field(name, '{.status.phase}') === 'Succeeded')
    await ended('writes')
    machine.kubectl('delete', 'pod', 'writes')
    machine.apply(keeps('reads', 'cat /data/file'))
    await ended('reads')
    assert.equal(machine.kubectl('logs', 'reads').stdout, 'kept\n')
    machine.kubectl('delete', 'pod', 'reads')
    const volumes = () => machine.kubectl('get', 'pv', '-o', 'name').stdout
    assert.notEqual(volumes(), '')
    assert.equal(readdirSync(join(machine.dataDir, 'volumes')).length, 1)
    machine.kubectl('delete', 'pvc', 'data')
    await until('the volume goes', () => volumes() === '')
    assert.deepEqual(readdirSync(join(machine.dataDir, 'volumes')), [])
  })

  test('kubectl top tells what the machine and its pods use', async () => {
    const top = await until('the pod’s usage', () => {
      const { status, stdout } = machine.kubectl('top', 'pod', 'one', '--containers', '--no-headers')
      return status === 0 && stdout.trim()
    })
    assert.match(top, /^one +c +\d+m +\d+Mi$/)
    const node = await until('the node’s usage', () => {
      const { status, stdout } = machine.kubectl('top', 'node', '--no-headers')
      return status === 0 && stdout
    })
    assert.match(node, /^skiff-1 +\d+m +\d+% +[1-9]\d*Mi +\d+%/)
  })

  test('an ephemeral container looks into a running pod', async () => {
    const debug = ['debug', 'one', `--image=${IMAGE}`, '--image-pull-policy=Never', '--container=eye', '--target=c']
    const { status, stderr } = machine.kubectl(...debug, '--', ...sh('ps; exec sleep 9999'))
    assert.equal(status, 0, stderr)
    const path = '{.status.ephemeralContainerStatuses[0].state.running.startedAt}'
    await until('it runs', () => field('one', path) !== '')
    assert.match(machine.kubectl('logs', 'one', '-c', 'eye').stdout, /^ *1 1000 .*sleep 9999$/m)
  })

  test('a pod on the host’s network is reached at the node’s address, and by a forwarded port', async () => {
    const serve = sh('mkdir /tmp; echo hi > /tmp/index.html; exec busybox httpd -f -p 8099 -h /tmp')
    const probe = { httpGet: { port: 'web', path: '/index.html' }, periodSeconds: 1 }
    const ports = [{ name: 'web', containerPort: 8099, hostPort: 8099 }]
    machine.apply(
      pod('host', [{ command: serve, readinessProbe: probe, ports }], {
        hostNetwork: true,
        terminationGracePeriodSeconds: 1,
      }),
      pod('web', [{ command: serve, readinessProbe: probe, ports: [{ name: 'web', containerPort: 8099 }] }], {
        terminationGracePeriodSeconds: 1,
      }),
    )
    for (const name of ['host', 'web']) await ready(name)
    assert.equal(field('host', '{.status.podIP}'), field('host', '{.status.hostIP}'))
    const kubectl = join(process.cwd(), 'interop/bin/kubectl')
    const fetched = machine.run(
      'sh',
      '-c',
      `${kubectl} port-forward pod/web 18099:8099 > forward.log & p=$!
       for i in $(seq 100); do busybox wget -q -O - http://127.0.0.1:18099/index.html 2> /dev/null && break; sleep 0.1; done; kill $p; rm -f forward.log`,
    )
    assert.equal(fetched.stdout, 'hi\n')
    assert.equal(
      machine.kubectl('get', '--raw', '/api/v1/namespaces/default/pods/web:8099/proxy/index.html').stdout,
      'hi\n',
    )
    assert.equal(machine.kubectl('delete', 'pod', 'host', 'web').status, 0)
  })

  test('a kubelet that is killed leaves its containers running, and the next one goes on with them', async () => {
    const id = '{.status.containerStatuses[0].containerID}'
    const before = field('one', id)
    const pid = /^pid: +(\d+)$/m.exec(machine.skiff('status').stdout)?.[1] ?? ''
    assert.equal(machine.run('kill', '-9', pid).status, 0)
    await until('its end', () => machine.run('kill', '-0', pid).status !== 0)
    // As an earlier version left them.
    machine.run('chmod', '777', ...ownFolders().slice(1))
    up()
    assert.equal(modes(), '750\n750\n750\n')
    await ready('one')
    assert.equal(field('one', id), before)
    assert.equal(field('one', '{.status.containerStatuses[0].restartCount}'), '0')
    assert.equal(machine.kubectl('exec', 'one', '--', ...sh('echo still')).stdout, 'still\n')
  })

  test('a runtime that is killed and comes again finds the node going on with its containers', async () => {
    const id = '{.status.containerStatuses[0].containerID}'
    const before = field('one', id)
    const pid =
      machine.run('ctr', 'version').status === 0 ? machine.run('busybox', 'pidof', 'containerd').stdout.trim() : ''
    assert.equal(machine.run('kill', '-9', ...pid.split(' ')).status, 0)
    await until('it answers again', () => machine.run('ctr', 'version').status === 0)
    const still = () => machine.kubectl('exec', 'one', '-c', 'c', '--', ...sh('echo still'))
    await until('exec works again', () => still().stdout === 'still\n')
    await until('the node is Ready', () => /^skiff-1 +Ready /m.test(machine.kubectl('get', 'nodes').stdout))
    assert.deepEqual([field('one', id), field('one', '{.status.containerStatuses[0].restartCount}')], [before, '0'])
  })

  test('SIGTERM that is obeyed ends a pod at once; one that is not is followed by SIGKILL when its time is over', async () => {
    machine.apply(
      pod('polite', [{ command: sh('trap "exit 0" TERM; while :; do sleep 0.1; done') }], {
        terminationGracePeriodSeconds: 60,
      }),
      pod('deaf', [{ command: sh('trap "" TERM; while :; do sleep 0.1; done') }], {
        terminationGracePeriodSeconds: 3,
      }),
      pod('slow', [{ command: sh('trap "" TERM; while :; do sleep 0.1; done') }], {
        terminationGracePeriodSeconds: 3600,
      }),
    )
    for (const name of ['polite', 'deaf', 'slow']) await ready(name)
    // The object stays until its finalizer goes, so that its last status can be read.
    machine.kubectl('patch', 'pod', 'deaf', '-p', '{"metadata":{"finalizers":["example.test/kept"]}}')
    assert.equal(machine.kubectl('delete', 'pod', 'polite', '--timeout=40s').status, 0)

    machine.kubectl('delete', 'pod', 'deaf', '--wait=false')
    const path = '{.status.containerStatuses[0].state.terminated}'
    const { exitCode, reason, finishedAt } = JSON.parse(await until('its end', () => field('deaf', path) || undefined))
    assert.deepEqual([exitCode, reason, field('deaf', '{.status.phase}')], [137, 'Error', 'Failed'])
    const lateness = Date.parse(finishedAt) - Date.parse(field('deaf', '{.metadata.deletionTimestamp}'))
    assert.ok(lateness >= -1000, `killed ${lateness} ms after its time`)
    await until('grace period 0', () => field('deaf', '{.metadata.deletionGracePeriodSeconds}') === '0')
    machine.kubectl('patch', 'pod', 'deaf', '-p', '{"metadata":{"finalizers":null}}')

    machine.kubectl('delete', 'pod', 'slow', '--wait=false')
    assert.equal(machine.kubectl('delete', 'pod', 'slow', '--grace-period=1', '--timeout=60s').status, 0)
    assert.equal(machine.kubectl('get', 'pods', '-o', 'name').stdout, 'pod/one\n')
  })

  test('a preStop hook that hangs is cut off when the time is over, and a forced delete waits for nothing', async () => {
    const hangs = { lifecycle: { preStop: { exec: { command: sh('sleep 3600') } } }, command: sh('exec sleep 9999') }
    machine.apply(
      pod('hangs', [hangs], { terminationGracePeriodSeconds: 3 }),
      pod('forced', [hangs], { terminationGracePeriodSeconds: 3600 }),
    )
    for (const name of ['hangs', 'forced']) await ready(name)
    assert.equal(machine.kubectl('delete', 'pod', 'hangs', '--timeout=60s').status, 0)
    assert.equal(machine.kubectl('delete', 'pod', 'forced', '--force', '--grace-period=0', '--timeout=10s').status, 0)
    const containers = () => machine.run('ctr', '-n', 'k8s.io', 'containers', 'list').stdout
    // Of the pod that is left: a sandbox, its container, the ephemeral and the init container.
    await until('what was forced away has ended', () => containers().trim().split('\n').length === 5)
  })

  test('down leaves nothing of the node on the machine', async () => {
    const { status, stderr } = machine.skiff('down')
    assert.equal(status, 0, stderr)
    assert.equal(machine.run('ctr', '-n', 'k8s.io', 'containers', 'list', '-q').stdout, '')
    assert.equal(machine.run('ctr', '-n', 'k8s.io', 'images', 'list', '-q').stdout.includes('pause'), false)
    assert.deepEqual(readdirSync(join(machine.directory, 'cni')), [])
    assert.deepEqual(readdirSync(join(machine.directory, 'log/pods')), [])
    assert.equal(existsSync(join(machine.dataDir, 'kubelet/skiff-1')), false)
    assert.equal(/skiff-/.test(machine.run('ip', '-o', 'link').stdout), false)
    assert.equal(machine.run('nft', 'list', 'ruleset').stdout, '')
    assert.equal(machine.run('cat', '/proc/mounts').stdout.includes(machine.dataDir), false)
  })

  test('a node short of memory evicts pods and takes none without requests; its static pods run on', async () => {
    mkdirSync(join(machine.dataDir, 'manifests'))
    const spec = { containers: [{ name: 'c', image: IMAGE, imagePullPolicy: 'Never', command: sh('exec sleep 9999') }] }
    const manifest = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'static' }, spec }
    writeFileSync(join(machine.dataDir, 'manifests/static.json'), JSON.stringify(manifest))
    const flags = ['--port', '0', '--detach', '--eviction-hard', 'memory.available<99%']
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', ...flags)
    assert.equal(status, 0, stderr)
    await until('MemoryPressure', () => {
      const path = 'jsonpath={.status.conditions[?(@.type=="MemoryPressure")].status}'
      return machine.kubectl('get', 'node', 'skiff-1', '-o', path).stdout === 'True'
    })
    const bound = { nodeName: 'skiff-1', terminationGracePeriodSeconds: 1 }
    const asking = { command: sh('exec sleep 9999'), resources: { requests: { memory: '8Mi' } } }
    machine.apply(pod('asking', [asking], bound), pod('best', [{ command: sh('exec sleep 9999') }], bound))
    for (const name of ['asking', 'best'])
      await until(`${name} is evicted`, () => field(name, '{.status.phase} {.status.reason}') === 'Failed Evicted')
    assert.match(field('best', '{.status.message}'), /^Pod was rejected: The node had condition: \[MemoryPressure\]/)
    assert.match(field('asking', '{.status.message}'), /^The node was low on resource: memory\. Threshold quantity: /)
    await ready('static-skiff-1')
    assert.equal(machine.skiff('down').status, 0)
    assert.equal(machine.run('ctr', '-n', 'k8s.io', 'containers', 'list', '-q').stdout, '')
  })
})
