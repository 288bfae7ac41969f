/**
 * npm run bench:plan: what it takes to look into a large cluster: `skiff why` of all and of one, reading for a plan, and plans. Each is
 * a process of its own, over TLS, as is the API server that is asked (source.ts).
 *
 *   --namespaces 1000 --pods 20000    how large
 *   --only why,read                   some of why, why-one, read, plan, plan-namespace
 *   --times 3                         each so often; the least is told
 *   --node-args="--cpu-prof"          profiles what asks
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { usageOf } from '../subject.ts'
import { namespaceOf } from './names.ts'
import { type Measured, measured } from './process.ts'

const { values } = parseArgs({
  options: {
    namespaces: { type: 'string', default: '1000' },
    pods: { type: 'string', default: '20000' },
    only: { type: 'string' },
    times: { type: 'string', default: '1' },
    'node-args': { type: 'string', default: '' },
  },
})
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const BIN = file('../../bin/skiff.js')

const [space, other] = [namespaceOf(0), namespaceOf(Number(values.namespaces) - 1)]
const questions: Readonly<Record<string, readonly string[]>> = {
  why: [BIN, 'why', '-o', 'json'],
  'why-one': [BIN, 'why', 'configmaps/held', '-n', space, '-o', 'json'],
  read: [file('read.ts')],
  plan: [BIN, 'plan', 'delete', 'deployment/web', '-n', other, '-o', 'json'],
  'plan-namespace': [BIN, 'plan', 'delete', 'namespace', other, '-o', 'json'],
}
const chosen = values.only?.split(',') ?? Object.keys(questions)
const unknown = chosen.find((name) => questions[name] === undefined)
if (unknown !== undefined) throw new Error(`--only takes ${Object.keys(questions).join(', ')}: ${unknown}`)
const nodeArgs = values['node-args'].split(' ').filter((one) => one !== '')

const { source, kubeconfig, objects } = await startSource()
try {
  process.stdout.write(`${objects} objects\n`)
  for (const name of chosen) {
    const runs: Measured[] = []
    const before = usageOf(source.pid as number).cpuSeconds
    for (let run = 0; run < Number(values.times); run++)
      runs.push(await measured([...(questions[name] ?? []), '--kubeconfig', kubeconfig], nodeArgs))
    const served = (usageOf(source.pid as number).cpuSeconds - before) / runs.length
    const least = (of: (run: Measured) => number) => Math.min(...runs.map(of))
    const took = `${least(({ seconds }) => seconds).toFixed(2)} s, ${least(({ cpuSeconds }) => cpuSeconds).toFixed(2)} s of the processor, ${served.toFixed(2)} s of the server's`
    const memory = `${Math.round(Math.max(...runs.map(({ peakMiB }) => peakMiB)))} MiB at most`
    process.stdout.write(`${name.padEnd(16)}${took}, ${memory}${detailOf(runs[0]?.out ?? '{}')}\n`)
  }
} finally {
  source.kill('SIGTERM')
}

/** Resolves when it answers. */
async function startSource() {
  const args = [file('source.ts'), '--namespaces', values.namespaces, '--pods', values.pods]
  const source: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise<string>((resolve, reject) => {
    let text = ''
    source.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) resolve(text)
    })
    source.on('exit', (code) => reject(new Error(`the cluster to look into ended with ${code}`)))
  })
  return { source, ...(JSON.parse(line) as { readonly kubeconfig: string; readonly objects: number }) }
}

/** What an answer says of itself. */
function detailOf(out: string): string {
  const { asked, goes, reading } = JSON.parse(out) as {
    readonly asked?: { readonly requests: number }
    readonly goes?: readonly unknown[]
    readonly reading?: { readonly seconds: number; readonly cpuSeconds: number }
  }
  if (reading !== undefined)
    return `; reading alone ${reading.seconds.toFixed(2)} s, ${reading.cpuSeconds.toFixed(2)} s of the processor`
  return `${asked === undefined ? '' : `, ${asked.requests} requests`}${goes === undefined ? '' : `, ${goes.length} objects go`}`
}
