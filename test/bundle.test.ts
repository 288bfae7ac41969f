/** What `npm ci` bundles of a checkout: run while no source has changed since, and never after. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const checkout = mkdtempSync(join(realpathSync(tmpdir()), 'skiff-bundle-'))
const cache = join(checkout, 'node_modules/.cache/skiff')
const manifest = join(cache, 'main.json')
const source = join(checkout, 'src/cluster/version.ts')
const text = readFileSync(join(root, 'src/cluster/version.ts'), 'utf8')

const skiff = (...args: string[]) =>
  spawnSync(process.execPath, [join(checkout, 'bin/skiff.js'), ...args], {
    env: { ...process.env, XDG_CACHE_HOME: join(checkout, 'cache'), NODE_COMPILE_CACHE: '', SKIFF_REEXECUTED: '' },
    encoding: 'utf8',
  })
const version = () => skiff('version').stdout.split(' ')[1]

/** Other contents, with the same size and time: nothing tells that they changed. */
function changeSecretly(): void {
  const { atime, mtime } = statSync(source)
  writeFileSync(source, text.replace('0.1.0', '0.1.9'))
  utimesSync(source, atime, mtime)
}

before(() => {
  for (const part of [
    'bin',
    'src',
    'tools/bundle.ts',
    'tools/builtins.ts',
    'tools/page.ts',
    'tools/start-file.ts',
    'package.json',
    'tsconfig.json',
  ])
    cpSync(join(root, part), join(checkout, part), { recursive: true })
  mkdirSync(join(checkout, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(checkout, 'node_modules', name))
  // Times of whole milliseconds, which can be set again.
  utimesSync(source, new Date('2026-01-01'), new Date('2026-01-01'))
  const made = skiff('precompile')
  assert.equal(made.status, 0, made.stderr)
  assert.equal(made.stderr, '')
})
after(() => rmSync(checkout, { recursive: true, force: true }))

test('the bundle runs while sources have the sizes and times they had', () => {
  changeSecretly()
  assert.equal(version(), '0.1.0')
})

test('one source that was written since sends the command back to the sources', () => {
  changeSecretly()
  utimesSync(source, new Date(), new Date())
  assert.equal(version(), '0.1.9')
})

test('a source that is gone does so too, and the sources say what is missing', () => {
  unlinkSync(source)
  const run = skiff('version')
  assert.match(run.stderr, /version\.ts/)
  assert.notEqual(run.status, 0)
})

/** The source of a version, bundled; what the cache has then. */
function bundled(number: string): { readonly folder: string; readonly folders: readonly string[] } {
  writeFileSync(source, text.replace('0.1.0', number))
  utimesSync(source, new Date('2026-01-01'), new Date('2026-01-01'))
  const made = skiff('precompile')
  assert.equal(made.stderr, '')
  assert.equal(version(), number)
  const folders = readdirSync(cache).filter((name) => !name.endsWith('.json'))
  return { folder: basename(JSON.parse(readFileSync(manifest, 'utf8')).folder), folders }
}

test('what kube-apiserver loads at every start is one file, and what it loads late is of that file', () => {
  const { folder } = JSON.parse(readFileSync(join(cache, 'executables.json'), 'utf8')) as { folder: string }
  const importsOf = (name: string) =>
    [
      ...readFileSync(join(folder, name), 'utf8').matchAll(
        /^(?:import|export|\} from|import \{).*?"?'?\.\/([\w.-]+\.mjs)/gm,
      ),
    ].map(([, other]) => other)
  assert.deepEqual(importsOf('executables.mjs'), ['executables-start.mjs'])
  assert.deepEqual(importsOf('executables-start.mjs'), [])
})

test('descriptions stand beside the bundled code as they do in the sources, and a change of them sends back to these', () => {
  const described = 'src/apiserver/openapi/descriptions'
  const { folder } = bundled('0.1.7')
  assert.deepEqual(
    readdirSync(join(cache, folder, 'descriptions')).sort(),
    readdirSync(join(checkout, described)).sort(),
  )
  changeSecretly()
  assert.equal(version(), '0.1.7')
  utimesSync(join(checkout, described, 'meta.txt'), new Date(), new Date('2026-01-02'))
  assert.equal(version(), '0.1.9')
})

test('bundling again runs what is there now, and keeps the bundle that was run until then, whatever its age', () => {
  const first = bundled('0.1.8')
  const second = bundled('0.1.7')
  assert.deepEqual(second.folders, [first.folder, second.folder].sort())
  bundled('0.1.8')
  const third = bundled('0.1.6')
  assert.deepEqual(third.folders, [first.folder, third.folder].sort())
})

test('a bundle that lost a file, or half of one, is not run, and is made anew', () => {
  const { folder } = bundled('0.1.7')
  const files = readdirSync(join(cache, folder))
  const up = files.find((name) => name.startsWith('up-')) as string
  unlinkSync(join(cache, folder, up))
  assert.equal(skiff('status', '--data-dir', join(checkout, 'none')).stderr.includes('ERR_MODULE'), false)
  changeSecretly()
  assert.equal(version(), '0.1.9')
  assert.deepEqual(bundled('0.1.7').folder, folder)
  assert.deepEqual(readdirSync(join(cache, folder)), files)
  const main = join(cache, folder, 'main.mjs')
  const whole = readFileSync(main)
  truncateSync(main, 10)
  assert.equal(version(), '0.1.7')
  // As a power cut may leave it: of the right size.
  writeFileSync(main, Buffer.alloc(whole.length))
  bundled('0.1.7')
  assert.deepEqual(readFileSync(main), whole)
})

test('what a process that was killed had half made is cleared away, and what another is making is not', () => {
  const ended = spawnSync(process.execPath, ['--version']).pid
  for (const pid of [ended, process.pid]) {
    mkdirSync(join(cache, `making-${pid}`))
    writeFileSync(join(cache, `main.json.${pid}`), '{')
  }
  assert.equal(skiff('precompile').status, 0)
  const left = readdirSync(cache).filter((name) => /\d$/.test(name) && !name.startsWith('bundle-'))
  assert.deepEqual(left.sort(), [`main.json.${process.pid}`, `making-${process.pid}`])
})

test('precompile compiles all that the first start of a whole cluster loads', () => {
  bundled('0.1.7')
  const compiled = () => readdirSync(join(checkout, 'cache'), { recursive: true }).length
  const data = ['--data-dir', join(checkout, 'data')]
  skiff('down', ...data)
  const before = compiled()
  assert.ok(before > 50)
  assert.equal(skiff('up', '--detach', ...data, '--port', '0').status, 0)
  assert.equal(skiff('down', ...data).status, 0)
  assert.equal(compiled(), before)
})

test('a manifest of another checkout, half a manifest and a bundle without its files are not believed', () => {
  bundled('0.1.7')
  const whole = readFileSync(manifest, 'utf8')
  writeFileSync(source, text)
  utimesSync(source, new Date('2026-01-01'), new Date('2026-01-01'))
  assert.equal(version(), '0.1.7', 'this one is')
  for (const broken of [whole.slice(0, 100), '{}', whole.replace(checkout, '/elsewhere')]) {
    writeFileSync(manifest, broken)
    assert.equal(version(), '0.1.0')
  }
  writeFileSync(manifest, whole)
  const { folder } = JSON.parse(whole) as { folder: string }
  rmSync(folder, { recursive: true })
  assert.equal(version(), '0.1.0')
})
