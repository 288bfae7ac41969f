/** `skiff up` twice over one etcd, as processes: the one that leads is killed, or stands still, and the other takes over. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { skiff } from '../e2e/cluster.ts'
import { type Kubectl, kubectlFor, withoutKubectl } from '../kubectl.ts'
import { lacks } from '../machine.ts'
import { startEtcd } from './member.ts'

const bin = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))
const LEASES = ['kube-controller-manager', 'kube-scheduler', 'skiff-simulated-nodes']
/** The Lease runs out after 15 s, and is taken at that moment; a pod has 2 s to end. */
const TAKE_OVER_MS = 20_000

interface Replica {
  readonly child: ChildProcess
  readonly dataDir: string
  readonly kubectl: Kubectl
  readonly auditLog: string
  stop(signal: NodeJS.Signals): Promise<void>
}

async function startReplica(folder: string, name: string, servers: string): Promise<Replica> {
  const dataDir = join(folder, name)
  if (name !== 'one') cpSync(join(folder, 'one', 'pki'), join(dataDir, 'pki'), { recursive: true })
  const policy = join(folder, 'policy.yaml')
  writeFileSync(
    policy,
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- {level: None, verbs: [get, list, watch]}\n- {level: Metadata, omitStages: [RequestReceived]}\n',
  )
  const auditLog = join(dataDir, 'audit.log')
  const args = ['up', '--data-dir', dataDir, '--port', '0', '--nodes', '2', '--etcd-servers', servers]
  const child = spawn(process.execPath, [bin, ...args, '--audit-policy-file', policy, '--audit-log-path', auditLog], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  for await (const text of child.stdout) {
    out += text
    if (out.includes('ready in')) break
  }
  assert.match(out, /ready in/)
  child.stdout.resume()
  return {
    child,
    dataDir,
    auditLog,
    kubectl: kubectlFor(join(dataDir, 'kubeconfig'), 'default'),
    async stop(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}

const holders = async (kubectl: Kubectl): Promise<readonly string[]> =>
  Promise.all(
    LEASES.map(async (name) => (await kubectl.json('get', 'lease', '-n', 'kube-system', name)).spec.holderIdentity),
  )

/** What `skiff status` prints of a replica. */
const statusOf = ({ dataDir }: Replica) => skiff('status', '--data-dir', dataDir)

const web = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { terminationGracePeriodSeconds: 2, containers: [{ name: 'c', image: 'nginx' }] },
    },
  },
})

async function withTwo(task: (one: Replica, two: Replica) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-take-over-'))
  const etcd = await startEtcd()
  const replicas: Replica[] = []
  try {
    for (const name of ['one', 'two']) replicas.push(await startReplica(folder, name, etcd.servers))
    await task(replicas[0] as Replica, replicas[1] as Replica)
  } finally {
    for (const { stop } of replicas) await stop('SIGKILL')
    await etcd.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const skip = lacks.etcd() || withoutKubectl

test('the leader is killed: the other ends the deletions under way and goes on', { skip }, () =>
  withTwo(async (one, two) => {
    await two.kubectl.send('apply', web(3))
    await two.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
    const before = await holders(two.kubectl)
    const pods: { readonly metadata: { readonly name: string; readonly uid: string } }[] = (
      await two.kubectl.json('get', 'pods')
    ).items
    const doomed = pods[0]?.metadata.name ?? ''
    await one.stop('SIGKILL')
    const began = performance.now()
    // No kubelet runs for its node now.
    await two.kubectl('delete', 'pod', doomed, '--wait=false')
    await two.kubectl('wait', '--for=delete', `pod/${doomed}`, `--timeout=${TAKE_OVER_MS / 1000}s`)
    const took = performance.now() - began
    await two.kubectl('scale', 'deployment/web', '--replicas=5')
    await two.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
    for (const [i, holder] of (await holders(two.kubectl)).entries()) assert.notEqual(holder, before[i], LEASES[i])
    console.log(`the pod was gone ${Math.round(took)} ms after the leader was killed`)
  }),
)

test('the leader stands still past its Lease: when it wakes it writes nothing as one', { skip }, () =>
  withTwo(async (one, two) => {
    await two.kubectl.send('apply', web(2))
    await two.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
    const before = await holders(two.kubectl)
    const told = (await statusOf(two)).out
    const server = /^server: +(\S+)$/m.exec((await statusOf(one)).out)?.[1] ?? ''
    for (const [i, holder] of before.entries())
      assert.match(told, new RegExp(`^leader: +${LEASES[i]}: ${holder} at ${server}$`, 'm'))
    // In the midst of work that it would go on with.
    const scaled = two.kubectl.watch('pods')
    await two.kubectl('scale', 'deployment/web', '--replicas=80')
    await scaled.until(({ type }) => type === 'MODIFIED')
    one.child.kill('SIGSTOP')
    const ofStopped = statusOf(one)
    scaled.stop()
    // What it had done by then is not all there is to do.
    await two.kubectl('scale', 'deployment/web', '--replicas=81')
    await two.kubectl('rollout', 'status', 'deployment/web', `--timeout=${TAKE_OVER_MS / 1000}s`)
    const taken = await holders(two.kubectl)
    for (const [i, holder] of taken.entries()) assert.notEqual(holder, before[i], LEASES[i])
    // Within seconds, though it would wait for as long as the process stands still.
    const { code, out } = await ofStopped
    assert.equal(code, 1, out)
    assert.match(out, /^ready: +no: no answer within 5 s$/m)
    assert.match(out, /^nodes: +unknown: no answer within 5 s$/m)
    const { size } = statSync(one.auditLog)
    const woken = Date.now()
    one.child.kill('SIGCONT')
    await one.kubectl('scale', 'deployment/web', '--replicas=82')
    await one.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
    const written = readFileSync(one.auditLog)
      .subarray(size)
      .toString()
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      // What had begun before has preconditions of its own.
      .filter(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp) >= woken)
      .filter(({ user }) => isComponent(user.username))
      .sort((a, b) => (a.requestReceivedTimestamp < b.requestReceivedTimestamp ? -1 : 1))
      // One thread stands still between two of its steps: one request may have begun, and be received only when it wakes.
      .slice(1)
      .filter(({ responseStatus }) => responseStatus.code < 300)
      .map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`)
    assert.deepEqual(written, [])
    assert.deepEqual(await holders(one.kubectl), taken)
  }),
)

/** Those that write for a leader through its own API server. */
const isComponent = (user: string): boolean =>
  /^system:(serviceaccount:kube-system:|kube-controller-manager|kube-scheduler|node:|simulated-nodes)/.test(user)
