/**
 * npm run conformance:kubernetes: Kubernetes' own conformance tests (e2e.test), built here with the images they ask for, run against a
 * cluster of real containers of this checkout, on a machine of its own (test/containers/stage.ts). Each result is kept as soon as its
 * batch has ended; what has passed at this commit is not run again. Exit code 1 when a
 * test failed that failing.json does not name, or passed that it names.
 *
 *   npm run conformance:kubernetes -- --focus 'sig-node.*Probing'   tests whose name this regular expression finds (default: all)
 *   npm run conformance:kubernetes -- --quick                       those of quick.txt, by a program that is built in a third of the time
 *   npm run conformance:kubernetes -- --skip Serial                 without those whose name this finds
 *   npm run conformance:kubernetes -- --kubeconfig FILE --name N    against another cluster, whose nodes have the images; results under that name
 *   npm run conformance:kubernetes -- --jobs 2                      how many test processes at once (default 2; tests marked Serial run alone)
 *   npm run conformance:kubernetes -- --again                       also what has passed; --failed: only what has failed
 *   npm run conformance:kubernetes -- --list | --report | --build   name the tests; tell what is known; only build
 *   npm run conformance:kubernetes -- --figures [--with FILE]       write figures.json and docs/conformance.md from what is known, and from
 *                                                                   results of other commits for what this one has not run
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { writeReport } from '../../conformance/report.ts'
import { startContainerMachine, WHATEVER_THE_DISK } from '../../test/containers/stage.ts'
import { kubectlPath, withoutKubectl } from '../../test/kubectl.ts'
import { lacks } from '../../test/machine.ts'
import { type Figures, figuresFile, figuresOf } from './figures.ts'
import { type BuiltImages, buildImages, missingPrograms } from './images.ts'
import { type Results, readResults, resultsOf, summary, type TestResult } from './results.ts'
import { type Batch, conformanceTests, imageNames, isSerial, runBatch } from './suite.ts'

/** Of tests in one process: its start costs some seconds, and what it has not told of is lost when it is killed. */
const BATCH = 8
/** On the loopback of the machine, which is its own. */
/** An address of the machine that its nodes reach from their namespaces too (one of those for documentation, RFC 5737). */
const REGISTRY_HOST = '192.0.2.1'
const REGISTRY_PORT = 5000
/** What decides whether something has to be built again, beside Go's own cache. */
const INPUTS = ['build', 'quick-leaves-out.txt', 'go.mod', 'go.sum', 'web/main.go']

/** Tests that fail on skiff, each with the cause. */
const failing: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('failing.json', import.meta.url), 'utf8'),
)
const here = fileURLToPath(new URL('.', import.meta.url))
const options = readOptions()
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'skiff')
/** The tests of quick.txt are run by a program without those that take long to compile. */
const directory = join(cache, options.quick ? 'conformance-quick' : 'conformance')
const program = join(directory, 'e2e.test')

async function main(): Promise<void> {
  const missing = missingPrograms() || withoutKubectl || (options.kubeconfig === undefined && lacks.containers())
  if (missing) fail(missing)
  build()
  if (options.build) return
  const images = buildImages(directory, imageNames(program))
  const chosen = choose(conformanceTests(program))
  if (options.list) return console.log(chosen.join('\n'))
  const results = resultsOf(options.kubeconfig === undefined ? undefined : (options.name ?? 'other'))
  if (!options.report && !options.figures) await run(chosen, results, images)
  const others = new Map(options.with.flatMap(readResults).map((result) => [result.name, result]))
  const known = chosen.flatMap((name) => results.get(name) ?? others.get(name) ?? [])
  if (options.figures) writeFigures(figuresOf(chosen, known, failing))
  console.log(`\n${results.file}: ${known.length} of ${chosen.length} have been run\n${summary(known)}`)
  const unexpected = known.filter(({ name, state }) => (state === 'failed') !== name in failing)
  for (const { name, state } of unexpected)
    console.log(
      state === 'failed' ? `failing.json has no cause of: ${name}` : `failing.json names what is ${state}: ${name}`,
    )
  if (known.length < chosen.length || (options.kubeconfig === undefined && unexpected.length > 0)) process.exit(1)
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      focus: { type: 'string' },
      skip: { type: 'string' },
      quick: { type: 'boolean', default: false },
      kubeconfig: { type: 'string' },
      name: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      again: { type: 'boolean', default: false },
      failed: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
      figures: { type: 'boolean', default: false },
      with: { type: 'string', multiple: true, default: [] },
      build: { type: 'boolean', default: false },
    },
  })
  const jobs = Number(values.jobs)
  if (!Number.isInteger(jobs) || jobs < 1) fail(`--jobs is ${values.jobs}: it is a number of processes, 1 or more`)
  if (values.kubeconfig !== undefined && !existsSync(values.kubeconfig)) fail(`there is no file ${values.kubeconfig}`)
  if (values.name !== undefined && !/^[a-z0-9-]+$/.test(values.name)) fail(`--name is made of a-z, 0-9 and -`)
  return { ...values, jobs, focus: pattern('focus', values.focus), skip: pattern('skip', values.skip) }
}

function pattern(option: string, text: string | undefined): RegExp | undefined {
  try {
    return text === undefined ? undefined : new RegExp(text)
  } catch {
    fail(`--${option} is no regular expression: ${JSON.stringify(text)}`)
  }
}

function fail(line: string): never {
  console.error(`conformance: ${line}`)
  process.exit(2)
}

function build(): void {
  const hash = createHash('sha256')
  for (const name of INPUTS) hash.update(readFileSync(join(here, name)))
  const stamp = hash.digest('hex')
  const file = join(directory, 'build.stamp')
  if (existsSync(file) && readFileSync(file, 'utf8') === stamp) return
  execFileSync('nice', [join(here, 'build'), directory, ...(options.quick ? ['--quick'] : [])], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  writeFileSync(file, stamp)
}

function choose(all: readonly string[]): readonly string[] {
  const { focus, skip, quick } = options
  const named = quick ? quickTests(all) : all
  const chosen = named.filter((name) => focus?.test(name) !== false && skip?.test(name) !== true)
  if (chosen.length === 0) fail('no conformance test has a name like that: --list names them')
  return chosen
}

/** @throws when one of quick.txt is not in the suite: then it would silently not be run */
function quickTests(all: readonly string[]): readonly string[] {
  const names = readFileSync(join(here, 'quick.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  const unknown = names.find((name) => !all.includes(name))
  if (unknown !== undefined) fail(`quick.txt names a test that the suite lacks: ${unknown}`)
  return names
}

/** Keeps them, and writes the page that shows them. */
function writeFigures(figures: Figures): void {
  writeFileSync(figuresFile, `${JSON.stringify(figures, undefined, 1)}\n`)
  const root = new URL('../../', import.meta.url)
  const agreement = JSON.parse(readFileSync(new URL('conformance/agreement.json', root), 'utf8'))
  writeFileSync(new URL('docs/conformance.md', root), writeReport(agreement))
}

async function run(chosen: readonly string[], results: Results, images: BuiltImages): Promise<void> {
  const due = chosen.filter((name) => {
    const state = results.get(name)?.state
    return options.failed ? state === 'failed' : options.again || state !== 'passed'
  })
  console.log(`${due.length} of ${chosen.length} tests to run`)
  if (due.length === 0) return
  const cluster = options.kubeconfig === undefined ? await ownCluster(images) : otherCluster(options.kubeconfig)
  const logs = `${results.file.slice(0, -'.json'.length)}.logs`
  mkdirSync(logs, { recursive: true })
  const first = `${process.pid}-`
  let count = 0
  const next = async (names: readonly string[]) => {
    const ended = await runBatch({
      ...cluster,
      names,
      kubectl: kubectlPath,
      directory: resolve(logs),
      id: first + ++count,
    })
    results.keep(ended)
    for (const one of ended) console.log(line(one))
  }
  const interrupted = () => void cluster.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const serial = due.filter(isSerial)
    await inParallel(inBatches(due.filter((name) => !isSerial(name))), options.jobs, next)
    await inParallel(inBatches(serial), 1, next)
  } finally {
    await cluster.stop()
  }
}

const line = ({ state, seconds, name }: TestResult) => `${state.padEnd(8)}${String(seconds).padStart(7)} s  ${name}`

type Cluster = Pick<Batch, 'kubeconfig' | 'start'> & { stop(): Promise<void> }

async function ownCluster(images: BuiltImages): Promise<Cluster> {
  const machine = await startContainerMachine({ registry: `http://${REGISTRY_HOST}:${REGISTRY_PORT}` })
  /** However long it takes. */
  const skiff = async (...args: readonly string[]) => {
    const child = machine.start(
      process.execPath,
      join(here, '../../bin/skiff.js'),
      ...args,
      '--data-dir',
      machine.dataDir,
    )
    child.stdout?.resume()
    const said = child.stderr === null ? '' : await text(child.stderr)
    const code = child.exitCode ?? (await once(child, 'exit'))[0]
    if (code !== 0) throw new Error(`skiff ${args[0]} ended with ${code}: ${said}`)
  }
  const stop = async () => {
    machine.skiff('down')
    await machine.stop()
  }
  try {
    await skiff('up', '--runtime', 'cri', '--nodes', '2', '--port', '0', '--detach', ...WHATEVER_THE_DISK)
    await skiff('image', 'load', images.archive)
    const { status, stderr } = machine.run('ip', 'address', 'add', `${REGISTRY_HOST}/32`, 'dev', 'lo')
    if (status !== 0) throw new Error(`the machine gets no address for the registry: ${stderr}`)
    machine.start(process.execPath, join(here, 'registry.ts'), images.directory, REGISTRY_HOST, String(REGISTRY_PORT))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    kubeconfig: join(machine.dataDir, 'kubeconfig'),
    start: (args) => machine.start(program, ...args),
    stop,
  }
}

const otherCluster = (kubeconfig: string): Cluster => ({
  kubeconfig,
  start: (args) => spawn(program, args),
  stop: async () => {},
})

function inBatches(names: readonly string[]): readonly (readonly string[])[] {
  // Neighbours are of one kind, and take about as long: dealt out, so that batches are alike.
  const count = Math.ceil(names.length / BATCH)
  return Array.from({ length: count }, (_, at) => names.filter((_, index) => index % count === at))
}

async function inParallel<T>(items: readonly T[], jobs: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: jobs }, worker))
}

await main()
