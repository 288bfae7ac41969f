/** How locks of logind are told apart, and what a connection to a bus bears, on a bus of the test's own. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../../base/clock.ts'
import { writeMessage } from './bus-messages.ts'
import { type BusStandIn, startBus } from './bus-stand-in.ts'
import { connectLogind, type Logind } from './logind.ts'

/** Another than this process has: the bus and logind may see it from outside its namespace. */
const PID = process.pid + 1

/** Short times pass at once; those that are waited for an answer do not. */
function hastyClock() {
  const waiting = new Set<string>()
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    setTimer(ms, label, task) {
      if (ms < 1000) {
        const turn = setImmediate(task)
        return { cancel: () => clearImmediate(turn) }
      }
      waiting.add(label)
      return { cancel: () => void waiting.delete(label) }
    },
  }
  return { clock, waiting }
}

interface Stage {
  readonly bus: BusStandIn
  readonly logind: Logind
  /** The long timers that are set. */
  readonly waiting: ReadonlySet<string>
  readonly lost: () => number
}

async function stage(use: (on: Stage) => Promise<void>): Promise<void> {
  const bus = await startBus({ pid: PID })
  const { clock, waiting } = hastyClock()
  let lost = 0
  try {
    const handlers = { prepareForShutdown() {}, lost: () => void lost++ }
    const logind = await connectLogind(handlers, { clock, address: bus.address })
    bus.asked.length = 0
    await use({ bus, logind, waiting, lost: () => lost })
  } finally {
    bus.stop()
  }
}
const until = (holds: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = () => (holds() ? resolve() : void setImmediate(look))
    look()
  })
const asked = (bus: BusStandIn, member: string) => until(() => bus.asked.includes(member))

describe('a connection to logind', () => {
  test('asks for a lock once that before is gone from its list, and holds it', () =>
    stage(async ({ bus, logind }) => {
      bus.late = 1
      const first = await logind.lock()
      first.release()
      await until(() => bus.holders.length === 0)
      const second = await logind.lock()
      const whole = ['ListInhibitors', 'Hello', 'Inhibit', 'ListInhibitors']
      assert.deepEqual(bus.asked, [...whole, 'ListInhibitors', ...whole])
      assert.deepEqual(bus.holders, [PID])
      second.release()
    }))

  test('takes no lock of another kubelet for its own', () =>
    stage(async ({ bus, logind }) => {
      bus.refused.add('Inhibit')
      const lock = logind.lock()
      lock.catch(() => {})
      await asked(bus, 'Inhibit')
      bus.holders.push(PID + 1)
      await assert.rejects(lock, /^Error: logind gives no lock: Permission denied$/)
      bus.refused.clear()
      const granted = await logind.lock()
      assert.deepEqual(bus.holders, [PID + 1, PID])
      granted.release()
    }))

  test('bears what others send to it', () =>
    stage(async ({ bus, logind, lost }) => {
      bus.send(writeMessage({ type: 'signal', serial: 1, sender: ':1.9', signature: 's' }, ['x'.repeat(2_000_000)]))
      assert.equal(await logind.longestDelayMs(), 5000)
      assert.equal(lost(), 0)
    }))

  test('ends what it is asked when it is closed, and asks no more', () =>
    stage(async ({ bus, logind, waiting, lost }) => {
      bus.unanswered.add('ListInhibitors')
      const lock = logind.lock()
      lock.catch(() => {})
      await asked(bus, 'ListInhibitors')
      assert.equal(waiting.size, 1)
      logind.close()
      await assert.rejects(lock, /^Error: the connection to the message bus is closed$/)
      await assert.rejects(logind.longestDelayMs(), /is closed$/)
      assert.equal(waiting.size, 0)
      assert.equal(lost(), 0)
    }))

  test('gives back a lock that is not there yet when it is closed', () =>
    stage(async ({ bus, logind, waiting }) => {
      bus.unanswered.add('Inhibit')
      const lock = logind.lock()
      await asked(bus, 'Inhibit')
      logind.close()
      await assert.rejects(lock, /is closed$/)
      await until(() => bus.connections === 0)
      assert.equal(waiting.size, 0)
    }))

  test('asks nothing of a bus that is gone', () =>
    stage(async ({ bus, logind, waiting, lost }) => {
      bus.unanswered.add('Get')
      const delay = logind.longestDelayMs()
      await asked(bus, 'Get')
      bus.stop()
      await assert.rejects(delay, /has closed the connection$/)
      await assert.rejects(logind.longestDelayMs(), /has closed the connection$/)
      assert.deepEqual([lost(), waiting.size], [1, 0])
    }))
})
