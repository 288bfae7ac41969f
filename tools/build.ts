/**
 * npm run build: what is published, in dist/. The code is bundled (tools/bundle.ts) with the command and the embedding API as
 * its entries; tsc writes the declarations.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle, ENTRIES, writeInto } from './bundle.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const config = join(root, 'tsconfig.build.json')

rmSync(dist, { recursive: true, force: true })
writeFileSync(
  config,
  JSON.stringify({
    extends: './tsconfig.json',
    compilerOptions: { noEmit: false, emitDeclarationOnly: true, outDir: 'dist', rootDir: 'src' },
    include: ['src'],
    exclude: ['src/**/*.test.ts', 'src/ui/page'],
  }),
)
const tsc = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
  stdio: 'inherit',
})
rmSync(config)
if (tsc.status !== 0) process.exit(tsc.status ?? 1)

// tsc leaves the imports of the declarations.
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.d.ts')) continue
  const text = readFileSync(join(dist, name), 'utf8')
  writeFileSync(join(dist, name), text.replace(/((?:from|import\()\s*'\.{1,2}\/[^']*)\.ts'/g, "$1.js'"))
}

const { files } = await bundle([...ENTRIES, 'src/cluster/index.ts'], 'node22')
writeInto(dist, files)

const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: { '.': Record<string, string> }
  bin: Record<string, string>
}
for (const file of [...Object.values(exports['.']), ...Object.values(bin)]) {
  if (!existsSync(join(root, file))) throw new Error(`package.json names ${file}, which is not there`)
}
process.stdout.write(`dist/ is built: ${files.size} files\n`)
