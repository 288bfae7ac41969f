/** Two controller managers: the one that leads is asked to stop, is killed, or is paused past its lease. What each wrote is in the audit log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skiff } from '../e2e/cluster.ts'
import { type Any, withoutKubectl } from '../kubectl.ts'
import { type AuditEvent, type Processes, type RunningProcess, startProcesses } from './processes.ts'

const LEASE = '/leases/kube-controller-manager'
/** As long as a machine may take that is busy with other tests: a leader that comes to renew later ends. */
const SHORT = [
  ...['--leader-elect-lease-duration', '8s', '--leader-elect-renew-deadline', '7s'],
  ...['--leader-elect-retry-period', '500ms'],
]
/** With SHORT a killed leader is followed so long after it last renewed. */
const SHORT_LEASE_MS = 8000
/** Without it. */
const LEASE_MS = 15_000

interface Manager {
  /** Its requests are known by this group of its user. */
  readonly group: string
  readonly process: RunningProcess
}

/** The first leads, the second waits. */
async function twoManagers(
  at: Processes,
  ofFirst: readonly string[] = [],
  ofSecond: readonly string[] = ofFirst,
): Promise<readonly [Manager, Manager]> {
  const started: Manager[] = []
  for (const [group, flags] of Object.entries({ first: ofFirst, second: ofSecond })) {
    const kubeconfig = await at.kubeconfigOf('system:kube-controller-manager', 'system:masters', group)
    const limits = ['--kube-api-qps', '500', '--kube-api-burst', '500']
    const process = at.start(
      'controller-manager',
      '--kubeconfig',
      kubeconfig,
      '--secure-port',
      '0',
      ...limits,
      ...flags,
    )
    started.push({ group, process })
    await process.until(group === 'first' ? /The controllers run/ : /"The lease has a holder"/)
  }
  const [first, second] = started
  assert.ok(first !== undefined && second !== undefined)
  assert.doesNotMatch(second.process.said, /leads/)
  return [first, second]
}

const by =
  ({ group }: Manager) =>
  (event: AuditEvent) =>
    event.user.groups.includes(group)
const isLease = ({ requestURI }: AuditEvent) => requestURI.includes(LEASE)
/** When this manager wrote to the Lease last. */
const renewedAt = (at: Processes, manager: Manager): number =>
  at.writes().findLast((event) => by(manager)(event) && isLease(event))?.at ?? Number.NaN
/** When this manager wrote its name into the Lease. */
const tookAt = (at: Processes, manager: Manager): number =>
  at.writes().find((event) => by(manager)(event) && isLease(event) && event.code === 200)?.at ?? Number.NaN

/** Deployments that somebody has to make pods of: two for each look. */
async function work(at: Processes, name: string): Promise<void> {
  await at.kubectl('create', 'deployment', name, '--image=nginx', '--replicas=2')
}
const works = (at: Processes, name: string) =>
  at.kubectl('wait', '--for=jsonpath={.status.replicas}=2', `deployment/${name}`, '--timeout=30s')

test('a leader that is asked to stop gives its lease back, and the other leads long before it would have run out', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  const [first, second] = await twoManagers(at)
  await work(at, 'a')
  await works(at, 'a')
  first.process.child.kill('SIGTERM')
  assert.equal(await first.process.ended, 0)
  await second.process.until(/leads/)
  const took = tookAt(at, second) - renewedAt(at, first)
  assert.ok(took < LEASE_MS / 2, `${took} ms`)
  await work(at, 'b')
  await works(at, 'b')
  const { spec } = await at.kubectl.json('-n', 'kube-system', 'get', 'lease', 'kube-controller-manager')
  assert.equal(spec.leaseTransitions, 1)
  const status = await skiff('status', '--data-dir', at.folder)
  assert.match(status.out, new RegExp(`^leader: +kube-controller-manager: ${spec.holderIdentity}$`, 'm'))
  const events = await at.kubectl('-n', 'kube-system', 'get', 'events', '-o', 'jsonpath={.items[*].message}')
  assert.equal(events.match(/became leader/g)?.length, 2)
  // What the first wrote last is that it goes.
  const last = at.writes().filter(by(first)).at(-1)
  assert.ok(last !== undefined && isLease(last))
  assert.equal(last.requestObject.spec.holderIdentity ?? '', '')
})

test('a leader that is killed is followed by the other once its lease has run out', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  const [first, second] = await twoManagers(at, SHORT)
  first.process.child.kill('SIGKILL')
  await first.process.ended
  await work(at, 'a')
  const status = await skiff('status', '--data-dir', at.folder)
  assert.match(status.out, /^leader: +kube-controller-manager: /m)
  await second.process.until(/leads/)
  const took = tookAt(at, second) - renewedAt(at, first)
  assert.ok(took >= SHORT_LEASE_MS, `${took} ms`)
  await works(at, 'a')
})

test('a leader that was paused past its lease writes nothing when it wakes, and ends', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  const withoutDeployments = ['--controllers', '*,-deployment-controller']
  const [first, second] = await twoManagers(at, SHORT, [...SHORT, ...withoutDeployments])
  await work(at, 'before')
  await works(at, 'before')
  first.process.child.kill('SIGSTOP')
  // What the second does not do is there to be done by the first when it wakes: it reads of it before it can look at a clock.
  const names = ['a', 'b', 'c', 'd']
  await Promise.all(names.map((name) => work(at, name)))
  await second.process.until(/The controllers run/)
  const woke = Date.now()
  first.process.child.kill('SIGCONT')
  assert.equal(await first.process.ended, 1, first.process.said)
  assert.match(
    first.process.said,
    /^skiff controller-manager: the lease kube-system\/kube-controller-manager was lost: .*$/m,
  )
  const late = at.writes().filter((event) => by(first)(event) && event.at >= woke)
  assert.deepEqual(
    late.map(({ verb, requestURI }) => `${verb} ${requestURI}`),
    [],
  )
  assert.equal((await at.kubectl('get', 'replicasets', '-o', 'name')).trim().split('\n').length, 1)
  // The second is at work.
  await at.kubectl('create', 'namespace', 'after')
  await at.kubectl('-n', 'after', 'wait', '--for=create', 'serviceaccount/default', '--timeout=30s')
  const { spec } = await at.kubectl.json('-n', 'kube-system', 'get', 'lease', 'kube-controller-manager')
  assert.equal(spec.leaseTransitions, 1)
})

test('no ordinal of a StatefulSet runs twice while its leader is paused amid a rollout and another goes on', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  const [first, second] = await twoManagers(at, SHORT)
  const node = at.start(
    ...[
      'kubelet',
      '--kubeconfig',
      await at.kubeconfigOf('system:node:n1', 'system:nodes'),
      '--hostname-override',
      'n1',
    ],
  )
  const scheduler = at.start(
    'scheduler',
    '--kubeconfig',
    await at.kubeconfigOf('system:kube-scheduler', 'system:masters'),
  )
  await Promise.all([node.until(/is ready/), scheduler.until(/The scheduler runs/)])
  const set = (image: string) => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: {
      replicas: 4,
      serviceName: 'db',
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate' },
      selector: { matchLabels: { app: 'db' } },
      template: {
        // It takes its time to end, so that there is a moment in which another could begin.
        metadata: { labels: { app: 'db' }, annotations: { 'sim.skiff.dev/stop-delay': '700ms' } },
        spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image }] },
      },
    },
  })
  await at.kubectl.send('apply', set('nginx:1'))
  await at.kubectl('rollout', 'status', 'statefulset/db', '--timeout=60s')
  const seen = at.kubectl.watch('pods')
  await at.kubectl.send('apply', set('nginx:2'))
  await seen.until(({ object }) => object.metadata.deletionTimestamp !== undefined)
  first.process.child.kill('SIGSTOP')
  await second.process.until(/The controllers run/)
  await at.kubectl('rollout', 'status', 'statefulset/db', '--timeout=60s')
  // What it was about to do it may not do any more, and what was on its way meets other pods than it knew.
  first.process.child.kill('SIGCONT')
  assert.equal(await first.process.ended, 1, first.process.said)
  await at.kubectl.send('apply', set('nginx:3'))
  await at.kubectl('rollout', 'status', 'statefulset/db', '--timeout=60s')
  seen.stop()

  // A name is one pod at a time. That its containers had ended before it went is said by its node, which alone deletes without grace.
  const before = new Map<string, Any>()
  for (const { type, object } of seen.seen) {
    const { name, uid } = object.metadata
    const known = before.get(name)
    if (known !== undefined) assert.equal(known.metadata.uid, uid, `${name} began before the one before it was gone`)
    if (type === 'DELETED') {
      const running = (object.status.containerStatuses ?? []).filter((one: Any) => one.state.running !== undefined)
      assert.deepEqual(running, [], `${name} was gone while its containers ran`)
      before.delete(name)
    } else before.set(name, object)
  }
  const ofPods = at.writes().filter(({ verb, requestURI }) => verb === 'delete' && requestURI.includes('/pods/db-'))
  assert.ok(ofPods.length >= 16, `${ofPods.length} deletions`)
  for (const { user, requestObject } of ofPods)
    if (requestObject?.gracePeriodSeconds === 0) assert.equal(user.username, 'system:node:n1')
})

test('a leader whose API server does not answer ends by its renew deadline, and the other leads when it answers again', {
  skip: withoutKubectl,
}, async () => {
  await using at = await startProcesses()
  const [first, second] = await twoManagers(at, SHORT)
  at.server.child.kill('SIGSTOP')
  assert.equal(await first.process.ended, 1, first.process.said)
  assert.match(first.process.said, /the lease kube-system\/kube-controller-manager was lost/)
  at.server.child.kill('SIGCONT')
  await second.process.until(/The controllers run/)
  await work(at, 'a')
  await works(at, 'a')
})
