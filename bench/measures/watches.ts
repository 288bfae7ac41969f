/** Events delivered to many watchers. */
import { expectOk, json } from '../client.ts'
import { type Bench, cpuMeter, type Measure } from '../figure.ts'
import { type Latency, latencyOf, pause, timed, until } from '../load.ts'

const WATCHERS = 1000
const EVENTS = 20

/** Some at a time: handshakes are not what is measured, and servers give up on slow ones. */
async function open(
  one: (watcher: number) => Promise<{ close(): void }>,
  watchers = WATCHERS,
): Promise<{ close(): void }[]> {
  const watches: { close(): void }[] = []
  while (watches.length < watchers) {
    const some = Math.min(50, watchers - watches.length)
    watches.push(...(await Promise.all(Array.from({ length: some }, (_, i) => one(watches.length + i)))))
  }
  return watches
}

export const watch: Measure = {
  name: 'watch',
  run: async ({ client, bare, namespace, report, subject }) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const { body } = expectOk(await client.request('GET', `${path}?limit=1`))
    const { resourceVersion } = (JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }).metadata
    let got = 0
    const count = (lines: number) => {
      got += lines
    }
    const all = WATCHERS * EVENTS
    const watched = `${path}?watch=1&resourceVersion=${resourceVersion}`
    const watches = await open(() => client.watch(watched, count))
    const cpu = cpuMeter(subject)
    let begin = performance.now()
    for (let i = 0; i < EVENTS; i++) {
      const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `w${i}` }, data: { k: 'v' } }
      expectOk(await client.request('POST', path, json(config)))
    }
    await until('the events', 60_000, 2, async () => got >= all)
    const delivered = timed(all, begin)
    const cost = cpu(all)
    for (const { close } of watches) close()

    const one = expectOk(await client.request('GET', `${path}/w0`)).body
    await bare.request('PUT', '/event', { bytes: Buffer.concat([one, Buffer.from('\n')]) })
    const lines = one.toString().split('\n').length
    got = 0
    const bareWatches = await open(() => bare.watch('/event?watch', count))
    begin = performance.now()
    for (let i = 0; i < EVENTS; i++) expectOk(await bare.request('POST', '/event?event', json({})))
    await until('the bare events', 60_000, 2, async () => got >= all * lines)
    const ceiling = timed(all, begin)
    for (const { close } of bareWatches) close()
    report({
      name: `deliveries to ${WATCHERS} watchers`,
      value: delivered.perSecond,
      unit: '/s',
      bare: ceiling.perSecond,
      ...cost,
    })
  },
}

/** One write at a time, as on a quiet cluster: how long after it was asked for each watcher has its event. */
const PACED = 100
const PACE_MS = 20

export const watchLatency: Measure = {
  name: 'watch-latency',
  run: async (bench) => {
    for (const watchers of [1, 100, WATCHERS]) {
      const own = await latencyOfEvents(bench, watchers, false)
      const bare = await latencyOfEvents(bench, watchers, true)
      const name = `watch event from its write's request to ${watchers === 1 ? 'the one watcher' : `${watchers} watchers`}`
      bench.report({ name: `${name}: p50`, value: own.p50, unit: 'ms', bare: bare.p50 })
      bench.report({ name: `${name}: p99`, value: own.p99, unit: 'ms', bare: bare.p99 })
    }
  },
}

async function latencyOfEvents(
  { client, bare, namespace }: Bench,
  watchers: number,
  ofBare: boolean,
): Promise<Latency> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  // A path for each number of watchers: the bare server goes on to write to those that have left.
  const paced = `/paced-${watchers}`
  const named = (i: number) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `l${watchers}-${i}` },
    data: { k: 'v' },
  })
  const { body } = expectOk(await client.request('GET', `${path}?limit=1`))
  const { resourceVersion } = (JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }).metadata
  await bare.request('PUT', paced, { bytes: Buffer.from(`${JSON.stringify(named(0))}\n`) })
  const sent = new Float64Array(PACED)
  const took = new Float64Array(PACED * watchers)
  let got = 0
  const begin1 = (watcher: number) => {
    let seen = 0
    const onLines = (lines: number) => {
      const now = performance.now()
      for (let line = 0; line < lines && seen < PACED; line++, seen++, got++)
        took[watcher * PACED + seen] = now - (sent[seen] as number)
    }
    const watched = `${path}?watch=1&resourceVersion=${resourceVersion}`
    return ofBare ? bare.watch(`${paced}?watch`, onLines) : client.watch(watched, onLines)
  }
  const watches = await open(begin1, watchers)
  for (let i = 0; i < PACED; i++) {
    sent[i] = performance.now()
    expectOk(
      await (ofBare ? bare.request('POST', `${paced}?event`, json({})) : client.request('POST', path, json(named(i)))),
    )
    await pause(PACE_MS)
  }
  await until('the paced events', 60_000, 2, async () => got >= PACED * watchers)
  for (const { close } of watches) close()
  return latencyOf(took)
}
