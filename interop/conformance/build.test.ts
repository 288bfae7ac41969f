import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { groupOf } from './results.ts'

const text = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const lines = (name: string) =>
  text(name)
    .split('\n')
    .filter((line) => line !== '')

/** Versions of modules that a go.mod leads to, by their paths. */
function versions(goMod: string): ReadonlyMap<string, string> {
  const replaced = new Map([...goMod.matchAll(/^replace (\S+) => \S+ (v\S+)$/gm)].map(([, path, to]) => [path!, to!]))
  return new Map(
    [...goMod.matchAll(/^\t(\S+) (v\S+)/gm)].map(([, path, version]) => [path!, replaced.get(path!) ?? version!]),
  )
}

test('what kubectl and Helm are made of has the same versions here and is built alike, so that it is compiled once', () => {
  const [theirs, ours] = [versions(text('../go.mod')), versions(text('go.mod'))]
  const shared = [...theirs.keys()].filter((path) => ours.has(path))
  assert.ok(shared.length > 50, `${shared.length} modules`)
  assert.deepEqual(
    shared.map((path) => `${path} ${ours.get(path)}`),
    shared.map((path) => `${path} ${theirs.get(path)}`),
  )
  for (const script of ['../build', 'build']) {
    assert.match(text(script), /^export CGO_ENABLED=0$/m, script)
    assert.match(text(script), /-trimpath/, script)
  }
})

test('the quick tests are 60 or more, each once, and of every group', () => {
  const names = lines('quick.txt')
  assert.ok(names.length >= 60, `${names.length} tests`)
  assert.equal(new Set(names).size, names.length)
  const groups = ['api-machinery', 'apps', 'auth', 'cli', 'instrumentation', 'network', 'node', 'scheduling', 'storage']
  assert.deepEqual(
    [...new Set(names.map(groupOf))].toSorted(),
    groups.map((group) => `sig-${group}`),
  )
})
