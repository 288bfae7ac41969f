/** A custom resource beside a built-in kind of the same fields and size, the two in turns: what busies the machine meets both. */
import { expectOk } from '../client.ts'
import { type Bench, cpuMeter, type Figure, type Measure } from '../figure.ts'
import { load, timed } from '../load.ts'
import { makeNamespace } from '../pods.ts'
import { builtin, custom, type MeasuredKind, otherVersion, removeCustom, serveCustom } from '../widgets.ts'

const OBJECTS = 5000
const TURNS = 10
const GETS = 10_000
const LISTS = 20
const PATCHES = 3000

interface Verb {
  /** `creates`, `GETs`, … */
  readonly name: string
  readonly kinds: readonly MeasuredKind[]
  readonly count: number
  readonly width: number
  readonly unit: Figure['unit'] & ('/s' | 's')
  readonly ask: (kind: MeasuredKind, index: number) => ReturnType<Bench['client']['request']>
}

/** Each kind's share of the requests in turns, and all of its turns added up. */
async function inTurns({ report, subject }: Bench, { name, kinds, count, width, unit, ask }: Verb): Promise<void> {
  const spent = kinds.map(() => ({ seconds: 0, cpuMicros: 0 }))
  const each = count / TURNS
  for (let turn = 0; turn < TURNS; turn++)
    for (const [at, kind] of kinds.entries()) {
      const cpu = cpuMeter(subject)
      const begin = performance.now()
      await load(each, width, (i) => ask(kind, turn * each + i))
      const sum = spent[at] as (typeof spent)[number]
      sum.seconds += timed(each, begin).seconds
      sum.cpuMicros += cpu(count).cpuMicros ?? Number.NaN
    }
  const first = spent[0]?.seconds as number
  for (const [at, kind] of kinds.entries()) {
    const { seconds, cpuMicros } = spent[at] as (typeof spent)[number]
    report({
      name: `${name} of a ${kind.title}, ${width} at once`,
      value: unit === 's' ? seconds / count : count / seconds,
      unit,
      ...(Number.isNaN(cpuMicros) ? {} : { cpuMicros }),
      ...(at === 0 ? {} : { detail: `${(first / seconds).toFixed(2)} times the ${kinds[0]?.title}'s speed` }),
    })
  }
}

export const customResources: Measure = {
  name: 'custom',
  run: async (bench) => {
    const { client } = bench
    const namespace = `${bench.namespace}-r`
    await makeNamespace(client, namespace)
    await serveCustom(client, namespace)
    const all = [builtin, custom, otherVersion]
    const at = (kind: MeasuredKind, index: number) => `${kind.path(namespace)}/o${index % OBJECTS}`
    const writes = { kinds: [builtin, custom], width: 64, unit: '/s' } as const
    await inTurns(bench, {
      ...writes,
      name: 'creates',
      count: OBJECTS,
      ask: (kind, i) => client.request('POST', kind.path(namespace), kind.body(`o${i}`, i)),
    })
    await inTurns(bench, {
      ...writes,
      name: 'merge patches of a label',
      count: PATCHES,
      ask: (kind, i) =>
        client.request('PATCH', at(kind, i), {
          bytes: Buffer.from(JSON.stringify({ metadata: { labels: { v: `a${i}` } } })),
          contentType: 'application/merge-patch+json',
        }),
    })
    const gets = { name: 'GETs', kinds: all, count: GETS, width: 32, unit: '/s' } as const
    await inTurns(bench, { ...gets, ask: (kind, i) => client.request('GET', at(kind, i)) })
    const lists = { name: 'list of all', kinds: all, count: LISTS, width: 1, unit: 's' } as const
    await inTurns(bench, { ...lists, ask: (kind) => client.request('GET', kind.path(namespace)) })
    for (const kind of [builtin, custom]) expectOk(await client.request('DELETE', kind.path(namespace)))
    await removeCustom(client)
    expectOk(await client.request('DELETE', `/api/v1/namespaces/${namespace}`))
  },
}
