import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lacks } from '../../test/machine.ts'
import { unexcused } from './excuses.ts'

const LONG = fileURLToPath(new URL('../long.ts', import.meta.url))
const NPM_TEST = fileURLToPath(new URL('../test.ts', import.meta.url))

/** A checkout of its own with these files, committed. */
function checkout(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-checkout-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false', ...words], {
      cwd: folder,
      stdio: 'pipe',
    })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'as it was')
  // A test runner inside a test runner reports to the outer one instead; and what CI allows is each test's own to say.
  const { NODE_TEST_CONTEXT: _, SKIFF_NO_SKIP: _inherited, ...env } = process.env
  const run = (script: string, args: readonly string[] = [], more: Record<string, string> = {}) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...env, ...more },
    })
    return { status, out: stdout + stderr }
  }
  return { folder, write, run }
}

const PASSES = "import { test } from 'node:test'\ntest('holds', () => {})\n"
const FAILS_WITHOUT_FILE = `import { existsSync } from 'node:fs'
import { test } from 'node:test'
test('wants a file', () => { if (!existsSync('there.log')) throw new Error('it is not there') })
`
const SKIPS = (reason: string) => `import { test } from 'node:test'
test('holds', () => {})
test('needs something', { skip: ${JSON.stringify(reason)} }, () => {})
`

test('a long run that is taken up again runs only what has not passed, and keeps the result of each test', (t) => {
  const { folder, write, run } = checkout(t, {
    '.gitignore': '.long/\n*.log\n',
    'test/a.long.ts': PASSES,
    'test/b.long.ts': FAILS_WITHOUT_FILE,
  })
  const only = ['--only', '.long.ts']

  const first = run(LONG, only)
  assert.equal(first.status, 1, first.out)
  assert.match(first.out, /2 of 2 pieces to run/)
  assert.match(first.out, /it is not there/)
  write('there.log', '')
  const second = run(LONG, only)

  assert.equal(second.status, 0, second.out)
  assert.match(second.out, /1 of 2 pieces to run/)
  const [file] = readdirSync(join(folder, '.long'))
  const kept = JSON.parse(readFileSync(join(folder, '.long', file as string), 'utf8'))
  assert.deepEqual(
    Object.values(kept.pieces as Record<string, { results: { name: string; state: string }[] }>).map(({ results }) =>
      results.map(({ name, state }) => `${name}: ${state}`),
    ),
    [['holds: passed'], ['wants a file: passed']],
  )
})

test('a changed checkout has results of its own', (t) => {
  const { write, run } = checkout(t, { '.gitignore': '.long/\n', 'test/a.long.ts': PASSES })
  const only = ['--only', '.long.ts']
  assert.equal(run(LONG, only).status, 0)

  write('test/a.long.ts', PASSES.replace('=> {}', "=> { throw new Error('changed') }"))

  assert.match(run(LONG, only).out, /1 of 1 pieces to run/)
})

test('a name that no piece has is said', (t) => {
  const { run } = checkout(t, { 'test/a.long.ts': PASSES })
  const { status, out } = run(LONG, ['--only', 'nothing'])
  assert.equal(status, 2)
  assert.match(out, /no piece's name holds nothing/)
})

test('what a test says by the way is said, once', (t) => {
  const says = "import { test } from 'node:test'\ntest('holds', (t) => t.diagnostic('seeds 7 to 9'))\n"
  const { run } = checkout(t, { 'src/a.test.ts': says, 'test/a.long.ts': says })
  for (const script of [NPM_TEST, LONG]) {
    const { status, out } = run(script, script === LONG ? ['--only', '.long.ts'] : [])
    assert.equal(status, 0, out)
    assert.equal(out.match(/^seeds 7 to 9$/gm)?.length, 1, out)
    assert.doesNotMatch(out, /duration_ms/)
  }
})

test('npm test fails with a test, and names what failed and what was skipped', (t) => {
  const { run } = checkout(t, { 'src/a.test.ts': FAILS_WITHOUT_FILE, 'src/b.test.ts': SKIPS('no moon') })
  const { status, out } = run(NPM_TEST)
  assert.notEqual(status, 0)
  assert.match(out, /it is not there/)
  assert.match(out, /needs something: no moon/)
  assert.match(out, /^1 passed, 1 failed, 1 skipped$/m)
})

test('where no skip is allowed, a skip that no probe explains fails the run', (t) => {
  const { run } = checkout(t, { 'src/a.test.ts': SKIPS('no moon') })
  assert.equal(run(NPM_TEST).status, 0)
  const { status, out } = run(NPM_TEST, [], { SKIFF_NO_SKIP: '1' })
  assert.equal(status, 1)
  assert.match(out, /no probe of this machine explains it: needs something/)
})

test('a skip is excused only while its probe finds the lack', (t) => {
  const skipped = { file: 'a', name: 'a', state: 'skipped', seconds: 0, reason: 'no address at all' } as const
  assert.deepEqual(unexcused([skipped]), [skipped])
  t.mock.method(lacks, 'address', () => 'no address at all')
  assert.deepEqual(unexcused([skipped]), [])
})
