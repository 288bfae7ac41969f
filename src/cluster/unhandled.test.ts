import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

/** A program of its own: the test runner has a listener itself. */
function run(body: string) {
  const script = `
    import { unhandledScope } from ${JSON.stringify(join(import.meta.dirname, 'unhandled.ts'))}
    const seen = []
    const scope = unhandledScope((error) => seen.push(error.message))
    const soon = () => new Promise((resolve) => setTimeout(resolve, 5))
    ${body}
    await soon()
    console.log(JSON.stringify(seen))`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  return { status, out: stdout.trim(), err: stderr }
}

test("what fails in a cluster's own work, also later, is reported and ends no process", () => {
  const { status, out, err } = run(`
    scope.run(() => {
      Promise.reject(new Error('at once'))
      setTimeout(async () => { throw new Error('in a timer') }, 1)
    })`)
  assert.equal(status, 0, err)
  assert.equal(out, '["at once","in a timer"]')
})

test("the program's own rejections are the program's: it ends as without a cluster, or its listener hears of them", () => {
  const ended = run("Promise.reject(new Error('not yours'))")
  assert.equal(ended.status, 1)
  assert.match(ended.err, /not yours/)
  const heard = run(`
    process.on('unhandledRejection', (error) => seen.push('own ' + error.message))
    Promise.reject(new Error('x'))`)
  assert.equal(heard.out, '["own x"]')
})

test('when the last cluster has ended nothing listens', () => {
  const { out } = run(`
    const other = unhandledScope(() => {})
    scope.end()
    scope.end()
    seen.push(process.listenerCount('unhandledRejection'))
    other.end()
    seen.push(process.listenerCount('unhandledRejection'))`)
  assert.equal(out, '[1,0]')
})
