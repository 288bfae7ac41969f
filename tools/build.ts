/**
 * npm run build: src/ as JavaScript with declarations in dist/, for the published package. tsc makes both and rewrites the
 * imports; data files (JSON, compressed documents) are copied as they are.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const config = join(root, 'tsconfig.build.json')

rmSync(dist, { recursive: true, force: true })
writeFileSync(
  config,
  JSON.stringify({
    extends: './tsconfig.json',
    compilerOptions: { noEmit: false, outDir: 'dist', rootDir: 'src', declaration: true, removeComments: false },
    include: ['src'],
    exclude: ['src/**/*.test.ts'],
  }),
)
const tsc = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
  stdio: 'inherit',
})
rmSync(config)
if (tsc.status !== 0) process.exit(tsc.status ?? 1)

// tsc rewrites the imports of the code, and leaves those of the declarations.
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.d.ts')) continue
  const text = readFileSync(join(dist, name), 'utf8')
  writeFileSync(join(dist, name), text.replace(/((?:from|import\()\s*'\.{1,2}\/[^']*)\.ts'/g, "$1.js'"))
}

let copied = 0
for (const name of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
  const from = join(root, 'src', name)
  if (/\.(ts|sketch)$/.test(name) || !statSync(from).isFile()) continue
  cpSync(from, join(dist, name))
  copied++
}

const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: { '.': Record<string, string> }
  bin: Record<string, string>
}
for (const file of [...Object.values(exports['.']), ...Object.values(bin)]) {
  if (!existsSync(join(root, file))) throw new Error(`package.json names ${file}, which is not there`)
}
process.stdout.write(`dist/ is built, with ${copied} data files\n`)
