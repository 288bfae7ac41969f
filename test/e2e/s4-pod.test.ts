/** S4: a running pod on a node is deleted: every status the kubelet reports until the object is gone. */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { type Any, type Kubectl, type KubectlWatch, withoutKubectl } from '../kubectl.ts'
import { type E2eCluster, isReady, pod, startE2eCluster } from './cluster.ts'
import { trail } from './trail.ts'

const MARKED = 'MODIFIED metadata.deletionGracePeriodSeconds metadata.deletionTimestamp'
/** The kubelet has seen the mark; every condition says for which generation it was found. */
const OBSERVED = 'MODIFIED status.conditions status.observedGeneration'
const ENDED = /^MODIFIED status\.conditions status\.containerStatuses status\.phase/
const IGNORES_SIGTERM = { 'sim.skiff.dev/ignore-sigterm': 'true' }

describe('S4', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster()
  })
  after(() => cluster.stop())

  async function running(namespace: string, made: object) {
    const kubectl = await cluster.namespace(namespace)
    await kubectl.send('create', made)
    const watch = kubectl.watch('pods', 'p')
    const { object } = await watch.until((event) => isReady(event.object))
    return { kubectl, watch, version: object.metadata.resourceVersion as string, [Symbol.dispose]: watch.stop }
  }

  /** Everything that was seen after the pod ran: five events, of which the last three show how it ended. */
  async function ended({ watch, version }: { watch: KubectlWatch; version: string }): Promise<Any> {
    const gone = await watch.until(({ type }) => type === 'DELETED')
    const [marked, observed, final, zero, ...rest] = trail(watch.seen, 'p', version)
    assert.equal(marked, `${MARKED} metadata.generation`)
    assert.equal(observed, OBSERVED)
    assert.match(final ?? '', ENDED)
    assert.equal(zero, MARKED)
    assert.deepEqual(rest, ['DELETED'])
    assert.equal(gone.object.metadata.deletionGracePeriodSeconds, 0)
    return gone.object
  }

  const conditionsOf = ({ status }: Any) =>
    Object.fromEntries(
      status.conditions.map(({ type, status, reason }: Any) => [type, `${status} ${reason ?? ''}`.trim()]),
    )

  test('a container that ignores SIGTERM is killed when its grace period is over', async () => {
    using p = await running('s4-ignores', pod('p', IGNORES_SIGTERM))
    await p.kubectl('delete', 'pod', 'p', '--grace-period=1', '--wait=false')
    const last = await ended(p)
    assert.equal(last.status.phase, 'Failed')
    const { terminated } = last.status.containerStatuses[0].state
    assert.equal(terminated.exitCode, 137)
    assert.equal(terminated.reason, 'Error')
    const marked = p.watch.seen.find(({ object }) => object.metadata.deletionTimestamp !== undefined)?.object.metadata
    assert.equal(marked.deletionGracePeriodSeconds, 1)
    assert.ok(
      Date.parse(terminated.finishedAt) >= Date.parse(marked.deletionTimestamp),
      'not before the grace period ended',
    )
    assert.deepEqual(conditionsOf(last), {
      PodReadyToStartContainers: 'False PodSandboxNotReady',
      Initialized: 'True',
      Ready: 'False PodFailed',
      ContainersReady: 'False PodFailed',
      PodScheduled: 'True',
    })
  })

  test('the Events of a pod name the machine of the scheduler and the node of the kubelet', async () => {
    using p = await running('s4-events', pod('p'))
    const { items } = await p.kubectl.json('get', 'events')
    const sourceOf = (reason: string) => {
      const { source, reportingComponent, reportingInstance } =
        items.find((event: Any) => event.reason === reason) ?? {}
      return [source, reportingComponent, reportingInstance]
    }
    assert.deepEqual(sourceOf('Scheduled'), [{}, 'default-scheduler', `default-scheduler-${hostname()}`])
    assert.deepEqual(sourceOf('Started'), [{ component: 'kubelet', host: 'skiff-1' }, 'kubelet', 'skiff-1'])
  })

  test('a container that exits on SIGTERM ends the pod at once, and as Succeeded', async () => {
    using p = await running('s4-exits', pod('p', { 'sim.skiff.dev/stop-delay': '200ms' }))
    await p.kubectl('delete', 'pod', 'p')
    const last = await ended(p)
    assert.equal(last.status.phase, 'Succeeded')
    const { terminated } = last.status.containerStatuses[0].state
    assert.equal(terminated.exitCode, 0)
    assert.equal(terminated.reason, 'Completed')
    const marked = p.watch.seen.find(({ object }) => object.metadata.deletionTimestamp !== undefined)?.object.metadata
    assert.equal(marked.deletionGracePeriodSeconds, 30)
    assert.ok(
      Date.parse(terminated.finishedAt) < Date.parse(marked.deletionTimestamp),
      'long before the grace period ended',
    )
    assert.equal(conditionsOf(last)['Ready'], 'False PodCompleted')
  })

  test('a second delete with a shorter grace period shortens the wait', async () => {
    using p = await running('s4-shorter', pod('p', IGNORES_SIGTERM))
    await p.kubectl('delete', 'pod', 'p', '--grace-period=600', '--wait=false')
    await p.watch.until(({ object }) => object.status.observedGeneration === 2)
    await p.kubectl('delete', 'pod', 'p', '--grace-period=1', '--wait=false')
    const gone = await p.watch.until(({ type }) => type === 'DELETED')
    assert.equal(gone.object.status.containerStatuses[0].state.terminated.exitCode, 137)
    const seen = trail(p.watch.seen, 'p', p.version)
    assert.deepEqual(seen.slice(0, 3), [`${MARKED} metadata.generation`, OBSERVED, MARKED])
    assert.match(seen[3] ?? '', ENDED)
    assert.deepEqual(seen.slice(4), [MARKED, 'DELETED'])
  })

  test('a forced delete removes the object without asking the kubelet', async () => {
    using p = await running('s4-forced', pod('p', IGNORES_SIGTERM))
    const { err } = await p.kubectl.run(['delete', 'pod', 'p', '--force'])
    assert.match(err, /Immediate deletion does not wait for confirmation that the running resource has been terminated/)
    const gone = await p.watch.until(({ type }) => type === 'DELETED')
    assert.deepEqual(trail(p.watch.seen, 'p', p.version), [`${MARKED} metadata.generation`, 'DELETED'])
    assert.ok(gone.object.status.containerStatuses[0].state.running)
  })

  test('a preStop hook and a stop that takes its time fit in the grace period', async () => {
    const preStop = { preStop: { exec: { command: ['sleep', '1'] } } }
    const slow = pod(
      'p',
      { 'sim.skiff.dev/stop-delay': '200ms', 'sim.skiff.dev/sigterm-exit-code': '3' },
      {
        spec: { containers: [{ name: 'main', image: 'busybox', lifecycle: preStop }] },
      },
    )
    using p = await running('s4-prestop', slow)
    await p.kubectl('delete', 'pod', 'p', '--wait=false')
    const last = await ended(p)
    assert.equal(last.status.phase, 'Failed')
    assert.equal(last.status.containerStatuses[0].state.terminated.exitCode, 3)
    const events = await eventsOf(p.kubectl, 'p')
    assert.ok(events.includes('Killing'), events.join(' '))
  })

  async function eventsOf(kubectl: Kubectl, name: string): Promise<string[]> {
    using watch = kubectl.watch('events')
    await watch.until(({ object }) => object.involvedObject.name === name && object.reason === 'Killing')
    return watch.seen.map(({ object }) => object.reason)
  }
})
