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
