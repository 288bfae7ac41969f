/**
 * src/ as few files of JavaScript: what hundreds of small modules cost at every start (finding, reading and linking them takes
 * longer than all that a cluster does until it is ready) is paid once. Packages stay outside of what is published.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Metafile, Plugin } from 'esbuild'
import { builtinsAsTheyAre } from './builtins.ts'
import { pageBundle } from './page.ts'
import { type Chunks, inOneFile } from './start-file.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

export interface Bundle {
  /** What each file is to contain, by its name. That of an entry is the entry's own, with .mjs. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** By the name of each entry, without an ending. */
  readonly programs: ReadonlyMap<string, Program>
}

/** What an entry may load, at once or later. */
export interface Program {
  /** What went into it: paths relative to the root. */
  readonly inputs: readonly string[]
  /** Names of files. */
  readonly outputs: readonly string[]
}

/** The command, and the executables that stand for others; that of etcd by itself, since it is so small. */
export const ENTRIES = ['src/cli/main.ts', 'src/envtest/executables.ts', 'src/envtest/etcd.ts']

/**
 * Read at run time from beside the code (apiserver/encryption/kms/service.ts, apiserver/openapi/descriptions.ts, kubelet/runtimes/cri/connection.ts,
 * storage/etcd/members.ts): folders, each with the
 * files of it that are.
 */
export const TEXTS = [
  'src/apiserver/encryption/kms/protos/*',
  'src/apiserver/openapi/descriptions/*.txt',
  'src/apiserver/tracing/protos/*',
  'src/kubelet/runtimes/cri/protos/*',
  'src/storage/etcd/protos/*',
]

/** What every start loads, and has many small files. */
const PACKAGES_OF_A_START = ['pino', 're2js', 'sorted-btree', 'yaml']

/** Packages that the sources name stay outside, but for those of `within`. */
const packagesOutside = (within: readonly string[]): Plugin => ({
  name: 'packages outside',
  setup(building) {
    building.onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
      importer.includes('/node_modules/') || within.includes(path) || isAbsolute(path) ? undefined : { external: true },
    )
  },
})

/**
 * Each of envtest's executables that serves a cluster is bundled by itself, so that what it loads at every start is one file, and commands
 * that need little of that do not load it.
 */
export const IN_ONE_FILE: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'src/envtest/executables.ts',
    [
      ...['src/envtest/kube-apiserver.ts', 'src/cluster/cluster.ts', 'src/apiserver/auth/chain.ts'],
      ...['authorization', 'authorization-flags'].map((name) => `src/apiserver/auth/config/${name}.ts`),
    ],
  ],
])

/**
 * @param within packages that are bundled too
 * @throws what esbuild cannot read or resolve, and when it is not installed
 */
export async function bundle(
  entries: readonly string[],
  target: string,
  within: readonly string[] = [],
): Promise<Bundle> {
  const page = await pageBundle()
  const besides: readonly Beside[] = [
    ...[...page.files].map(([name, contents]) => ({
      ...{ reader: 'src/ui', inputs: page.inputs, name: `page/${name}`, contents },
    })),
    ...globSync(TEXTS, { cwd: root })
      .sort()
      .map((path) => ({
        ...{ reader: dirname(dirname(path)), inputs: [path], name: `${basename(dirname(path))}/${basename(path)}` },
        contents: readFileSync(join(root, path)),
      })),
  ]
  const files = new Map<string, Uint8Array>()
  const programs = new Map<string, Program>()
  const together = entries.filter((entry) => !IN_ONE_FILE.has(entry))
  for (const group of [together, ...entries.filter((entry) => IN_ONE_FILE.has(entry)).map((entry) => [entry])]) {
    const [first = ''] = group
    const loaded = IN_ONE_FILE.get(first)
    const program = basename(first, '.ts')
    const chunks = await chunksOf(group, target, within, loaded === undefined ? '' : `${program}-`)
    const start = `${program}-start.mjs`
    const { files: made, merged } =
      loaded === undefined
        ? { files: chunks.files, merged: new Set<string>() }
        : await inOneFile(chunks, `${program}.mjs`, loaded, start, target)
    for (const [name, contents] of made) files.set(name, contents)
    for (const entry of group) {
      const { inputs, outputs } = programOf(chunks.outputs, entry, besides)
      const left = outputs.filter((name) => !merged.has(name) || made.has(name))
      programs.set(basename(entry, '.ts'), { inputs, outputs: merged.size > 0 ? [...left, start] : left })
    }
  }
  for (const { name, contents } of besides) files.set(name, contents)
  return { files, programs }
}

async function chunksOf(
  entries: readonly string[],
  target: string,
  within: readonly string[],
  prefix: string,
): Promise<Chunks> {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...entries],
    entryNames: '[name]',
    chunkNames: `${prefix}[name]-[hash]`,
    outdir: 'unwritten',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target,
    legalComments: 'none',
    plugins: [builtinsAsTheyAre, packagesOutside(within)],
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const files = outputFiles.map(
    ({ path, contents }) => [path.slice(join(root, 'unwritten/').length), contents] as const,
  )
  return { files: new Map(files), outputs: metafile.outputs }
}

/** A file that is read at run time from beside the code, by code of one folder. */
interface Beside {
  readonly reader: string
  readonly inputs: readonly string[]
  readonly name: string
  readonly contents: Uint8Array
}

function programOf(outputs: Metafile['outputs'], entry: string, besides: readonly Beside[]): Program {
  const found = new Set<string>()
  const follow = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    for (const { path: next, external } of outputs[path]?.imports ?? []) if (external !== true) follow(next)
  }
  follow(Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entry) as string)
  const inputs = [...found].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {})).filter(isFile)
  const folders = new Set(inputs.map((path) => dirname(path)))
  const read = besides.filter(({ reader }) => folders.has(reader))
  return {
    inputs: [...new Set([...inputs, ...read.flatMap((beside) => beside.inputs)])],
    outputs: [...[...found].map((path) => path.slice('unwritten/'.length)), ...read.map(({ name }) => name)],
  }
}

/** Of this project. Packages change by `npm ci`, which bundles again. */
const isFile = (path: string) => !path.startsWith('builtin:') && !path.includes('node_modules/')

const cache = join(root, 'node_modules/.cache/skiff')
/** Of a program. */
const manifest = (program: string) => join(cache, `${program}.json`)

/**
 * The command bundled for this checkout, where bin/skiff.js looks for it: for each program `NAME.json` names the folder, what it was made of
 * with times and sizes, and what it may load of it with sizes, so that a source that changed since, or a file that is gone, sends bin back
 * to the sources. The bundle that was there before stays: a command may be starting from it.
 *
 * @throws when a source was changed meanwhile
 */
export async function bundleCheckout(): Promise<void> {
  const before = new Map(globSync('src/**', { cwd: root }).map((path) => [path, stamp(path)]))
  const { files, programs } = await bundle(ENTRIES, `node${process.versions.node}`, PACKAGES_OF_A_START)
  const stamps = new Map([...programs.values()].flatMap(({ inputs }) => inputs).map((path) => [path, stamp(path)]))
  for (const [path, now] of stamps)
    if (String(before.get(path)) !== String(now)) throw new Error(`${path} was changed meanwhile`)

  const hash = createHash('sha256')
  for (const [name, contents] of files) hash.update(`${name}\n`).update(contents)
  const folder = join(cache, `bundle-${hash.digest('hex').slice(0, 16)}`)
  mkdirSync(cache, { recursive: true })
  if (!isWhole(folder, files)) replace(folder, files)
  const last = lastFolder()
  for (const [program, { inputs, outputs }] of programs) {
    const made = {
      ...{ root, folder, inputs: inputs.map((path) => [path, ...(stamps.get(path) as Stamp)]) },
      outputs: outputs.map((name) => [name, files.get(name)?.length]),
    }
    writeFileSync(`${manifest(program)}.${process.pid}`, JSON.stringify(made))
    renameSync(`${manifest(program)}.${process.pid}`, manifest(program))
  }
  const kept = [folder, last ?? folder].map((path) => basename(path))
  for (const entry of readdirSync(cache))
    if ((entry.startsWith('bundle-') && !kept.includes(entry)) || isAbandoned(entry))
      rmSync(join(cache, entry), { recursive: true, force: true })
}

/** What a process was making that is no more. */
function isAbandoned(entry: string): boolean {
  const pid = /^(?:making-|[a-z]+\.json\.)(\d+)$/.exec(entry)?.[1]
  if (pid === undefined) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

type Stamp = readonly [mtimeMs: number, size: number]

function stamp(path: string): Stamp {
  const { mtimeMs, size } = statSync(join(root, path))
  return [mtimeMs, size]
}

function isWhole(folder: string, files: Bundle['files']): boolean {
  return [...files].every(([name, contents]) => {
    const file = join(folder, name)
    return existsSync(file) && readFileSync(file).equals(contents)
  })
}

/** Under its name it is whole, or not there. */
function replace(folder: string, files: Bundle['files']): void {
  const making = join(cache, `making-${process.pid}`)
  rmSync(making, { recursive: true, force: true })
  writeInto(making, files)
  rmSync(folder, { recursive: true, force: true })
  renameSync(making, folder)
}

function lastFolder(): string | undefined {
  try {
    return (JSON.parse(readFileSync(manifest('main'), 'utf8')) as { folder: string }).folder
  } catch {
    return undefined
  }
}

export function writeInto(folder: string, files: Bundle['files']): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, contents] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), contents, { flush: true })
  }
}
