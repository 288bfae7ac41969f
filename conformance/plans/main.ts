/**
 * Plans judged by what a real cluster did.
 *
 *   node conformance/plans/main.ts record --kubeconfig FILE --out DIR [--seed 0] [--count 1000] [--batch 50] [--copies 3] [--audit-log FILE]
 *   node conformance/plans/main.ts judge DIR [--show 20] [--figures]
 *
 * What is recorded already is not recorded again. `--figures` writes conformance/plans/figures.json.
 */
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { type Figures, figuresFile } from './figures.ts'
import { type Judgement, judgeBatch } from './judge.ts'
import { recordBatch } from './record.ts'
import { readBatch, writeBatch } from './recording.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    out: { type: 'string' },
    seed: { type: 'string', default: '0' },
    count: { type: 'string', default: '1000' },
    batch: { type: 'string', default: '50' },
    copies: { type: 'string', default: '3' },
    'audit-log': { type: 'string' },
    show: { type: 'string', default: '20' },
    figures: { type: 'boolean', default: false },
  },
})

async function record(kubeconfig: string, directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true })
  const runtime = liveRuntime()
  const { transport } = kubeconfigTransport(runtime, kubeconfig)
  // The timers of a runtime keep no process alive.
  const alive = setInterval(() => {}, 60_000)
  const [first, count, size] = [Number(values.seed), Number(values.count), Number(values.batch)]
  try {
    for (let from = first; from < first + count; from += size) {
      const to = Math.min(from + size, first + count)
      const file = join(directory, `${from}-${to - 1}.json.gz`)
      if (existsSync(file)) continue
      const seeds = Array.from({ length: to - from }, (_, at) => from + at)
      const auditLog = values['audit-log']
      const batch = await recordBatch({
        runtime,
        transport,
        seeds,
        copies: Number(values.copies),
        ...(auditLog === undefined ? {} : { auditLog }),
        say: (text) => console.log(`${from} to ${to - 1}: ${text}`),
      })
      writeBatch(file, batch)
      console.log(`${from} to ${to - 1}: ${batch.records.length} changes recorded`)
    }
  } finally {
    clearInterval(alive)
    transport.close()
  }
}

async function judge(directory: string): Promise<void> {
  const all: Judgement[] = []
  let version = ''
  let at = ''
  const files = globSync(join(directory, '*.json.gz')).sort(
    (a, b) => Number.parseInt(basename(a), 10) - Number.parseInt(basename(b), 10),
  )
  for (const file of files) {
    const batch = readBatch(file)
    version = batch.version
    at = batch.at
    const judged = await judgeBatch(batch)
    all.push(...judged)
    const wrong = judged.filter(({ differences }) => differences.length > 0)
    console.log(`${basename(file)}: ${judged.length - wrong.length} of ${judged.length} graphs as planned`)
    for (const { seed, differences } of wrong.slice(0, Number(values.show)))
      console.log(`  ${seed}:\n${differences.map((one) => `    ${one}`).join('\n')}`)
  }
  const figures: Figures = {
    version,
    date: at.slice(0, 10),
    graphs: all.length,
    asPlanned: all.filter(({ differences }) => differences.length === 0).length,
    unsteady: all.filter(({ isSteady }) => !isSteady).length,
    withEither: all.filter(({ either }) => either > 0).length,
    pairs: all.reduce((sum, { pairs }) => sum + pairs, 0),
    pods: all.reduce((sum, { pods }) => sum + pods, 0),
    podsOutOfTime: all.reduce((sum, { podsOutOfTime }) => sum + podsOutOfTime, 0),
  }
  console.log(JSON.stringify(figures))
  if (values.figures) writeFileSync(figuresFile, `${JSON.stringify(figures, null, 2)}\n`)
}

const [command, directory] = positionals
if (command === 'record' && values.kubeconfig !== undefined && values.out !== undefined)
  await record(values.kubeconfig, values.out)
else if (command === 'judge' && directory !== undefined) await judge(directory)
else {
  console.error('record --kubeconfig FILE --out DIR, or judge DIR')
  process.exitCode = 2
}
