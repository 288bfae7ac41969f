import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import type { ApiRequest, Handler } from '../api/request.ts'
import { StatusError } from '../api/status.ts'
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { type SimulatedRuntime, simulatedRuntime } from '../base/simulated-runtime.ts'
import { createFakeServer, type FakeServer } from './fake-server.ts'
import { fencedTransport, limitedTransport, timedTransport } from './held-transports.ts'
import { acquireLeadership, type Leadership, LeaseLostError } from './leader-election.ts'
import { createClient, inProcessTransport } from './transport.ts'

const KEY = 'kube-system/kube-scheduler'
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }

/** A process that may be stopped and go on (SIGSTOP, SIGCONT): nothing of it happens meanwhile, and then all that was due does. */
function pausable(runtime: Runtime) {
  let paused = false
  const held: (() => void)[] = []
  const unlessPaused = (task: () => void) => () => {
    if (paused) held.push(task)
    else task()
  }
  const own: Runtime = {
    ...runtime,
    clock: {
      ...runtime.clock,
      setTimer: (ms, label, task): Timer => runtime.clock.setTimer(ms, label, unlessPaused(task)),
    },
    scheduler: {
      handOver: (label, task, lane) => runtime.scheduler.handOver(label, unlessPaused(task), lane),
      later: (label, task, lane) => runtime.scheduler.later(label, unlessPaused(task), lane),
      soon: (ms, label, task) => runtime.scheduler.soon(ms, label, unlessPaused(task)),
      during: runtime.scheduler.during,
    },
  }
  return {
    own,
    pause: () => {
      paused = true
    },
    goOn: () => {
      paused = false
      for (const task of held.splice(0)) runtime.scheduler.handOver('woken', task)
    },
  }
}

interface Candidate {
  readonly identity: string
  readonly process: ReturnType<typeof pausable>
  readonly stopping: AbortController
  readonly holders: string[]
  leadership?: Leadership
  wonAt?: number
}

function candidate(runtime: SimulatedRuntime, handler: Handler, identity: string, watches = true): Candidate {
  const process = pausable(runtime)
  const mayWatch: Handler = async (request) => {
    if (request.query.get('watch') === 'true' && !watches) throw new StatusError(403, 'Forbidden', 'no watch')
    return handler(request)
  }
  const transport = timedTransport(process.own, inProcessTransport(mayWatch), 5000)
  const client = createClient(process.own, transport, { userAgent: identity })
  const one: Candidate = { identity, process, stopping: new AbortController(), holders: [] }
  acquireLeadership(
    {
      runtime: process.own,
      client,
      namespace: 'kube-system',
      name: 'kube-scheduler',
      identity,
      events: { client, component: 'default-scheduler' },
      onHolder: (holder) => one.holders.push(holder),
    },
    one.stopping.signal,
  ).then(
    (leadership) => {
      one.leadership = leadership
      one.wonAt = runtime.clock.monotonic()
    },
    () => {},
  )
  return one
}

const leaseOf = (server: FakeServer) => server.get(KEY) as (KubeObject & Lease) | undefined
const setup = (seed = 1) => {
  const runtime = simulatedRuntime(seed)
  const server = createFakeServer()
  return { runtime, server }
}

test('the first candidate makes the Lease, leads, renews every two seconds, and tells of it in an Event', async () => {
  const { runtime, server } = setup()
  const one = candidate(runtime, server.handler, 'host_1')
  await runtime.settle()
  assert.ok(one.leadership?.mayWrite())
  assert.deepEqual(leaseOf(server)?.spec, {
    holderIdentity: 'host_1',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:00.000000Z',
    leaseTransitions: 0,
  })
  await runtime.advance(8000)
  assert.equal(leaseOf(server)?.spec?.renewTime, '2026-01-01T00:00:08.000000Z')
  const event = server.requests.find(({ path }) => path.endsWith('/events'))?.body
  assert.ok(event?.kind === 'object')
  const { involvedObject, reason, message, source, type } = event.object as KubeObject & Record<string, never>
  assert.deepEqual(
    { involvedObject, reason, message, source, type },
    {
      involvedObject: {
        kind: 'Lease',
        namespace: 'kube-system',
        name: 'kube-scheduler',
        uid: 'uid-1',
        apiVersion: 'coordination.k8s.io/v1',
        resourceVersion: '2',
      },
      reason: 'LeaderElection',
      message: 'host_1 became leader',
      source: { component: 'default-scheduler' },
      type: 'Normal',
    },
  )
  // Renewing needs no reading: the holder of the newest version changes it.
  assert.equal(server.requests.filter(({ method, path }) => method === 'GET' && path.includes('leases')).length, 1)
})

test('of many candidates exactly one leads at any time, whatever the order', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { runtime, server } = setup(seed)
    const all = ['a', 'b', 'c', 'd'].map((identity) => candidate(runtime, server.handler, identity, seed % 2 === 0))
    for (let round = 0; round < 6; round++) {
      await runtime.advance(10_000)
      const leading = all.filter(({ leadership }) => leadership?.mayWrite())
      assert.deepEqual(
        leading.map(({ identity }) => identity),
        [leaseOf(server)?.spec?.holderIdentity],
      )
      assert.equal(leaseOf(server)?.spec?.leaseTransitions, round)
      if (round === 5) break
      const release = leading[0]?.leadership?.release()
      await runtime.complete(release ?? Promise.resolve())
      all.push(candidate(runtime, server.handler, `e${round}`))
    }
  }
})

for (const watches of [true, false])
  test(`a Lease that is given back is free at once; who may ${watches ? '' : 'not '}watch it takes it ${watches ? 'then' : 'at its next try'}`, async () => {
    const { runtime, server } = setup()
    const old = candidate(runtime, server.handler, 'old')
    await runtime.settle()
    const other = candidate(runtime, server.handler, 'other', watches)
    await runtime.advance(21_000)
    assert.equal(other.leadership, undefined)
    const watched = server.requests.filter(({ query }) => query.get('watch') === 'true')
    assert.equal(watched.length, watches ? 1 : 0, 'one watch for all tries')
    const asked = runtime.clock.monotonic()
    await runtime.complete(old.leadership?.release() ?? Promise.resolve())
    const given = server.requests.flatMap(({ method, body }) =>
      method === 'PUT' && body?.kind === 'object' && body.object['spec'].holderIdentity === ''
        ? [body.object['spec']]
        : [],
    )
    const at = '2026-01-01T00:00:21.000000Z'
    assert.deepEqual(given, [
      { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0, acquireTime: at, renewTime: at },
    ])
    assert.equal(old.leadership?.mayWrite(), false)
    await runtime.run({ until: () => other.leadership !== undefined, maxMs: 10_000 })
    const took = (other.wonAt ?? 0) - asked
    assert.ok(took <= (watches ? 2000 : 4400), `${took} ms`)
    assert.equal(leaseOf(server)?.spec?.leaseTransitions, 1)
    assert.deepEqual(other.holders.slice(-2), ['', 'other'])
  })

test('the Lease of a leader that died is taken when its record has not changed for as long as it says, by the own clock', async () => {
  const { runtime, server } = setup()
  // Its times are an hour old and an hour ahead: neither counts.
  for (const renewTime of ['2025-12-31T23:00:00.000000Z', '2026-01-01T01:00:00.000000Z']) {
    server.put({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'kube-scheduler', namespace: 'kube-system' },
      spec: {
        holderIdentity: 'dead',
        leaseDurationSeconds: 15,
        renewTime,
        acquireTime: renewTime,
        leaseTransitions: 3,
      },
    })
    const began = runtime.clock.monotonic()
    const one = candidate(runtime, server.handler, `one ${renewTime}`)
    await runtime.run({ until: () => one.leadership !== undefined, maxMs: 60_000 })
    const took = (one.wonAt ?? 0) - began
    assert.ok(took >= 15_000 && took < 15_000 + 4400, `${took} ms`)
    assert.equal(leaseOf(server)?.spec?.leaseTransitions, 4)
    one.process.pause()
  }
})

test('a leader that dies at whatever moment is followed when its record has been as it is for fifteen seconds', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { runtime, server } = setup(seed)
    const old = candidate(runtime, server.handler, 'old')
    await runtime.settle()
    const others = ['b', 'c'].map((identity) => candidate(runtime, server.handler, identity))
    await runtime.advance(20_000 + seed * 437)
    old.process.pause()
    const renewed = Date.parse(leaseOf(server)?.spec?.renewTime ?? '') - Date.UTC(2026, 0, 1)
    await runtime.advance(renewed + 15_000 - 1 - runtime.clock.monotonic())
    assert.equal(leaseOf(server)?.spec?.holderIdentity, 'old', `seed ${seed}`)
    await runtime.advance(100)
    assert.equal(others.filter(({ leadership }) => leadership !== undefined).length, 1, `seed ${seed}`)
  }
})

test('a leader that was paused past its lease begins no write when it wakes, and loses', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { runtime, server } = setup(seed)
    const arrived: { by: string | undefined; method: string; at: number }[] = []
    const handler: Handler = (request) => {
      const by = request.headers['user-agent']?.toString()
      arrived.push({ by, method: request.method, at: runtime.clock.monotonic() })
      return server.handler(request)
    }
    const old = candidate(runtime, handler, 'old')
    await runtime.settle()
    const leadership = old.leadership
    assert.ok(leadership)
    const own = old.process.own
    const working = createClient(own, fencedTransport(inProcessTransport(handler), leadership), { userAgent: 'old' })
    let written = 0
    const work = () => {
      working
        .resource(CONFIG_MAPS)
        .namespace('default')
        .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${written++}` } })
        .then(undefined, () => {})
      own.clock.setTimer(100, 'work', work)
    }
    work()
    const other = candidate(runtime, handler, 'other')
    await runtime.advance(5000)
    old.process.pause()
    await runtime.advance(30_000)
    assert.equal(other.leadership?.mayWrite(), true)
    assert.equal(leadership.ended.aborted, false, 'nothing has noticed yet')
    const woke = runtime.clock.monotonic()
    const before = arrived.length
    old.process.goOn()
    await runtime.advance(5000)
    const late = arrived.slice(before).filter(({ by, method, at }) => by === 'old' && method !== 'GET' && at >= woke)
    assert.deepEqual(late, [], `seed ${seed}`)
    assert.ok(leadership.ended.reason instanceof LeaseLostError)
    assert.equal(leaseOf(server)?.spec?.holderIdentity, 'other')
  }
})

test('a leader whose API server does not answer stops leading twelve seconds after it last renewed, before another may lead', async () => {
  const { runtime, server } = setup()
  let hangs = false
  const handler: Handler = (request: ApiRequest) => {
    if (!hangs) return server.handler(request)
    return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)))
  }
  const one = candidate(runtime, handler, 'one')
  const other = candidate(runtime, server.handler, 'other')
  await runtime.advance(10_000)
  const [leader, spare] = one.leadership === undefined ? [other, one] : [one, other]
  assert.equal(leader, one, 'the seed makes one the leader')
  hangs = true
  const renewed = Date.parse(leaseOf(server)?.spec?.renewTime ?? '') - Date.UTC(2026, 0, 1)
  let lost = 0
  leader.leadership?.ended.addEventListener('abort', () => {
    lost = runtime.clock.monotonic()
  })
  await runtime.run({ until: () => spare.leadership !== undefined, maxMs: 60_000 })
  assert.equal(lost - renewed, 12_000)
  assert.ok((spare.wonAt ?? 0) - renewed >= 15_000)
})

test('a leader stops when the whole seconds are over that its record names, though it was given a part of one more', async () => {
  const { runtime, server } = setup()
  let hangs = false
  const client = createClient(
    runtime,
    inProcessTransport((request) => (hangs ? new Promise(() => {}) : server.handler(request))),
    { userAgent: 'x' },
  )
  const times = { leaseDurationMs: 11_900, renewDeadlineMs: 11_800, retryPeriodMs: 2000 }
  const named = { runtime, client, namespace: 'kube-system', name: 'kube-scheduler', identity: 'one', ...times }
  const leading = acquireLeadership(named, new AbortController().signal)
  await runtime.settle()
  const leadership = await leading
  await runtime.settle()
  hangs = true
  assert.equal(leaseOf(server)?.spec?.leaseDurationSeconds, 11)
  await runtime.advance(10_999)
  assert.equal(leadership.mayWrite(), true)
  await runtime.advance(1)
  assert.equal(leadership.mayWrite(), false)
})

test('a renewal that another write came before is done again, and one that another holder came before ends the leadership', async () => {
  const { runtime, server } = setup()
  const one = candidate(runtime, server.handler, 'one')
  await runtime.advance(1000)
  const lease = leaseOf(server) as KubeObject
  server.put({ ...lease, metadata: { ...lease.metadata, labels: { touched: 'yes' } } })
  await runtime.advance(2000)
  assert.equal(one.leadership?.mayWrite(), true)
  assert.equal(leaseOf(server)?.metadata?.labels?.['touched'], 'yes')
  server.put({ ...(leaseOf(server) as KubeObject), spec: { ...leaseOf(server)?.spec, holderIdentity: 'thief' } })
  await runtime.advance(2000)
  assert.equal(one.leadership?.mayWrite(), false)
  assert.equal(leaseOf(server)?.spec?.holderIdentity, 'thief')
})

test('times that leave no room to renew are refused', async () => {
  const { runtime, server } = setup()
  const client = createClient(runtime, inProcessTransport(server.handler), { userAgent: 'x' })
  const named = { runtime, client, namespace: 'kube-system', name: 'x', identity: 'x' }
  const { signal } = new AbortController()
  await assert.rejects(
    acquireLeadership({ ...named, leaseDurationMs: 10_000, renewDeadlineMs: 10_000 }, signal),
    /leaseDuration must be greater than renewDeadline/,
  )
  await assert.rejects(
    acquireLeadership({ ...named, renewDeadlineMs: 2400, retryPeriodMs: 2000 }, signal),
    /renewDeadline must be greater than retryPeriod\*JitterFactor/,
  )
  assert.equal(server.requests.length, 0)
})

test('a limited client sends its burst at once and then so many in a second, in order', async () => {
  const { runtime, server } = setup()
  const sent: number[] = []
  const handler: Handler = (request) => {
    sent.push(runtime.clock.monotonic())
    return server.handler(request)
  }
  const transport = limitedTransport(runtime, inProcessTransport(handler), { qps: 10, burst: 3 })
  const client = createClient(runtime, transport, { userAgent: 'x' })
  for (let i = 0; i < 6; i++) void client.resource(CONFIG_MAPS).list()
  await runtime.advance(1000)
  assert.deepEqual(sent, [0, 0, 0, 100, 200, 300])
  // A watch goes on from a list that has waited: it waits no more.
  const asked = runtime.clock.monotonic()
  for (let i = 0; i < 30; i++) void client.resource(CONFIG_MAPS).list()
  void client.resource(CONFIG_MAPS).watch({ resourceVersion: '1' }, new AbortController().signal)
  await runtime.settle()
  assert.equal(sent.filter((at) => at === asked).length, 4)
})
