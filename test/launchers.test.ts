/** The command and the two shell launchers run Node alike: each has the settings written in its own language. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const settings = (path: string) => {
  const text = read(path)
  const malloc = [...text.matchAll(/(MALLOC_[A-Z_]+)(?:: '|="\$\{MALLOC_[A-Z_]+:-)(\d+)/g)].map(
    ([, name, value]) => `${name}=${value}`,
  )
  const node = ['--disable-warning=ExperimentalWarning', '--no-allocation-site-pretenuring'].filter((flag) =>
    text.includes(flag),
  )
  return { malloc, node }
}

test('every launcher sets the same of Node and of the C library', () => {
  const command = settings('bin/skiff.js')
  assert.equal(command.malloc.length, 3)
  assert.equal(command.node.length, 2)
  for (const path of ['bin/launch/launch.sh', 'tools/release/launcher.sh'])
    assert.deepEqual(settings(path), command, path)
})

const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
const threeQuarters = Math.floor((memory * 0.75) / 2 ** 20)

/** The heap's limits in MiB that a Node is started with, by the command and by the archive's launcher. */
function heapsWith(nodeOptions: string): readonly (readonly string[])[] {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-launchers-'))
  try {
    const env = { ...process.env, SKIFF_REEXECUTED: '', NODE_COMPILE_CACHE: join(directory, 'cache'), HOME: directory }
    const telling = '--import=data:text/javascript,console.error(process.execArgv.join())'
    const command = spawnSync(
      process.execPath,
      [fileURLToPath(new URL('../bin/skiff.js', import.meta.url)), 'version'],
      {
        env: { ...env, NODE_OPTIONS: `${nodeOptions} ${telling}` },
        encoding: 'utf8',
      },
    )
    copyFileSync(new URL('../tools/release/launcher.sh', import.meta.url), join(directory, 'skiff'))
    writeFileSync(join(directory, 'node'), '#!/bin/sh\necho "$*"\n', { mode: 0o755 })
    const archive = spawnSync('sh', [join(directory, 'skiff'), 'version'], {
      env: { ...env, NODE_OPTIONS: nodeOptions },
      encoding: 'utf8',
    })
    return [command.stderr, archive.stdout].map((text) =>
      [...text.matchAll(/--max-old-space-size=(\d+)/g)].map(([, size]) => size as string),
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

test('the heap may take three quarters of the memory there is, where V8 alone would give less', () => {
  const near = (size: string | undefined) => Math.abs(Number(size) - threeQuarters) <= 1
  for (const sizes of heapsWith('')) {
    if (threeQuarters <= 4096) assert.deepEqual(sizes, [])
    else assert.ok(sizes.length === 1 && near(sizes[0]), `${sizes} instead of ${threeQuarters}`)
  }
})

test('a limit of the heap that was given is kept', () => {
  assert.deepEqual(heapsWith('--max-old-space-size=5000'), [[], []])
  assert.deepEqual(heapsWith('--max_old_space_size=5000'), [[], []])
})
