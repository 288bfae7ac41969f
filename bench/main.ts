/**
 * npm run bench: how fast skiff is, measured from outside over TLS, with the figure of a bare node:https server that
 * returns the same bytes to the same client beside each, taken in the same run (machines differ by the minute).
 *
 *   npm run bench                             starts its own skiff processes: the API server alone, then all components
 *   npm run bench -- --components all         only one of the two (apiserver, all)
 *   npm run bench -- --only create,get        some of the measurements, and those they need
 *   npm run bench -- --against KUBECONFIG     any other cluster, by the same client; --pids also reads those processes
 *   npm run bench -- --scale                  how cost grows with nodes and pods (scale/scale.ts)
 *   npm run bench -- --scale --etcd 3         the same over an etcd of so many members, started for it
 *   npm run bench -- --scale --etcd 3 --kubernetes DIR   and behind each size a Kubernetes over another one, of the folder's programs
 *   npm run bench -- --overload               what others notice of a crowd (overload/overload.ts)
 *   npm run bench -- --audit                  the skiff processes it starts write an audit event (level Metadata) per request
 *   npm run bench -- --node-args="--cpu-prof --cpu-prof-dir=DIR"   how to profile the skiff processes it starts
 *   npm run bench -- --json FILE              figures as JSON into a file (- for standard output)
 */
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { createBenchClient } from './client.ts'
import type { Bench, Figure, Measure } from './figure.ts'
import { pause } from './load.ts'
import { cascade } from './measures/cascade.ts'
import { customResources } from './measures/custom.ts'
import { definitions } from './measures/definitions.ts'
import { get, getRandom, list } from './measures/reads.ts'
import { watch, watchLatency } from './measures/watches.ts'
import { create, createDistinct, createSingle, PODS, patch } from './measures/writes.ts'
import { makeNamespace } from './pods.ts'
import { type Components, existing, type Subject, startBare, startSkiff, sumOf, usageOf } from './subject.ts'
import { shown, tableOf } from './table.ts'

const MEASURES: readonly Measure[] = [
  create,
  createSingle,
  createDistinct,
  patch,
  list,
  get,
  getRandom,
  watch,
  watchLatency,
  customResources,
]

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    only: { type: 'string' },
    components: { type: 'string' },
    pids: { type: 'string' },
    json: { type: 'string' },
    'node-args': { type: 'string' },
    audit: { type: 'boolean', default: false },
    scale: { type: 'boolean', default: false },
    sizes: { type: 'string', default: '10x1000,100x1000,1000x5000,1000x10000' },
    steps: { type: 'string' },
    etcd: { type: 'string' },
    kubernetes: { type: 'string' },
    overload: { type: 'boolean', default: false },
    connections: { type: 'string', default: '640' },
    seconds: { type: 'string', default: '20' },
  },
})
const chosen = values.only?.split(',')

/** @throws Error for what is no number of members */
function membersOf(text: string): number {
  if (!/^[1-9]$/.test(text)) throw new Error(`--etcd takes how many members there are, as 3: ${text}`)
  return Number(text)
}

function wanted(measures: readonly Measure[]): Measure[] {
  const known = measures.map(({ name }) => name)
  if (chosen === undefined) return [...measures]
  const names = new Set(chosen)
  for (const { name, needs = [] } of [...measures].reverse())
    if (names.has(name)) for (const need of needs) names.add(need)
  return measures.filter(({ name }) => names.has(name) && known.includes(name))
}

async function measure(subject: Subject, measures: readonly Measure[], figures: Figure[]): Promise<void> {
  const bareServer = await startBare()
  const client = createBenchClient(subject.endpoint)
  const bare = createBenchClient(bareServer.endpoint)
  const namespace = `bench-${process.pid.toString(36)}-${Math.trunc(performance.timeOrigin).toString(36)}`
  const report: Bench['report'] = (figure) => {
    figures.push({ ...figure, subject: subject.name })
    process.stderr.write(`${figure.name}: ${shown(figure)}\n`)
  }
  const memory = (name: string) => {
    const usage = subject.usage?.()
    const own = bareServer.usage?.().residentMiB
    if (usage !== undefined)
      report({ name, value: usage.residentMiB, unit: 'MiB', ...(own === undefined ? {} : { bare: own }) })
  }
  try {
    if (subject.startSeconds !== undefined && bareServer.startSeconds !== undefined)
      report({
        name: 'start on an empty directory, to ready',
        value: subject.startSeconds,
        unit: 's',
        bare: bareServer.startSeconds,
      })
    // What a start leaves behind for the collector is not what an idle server holds.
    await pause(2000)
    memory('resident memory, idle')
    await makeNamespace(client, namespace)
    for (const { name, run } of measures) {
      await run({ subject, client, bare, namespace, report })
      if (name === create.name) {
        await pause(2000)
        memory(`resident memory, after ${PODS} pods`)
      }
    }
    await client.request('DELETE', `/api/v1/namespaces/${namespace}`)
  } finally {
    client.close()
    bare.close()
    await bareServer.stop()
    await subject.stop()
  }
}

/** Memory and processor time of a server that this run did not start, all its processes together. */
function withPids(subject: Subject): Subject {
  const pids = values.pids?.split(',').map(Number)
  if (pids === undefined) return subject
  return {
    ...subject,
    usage: () => sumOf(pids.map(usageOf)),
  }
}

const figures: Figure[] = []
const nodeArgs = values['node-args']?.split(' ') ?? []
if (values.scale) {
  const { runScale, sizesOf, stepsOf } = await import('./scale/scale.ts')
  await runScale({
    sizes: sizesOf(values.sizes),
    steps: stepsOf(values.steps),
    nodeArgs,
    ...(values.against === undefined ? {} : { against: withPids(existing(values.against)) }),
    ...(values.etcd === undefined ? {} : { etcd: membersOf(values.etcd) }),
    ...(values.kubernetes === undefined ? {} : { kubernetes: values.kubernetes }),
    report: (figure) => figures.push(figure),
  })
} else if (values.overload) {
  const { runOverload } = await import('./overload/overload.ts')
  await runOverload({
    connections: Number(values.connections),
    seconds: Number(values.seconds),
    nodeArgs,
    report: (figure) => figures.push(figure),
  })
} else if (values.against !== undefined) {
  const all = [...MEASURES, cascade, definitions]
  const without = values.components === 'apiserver' ? [...MEASURES, definitions] : all
  await measure(withPids(existing(values.against)), wanted(chosen === undefined ? without : all), figures)
} else {
  const plans: readonly (readonly [Components, readonly Measure[]])[] = [
    ['apiserver', MEASURES],
    ['all', [...MEASURES, cascade]],
    // On a process of their own: their memory is not that of what was there before.
    ['apiserver', [definitions]],
    ['all', [definitions]],
  ]
  for (const [components, measures] of plans) {
    if (values.components !== undefined && values.components !== components) continue
    const some = wanted(measures)
    if (some.length > 0 || chosen?.includes('start'))
      await measure(await startSkiff(components, { nodeArgs, audit: values.audit }), some, figures)
  }
}
const result = {
  machine: { cpu: cpus()[0]?.model ?? '', cores: cpus().length, node: process.version },
  date: new Date().toISOString(),
  figures,
}
if (values.json === '-') console.log(JSON.stringify(result, undefined, 1))
else {
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, undefined, 1)}\n`)
  console.log(tableOf(figures))
}
