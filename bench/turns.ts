/**
 * node bench/turns.ts --other CHECKOUT [--rounds 7] [--count 5000] [--only create,delete] [--components all] [--json FILE]
 *
 * Two versions of skiff, both alive, asked the same in turns (which begins changes with each round): what one request takes by
 * the clock and of the processor's time (all threads), medians and least of all rounds. The other is a clone of the repository
 * at an older commit, with its dependencies. The first round of each is to warm up and not counted.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Answer, type BenchClient, createBenchClient } from './client.ts'
import { load } from './load.ts'
import { makeNamespace, pod, podsPath } from './pods.ts'
import { type Components, type Subject, startSkiff } from './subject.ts'

interface Verb {
  readonly name: string
  readonly width: number
  /** Of the count of a round, how much is asked. */
  readonly share: number
  readonly ask: (client: BenchClient, round: number, index: number) => Promise<Answer>
}
interface Sample {
  readonly clock: number
  readonly processor: number
}

const NAMESPACE = 'turns'
const path = podsPath(NAMESPACE)
const patchOf = (text: unknown) => ({
  bytes: Buffer.from(JSON.stringify(text)),
  contentType: 'application/merge-patch+json',
})

/** In this order, so that each finds what it needs. */
const VERBS: readonly Verb[] = [
  {
    name: 'create',
    width: 64,
    share: 1,
    ask: (client, round, i) => client.request('POST', path, pod(`p${round}-${i}`)),
  },
  {
    name: 'create-single',
    width: 1,
    share: 0.05,
    ask: (client, round, i) => client.request('POST', path, pod(`q${round}-${i}`)),
  },
  {
    name: 'get',
    width: 32,
    share: 1,
    ask: (client, round) => client.request('GET', `${path}/p${round}-0`),
  },
  {
    name: 'get-random',
    width: 32,
    share: 1,
    ask: (client, round, i) => client.request('GET', `${path}/p${round}-${i}`),
  },
  { name: 'list', width: 1, share: 0.002, ask: (client) => client.request('GET', path) },
  {
    name: 'patch',
    width: 64,
    share: 1,
    ask: (client, round, i) =>
      client.request('PATCH', `${path}/p${round}-${i}`, patchOf({ metadata: { labels: { v: `a${i}` } } })),
  },
  {
    name: 'patch-status',
    width: 64,
    share: 1,
    ask: (client, round, i) =>
      client.request('PATCH', `${path}/p${round}-${i}/status`, patchOf({ status: { message: `m${i}` } })),
  },
  {
    name: 'delete',
    width: 64,
    share: 1,
    ask: (client, round, i) => client.request('DELETE', `${path}/p${round}-${i}`),
  },
]

const { values } = parseArgs({
  options: {
    other: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    count: { type: 'string', default: '5000' },
    only: { type: 'string' },
    components: { type: 'string', default: 'apiserver' },
    json: { type: 'string' },
    'node-args': { type: 'string' },
  },
})
if (values.other === undefined) throw new Error('--other is missing: the checkout that this one is measured against')
const rounds = numberOf('rounds', values.rounds)
const count = numberOf('count', values.count)
const chosen = values.only?.split(',')
for (const name of chosen ?? [])
  if (!VERBS.some((verb) => verb.name === name))
    throw new Error(`--only takes ${VERBS.map((verb) => verb.name).join(', ')}: ${name}`)

/** @throws Error for what is no number of times */
function numberOf(option: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${option} takes a whole number from 1 on: ${text}`)
  return Number(text)
}

interface Side {
  readonly name: string
  readonly subject: Subject
  readonly client: BenchClient
  readonly samples: Map<string, Sample[]>
}

async function side(name: string, command?: string): Promise<Side> {
  const nodeArgs = values['node-args']?.split(' ')
  const subject = await startSkiff(values.components as Components, {
    ...(command === undefined ? {} : { command }),
    ...(nodeArgs === undefined ? {} : { nodeArgs }),
  })
  const client = createBenchClient(subject.endpoint)
  await makeNamespace(client, NAMESPACE)
  return { name, subject, client, samples: new Map() }
}

async function sample({ subject, client, samples }: Side, verb: Verb, round: number): Promise<void> {
  const asked = Math.max(1, Math.round(count * verb.share))
  const before = subject.usage?.().cpuSeconds ?? Number.NaN
  const made = await load(asked, verb.width, (i) => verb.ask(client, round, i))
  const after = subject.usage?.().cpuSeconds ?? Number.NaN
  if (round === 0) return
  const own = samples.get(verb.name) ?? []
  own.push({ clock: (made.seconds * 1e6) / asked, processor: ((after - before) * 1e6) / asked })
  samples.set(verb.name, own)
}

const median = (of: readonly number[]) => of.toSorted((a, b) => a - b)[of.length >> 1] as number
const shown = (micros: number) => micros.toFixed(micros < 1000 ? 1 : 0)

const sides = [await side('this'), await side('other', join(values.other, 'bin', 'skiff.js'))] as const
try {
  for (let round = 0; round <= rounds; round++)
    for (const [at, verb] of VERBS.entries()) {
      const needed =
        verb.name === 'create' || verb.name === 'delete' || chosen === undefined || chosen.includes(verb.name)
      if (needed)
        for (const one of (round + at) % 2 === 0 ? sides : [...sides].reverse()) await sample(one, verb, round)
    }
  console.log('microseconds for one request: median (least) of this | of the other | median of the ratios within turns')
  for (const { name } of VERBS) {
    const [own, others] = sides.map(({ samples }) => samples.get(name) ?? []) as [Sample[], Sample[]]
    if (own.length === 0) continue
    const line = (['clock', 'processor'] as const).map((what) => {
      const [a, b] = [own, others].map((of) => of.map((one) => one[what])) as [number[], number[]]
      const ratio = median(a.map((value, i) => value / (b[i] as number)))
      const told = [a, b].map((of) => `${shown(median(of))} (${shown(Math.min(...of))})`).join(' | ')
      return `${what} ${told} | ${ratio.toFixed(3)}`
    })
    console.log(`${name.padEnd(14)} ${line.join('   ')}`)
  }
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      JSON.stringify(
        Object.fromEntries(sides.map(({ name, samples }) => [name, Object.fromEntries(samples)])),
        null,
        1,
      ),
    )
} finally {
  for (const { client, subject } of sides) {
    client.close()
    await subject.stop()
  }
}
