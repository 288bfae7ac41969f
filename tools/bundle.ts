/**
 * src/ as few files of JavaScript: what hundreds of small modules cost at every start (finding, reading and linking them takes
 * longer than all that a cluster does until it is ready) is paid once. Packages stay outside.
 */
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtinsAsTheyAre } from './builtins.ts'
import { pageBundle } from './page.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

export interface Bundle {
  /** What each file is to contain, by its name. That of an entry is the entry's own, with .mjs. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** What went into it: paths relative to the root. */
  readonly inputs: readonly string[]
}

/** The command, and the executables that stand for others. */
export const ENTRIES = ['src/cli/main.ts', 'src/envtest/executables.ts']

/**
 * Read at run time from beside the code (apiserver/openapi/descriptions.ts, kubelet/runtimes/cri/connection.ts,
 * storage/etcd/members.ts): folders, each with the
 * files of it that are.
 */
export const TEXTS = [
  'src/apiserver/openapi/descriptions/*.txt',
  'src/kubelet/runtimes/cri/protos/*',
  'src/storage/etcd/protos/*',
]

/** @throws what esbuild cannot read or resolve, and when it is not installed */
export async function bundle(entries: readonly string[], target: string): Promise<Bundle> {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...entries],
    entryNames: '[name]',
    outdir: 'unwritten',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    target,
    legalComments: 'none',
    plugins: [builtinsAsTheyAre],
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const files = outputFiles.map(
    ({ path, contents }) => [path.slice(join(root, 'unwritten/').length), contents] as const,
  )
  const texts = globSync(TEXTS, { cwd: root }).sort()
  const page = await pageBundle()
  return {
    files: new Map([
      ...files,
      ...[...page.files].map(([name, contents]) => [`page/${name}`, contents] as const),
      ...texts.map((path) => [`${basename(dirname(path))}/${basename(path)}`, readFileSync(join(root, path))] as const),
    ]),
    inputs: [...new Set([...filesOf(metafile), ...texts, ...page.inputs])],
  }
}

const cache = join(root, 'node_modules/.cache/skiff')
const manifest = join(cache, 'bundle.json')

/**
 * The command bundled for this checkout, where bin/skiff.js looks for it: `bundle.json` names the folder, what it was made of
 * with times and sizes, and what is in it with sizes, so that a source that changed since, or a file that is gone, sends bin back
 * to the sources. The bundle that was there before stays: a command may be starting from it.
 *
 * @throws when a source was changed meanwhile
 */
export async function bundleCheckout(): Promise<void> {
  const before = new Map(globSync('src/**', { cwd: root }).map((path) => [path, stamp(path)]))
  const { files, inputs } = await bundle(ENTRIES, `node${process.versions.node}`)
  const stamped = inputs.map((path) => [path, ...stamp(path)])
  for (const [path, ...now] of stamped)
    if (String(before.get(path as string)) !== String(now)) throw new Error(`${path} was changed meanwhile`)

  const hash = createHash('sha256')
  for (const [name, contents] of files) hash.update(`${name}\n`).update(contents)
  const folder = join(cache, `bundle-${hash.digest('hex').slice(0, 16)}`)
  mkdirSync(cache, { recursive: true })
  if (!isWhole(folder, files)) replace(folder, files)
  const last = lastFolder()
  const outputs = [...files].map(([name, { length }]) => [name, length])
  writeFileSync(`${manifest}.${process.pid}`, JSON.stringify({ root, folder, inputs: stamped, outputs }))
  renameSync(`${manifest}.${process.pid}`, manifest)
  const kept = [folder, last ?? folder].map((path) => basename(path))
  for (const entry of readdirSync(cache))
    if ((entry.startsWith('bundle-') && !kept.includes(entry)) || isAbandoned(entry))
      rmSync(join(cache, entry), { recursive: true, force: true })
}

/** What a process was making that is no more. */
function isAbandoned(entry: string): boolean {
  const pid = /^(?:making-|bundle\.json\.)(\d+)$/.exec(entry)?.[1]
  if (pid === undefined) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

const filesOf = ({ inputs }: { readonly inputs: object }) =>
  Object.keys(inputs).filter((path) => !path.startsWith('builtin:'))

function stamp(path: string): readonly [mtimeMs: number, size: number] {
  const { mtimeMs, size } = statSync(join(root, path))
  return [mtimeMs, size]
}

function isWhole(folder: string, files: Bundle['files']): boolean {
  return [...files].every(([name, { length }]) => {
    return statSync(join(folder, name), { throwIfNoEntry: false })?.size === length
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
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { folder: string }).folder
  } catch {
    return undefined
  }
}

export function writeInto(folder: string, files: Bundle['files']): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, contents] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), contents)
  }
}
