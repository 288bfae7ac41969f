/** Durable writes: pods created and patched. */
import { type Bench, cpuMeter, type Measure } from '../figure.ts'
import { load } from '../load.ts'
import { pod, podsPath } from '../pods.ts'

export const PODS = 5000
const SINGLE = 300
const PATCHES = 3000

async function creates(bench: Bench, name: string, prefix: string, count: number, width: number): Promise<void> {
  const { client, bare, namespace, report, subject } = bench
  const path = podsPath(namespace)
  const cpu = cpuMeter(subject)
  const made = await load(count, width, (i) => client.request('POST', path, pod(`${prefix}${i}`)))
  const cost = cpu(count)
  const answer = await client.request('GET', `${path}/${prefix}0`)
  await bare.request('PUT', '/pod', { bytes: answer.body })
  const ceiling = await load(count, width, (i) => bare.request('POST', '/pod', pod(`${prefix}${i}`)))
  report({ name, value: made.perSecond, unit: '/s', bare: ceiling.perSecond, ...cost })
}

export const create: Measure = {
  name: 'create',
  run: (bench) => creates(bench, 'pod creates, 64 at once', 'p', PODS, 64),
}

export const createSingle: Measure = {
  name: 'create-single',
  run: (bench) => creates(bench, 'pod creates, one at a time', 'q', SINGLE, 1),
}

export const patch: Measure = {
  name: 'patch',
  needs: ['create'],
  run: async ({ client, bare, namespace, report, subject }) => {
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
    report({
      name: 'merge patches of labels, 64 at once',
      value: patched.perSecond,
      unit: '/s',
      bare: ceiling.perSecond,
      ...cost,
    })
  },
}
