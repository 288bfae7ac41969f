/** One package of a suite: built once, run over a folder of executables, with what each of its tests came to. */
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { folderOf, type PinnedModule } from '../software/modules.ts'
import { command } from '../software/programs.ts'
import type { Suite } from './suites.ts'

export interface Run {
  /** By the whole name of each test: `passed`, `failed`, `skipped`, … */
  readonly states: Readonly<Record<string, string>>
  readonly seconds: number
  /** What it said, for people. */
  readonly log: string
  /** The most that its control plane held at a time, in bytes. */
  readonly peakBytes: number
}

const PATIENCE_MS = 1_800_000
const BUILD_MS = 1_800_000
const SAMPLE_MS = 250
const kubectl = fileURLToPath(new URL('../../interop/bin/kubectl', import.meta.url))
/** In a program whose tests are Ginkgo's: such a one knows its flags, no other does. */
const GINKGO = 'github.com/onsi/ginkgo/v2'
/** Names of the processes whose memory counts. */
const PLANE = /kube-apiserver|etcd/

/** The module's files, which may be written to, in a folder below `folder`. @throws when they cannot be had */
export async function unpacked(
  { module, inside = {}, copied = {}, edits = [], kustomized = {} }: Suite,
  folder: string,
): Promise<string> {
  const root = join(folder, `${module.path.replaceAll('/', '-')}-${module.version}`)
  cpSync(await folderOf(module), root, { recursive: true })
  makeWritable(root)
  for (const [path, other] of Object.entries(inside)) {
    cpSync(await folderOf(other), join(root, path), { recursive: true })
    makeWritable(join(root, path))
  }
  if (edits.length > 0) await command('go', ['-C', root, 'mod', 'edit', ...edits])
  for (const [path, [required, from]] of Object.entries(copied))
    cpSync(join(await folderOfNamed(root, required), from), join(root, path), { recursive: true })
  for (const [path, from] of Object.entries(kustomized)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), await command(kubectl, ['kustomize', join(root, from)]))
  }
  return root
}

const folderOfNamed = (root: string, module: string | PinnedModule) =>
  typeof module === 'string' ? folderOfRequired(root, module) : folderOf(module)

async function folderOfRequired(root: string, module: string): Promise<string> {
  const args = ['-C', root, 'mod', 'download', '-json', module]
  const said = await command('go', args, { env: { GOFLAGS: '-mod=mod', GOWORK: 'off' } })
  return (JSON.parse(said) as { readonly Dir: string }).Dir
}

/** The variables that the suite's tests look for. */
export async function environmentOf({ environment = {} }: Suite, root: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const [name, [required, folder]] of Object.entries(environment))
    found[name] = join(await folderOfRequired(root, required), folder)
  return found
}

function makeWritable(path: string): void {
  chmodSync(path, 0o755)
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true }))
    if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755)
  // Go may write what it resolves.
  for (const name of ['go.mod', 'go.sum']) if (existsSync(join(path, name))) chmodSync(join(path, name), 0o644)
}

/** The package's tests as a program; the module's own versions of everything. */
export async function built({ tags = [] }: Suite, root: string, name: string): Promise<string> {
  const program = join(root, `${name.replaceAll('/', '.')}.test`)
  await command('go', ['-C', root, 'test', '-c', '-vet=off', `-tags=${tags.join()}`, '-o', program, `./${name}`], {
    env: { GOFLAGS: '-mod=mod', GOWORK: 'off' },
    patienceMs: BUILD_MS,
  })
  return program
}

export async function run(
  program: string,
  directory: string,
  assets: string,
  kept: string,
  environment: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<Run> {
  mkdirSync(kept, { recursive: true })
  const report = join(kept, 'report.json')
  rmSync(report, { force: true })
  const began = performance.now()
  const reporting = readFileSync(program).includes(GINKGO) ? [`-ginkgo.json-report=${report}`] : []
  const child = spawn(program, [...reporting, '-test.v', '-test.timeout=30m', ...flags], {
    cwd: directory,
    env: {
      ...process.env,
      ...environment,
      KUBEBUILDER_ASSETS: assets,
      KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: '120s',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  const states: Record<string, string> = {}
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream.setEncoding('utf8').on('data', (text) => {
      log = `${log}${text}`.slice(-200_000)
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) noteOutcome(line, states)
    })
  }
  const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  let peakBytes = 0
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, planeBelow(child.pid ?? 0))
  }, SAMPLE_MS)
  await new Promise((resolve) => child.on('close', resolve))
  clearInterval(sampling)
  clearTimeout(patience)
  const seconds = (performance.now() - began) / 1000
  return { states: { ...statesOf(report), ...states }, seconds, log, peakBytes }
}

interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
  readonly LeafNodeType: string
  readonly State: string
}

/** What a line says of one of Go's own tests, subtests included. */
function noteOutcome(line: string, states: Record<string, string>): void {
  const [, how, name] = /^\s*--- (PASS|FAIL|SKIP): (\S+)/.exec(line) ?? []
  if (name !== undefined) states[name] = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' }[how as 'PASS'] ?? ''
}

/** Of Ginkgo's report, where there is one. */
function statesOf(report: string): Run['states'] {
  const states: Record<string, string> = {}
  if (existsSync(report)) {
    const reports = JSON.parse(readFileSync(report, 'utf8')) as readonly { SpecReports: readonly SpecReport[] | null }[]
    for (const spec of reports.flatMap(({ SpecReports }) => SpecReports ?? [])) {
      const { ContainerHierarchyTexts: above, LeafNodeText: own, LeafNodeType: type, State: state } = spec
      if (type === 'It') states[[...(above ?? []), own].join(' ')] = state
      // What is to be done around tests is told of when it fails.
      else if (state !== 'passed') states[`${type} ${own}`] = state
    }
  }
  return states
}

/** What the control plane below a process holds, in bytes. */
function planeBelow(pid: number, isOfPlane = false): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8')
    const isPlane = isOfPlane || PLANE.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    const own = isPlane ? Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024 : 0
    const threads = readdirSync(`/proc/${pid}/task`)
    const below = threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
    )
    return below.reduce((sum, child) => sum + planeBelow(Number(child), isPlane), own)
  } catch {
    return 0
  }
}
