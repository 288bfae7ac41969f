/** CustomResourceDefinitions one after another, each when the one before it is established, and what their number costs. */
import { type BenchClient, expectOk } from '../client.ts'
import { definition, definitionName, GROUPS } from '../definitions.ts'
import { type Bench, cpuMeter, type Measure } from '../figure.ts'
import { load, pause, timed, until } from '../load.ts'

const DEFINITIONS = 1000
const HUNDRED = 100
const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WITHIN_MS = 600_000
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

export const definitions: Measure = {
  name: 'definitions',
  run: async (bench) => {
    const { client, report, subject } = bench
    const cpu = cpuMeter(subject)
    const begin = performance.now()
    const hundreds: number[] = []
    for (let from = 0; from < DEFINITIONS; from += HUNDRED) {
      const began = performance.now()
      for (let i = from; i < from + HUNDRED; i++) await establish(client, i)
      hundreds.push((performance.now() - began) / 1000)
      process.stderr.write(`definitions ${from} to ${from + HUNDRED}: ${hundreds.at(-1)?.toFixed(3)} s\n`)
    }
    const { seconds } = timed(DEFINITIONS, begin)
    const detail = `by the hundred: ${hundreds.map((one) => one.toFixed(2)).join(' ')} s`
    report({
      name: `${DEFINITIONS} definitions, each until established`,
      value: seconds,
      unit: 's',
      detail,
      ...cpu(DEFINITIONS),
    })
    const growth = ((hundreds.at(-1) as number) / (hundreds[0] as number)).toFixed(2)
    report({
      name: 'the last hundred of them',
      value: hundreds.at(-1) as number,
      unit: 's',
      detail: `${growth} × the first`,
    })
    await pause(5000)
    const usage = subject.usage?.()
    if (usage !== undefined)
      report({ name: `resident memory, after ${DEFINITIONS} definitions`, value: usage.residentMiB, unit: 'MiB' })
    const count = await documents(bench, DEFINITIONS)
    await removal(bench, count)
  },
}

/** Asked as a client that waits: again until the condition is there, a little later each time. */
async function establish(client: BenchClient, index: number): Promise<void> {
  const body = definition(index)
  expectOk(await client.request('POST', PATH, body))
  const path = `${PATH}/${definitionName(index)}`
  await until(`definition ${index}`, WITHIN_MS, 1, async () => {
    return isEstablished(expectOk(await client.request('GET', path)).body)
  })
}

function isEstablished(body: Buffer): boolean {
  const { status } = JSON.parse(body.toString()) as {
    status?: { conditions?: readonly { readonly type: string; readonly status: string }[] }
  }
  return status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True') === true
}

/**
 * What clients ask for when they begin, each for the first time since the last definition came: there is one more for each. Gives
 * how many there are then.
 */
async function documents({ client, report }: Bench, count: number): Promise<number> {
  let more = count
  const asked = [
    ['aggregated discovery', '/apis', AGGREGATED],
    ['discovery of one group version', '/apis/g0.bench.example.com/v1', undefined],
    ['the index of OpenAPI v3', '/openapi/v3', undefined],
    ['OpenAPI v3 of one group version', '/openapi/v3/apis/g0.bench.example.com/v1', undefined],
    ['OpenAPI v2', '/openapi/v2', undefined],
  ] as const
  for (const [name, path, accept] of asked) {
    await establish(client, more++)
    const begin = performance.now()
    const { body } = expectOk(await client.request('GET', path, undefined, accept))
    const detail = `${(body.length / 1e6).toFixed(2)} MB`
    report({ name: `${name}, with ${DEFINITIONS} definitions`, value: performance.now() - begin, unit: 'ms', detail })
  }
  return more
}

async function removal({ client, report }: Bench, count: number): Promise<void> {
  const begin = performance.now()
  await load(count, 8, (i) => client.request('DELETE', `${PATH}/${definitionName(i)}`))
  await until('all definitions gone', WITHIN_MS, 20, async () => {
    const { body } = expectOk(await client.request('GET', `${PATH}?labelSelector=bench%3Ddefinitions&limit=1`))
    return (JSON.parse(body.toString()) as { items: unknown[] }).items.length === 0
  })
  const detail = `${GROUPS} groups`
  report({
    name: `${count} definitions deleted, 8 at once, to all gone`,
    value: timed(1, begin).seconds,
    unit: 's',
    detail,
  })
}
