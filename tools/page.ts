/**
 * The page of `skiff ui` as files that a browser takes: its sources (src/ui/page) and the packages that they use in one script, which
 * asks for nothing else.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildFailure, Message } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const PAGE = 'src/ui/page'
/** A checkout that was brought up to date without its packages. */
const PACKAGES_MISSING = "the page's packages are missing: npm ci"
/** What esbuild says of an import that is no path. */
const UNRESOLVED_PACKAGE = /^Could not resolve "[^./]/
/** Taken as they stand. */
const AS_THEY_ARE = ['page.html', 'page.css', 'page.svg']

export interface PageBundle {
  /** Contents by file name. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Sources of this project that went into it: paths relative to the root. */
  readonly inputs: readonly string[]
  /** The packages in it: their folders below node_modules. */
  readonly packages: readonly string[]
}

/** @throws Error of one line: the first thing that esbuild cannot read or resolve, or that packages are not installed */
export async function pageBundle(): Promise<PageBundle> {
  const { outputFiles, metafile, warnings } = await built()
  for (const warning of warnings) process.stderr.write(`warning: ${lineOf(warning)}\n`)
  const [script] = outputFiles
  if (script === undefined) throw new Error('the page has no script')
  const all = Object.keys(metafile.inputs)
  const packages = [
    ...new Set(all.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])),
  ].sort()
  return {
    files: new Map([
      ['page.js', script.contents],
      ...AS_THEY_ARE.map((name) => [name, readFileSync(join(root, PAGE, name))] as const),
      ['page-licences.md', Buffer.from(licencesOf(packages))],
    ]),
    inputs: [...all.filter((path) => !path.includes('node_modules/')), ...AS_THEY_ARE.map((name) => `${PAGE}/${name}`)],
    packages,
  }
}

async function built() {
  const { build } = await import('esbuild').catch((cause) => {
    throw new Error(PACKAGES_MISSING, { cause })
  })
  try {
    return await build({
      absWorkingDir: root,
      entryPoints: [`${PAGE}/main.tsx`],
      outdir: 'unwritten',
      entryNames: 'page',
      bundle: true,
      minify: true,
      format: 'iife',
      platform: 'browser',
      target: ['chrome115', 'firefox115', 'safari16.4'],
      jsx: 'automatic',
      jsxImportSource: 'preact',
      tsconfigRaw: {},
      legalComments: 'none',
      metafile: true,
      write: false,
      // What is wrong is told by what is thrown, once and in one line.
      logLevel: 'silent',
    })
  } catch (cause) {
    const errors = (cause as Partial<BuildFailure>).errors ?? []
    if (errors.some(({ text }) => UNRESOLVED_PACKAGE.test(text))) throw new Error(PACKAGES_MISSING, { cause })
    const [first] = errors
    if (first === undefined) throw cause
    throw new Error(`${lineOf(first)}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}`, { cause })
  }
}

const lineOf = ({ location, text }: Message) =>
  location === null ? text : `${location.file}:${location.line}: ${text}`

/** What the authors of the packages ask to stand beside their code. */
function licencesOf(packages: readonly string[]): string {
  const parts = packages.map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
    const texts = globSync('{LICENSE,LICENCE,license,licence}*', { cwd: join(root, path) }).sort()
    return [`${name} ${version}`, ...texts.map((file) => readFileSync(join(root, path, file), 'utf8').trim())].join(
      '\n\n',
    )
  })
  return `${['What page.js contains beside skiff:', ...parts].join('\n\n')}\n`
}
