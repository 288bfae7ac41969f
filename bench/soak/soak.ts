/**
 * npm run soak: an hour of work on a cluster of many simulated nodes. Round after round Deployments are rolled out, scaled, deleted
 * and made anew, pods and Nodes are deleted, nodes die; then everything must come to rest as asked for, and memory may not grow.
 *
 *   npm run soak -- --minutes 5 --nodes 100 --pods 500     shorter and smaller
 *   npm run soak -- --pace 90                              a round begins every 90 seconds (or once the one before is over)
 *   npm run soak -- --seed 7                               other choices; the same seed chooses the same
 *
 * What memory holds of history follows the rate of changes, so that rounds have a pace: one that quickens would count as growth.
 *
 * It ends with 1 when a promise was broken, or when memory at the end is more than a tenth above that after the first sixth.
 */
import { parseArgs } from 'node:util'
import { createBenchClient } from '../client.ts'
import { pause } from '../load.ts'
import { startSkiff, type Usage } from '../subject.ts'
import { createGround, PER_DEPLOYMENT } from './ground.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    nodes: { type: 'string', default: '1000' },
    pods: { type: 'string', default: '3000' },
    pace: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    'node-args': { type: 'string' },
  },
})

function positive(name: 'minutes' | 'nodes' | 'pods' | 'pace' | 'seed'): number {
  const value = Number(values[name])
  if (!(value > 0)) throw new Error(`--${name} takes a number above 0: ${values[name]}`)
  return value
}

/** A mulberry32: the same seed gives the same numbers, from 0 up to before 1. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Sample extends Usage {
  readonly atSeconds: number
}

/** After a round, so that what it left behind is collected. */
const REST_MS = 15_000
const MOST_GROWTH = 0.1
/** Memory is the median of so many samples. */
const SAMPLES = 5

const median = (samples: readonly Sample[]): number =>
  samples.map(({ residentMiB }) => residentMiB).sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN

async function main(): Promise<boolean> {
  const [seconds, nodes, pods] = [positive('minutes') * 60, positive('nodes'), positive('pods')]
  const paceMs = positive('pace') * 1000
  const random = chance(positive('seed'))
  const nodeArgs = values['node-args']?.split(' ') ?? []
  const subject = await startSkiff('all', { nodes, nodeArgs })
  const client = createBenchClient(subject.endpoint)
  const samples: Sample[] = []
  const broken: string[] = []
  const begin = performance.now()
  const elapsed = () => (performance.now() - begin) / 1000
  try {
    const ground = await createGround(client, Math.max(1, Math.round(pods / PER_DEPLOYMENT)), random)
    for (let round = 1; elapsed() < seconds; round++) {
      const before = performance.now()
      const done = await ground.disturb()
      const found = await ground.settled()
      const tookSeconds = (performance.now() - before) / 1000
      for (const problem of found) broken.push(`round ${round}: ${problem}`)
      await pause(REST_MS)
      const usage = subject.usage?.()
      if (usage !== undefined) samples.push({ ...usage, atSeconds: elapsed() })
      const memory =
        usage === undefined ? '' : `, ${usage.residentMiB.toFixed(0)} MiB (${usage.anonymousMiB.toFixed(0)} anonymous)`
      process.stderr.write(
        `round ${round}, ${elapsed().toFixed(0)} s: ${done}; at rest after ${tookSeconds.toFixed(1)} s${memory}\n`,
      )
      if (found.length > 0) break
      await pause(Math.max(0, paceMs - (performance.now() - before)))
    }
    const begun = performance.now()
    await ground.remove()
    process.stderr.write(`everything deleted within ${((performance.now() - begun) / 1000).toFixed(1)} s\n`)
  } catch (error) {
    broken.push(String(error))
  } finally {
    client.close()
    await subject.stop()
  }
  for (const problem of broken) process.stdout.write(`broken: ${problem}\n`)
  return growthIsBounded(samples, seconds) && broken.length === 0
}

function growthIsBounded(samples: readonly Sample[], seconds: number): boolean {
  const early = samples.filter(({ atSeconds }) => atSeconds >= seconds / 6).slice(0, SAMPLES)
  const late = samples.slice(-SAMPLES)
  if (samples.length < 4 * SAMPLES) {
    process.stdout.write(`${samples.length} rounds say nothing about memory: ${4 * SAMPLES} do\n`)
    return true
  }
  const [first, last] = [median(early), median(late)]
  const growth = (last - first) / first
  process.stdout.write(
    `${samples.length} rounds; memory ${first.toFixed(0)} MiB after a sixth of the time, ${last.toFixed(0)} MiB at the end: ${(growth * 100).toFixed(1)}%\n`,
  )
  return growth <= MOST_GROWTH
}

process.exitCode = (await main()) ? 0 : 1
