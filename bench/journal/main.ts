/**
 * npm run bench:journal: what the journal of deletions costs a delete. In one process with a store on disk, as the garbage collector
 * deletes: some hundred with the journal and as many without it in turns, the processor time of all threads for each delete.
 *
 *   npm run bench:journal -- [--pairs 400] [--kind configmaps|pods] [--at-once 64]
 */
import { registerHooks } from 'node:module'
import { parseArgs } from 'node:util'
import type { KubeObject } from '../../src/api/object.ts'
import { switchJournal } from './switch.ts'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '400' },
    kind: { type: 'string', default: 'configmaps' },
    'at-once': { type: 'string', default: '64' },
  },
})
const [pairs, atOnce] = [Number(values.pairs), Number(values['at-once'])]
const WARM_UP = 40
/** Deletes of one measurement. */
const HALF = 256
/** Made at once. */
const OBJECTS = 8 * HALF

interface Made {
  readonly name: string
  readonly uid: string
}

registerHooks({
  resolve(specifier, context, next) {
    const isOurs = specifier === './journal.ts' && context.parentURL?.includes('/src/apiserver/registry/') === true
    return isOurs ? { url: new URL('switch.ts', import.meta.url).href, shortCircuit: true } : next(specifier, context)
  },
})
const { startCluster } = await import('../../src/cluster/index.ts')

const cluster = await startCluster({ components: ['apiserver'] })
const gvr = { group: '', version: 'v1', resource: values.kind }
const admin = cluster.client.resource<KubeObject>(gvr).namespace('default')
const collector = cluster
  .clientFor(
    { name: 'system:serviceaccount:kube-system:generic-garbage-collector', groups: ['system:masters'] },
    'kube-controller-manager/garbage-collector',
  )
  .resource<KubeObject>(gvr)
  .namespace('default')

const owner = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'web-6d4cf56db6',
  uid: '3c1b3f0e-7a3b-4a77-8d39-4f8c2a1d9b10',
}

function objectOf(index: number): KubeObject {
  const metadata = {
    name: `web-6d4cf56db6-${index}`,
    namespace: 'default',
    labels: { app: 'web', 'pod-template-hash': '6d4cf56db6' },
    ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
  }
  return values.kind === 'pods'
    ? { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } }
    : { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'b'.repeat(500) } }
}

async function all<T>(items: readonly T[], one: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of left) await one(item)
    }),
  )
}

/** Microseconds of the processor for each delete, of some hundred: with the journal, and without. */
async function pairOf(made: readonly Made[], isOnFirst: boolean): Promise<readonly [on: number, off: number]> {
  const half = made.length / 2
  const first = await measured(made.slice(0, half), isOnFirst)
  const second = await measured(made.slice(half), !isOnFirst)
  return isOnFirst ? [first, second] : [second, first]
}

async function measured(made: readonly Made[], isOn: boolean): Promise<number> {
  switchJournal(isOn)
  const before = process.cpuUsage()
  await all(made, ({ name, uid }) =>
    collector.delete(name, { preconditions: { uid }, propagationPolicy: 'Background' }),
  )
  const { user, system } = process.cpuUsage(before)
  return (user + system) / made.length
}

async function create(): Promise<readonly Made[]> {
  const made: Made[] = []
  await all([...Array(OBJECTS).keys()], async (index) => {
    const { metadata } = await admin.create(objectOf(index))
    made.push({ name: metadata.name ?? '', uid: metadata.uid ?? '' })
  })
  return made
}

const median = (of: readonly number[]) => of.toSorted((a, b) => a - b)[of.length >> 1] ?? 0
/** Without the tenth at either end: another process's turn, a full collection of garbage. */
function mean(of: readonly number[]): number {
  const cut = Math.floor(of.length / 10)
  const kept = of.toSorted((a, b) => a - b).slice(cut, of.length - cut)
  return kept.reduce((sum, one) => sum + one, 0) / kept.length
}

const found: (readonly [on: number, off: number])[] = []
for (let pair = -WARM_UP; pair < pairs; ) {
  const made = await create()
  for (let at = 0; at < made.length; at += 2 * HALF) {
    const one = await pairOf(made.slice(at, at + 2 * HALF), pair % 2 === 0)
    if (pair++ >= 0) found.push(one)
  }
}
await cluster.stop()
const off = median(found.map(([, off]) => off))
const on = median(found.map(([on]) => on))
const more = found.map(([on, off]) => on - off)
const part = (of: number) => `${of.toFixed(2)} (${((of / off) * 100).toFixed(1)}%)`
process.stdout.write(
  `${values.kind}, ${atOnce} at once, ${found.length} pairs of ${HALF} deletes, microseconds of the processor for each\n` +
    `without the journal ${off.toFixed(1)}, with it ${on.toFixed(1)}; differences within pairs: median ${part(median(more))}, mean ${part(mean(more))}\n`,
)
