/** skiff kubelet over a container runtime, on a machine whose network others have made, as a process apart from the control plane. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type LogindStandIn, startLogind } from '../logind/stand-in.ts'
import { lacks } from '../machine.ts'
import {
  busyboxArchive,
  type ContainerMachine,
  NETWORK_OF_OTHERS,
  startContainerMachine,
  until,
  withoutContainers,
} from './stage.ts'

const IMAGE = 'example.test/busybox:1'
const ADDRESS = '10.99.0.1'
const skiff = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))
const sh = (script: string) => ['/bin/busybox', 'sh', '-c', script]

/** As kubeadm writes it, zeros included, and a little more. */
const configuration = (clientCAFile: string) => `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: ${ADDRESS}
authentication:
  anonymous: {enabled: false}
  webhook: {cacheTTL: 0s, enabled: true}
  x509: {clientCAFile: ${clientCAFile}}
authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}}
cgroupDriver: systemd
clusterDNS: [10.96.0.53]
clusterDomain: example.test
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionHard: {memory.available: 100Mi}
evictionPressureTransitionPeriod: 0s
failCgroupV1: false
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
kubeReserved: {cpu: 100m, memory: 64Mi}
logging: {flushFrequency: 0, options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}, verbosity: 0}
maxPods: 9
seccompDefault: true
podPidsLimit: 99
podLogsDir: others-logs
memorySwap: {}
nodeLeaseDurationSeconds: 60
registerWithTaints: [{key: a, value: b, effect: PreferNoSchedule}]
rotateCertificates: true
shutdownGracePeriod: 6s
shutdownGracePeriodCriticalPods: 2s
topologyManagerPolicy: restricted
tracing: {endpoint: 127.0.0.1:9}
unheardOf: 1
`

describe('a kubelet of real containers as a process of its own', {
  skip: withoutContainers || lacks.messageBus(),
}, () => {
  let machine: ContainerMachine
  let kubelet: ChildProcess | undefined
  let log = ''
  let logind: LogindStandIn

  const start = () => {
    const file = join(machine.directory, 'config.yaml')
    writeFileSync(file, configuration(join(machine.dataDir, 'pki/ca.crt')))
    kubelet = machine.start(
      'env',
      ...[`DBUS_SYSTEM_BUS_ADDRESS=${logind.address}`, process.execPath],
      ...[skiff, 'kubelet', '--hostname-override=worker', `--node-ip=${ADDRESS}`, '--node-labels=disk=fast', '--v=2'],
      ...[`--kubeconfig=${join(machine.dataDir, 'kubeconfig')}`, '--max-pods=7', `--config=${file}`],
      ...[`--root-dir=${join(machine.directory, 'kubelet')}`, `--cert-dir=${join(machine.directory, 'certificates')}`],
    )
    kubelet.stderr?.on('data', (text: Buffer) => {
      log += text.toString()
    })
  }
  const stop = (signal: NodeJS.Signals) =>
    new Promise<number | null>((resolve) => {
      const { pid } = kubelet!
      kubelet!.once('exit', (code) => resolve(code))
      // nsenter is its parent.
      machine.run('pkill', `-${signal.slice(3)}`, '-f', 'skiff.js kubelet --hostname-override=worker')
      assert.ok(pid)
    })
  const field = (kind: string, name: string, path: string) =>
    machine.kubectl('get', kind, name, '-o', `jsonpath=${path}`).stdout
  const ready = (kind: string, name: string) =>
    until(`${name} is ready: ${log}`, () =>
      field(kind, name, '{.status.conditions[?(@.type=="Ready")].status}').includes('True'),
    )

  before(async () => {
    machine = await startContainerMachine()
    logind = await startLogind(join(machine.directory, 'logind'), 30)
    machine.run('ip', 'link', 'add', 'outside', 'type', 'bridge')
    machine.run('ip', 'address', 'add', `${ADDRESS}/24`, 'dev', 'outside')
    machine.run('ip', 'link', 'set', 'outside', 'up')
    writeFileSync(join(machine.directory, 'cni/10-others.conflist'), JSON.stringify(NETWORK_OF_OTHERS))
    const archive = busyboxArchive(machine.directory, IMAGE)
    assert.equal(machine.run('ctr', '-n', 'k8s.io', 'images', 'import', archive).status, 0)
    const components = 'apiserver,controllers,scheduler'
    const up = machine.skiff('up', '--port', '0', '--detach', '--components', components)
    assert.equal(up.status, 0, up.stderr)
    start()
  })
  after(async () => {
    machine?.skiff('down')
    const { cluster } = JSON.parse(readFileSync(join(machine.directory, 'kubelet/node.json'), 'utf8'))
    await logind?.stop()
    await machine?.stop()
    // As a kubelet's, its control groups stay; this machine's are not the test's own.
    spawnSync('find', [
      '/sys/fs/cgroup',
      '-depth',
      '-type',
      'd',
      '-path',
      `*/skiff-${cluster}*`,
      '-exec',
      'rmdir',
      '{}',
      ';',
    ])
  })

  test('the node is Ready under its flags, and touches no network', async () => {
    await ready('node', 'worker')
    assert.match(field('node', 'worker', '{.status.nodeInfo.containerRuntimeVersion}'), /^containerd:\/\/\d/)
    assert.equal(field('node', 'worker', '{.status.addresses[?(@.type=="InternalIP")].address}'), ADDRESS)
    assert.equal(field('node', 'worker', '{.status.capacity.pods}'), '7')
    assert.equal(field('node', 'worker', '{.metadata.labels.disk}'), 'fast')
    assert.equal(field('node', 'worker', '{.spec.taints[0]}'), '{"effect":"PreferNoSchedule","key":"a","value":"b"}')
    assert.notEqual(
      field('node', 'worker', '{.status.allocatable.cpu}'),
      field('node', 'worker', '{.status.capacity.cpu}'),
    )
    const lease = machine.kubectl(
      'get',
      'lease',
      '-n',
      'kube-node-lease',
      'worker',
      '-o',
      'jsonpath={.spec.leaseDurationSeconds}',
    )
    assert.equal(lease.stdout, '60')
    assert.equal(field('node', 'worker', '{.status.daemonEndpoints.kubeletEndpoint.Port}'), '10250')
    const lines = log.split('\n').filter((line) => line.startsWith('skiff kubelet: ') && line.includes('config'))
    assert.deepEqual(
      lines.map((line) => line.replace(/^.*(?=using|tracing)/, '')),
      [
        'using lenient decoding as strict decoding failed: strict decoding error: unknown field "unheardOf"',
        'tracing: skiff does not do what this asks for; it is as without this field',
      ],
    )
    const configz = machine.kubectl('get', '--raw', '/api/v1/nodes/worker/proxy/configz')
    const { kubeletconfig } = JSON.parse(configz.stdout)
    const { maxPods, clusterDomain, kubeReserved, address, crashLoopBackOff, topologyManagerPolicy } = kubeletconfig
    assert.deepEqual(
      [maxPods, clusterDomain, kubeReserved, address, crashLoopBackOff, topologyManagerPolicy],
      [
        7,
        'example.test',
        { cpu: '100m', memory: '64Mi' },
        ADDRESS,
        { maxContainerRestartPeriod: '5m0s' },
        'restricted',
      ],
    )
    assert.equal(machine.run('nft', 'list', 'tables').stdout, '')
    assert.doesNotMatch(machine.run('ip', '-o', 'link').stdout, /skiff/)
  })

  test('its pods have addresses of that network and the names of its flags, and are seen through the API server', async () => {
    const container = { name: 'c', image: IMAGE, imagePullPolicy: 'Never', command: sh('echo here; exec sleep 9999') }
    const spec = { containers: [container], terminationGracePeriodSeconds: 1 }
    machine.apply({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'one' }, spec })
    await ready('pod', 'one')
    assert.match(field('pod', 'one', '{.status.podIP}'), /^10\.99\.1\.\d+$/)
    assert.equal(field('pod', 'one', '{.status.hostIP}'), ADDRESS)
    assert.equal(machine.kubectl('logs', 'one').stdout, 'here\n')
    assert.match(machine.kubectl('exec', 'one', '--', ...sh('cat /proc/1/status')).stdout, /^Seccomp:\t2$/m)
    const uid = field('pod', 'one', '{.metadata.uid}')
    const { cluster } = JSON.parse(readFileSync(join(machine.directory, 'kubelet/node.json'), 'utf8'))
    const group = `skiff-${cluster}/besteffort/pod${uid}/pids.max`
    const limits = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'].map((top) => machine.run('cat', join(top, group)).stdout)
    assert.ok(limits.includes('99\n'), limits.join())
    const kept = readFileSync(join(machine.directory, `others-logs/default_one_${uid}/c/0.log`), 'utf8')
    assert.match(kept, / stdout F here\n$/)
    const left = machine.kubectl('exec', 'one', '--', ...sh('cat /etc/resolv.conf; exit 7'))
    assert.deepEqual(
      [left.status, left.stdout],
      [7, 'search default.svc.example.test svc.example.test example.test\nnameserver 10.96.0.53\noptions ndots:5\n'],
    )
  })

  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    test(`its containers run on after ${signal}, and its next start finds them`, async () => {
      const id = field('pod', 'one', '{.status.containerStatuses[0].containerID}')
      await stop(signal)
      const running = machine.run('ctr', '-n', 'k8s.io', 'tasks', 'list').stdout
      assert.match(running, new RegExp(`^${id.slice('containerd://'.length)} +\\d+ +RUNNING`, 'm'))
      start()
      await until('exec by the new process', () => machine.kubectl('exec', 'one', '--', ...sh('true')).status === 0)
      assert.deepEqual(
        [field('pod', 'one', '{.status.containerStatuses[0].containerID}'), field('pod', 'one', '{.status.phase}')],
        [id, 'Running'],
      )
      assert.equal(field('pod', 'one', '{.status.containerStatuses[0].restartCount}'), '0')
    })

  test('a pod that is deleted leaves no container', async () => {
    assert.equal(machine.kubectl('delete', 'pod', 'one').status, 0)
    await until(
      'the end of its tasks',
      () => !/RUNNING/.test(machine.run('ctr', '-n', 'k8s.io', 'tasks', 'list').stdout),
    )
  })

  test('before the machine goes down pods end, the critical ones last, and none is taken until it stays up', async () => {
    const pod = (name: string, script: string, more: object = {}, metadata: object = {}) => ({
      ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name, ...metadata } },
      spec: {
        nodeName: 'worker',
        containers: [{ name: 'c', image: IMAGE, imagePullPolicy: 'Never', command: sh(script) }],
        ...more,
      },
    })
    const obeys = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
    machine.apply(
      pod('quick', obeys),
      pod('stubborn', "trap '' TERM; while :; do sleep 0.1; done", { terminationGracePeriodSeconds: 60 }),
      pod('vital', obeys, { priorityClassName: 'system-node-critical' }, { namespace: 'kube-system' }),
    )
    const status = (name: string, path: string, namespace = 'default') =>
      machine.kubectl('get', 'pod', name, '-n', namespace, '-o', `jsonpath={.status.${path}}`).stdout
    for (const [name, namespace] of [['quick'], ['stubborn'], ['vital', 'kube-system']] as const)
      await until(`${name} runs`, () => status(name, 'phase', namespace) === 'Running')
    const nodeReady = () => field('node', 'worker', '{.status.conditions[?(@.type=="Ready")].message}')
    logind.says(true)
    await until('the node is not ready', () => nodeReady() === 'node is shutting down')
    machine.apply(pod('late', obeys))
    await until('the refusal', () => status('late', 'reason') === 'NodeShutdown')
    await until('the end of all', () => logind.calls().at(-1) === 'released kubelet')
    await until('the last status', () => status('vital', 'phase', 'kube-system') === 'Succeeded')
    const ended = 'containerStatuses[0].state.terminated'
    assert.deepEqual(
      [status('quick', 'phase'), status('stubborn', 'phase'), status('stubborn', 'reason')],
      ['Succeeded', 'Failed', 'Terminated'],
    )
    assert.equal(status('stubborn', `${ended}.exitCode`), '137')
    assert.ok(status('vital', `${ended}.finishedAt`, 'kube-system') >= status('stubborn', `${ended}.finishedAt`))
    assert.doesNotMatch(machine.run('ctr', '-n', 'k8s.io', 'tasks', 'list').stdout, /RUNNING/)
    const kept = JSON.parse(readFileSync(join(machine.directory, 'kubelet/graceful_node_shutdown_state'), 'utf8'))
    assert.ok(kept.endTime > kept.startTime)
    const metrics = machine.kubectl('get', '--raw', '/api/v1/nodes/worker/proxy/metrics').stdout
    const [, seconds] = /^kubelet_graceful_shutdown_end_time_seconds (\S+)$/m.exec(metrics) ?? []
    assert.ok(Math.abs(Number(seconds) * 1000 - Date.parse(kept.endTime)) < 1000, seconds)
    logind.says(false)
    await until('the node is ready', () => nodeReady() === 'kubelet is posting ready status')
    machine.apply(pod('after', obeys))
    await until('a pod runs again', () => status('after', 'phase') === 'Running')
    await until('the next lock', () => logind.calls().filter((call) => call.includes('Inhibit shutdown')).length === 4)
    assert.equal(machine.kubectl('delete', 'pod', '--all', '-A', '--grace-period=1').status, 0)
  })
})
