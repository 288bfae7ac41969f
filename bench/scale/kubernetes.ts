/**
 * Kubernetes' own components over an etcd, beside which skiff is measured: kube-apiserver, kube-controller-manager, kube-scheduler and
 * KWOK for nodes, out of a folder, with the limits of their clients lifted. Keys, certificates and kubeconfigs are those of a data directory of skiff.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kwokStages } from '../../conformance/stories/kwok-stages.ts'
import { apiServerFlags, startProgram } from '../../test/components/kubernetes.ts'
import { freePorts } from '../../test/etcd/member.ts'
import { type BenchClient, createBenchClient, expectOk, json } from '../client.ts'
import { until } from '../load.ts'
import { existing, type Subject, startSkiff, sumOf, usageOf } from '../subject.ts'

const SKIFF = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))
const READY_MS = 300_000
const UNLIMITED = ['--kube-api-qps', '5000', '--kube-api-burst', '5000']

export interface KubernetesOptions {
  /** The folder of kube-apiserver, kube-controller-manager, kube-scheduler and kwok. */
  readonly bin: string
  readonly nodes: number
  readonly directory: string
  readonly etcdServers: string
}

/** Makes what the components need to know one another. Once for a directory. */
export async function prepareKubernetes(directory: string): Promise<void> {
  await (await startSkiff('apiserver', { directory })).stop()
  for (const [name, user, groups] of [
    ['manager', 'system:kube-controller-manager', ''],
    ['scheduler', 'system:kube-scheduler', ''],
    ['kwok', 'node-agent', 'system:masters'],
  ] as const) {
    const args = ['kubeconfig', '--data-dir', directory, '--user', user, ...(groups === '' ? [] : ['--groups', groups])]
    const { status, stdout, stderr } = spawnSync(process.execPath, [SKIFF, ...args], { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    writeFileSync(join(directory, `${name}.conf`), stdout)
  }
  writeFileSync(join(directory, 'stages.yaml'), kwokStages.map((stage) => JSON.stringify(stage)).join('\n---\n'))
}

/** Resolves when every node is ready. */
export async function startKubernetesCluster(options: KubernetesOptions): Promise<Subject> {
  const { bin, nodes, directory, etcdServers } = options
  const file = (name: string) => join(directory, name)
  const pki = file('pki')
  const [managerPort, schedulerPort] = await freePorts(2)
  const running: ReturnType<typeof startProgram>[] = []
  const start = (program: string, args: readonly string[]) =>
    running.push(startProgram(join(bin, program), file(`${program}.log`), args))
  const begin = performance.now()
  const { endpoint } = existing(file('kubeconfig'))
  const client = createBenchClient(endpoint)
  const stop = async () => {
    client.close()
    for (const one of running.reverse()) await one.end('SIGTERM')
  }
  try {
    start('kube-apiserver', apiServerFlags(directory, etcdServers))
    await until('kube-apiserver', READY_MS, 50, () =>
      client.request('GET', '/readyz').then(
        ({ code }) => code === 200,
        () => false,
      ),
    )
    start('kube-controller-manager', [
      ...['--kubeconfig', file('manager.conf'), '--use-service-account-credentials', '--leader-elect=false'],
      ...['--secure-port', String(managerPort), '--cert-dir', file('manager-certs'), ...UNLIMITED],
      ...['--root-ca-file', `${pki}/ca.crt`, '--service-account-private-key-file', `${pki}/sa.key`],
      ...['--cluster-signing-cert-file', `${pki}/ca.crt`, '--cluster-signing-key-file', `${pki}/ca.key`],
    ])
    start('kube-scheduler', [
      ...['--kubeconfig', file('scheduler.conf'), '--leader-elect=false', ...UNLIMITED],
      ...['--secure-port', String(schedulerPort), '--cert-dir', file('scheduler-certs')],
    ])
    start('kwok', [
      ...['--kubeconfig', file('kwok.conf'), '--manage-all-nodes=true', '--node-lease-duration-seconds=40'],
      ...['--config', file('stages.yaml')],
    ])
    for (let i = 1; i <= nodes; i++) await makeNode(client, `kwok-${i}`)
    await until(`${nodes} ready nodes`, READY_MS, 100, async () => (await readyNodes(client)) >= nodes)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    name: 'Kubernetes, with KWOK',
    endpoint,
    startSeconds: (performance.now() - begin) / 1000,
    usage: () => sumOf(running.map(({ pid }) => usageOf(pid))),
    parts: () => running.map(({ program, pid }) => [program, usageOf(pid)] as const),
    stop,
  }
}

/** As large as those of skiff. */
async function makeNode(client: BenchClient, name: string): Promise<void> {
  const room = { cpu: '32', memory: '256Gi', pods: '2000' }
  const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' }
  const metadata = { name, labels, annotations: { 'kwok.x-k8s.io/node': 'fake' } }
  const node = { apiVersion: 'v1', kind: 'Node', metadata, status: { allocatable: room, capacity: room } }
  const answer = await client.request('POST', '/api/v1/nodes', json(node))
  if (answer.code !== 409) expectOk(answer)
}

interface Nodes {
  readonly items: readonly { readonly status: { readonly conditions?: readonly { type: string; status: string }[] } }[]
}

async function readyNodes(client: BenchClient): Promise<number> {
  const { body } = expectOk(await client.request('GET', '/api/v1/nodes'))
  const { items } = JSON.parse(body.toString()) as Nodes
  const isReady = ({ status }: Nodes['items'][number]) =>
    status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true
  return items.filter(isReady).length
}
