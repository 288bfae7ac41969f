/**
 * metrics-server, built from its module by interop/metrics-server/build, beside skiff on a machine with real containers: registered by an
 * APIService in place of skiff's own metrics.k8s.io, it asks the node's kubelet; kubectl top tells what it measured, and a
 * HorizontalPodAutoscaler scales by that. Each test goes on where the one before it ended.
 */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  busyboxArchive,
  type ContainerMachine,
  startContainerMachine,
  until,
  withoutContainers,
} from '../containers/stage.ts'
import { withoutGo } from '../software/modules.ts'
import { command } from '../software/programs.ts'

const IMAGE = 'example.test/busybox:1'
const PORT = 4443
const interop = (path: string) => fileURLToPath(new URL(`../../interop/${path}`, import.meta.url))
/** Measured every ten seconds, looked at every fifteen. */
const PATIENCE_MS = 240_000

const inSystem = (name: string) => ({ name, namespace: 'kube-system' })
const account = { kind: 'ServiceAccount', ...inSystem('metrics-server') }
const rbac = (kind: string) => ({ kind, apiVersion: 'rbac.authorization.k8s.io/v1' })
const toRole = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })

/** As its own manifests have them, but that it runs outside: so its Service has no pods, and its endpoint is given. */
const manifests = (address: string): readonly object[] => [
  { kind: 'ServiceAccount', apiVersion: 'v1', metadata: inSystem('metrics-server') },
  {
    ...rbac('ClusterRole'),
    metadata: { name: 'system:metrics-server' },
    rules: [
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
    ],
  },
  {
    ...rbac('ClusterRoleBinding'),
    metadata: { name: 'system:metrics-server' },
    roleRef: toRole('ClusterRole', 'system:metrics-server'),
    subjects: [account],
  },
  {
    ...rbac('ClusterRoleBinding'),
    metadata: { name: 'metrics-server:system:auth-delegator' },
    roleRef: toRole('ClusterRole', 'system:auth-delegator'),
    subjects: [account],
  },
  {
    ...rbac('RoleBinding'),
    metadata: inSystem('metrics-server-auth-reader'),
    roleRef: toRole('Role', 'extension-apiserver-authentication-reader'),
    subjects: [account],
  },
  {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: inSystem('metrics-server'),
    spec: { ports: [{ name: 'https', port: 443, targetPort: PORT }] },
  },
  {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { ...inSystem('metrics-server'), labels: { 'kubernetes.io/service-name': 'metrics-server' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'https', port: PORT, protocol: 'TCP' }],
  },
  {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      service: inSystem('metrics-server'),
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  },
]

const worker = (script: string) => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name: 'worker' },
  spec: {
    selector: { matchLabels: { app: 'worker' } },
    template: {
      metadata: { labels: { app: 'worker' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'c',
            image: IMAGE,
            imagePullPolicy: 'Never',
            command: ['/bin/busybox', 'sh', '-c', script],
            resources: { requests: { cpu: '20m' }, limits: { cpu: '50m' } },
          },
        ],
      },
    },
  },
})

const autoscaler = {
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v2',
  metadata: { name: 'worker' },
  spec: {
    scaleTargetRef: { kind: 'Deployment', apiVersion: 'apps/v1', name: 'worker' },
    minReplicas: 1,
    maxReplicas: 3,
    metrics: [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 100 } } },
    ],
    behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
  },
}

describe('metrics-server beside skiff', { skip: withoutGo || withoutContainers }, () => {
  let machine: ContainerMachine
  let server: ChildProcess | undefined
  let log = ''
  const field = (path: string, ...object: readonly string[]) =>
    machine.kubectl('get', ...object, '-o', `jsonpath=${path}`).stdout
  const replicas = () => field('{.status.replicas}', 'deployment', 'worker')

  before(
    async () => {
      await command(interop('metrics-server/build'), [])
      machine = await startContainerMachine()
      const up = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach')
      assert.equal(up.status, 0, up.stderr)
      const loaded = machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE))
      assert.equal(loaded.status, 0, loaded.stderr)
      machine.apply(...manifests(field('{.status.addresses[0].address}', 'node', 'skiff-1')))
      const token = machine.kubectl('create', 'token', 'metrics-server', '-n', 'kube-system', '--duration=2h').stdout
      const config = JSON.parse(machine.kubectl('config', 'view', '--raw', '--flatten', '-o', 'json').stdout)
      const kubeconfig = join(machine.directory, 'metrics-server.kubeconfig')
      const users = [{ name: config.users[0].name, user: { token: token.trim() } }]
      writeFileSync(kubeconfig, JSON.stringify({ ...config, users }), { mode: 0o600 })
      server = machine.start(
        interop('bin/metrics-server'),
        ...[`--secure-port=${PORT}`, `--cert-dir=${join(machine.directory, 'metrics-server')}`],
        ...['', 'authentication-', 'authorization-'].map((of) => `--${of}kubeconfig=${kubeconfig}`),
        ...['--kubelet-insecure-tls', '--kubelet-preferred-address-types=InternalIP', '--metric-resolution=10s'],
        '--kubelet-request-timeout=5s',
      )
      server.stderr?.on('data', (text: Buffer) => {
        log = `${log}${text}`.slice(-20_000)
      })
    },
    { timeout: 3_000_000 },
  )
  after(async () => {
    server?.kill()
    machine?.skiff('down')
    await machine?.stop()
  })

  test('its APIService is available, and kubectl top tells of nodes and pods', async () => {
    machine.apply(worker('while :; do :; done'), autoscaler)
    await until(
      `the APIService is available: ${log}`,
      () => field('{.status.conditions[0].status}', 'apiservice', 'v1beta1.metrics.k8s.io') === 'True',
    )
    const top = (...of: readonly string[]) => {
      const { status, stdout } = machine.kubectl('top', ...of, '--no-headers')
      return status === 0 && stdout.trim() !== '' && stdout.trim().split(/\s+/)
    }
    const node = await until(`the node is measured: ${log}`, () => top('node'), PATIENCE_MS)
    assert.equal(node[0], 'skiff-1')
    assert.match(`${node[1]} ${node[3]}`, /^[1-9]\d*m [1-9]\d*Mi$/)
    const pod = await until('the pod is measured', () => top('pod', '-l', 'app=worker'), PATIENCE_MS)
    // 50m at most, and nothing but its limit keeps it from all of a processor.
    const cpu = Number(/^(\d+)m$/.exec(pod[1] ?? '')?.[1])
    assert.ok(cpu >= 30 && cpu <= 60, pod.join(' '))
    // skiff's own window is fifteen seconds long: this is the other one's answer.
    const { items } = JSON.parse(machine.kubectl('get', '--raw', '/apis/metrics.k8s.io/v1beta1/nodes').stdout)
    assert.notEqual(items[0].window, '15s')
  })

  test('an autoscaler adds pods while they are busy, and takes them away when they are idle', async () => {
    await until('three replicas', () => replicas() === '3', PATIENCE_MS)
    const condition = (type: string) => field(`{.status.conditions[?(@.type=="${type}")].reason}`, 'hpa', 'worker')
    assert.equal(condition('ScalingActive'), 'ValidMetricFound')
    assert.match(field('{.status.currentMetrics[0].resource.current.averageUtilization}', 'hpa', 'worker'), /^\d{3}$/)
    machine.apply(worker('exec sleep 9999'))
    await until('one replica', () => replicas() === '1', PATIENCE_MS)
  })

  test('with metrics-server away the autoscaler says so, and keeps what there is', async () => {
    server?.kill()
    machine.run('pkill', '-f', 'interop/bin/metrics-server')
    await until(
      'ScalingActive is false',
      () =>
        field('{.status.conditions[?(@.type=="ScalingActive")].reason}', 'hpa', 'worker') === 'FailedGetResourceMetric',
      PATIENCE_MS,
    )
    assert.equal(replicas(), '1')
  })
})
