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
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const checkout = mkdtempSync(join(realpathSync(tmpdir()), 'skiff-bundle-'))
const cache = join(checkout, 'node_modules/.cache/skiff')
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
  for (const part of ['bin', 'src', 'tools/bundle.ts', 'package.json', 'tsconfig.json'])
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

test('bundling again runs what is there now, and keeps what a server that runs may still load', () => {
  writeFileSync(source, text.replace('0.1.0', '0.1.8'))
  utimesSync(source, new Date('2026-01-01'), new Date('2026-01-01'))
  assert.equal(skiff('precompile').status, 0)
  changeSecretly()
  assert.equal(version(), '0.1.8')
  assert.equal(readdirSync(cache).filter((name) => name.startsWith('bundle-')).length, 2)
  writeFileSync(source, text.replace('0.1.0', '0.1.7'))
  utimesSync(source, new Date('2026-01-01'), new Date('2026-01-01'))
  assert.equal(skiff('precompile').status, 0)
  assert.equal(version(), '0.1.7')
  assert.equal(readdirSync(cache).filter((name) => name.startsWith('bundle-')).length, 2)
})

test('a manifest of another checkout, half a manifest and a bundle without its files are not believed', () => {
  writeFileSync(source, text)
  const manifest = join(cache, 'bundle.json')
  const whole = readFileSync(manifest, 'utf8')
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
