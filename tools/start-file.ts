/**
 * What a program loads at every start as one file: esbuild makes a chunk for each set of entries and late imports that share something, 150
 * of which a start of envtest's kube-apiserver had to find, read and link, a fifth of its time.
 */
import type { Metafile } from 'esbuild'

/** esbuild's outputs: contents by file name, in one folder, and what each imports and exports. */
export interface Chunks {
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly outputs: Metafile['outputs']
}

/**
 * `program` is the name of the file that is run; `loaded` are sources whose modules every start imports late. They and all that they import
 * at once become the file `start`; of the files that were merged those stay that others import, and only pass on what they exported.
 *
 * @throws what esbuild cannot bundle, and when no file was made of one of `loaded`
 */
export async function inOneFile(
  { files, outputs }: Chunks,
  program: string,
  loaded: readonly string[],
  start: string,
  target: string,
): Promise<{ readonly files: ReadonlyMap<string, Uint8Array>; readonly merged: ReadonlySet<string> }> {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [nameOf(path), output]))
  const merged = new Set<string>()
  const follow = (name: string) => {
    if (merged.has(name)) return
    merged.add(name)
    for (const { path, kind } of inner(byName.get(name)?.imports)) if (kind !== 'dynamic-import') follow(nameOf(path))
  }
  follow(program)
  for (const source of loaded) {
    const found = [...byName].find(([, { entryPoint }]) => entryPoint === source)
    if (found === undefined)
      throw new Error(`${source} is imported late by nothing: what a start loads is told otherwise`)
    follow(found[0])
  }
  const numbers = new Map([...merged].map((name, index) => [name, index]))
  const alias = (name: string, exported: string) => `of${numbers.get(name)}_${exported}`
  const passedOn = (name: string, one: (exported: string) => string, from: string) =>
    `export { ${(byName.get(name)?.exports ?? []).map(one).join(', ')} } from './${from}'\n`
  const text = [...merged]
    .map((name) => passedOn(name, (exported) => `${exported} as ${alias(name, exported)}`, name))
    .join('')

  const { build } = await import('esbuild')
  const made = await build({
    stdin: { contents: text, sourcefile: start },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target,
    legalComments: 'none',
    write: false,
    logLevel: 'warning',
    plugins: [
      {
        name: 'chunks',
        setup(building) {
          building.onResolve({ filter: /^/ }, ({ path, kind }) => {
            const name = nameOf(path)
            return kind !== 'dynamic-import' && path.startsWith('./') && merged.has(name)
              ? { path: name, namespace: 'chunk' }
              : { path, external: true }
          })
          building.onLoad({ filter: /^/, namespace: 'chunk' }, ({ path }) => ({
            contents: files.get(path) as Uint8Array,
          }))
        },
      },
    ],
  })
  const asked = new Set(
    [...byName].flatMap(([name, { imports }]) =>
      inner(imports)
        .filter(({ kind }) => kind === 'dynamic-import' || !merged.has(name))
        .map(({ path }) => nameOf(path)),
    ),
  )
  const kept = [...files].flatMap(([name, contents]): [string, Uint8Array][] => {
    if (!merged.has(name)) return [[name, contents]]
    if (name !== program && !asked.has(name)) return []
    return [[name, Buffer.from(passedOn(name, (exported) => `${alias(name, exported)} as ${exported}`, start))]]
  })
  return { files: new Map([...kept, [start, made.outputFiles[0]?.contents as Uint8Array]]), merged }
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
const inner = (imports: Metafile['outputs'][string]['imports'] = []) =>
  imports.filter(({ external }) => external !== true)
