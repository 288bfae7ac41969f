/**
 * The executables of bin/envtest, started by controller-runtime's envtest: the tests of interop/envtest, each one a test here. The
 * binary is built by interop/build, where Go is.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const binary = fileURLToPath(new URL('../interop/bin/envtest.test', import.meta.url))
const skiff = fileURLToPath(new URL('../bin/skiff.js', import.meta.url))
const skip = existsSync(binary) ? false : 'the Go tests are not built: interop/build does it (needs Go)'
const run = promisify(execFile)

const TESTS = {
  TestTheApiServerAlone:
    'an API server alone: nothing is collected, namespaces stay, users are who their certificates say',
  TestWithTheControllers: 'with SKIFF_COMPONENTS=controllers dependents and namespaces go, pods run and end',
  TestStartedAgain: 'what is started again begins empty, and watches hold no stop up',
}
const KILLED = 'TestKilled'

describe('envtest', { skip }, async () => {
  const { stdout } = await run(process.execPath, [skiff, 'envtest', 'path'])
  const env = { ...process.env, KUBEBUILDER_ASSETS: stdout.trim() }

  test('every test of the binary is named here', async () => {
    const { stdout } = await run(binary, ['-test.list', '.*'])
    assert.deepEqual(stdout.trim().split('\n').sort(), [...Object.keys(TESTS), KILLED].sort())
  })

  for (const [name, what] of Object.entries(TESTS))
    test(what, async () => {
      const ended = await run(binary, ['-test.run', `^${name}$`, '-test.timeout', '150s'], { env }).catch(
        (error) => error,
      )
      assert.equal(ended.code ?? 0, 0, `${ended.stdout}${ended.stderr}`)
    })

  test('a test binary that is killed with -9 leaves nothing behind', { timeout: 60_000 }, async () => {
    const child = spawn(binary, ['-test.run', `^${KILLED}$`], { env: { ...env, SKIFF_TEST_KILLED: '1' } })
    const ports = await new Promise<number[]>((resolve, reject) => {
      let text = ''
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk
        const found = /ports (\d+) (\d+)/.exec(text)
        if (found !== null) resolve([Number(found[1]), Number(found[2])])
      })
      child.on('exit', () => reject(new Error(text)))
    })
    // Connections that stay open until the other end is no more.
    const ends = ports.map(async (port) => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return { closed: closeOf(socket) }
    })
    const open = await Promise.all(ends)
    child.removeAllListeners('exit')
    child.kill('SIGKILL')
    await Promise.all(open.map(({ closed }) => closed))
    for (const port of ports) while (await isListening(port));
  })
})

/** A process that ends closes what it has one after another: a connection may still be taken, and is then cut. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
  } catch {
    return false
  }
  await closeOf(socket)
  return true
}

/** However it comes: a connection that is cut has an error first. */
const closeOf = (socket: Socket): Promise<unknown> =>
  new Promise((resolve) =>
    socket
      .on('error', () => {})
      .on('close', resolve)
      .resume(),
  )
