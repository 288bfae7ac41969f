/** Durable writes: pods created and patched. */
import { expectOk, type RequestBody } from '../client.ts'
import { type Bench, cpuMeter, type Measure } from '../figure.ts'
import { type Latency, load } from '../load.ts'
import { distinctPod, makeNamespace, pod, podsPath } from '../pods.ts'

export const PODS = 5000
const SINGLE = 300
const DISTINCT = 3000
const PATCHES = 3000

interface Creates {
  readonly name: string
  /** Of the pods' names: this and a number. */
  readonly prefix: string
  readonly count: number
  /** How many at once. */
  readonly width: number
  readonly body: (name: string, index: number) => RequestBody
}

async function creates(bench: Bench, { name, prefix, count, width, body }: Creates): Promise<void> {
  const { client, bare, namespace, report, subject } = bench
  const path = podsPath(namespace)
  const cpu = cpuMeter(subject)
  const made = await load(count, width, (i) => client.request('POST', path, body(`${prefix}${i}`, i)))
  const cost = cpu(count)
  const answer = await client.request('GET', `${path}/${prefix}0`)
  await bare.request('PUT', '/pod', { bytes: answer.body })
  const ceiling = await load(count, width, (i) => bare.request('POST', '/pod', body(`${prefix}${i}`, i)))
  report({ name, value: made.perSecond, unit: '/s', bare: ceiling.perSecond, ...cost })
  reportLatency(bench, name, made.latency, ceiling.latency)
}

function reportLatency({ report }: Bench, name: string, own: Latency, bare: Latency): void {
  report({ name: `${name}: p99`, value: own.p99, unit: 'ms', bare: bare.p99, detail: `p50 ${own.p50.toFixed(2)} ms` })
}

export const create: Measure = {
  name: 'create',
  run: (bench) => creates(bench, { name: 'pod creates, 64 at once', prefix: 'p', count: PODS, width: 64, body: pod }),
}

export const createSingle: Measure = {
  name: 'create-single',
  run: (bench) =>
    creates(bench, { name: 'pod creates, one at a time', prefix: 'q', count: SINGLE, width: 1, body: pod }),
}

/** Nothing about a spec can be found once for several of these. They go again, so that the list stays that of equal ones. */
export const createDistinct: Measure = {
  name: 'create-distinct',
  run: async (bench) => {
    const own = { ...bench, namespace: `${bench.namespace}-d` }
    await makeNamespace(bench.client, own.namespace)
    const name = 'pod creates of different specs, 64 at once'
    await creates(own, { name, prefix: 'd', count: DISTINCT, width: 64, body: distinctPod })
    expectOk(await bench.client.request('DELETE', `${podsPath(own.namespace)}?gracePeriodSeconds=0`))
    expectOk(await bench.client.request('DELETE', `/api/v1/namespaces/${own.namespace}`))
  },
}

export const patch: Measure = {
  name: 'patch',
  needs: ['create'],
  run: async (bench) => {
    const { client, bare, namespace, report, subject } = bench
    const path = podsPath(namespace)
    const body = (i: number) => ({
      bytes: Buffer.from(JSON.stringify({ metadata: { labels: { v: `a${i}` } } })),
      contentType: 'application/merge-patch+json',
    })
    const cpu = cpuMeter(subject)
    const patched = await load(PATCHES, 64, (i) => client.request('PATCH', `${path}/p${i}`, body(i)))
    const cost = cpu(PATCHES)
    const answer = await client.request('GET', `${path}/p0`)
    await bare.request('PUT', '/patched', { bytes: answer.body })
    const ceiling = await load(PATCHES, 64, (i) => bare.request('PATCH', '/patched', body(i)))
    const name = 'merge patches of labels, 64 at once'
    report({ name, value: patched.perSecond, unit: '/s', bare: ceiling.perSecond, ...cost })
    reportLatency(bench, name, patched.latency, ceiling.latency)
  },
}
