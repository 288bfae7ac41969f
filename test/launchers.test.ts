/** The command and the two shell launchers run Node alike: each has the settings written in its own language. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

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
