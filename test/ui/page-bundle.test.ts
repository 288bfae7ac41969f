/** The page made of its sources: what is said in a checkout where that cannot be done. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const checkout = mkdtempSync(join(tmpdir(), 'skiff-page-'))
const RUN = "await (await import('./tools/page.ts')).pageBundle().catch(({ message }) => console.log(message))"

function bundled(): string {
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', RUN], { cwd: checkout, encoding: 'utf8' })
  assert.equal(run.stderr, '', 'esbuild says nothing by itself')
  return run.stdout
}
const install = (name: string) => {
  mkdirSync(join(checkout, 'node_modules', name, '..'), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), join(checkout, 'node_modules', name))
}

before(() => {
  for (const part of ['package.json', 'tools/page.ts', 'src/ui', 'src/inspect/plan/counts.ts'])
    cpSync(join(root, part), join(checkout, part), { recursive: true })
})
after(() => rmSync(checkout, { recursive: true, force: true }))

test('a checkout without the packages of the page is told to get them, in one line', () => {
  const MISSING = "the page's packages are missing: npm ci\n"
  assert.equal(bundled(), MISSING)
  install('esbuild')
  assert.equal(bundled(), MISSING)
  install('preact')
  assert.equal(bundled(), MISSING)
})

test('a source that is wrong is named in one line, with its place', () => {
  for (const name of ['@preact/signals', 'd3-hierarchy', 'd3-selection', 'd3-zoom']) install(name)
  assert.equal(bundled(), '')
  appendFileSync(join(checkout, 'src/ui/page/main.tsx'), "\nconst = 1\nimport './nowhere.ts'\n")
  assert.match(bundled(), /^src\/ui\/page\/main\.tsx:\d+: Expected identifier[^\n]*\n$/)
})
