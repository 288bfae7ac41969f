/**
 * src/ as few files of JavaScript: what hundreds of small modules cost at every start (finding, reading and linking them takes
 * longer than all that a cluster does until it is ready) is paid once. Packages stay outside.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

export interface Bundle {
  /** Text by file name; `entries` are among them, as their base names with .mjs. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** What went into it: paths relative to the root. */
  readonly inputs: readonly string[]
}

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
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const files = outputFiles.map(
    ({ path, contents }) => [path.slice(join(root, 'unwritten/').length), contents] as const,
  )
  return { files: new Map(files), inputs: Object.keys(metafile.inputs) }
}

const cache = join(root, 'node_modules/.cache/skiff')
/** Of `bundles` made before: a server that runs may still load from the last. */
const KEPT = 1

/**
 * The command bundled for this checkout, where bin/skiff.js looks for it: `bundle.json` names the folder, and what it was made
 * of with times and sizes, so that one source that changed since sends bin back to the sources. Written whole or not at all.
 */
export async function bundleCheckout(): Promise<void> {
  const begun = Date.now()
  const { files, inputs } = await bundle(['src/cli/main.ts'], `node${process.versions.node}`)
  const hash = createHash('sha256')
  for (const [name, contents] of files) hash.update(`${name}\n`).update(contents)
  const name = `bundle-${hash.digest('hex').slice(0, 16)}`
  const folder = join(cache, name)
  mkdirSync(cache, { recursive: true })
  if (!existsSync(folder)) writeWhole(folder, files)
  const stats = inputs.map((path) => {
    const { mtimeMs, size } = statSync(join(root, path))
    if (mtimeMs >= begun) throw new Error(`${path} was changed meanwhile`)
    return [path, mtimeMs, size]
  })
  const manifest = join(cache, 'bundle.json')
  writeFileSync(`${manifest}.${process.pid}`, JSON.stringify({ root, folder, inputs: stats }))
  renameSync(`${manifest}.${process.pid}`, manifest)
  const older = readdirSync(cache).filter((entry) => entry.startsWith('bundle-') && entry !== name)
  const age = (entry: string) => statSync(join(cache, entry)).mtimeMs
  for (const entry of older.sort((a, b) => age(b) - age(a)).slice(KEPT))
    rmSync(join(cache, entry), { recursive: true, force: true })
}

function writeWhole(folder: string, files: Bundle['files']): void {
  const making = `${folder}.${process.pid}`
  writeInto(making, files)
  try {
    renameSync(making, folder)
  } catch (error) {
    // Another was quicker: of the same name is of the same contents.
    rmSync(making, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}

export function writeInto(folder: string, files: Bundle['files']): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, contents] of files) writeFileSync(join(folder, name), contents)
}
