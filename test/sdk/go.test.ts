/** sdk/go on this checkout's skiff: its own tests, each one a test here. The binary is built by interop/build. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const binary = at('interop/bin/skifftest.test')
const skip = existsSync(binary) ? false : 'skifftest is not built: interop/build does it (needs Go)'
const run = promisify(execFile)

const TESTS = {
  TestOwnersDependentsAndNamespacesEnd: 'owners are collected, pods end and a namespace goes, on a manual clock',
  TestForksDoNotSeeOneAnother: 'forks do not see one another',
  TestTimeIsMoved: 'time is moved, and not back',
  TestAnInformerGetsOverFaults: 'an informer gets over watches that break, expire and are refused',
  TestWritesMeetFaults: 'writes meet conflicts and lost answers',
  TestTheSeedBringsTheSameAgain: 'the same seed brings the same faults',
  TestAFailedTestTellsWhatHappened: 'a failed test tells of objects, Events and requests',
  TestWhatCannotStartSaysWhy: 'what cannot start says why',
  TestWithoutSkiffItEndsAtOnceAndAsksNoRegistry: 'without skiff it ends at once, and npx is not run',
  TestSkiffOfTheNpmProjectAboveIsFound: 'skiff of the npm project above is found',
  TestNothingIsLeftWhenTheTestsAreKilled: 'nothing is left when the tests are killed with -9',
}

describe('sdk/go', { skip }, () => {
  test('every test of the binary is named here', async () => {
    const { stdout } = await run(binary, ['-test.list', '.*'], {
      env: { ...process.env, SKIFF_BIN: at('bin/skiff.js') },
    })
    assert.deepEqual(stdout.trim().split('\n').sort(), Object.keys(TESTS).sort())
  })

  test('its tests pass', async (t) => {
    const env = { ...process.env, SKIFF_BIN: at('bin/skiff.js') }
    const ended = await run(binary, ['-test.v', '-test.timeout', '240s'], { env }).catch((error) => error)
    for (const [name, what] of Object.entries(TESTS))
      await t.test(what, () =>
        assert.match(ended.stdout, new RegExp(`--- PASS: ${name} `), `${ended.stdout}${ended.stderr}`),
      )
  })
})
