/** All eight mixtures of API server, controller manager and scheduler, skiff's and Kubernetes' own, do the same work with a node of skiff. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { startEtcd } from '../etcd/member.ts'
import { type Any, type Kubectl, withoutKubectl } from '../kubectl.ts'
import { lacks } from '../machine.ts'
import { apiServerFlags, buildKubernetes, startKubernetes } from './kubernetes.ts'
import { freePort, type Processes, startProcesses } from './processes.ts'

type Kind = 'skiff' | 'kubernetes'
interface Mixture {
  readonly server: Kind
  readonly manager: Kind
  readonly scheduler: Kind
}

const KINDS: readonly Kind[] = ['skiff', 'kubernetes']
const MIXTURES: readonly Mixture[] = KINDS.flatMap((server) =>
  KINDS.flatMap((manager) => KINDS.map((scheduler) => ({ server, manager, scheduler }))),
)
const WAIT = '--timeout=120s'
const READY_MS = 180_000

describe('mixtures', { skip: withoutKubectl || lacks.etcd() }, () => {
  before(buildKubernetes)
  for (const mixture of MIXTURES) {
    const name = Object.entries(mixture)
      .map(([part, kind]) => `${part} ${kind}`)
      .join(', ')
    test(name, { timeout: 600_000 }, () => withMixture(mixture, work))
  }
})

async function withMixture({ server, manager, scheduler }: Mixture, task: (kubectl: Kubectl) => Promise<void>) {
  await using at = await startProcesses()
  const undo: (() => unknown)[] = []
  /** One of Kubernetes' own; what it says is in a file beside the cluster's. */
  const start = (program: string, ...args: readonly string[]) =>
    undo.push(startKubernetes(program, at.file(`${program}.log`), args))
  try {
    const managerConfig = await at.kubeconfigOf('system:kube-controller-manager')
    const schedulerConfig = await at.kubeconfigOf('system:kube-scheduler')
    const nodeConfig = await at.kubeconfigOf('system:node:n1', 'system:nodes')
    if (server === 'kubernetes') {
      // Its keys and certificates are those that skiff has made.
      at.server.child.kill('SIGTERM')
      await at.server.ended
      const etcd = await startEtcd()
      undo.push(etcd.stop)
      start('kube-apiserver', ...apiServerFlags(at.folder, etcd.servers))
      await untilAnswered(at, (answer) => answer === 'ok', 'get', '--raw', '/readyz')
    }
    const pki = at.file('pki')
    const managerFlags = [
      ...[
        '--kubeconfig',
        managerConfig,
        '--use-service-account-credentials',
        '--secure-port',
        String(await freePort()),
      ],
      ...['--root-ca-file', `${pki}/ca.crt`, '--service-account-private-key-file', `${pki}/sa.key`],
      ...['--cluster-signing-cert-file', `${pki}/ca.crt`, '--cluster-signing-key-file', `${pki}/ca.key`],
      ...['--kube-api-qps', '500', '--kube-api-burst', '500'],
    ]
    const schedulerFlags = ['--kubeconfig', schedulerConfig, '--secure-port', String(await freePort())]
    if (manager === 'skiff') at.start('controller-manager', ...managerFlags)
    else start('kube-controller-manager', ...managerFlags, '--cert-dir', at.file('manager-certs'))
    if (scheduler === 'skiff') at.start('scheduler', ...schedulerFlags)
    else start('kube-scheduler', ...schedulerFlags, '--cert-dir', at.file('scheduler-certs'))
    const node = at.start('kubelet', '--kubeconfig', nodeConfig, '--hostname-override', 'n1')
    await node.until(/is ready/)
    // The controllers start: that takes its time on a busy machine.
    await untilAnswered(
      at,
      (answer) => answer.includes('serviceaccount/default'),
      'get',
      'serviceaccounts',
      '-o',
      'name',
    )
    await task(at.kubectl)
  } finally {
    for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end()
  }
}

async function untilAnswered(at: Processes, isSo: (answer: string) => boolean, ...command: readonly string[]) {
  for (const end = performance.now() + READY_MS; ; ) {
    const answer = await at.kubectl(...command).catch((error) => String(error))
    if (isSo(answer)) return
    assert.ok(performance.now() < end, answer)
    await new Promise((done) => setTimeout(done, 200))
  }
}

/** Rollouts, the three cascades, a Job, a StatefulSet, a DaemonSet, a Service, a finalizer, a namespace's end. */
async function work(kubectl: Kubectl): Promise<void> {
  const template = (app: string, spec: object = {}) => ({
    metadata: { labels: { app } },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'nginx' }], ...spec },
  })
  const of = (app: string) => ({ matchLabels: { app } })
  const apps = (kind: string, name: string, spec: object) => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name },
    spec: { selector: of(name), template: template(name), ...spec },
  })
  const rolledOut = (what: string) => kubectl('rollout', 'status', what, WAIT)
  const names = async (kinds: string, ...more: readonly string[]) =>
    (await kubectl('get', kinds, '-o', 'name', ...more)).trim()

  await kubectl.send('create', apps('Deployment', 'web', { replicas: 3 }))
  await rolledOut('deployment/web')
  await kubectl('expose', 'deployment', 'web', '--port=80')
  // Which its controller makes a moment after.
  await kubectl('wait', '--for=create', 'endpoints/web', WAIT)
  await kubectl('wait', '--for=jsonpath={.subsets[0].addresses[2].ip}', 'endpoints/web', WAIT)
  await kubectl('set', 'image', 'deployment/web', 'c=nginx:2')
  await rolledOut('deployment/web')
  await kubectl('rollout', 'undo', 'deployment/web')
  await rolledOut('deployment/web')
  await kubectl('delete', 'deployment', 'web', '--cascade=foreground', WAIT)
  assert.equal(await names('replicasets,pods'), '')

  await kubectl.send('create', apps('Deployment', 'orphaned', { replicas: 2 }))
  await rolledOut('deployment/orphaned')
  await kubectl('delete', 'deployment', 'orphaned', '--cascade=orphan', WAIT)
  const left: readonly Any[] = (await kubectl.json('get', 'replicasets', '-l', 'app=orphaned')).items
  assert.deepEqual(
    left.map(({ metadata }) => metadata.ownerReferences ?? []),
    [[]],
  )
  await kubectl('delete', 'replicasets', '-l', 'app=orphaned', WAIT)
  await kubectl('wait', '--for=delete', 'pods', '-l', 'app=orphaned', WAIT)

  await kubectl.send('create', apps('StatefulSet', 'db', { replicas: 2, serviceName: 'db' }))
  await rolledOut('statefulset/db')
  assert.equal(await names('pods', '-l', 'app=db'), 'pod/db-0\npod/db-1')
  await kubectl.send('create', apps('DaemonSet', 'agent', {}))
  await rolledOut('daemonset/agent')
  assert.match(await kubectl('get', 'pods', '-l', 'app=agent', '-o', 'jsonpath={.items[*].spec.nodeName}'), /^n1$/)
  await kubectl('delete', 'statefulset/db', 'daemonset/agent', WAIT)
  await kubectl('wait', '--for=delete', 'pods', '-l', 'app in (db,agent)', WAIT)

  const once = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox', command: ['true'] }] }
  await kubectl.send('create', {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once' },
    spec: { template: { spec: once } },
  })
  await kubectl('wait', '--for=condition=complete', 'job/once', WAIT)

  await kubectl.send('create', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'held', finalizers: ['example.com/held'] },
    spec: template('held').spec,
  })
  await kubectl('wait', '--for=condition=Ready', 'pod/held', WAIT)
  await kubectl('delete', 'pod', 'held', '--wait=false')
  await kubectl('wait', '--for=jsonpath={.metadata.deletionGracePeriodSeconds}=0', 'pod/held', WAIT)
  await kubectl('patch', 'pod', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
  await kubectl('wait', '--for=delete', 'pod/held', WAIT)

  await kubectl('create', 'namespace', 'short')
  await kubectl('-n', 'short', 'create', 'deployment', 'web', '--image=nginx', '--replicas=2')
  await kubectl('-n', 'short', 'rollout', 'status', 'deployment/web', WAIT)
  await kubectl('delete', 'namespace', 'short', WAIT)
  assert.equal(await names('namespaces', '--field-selector', 'metadata.name=short'), '')
}
