/**
 * Suites of others on skiff's executables and on Kubernetes' own, in turns: each test comes to the same on both. SKIFF_ENVTEST_REFERENCE is
 * the folder of a real kube-apiserver, etcd and kubectl (those that setup-envtest installs, or built from source).
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { withoutGo } from '../software/modules.ts'
import { built, environmentOf, type Run, run, unpacked } from './run-suite.ts'
import { suites } from './suites.ts'

const reference = process.env['SKIFF_ENVTEST_REFERENCE']
const skip =
  withoutGo || (reference === undefined ? 'SKIFF_ENVTEST_REFERENCE names no folder of real executables' : false)
/** What differs is tried so often again on both, before it counts: some tests fail at times on either. */
const AGAIN = 2

const skiff = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))

for (const [name, suite] of Object.entries(suites))
  describe(name, { skip, timeout: 10_800_000 }, () => {
    for (const path of suite.packages)
      test(path, async (t) => {
        const folder = mkdtempSync(join(tmpdir(), 'skiff-suite-'))
        try {
          const own = execFileSync(process.execPath, [skiff, 'envtest', 'path'], { encoding: 'utf8' }).trim()
          const root = await unpacked(suite, folder)
          const program = await built(suite, root, path)
          const environment = await environmentOf(suite, root)
          const on = (assets: string) =>
            run(program, join(root, path), assets, join(folder, 'kept'), environment, suite.flags)
          const both = async () => ({ ours: await on(own), theirs: await on(reference as string) })
          let { ours, theirs } = await both()
          t.diagnostic(`skiff ${figures(ours)}; Kubernetes ${figures(theirs)}`)
          assert.notDeepEqual(theirs.states, {}, theirs.log.slice(-2000))
          let left = differing(ours, theirs)
          for (let time = 0; time < AGAIN && left.length > 0; time++) {
            ;({ ours, theirs } = await both())
            const still = new Set(differing(ours, theirs))
            left = left.filter((one) => still.has(one))
          }
          assert.deepEqual(left, [], ours.log.slice(-20_000))
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      })
  })

const figures = ({ states, seconds, peakBytes }: Run) =>
  `${Object.values(states).filter((state) => state === 'passed').length} of ${Object.keys(states).length} pass in ${seconds.toFixed(0)} s with at most ${Math.round(peakBytes / 2 ** 20)} MiB`

/** Tests that came to something else here than there. */
function differing({ states: ours }: Run, { states: theirs }: Run): readonly string[] {
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
  return names.filter((name) => ours[name] !== theirs[name]).sort()
}
