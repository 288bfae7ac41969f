/**
 * skiff in one folder without folders in it, packages included: what installs envtest's executables (setup-envtest) puts every
 * file of an archive beside the others, whatever folder it was in.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { builtinsAsTheyAre } from '../builtins.ts'
import { ENTRIES, IN_ONE_FILE, TEXTS } from '../bundle.ts'
import { pageBundle } from '../page.ts'
import { type Chunks, inOneFile } from '../start-file.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The addon of the store's database, beside the code. */
export const ADDON = 'lmdb.node'

/** What stands in a folder beside a module stands beside the code; the store's package is a file there, for a process of its own. */
const inOneFolderText = (source: string) =>
  source
    .replaceAll(/new URL\('\.\/[^'/]+\/([^'/]*)', import\.meta\.url\)/g, "new URL('./$1', import.meta.url)")
    .replaceAll("import.meta.resolve('lmdb')", "import.meta.resolve('./lmdb.mjs')")

/** lmdb reads a dictionary of its own beside its code, also where it is given another. */
const OWN_DICTIONARY =
  /fs\.readFileSync\(\s*new URL\(\s*'\.\/dict\/dict\.txt',\s*import\.meta\.url\.replace\([^)]*\),\s*\),\s*\),/

function withoutOwnDictionary(source: string): string {
  if (!OWN_DICTIONARY.test(source)) throw new Error("lmdb's open.js reads its dictionary in another way now")
  return source.replace(OWN_DICTIONARY, 'Buffer.alloc(0),')
}

const inOneFolder: Plugin = {
  name: 'in one folder',
  setup(building) {
    building.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      contents: inOneFolderText(readFileSync(path, 'utf8')),
      loader: 'ts',
    }))
    building.onLoad({ filter: /\/node_modules\/lmdb\/open\.js$/ }, ({ path }) => ({
      contents: withoutOwnDictionary(readFileSync(path, 'utf8')),
      loader: 'js',
    }))
    building.onResolve({ filter: /^node-gyp-build-optional-packages$/ }, () => ({ path: 'addon', namespace: 'addon' }))
    building.onLoad({ filter: /.*/, namespace: 'addon' }, () => ({
      contents: `import { createRequire } from 'node:module'
        export default () => createRequire(import.meta.url)('./${ADDON}')`,
    }))
  },
}

/** Faster twins in C of what packages do themselves: without an addon for each platform they are done without. */
const WITHOUT = ['bufferutil', 'utf-8-validate', 'msgpackr-extract']

export interface FlatBundle {
  /** Contents by file name. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** The packages in it: their folders below node_modules. */
  readonly packages: readonly string[]
}

/** @throws when a source or a package cannot be read, and when two files would have one name */
export async function flatBundle(nodeMajor: number): Promise<FlatBundle> {
  const target = `node${nodeMajor}`
  const together = ENTRIES.filter((entry) => !IN_ONE_FILE.has(entry))
  const made = [await chunksOf([...together.map(named), LMDB], target, '')]
  // As in a checkout, what each start of envtest's kube-apiserver loads is one file.
  for (const [entry, loaded] of IN_ONE_FILE) {
    const program = basename(entry, '.ts')
    const chunks = await chunksOf([named(entry)], target, `${program}-`)
    const { files } = await inOneFile(chunks, `${program}.mjs`, loaded, `${program}-start.mjs`, target)
    made.push({ ...chunks, files })
  }
  const files = new Map<string, Uint8Array>()
  const add = (name: string, contents: Uint8Array) => {
    if (files.has(name)) throw new Error(`two files of the release would be called ${name}`)
    files.set(name, contents)
  }
  for (const chunks of made) for (const [name, contents] of chunks.files) add(name, contents)
  for (const path of globSync(TEXTS, { cwd: root }).sort())
    if (basename(path) !== 'LICENSE') add(basename(path), readFileSync(join(root, path)))
  for (const path of globSync('bin/launch/*.help', { cwd: root }).sort())
    add(basename(path), readFileSync(join(root, path)))
  const page = await pageBundle()
  for (const [name, contents] of page.files) add(name, contents)
  const packages = made
    .flatMap(({ inputs }) => inputs)
    .flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])
  return { files, packages: [...new Set([...packages, ...page.packages])].sort() }
}

interface FlatChunks extends Chunks {
  /** Paths relative to the root. */
  readonly inputs: readonly string[]
}

const named = (entry: string) => ({ in: entry, out: basename(entry, '.ts') })
const LMDB = { in: 'node_modules/lmdb/node-index.js', out: 'lmdb' }

async function chunksOf(
  entryPoints: readonly { readonly in: string; readonly out: string }[],
  target: string,
  prefix: string,
): Promise<FlatChunks> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...entryPoints],
    chunkNames: `${prefix}chunk-[hash]`,
    outdir: 'unwritten',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target,
    external: WITHOUT,
    // Packages in CommonJS ask for Node's own modules while they run.
    banner: {
      js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
    },
    legalComments: 'none',
    plugins: [inOneFolder, builtinsAsTheyAre],
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents] as const))
  return { files, outputs: metafile.outputs, inputs: Object.keys(metafile.inputs) }
}
