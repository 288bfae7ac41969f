/** How a kubelet speaks with logind, over a real message bus; what it asks is what a kubelet v1.37.1 asked on 2026-11-26, and which locks there are. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Clock } from '../../src/base/clock.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { connectLogind, type LogindHandlers, withdrawDelay } from '../../src/kubelet/shutdown/logind.ts'
import { lacks } from '../machine.ts'
import { type LogindStandIn, startLogind } from './stand-in.ts'

const clock = liveRuntime().machineClock
const WHY = 'Kubelet needs time to handle node shutdown'
const GET = 'Properties Get org.freedesktop.login1.Manager InhibitDelayMaxUSec'

/** Sockets of a bus keep no process alive. */
const alive = setInterval(() => {}, 1000)

async function stage(use: (logind: LogindStandIn) => Promise<void>, delay?: number): Promise<void> {
  const logind = await startLogind(mkdtempSync(join(tmpdir(), 'skiff-logind-')), delay)
  try {
    await use(logind)
  } finally {
    await logind.stop()
  }
}

const connect = ({ address, override }: LogindStandIn, handlers: Partial<LogindHandlers> = {}, own: Clock = clock) =>
  connectLogind({ prepareForShutdown: () => {}, lost: () => {}, ...handlers }, { clock: own, address, override })

const until = async (what: string, look: () => boolean) => {
  for (let left = 500; !look(); left--) {
    if (left === 0) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('logind', { skip: lacks.messageBus() }, () => {
  test('waits as long as before once the file is withdrawn', () =>
    stage(async (logind) => {
      const { address, override } = logind
      const connected = await connect(logind)
      await connected.askForDelay(35)
      assert.equal(await connected.longestDelayMs(), 35_000)
      await withdrawDelay(override, { clock, address })
      assert.equal(existsSync(override), false)
      assert.equal(await connected.longestDelayMs(), 5000)
      connected.close()
    }))

  test('is asked how long it waits, told to wait longer, and asked for a lock that holds until it is released', () =>
    stage(async (logind) => {
      const heard: boolean[] = []
      const connected = await connect(logind, { prepareForShutdown: (begins) => heard.push(begins) })
      assert.equal(await connected.longestDelayMs(), 5000)
      await connected.askForDelay(35)
      assert.equal(await connected.longestDelayMs(), 35_000)
      assert.equal(readFileSync(logind.override, 'utf8'), '# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=35\n')
      assert.equal(statSync(logind.override).mode & 0o777, 0o644)
      const lock = await connected.lock()
      logind.says(true)
      logind.says(false)
      await until('both signals', () => heard.length === 2)
      assert.deepEqual([...heard].sort(), [false, true])
      assert.ok(!logind.calls().includes('released kubelet'), 'the lock is held')
      lock.release()
      await until('the release', () => logind.calls().includes('released kubelet'))
      assert.deepEqual(
        logind.calls().filter((call) => !call.startsWith('PrepareForShutdown')),
        [
          'ready',
          ...[GET, GET, 'Manager KillUnit systemd-logind.service all 1', GET],
          'Manager ListInhibitors',
          `Manager Inhibit shutdown kubelet ${WHY} delay`,
          'Manager ListInhibitors',
          'released kubelet',
        ],
      )
      const again = await connected.lock()
      assert.equal(logind.calls().filter((call) => call === 'released kubelet').length, 1)
      again.release()
      connected.close()
    }))

  test('a lock ends with the process that holds it, however that ends', () =>
    stage(async (logind) => {
      const script = `
        const { connectLogind } = await import(${JSON.stringify(import.meta.resolve('../../src/kubelet/shutdown/logind.ts'))})
        const { liveRuntime } = await import(${JSON.stringify(import.meta.resolve('../../src/base/live-runtime.ts'))})
        setInterval(() => {}, 1000)
        const clock = liveRuntime().machineClock
        const logind = await connectLogind({ prepareForShutdown() {}, lost() {} }, { clock, address: ${JSON.stringify(logind.address)} })
        await logind.lock()`
      const child = spawn(process.execPath, ['--input-type=module-typescript', '--no-warnings', '-e', script])
      const ended = new Promise((resolve) => child.once('exit', resolve))
      await until('its lock', () => logind.calls().filter((call) => call === 'Manager ListInhibitors').length >= 2)
      assert.ok(!logind.calls().includes('released kubelet'))
      child.kill('SIGKILL')
      await ended
      await until('its end', () => logind.calls().includes('released kubelet'))
    }))

  test('what another says of the machine is not believed', () =>
    stage(async (logind) => {
      const heard: boolean[] = []
      const connected = await connect(logind, { prepareForShutdown: (begins) => heard.push(begins) })
      await connected.longestDelayMs()
      await logind.strangerSays()
      // Its signal was on the bus before this.
      logind.says(false)
      await until('the signal of logind', () => heard.length > 0)
      assert.deepEqual(heard, [false])
      connected.close()
    }))

  test('a lock that is refused is told of with logind’s words', () =>
    stage(async (logind) => {
      logind.is('refuses')
      const fast: Clock = { ...clock, setTimer: (ms, ...rest) => clock.setTimer(ms < 100 ? ms / 10 : ms, ...rest) }
      const connected = await connect(logind, {}, fast)
      await assert.rejects(connected.lock(), /^Error: logind gives no lock: Permission denied$/)
      connected.close()
    }))

  test('that its bus is gone is told, once, and one that is not there is named', () =>
    stage(async (logind) => {
      let lost = 0
      await connect(logind, { lost: () => lost++ })
      await logind.stop()
      await until('the loss', () => lost === 1)
      await assert.rejects(connect(logind), /^Error: dial unix .*\/bus: /)
    }))
})

test('the bus of a machine is where its address says', async () => {
  const { socketOf } = await import('../../src/kubelet/shutdown/bus.ts')
  assert.equal(socketOf('unix:path=/run/a%20b,guid=1'), '/run/a b')
  assert.equal(socketOf('tcp:host=x;unix:abstract=/tmp/x'), '\0/tmp/x')
  assert.throws(() => socketOf('tcp:host=x'), /names no socket/)
  clearInterval(alive)
})
