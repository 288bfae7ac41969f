/** Events delivered to many watchers. */
import { expectOk, json } from '../client.ts'
import { cpuMeter, type Measure } from '../figure.ts'
import { timed, until } from '../load.ts'

const WATCHERS = 1000
const EVENTS = 20

/** Some at a time: handshakes are not what is measured, and servers give up on slow ones. */
async function open(one: () => Promise<{ close(): void }>): Promise<{ close(): void }[]> {
  const watches: { close(): void }[] = []
  while (watches.length < WATCHERS) watches.push(...(await Promise.all(Array.from({ length: 50 }, one))))
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
