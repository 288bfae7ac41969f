import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../../base/simulated-runtime.ts'
import type { LogOptions } from '../../logs/log-options.ts'
import { type PrintedLog, type PrintedQuery, readPrinted } from '../../logs/printed-log.ts'
import { createPodAddresses, podCIDROf } from '../../pod-addresses.ts'
import { POD_UID_LABEL } from '../runtime.ts'
import { plainCommand } from './container-command.ts'
import { MOST_LINES, printsNextAt, type Told, toldLog } from './simulated-log.ts'
import { createSimulatedRuntime } from './simulated-runtime.ts'

const START = Date.parse('2026-01-02T03:04:05.5Z')
const told = (script: string): Told => plainCommand(['sh', '-c', script], []) as Told
const running = { state: 'running', startedAt: START, finishedAt: 0 } as const
const at = (one: Told, ageMs: number, query?: PrintedQuery) => toldLog(one, running, START + ageMs, query)
const shown = ({ lines }: PrintedLog) => [...lines].map((line) => `${line.at - START} ${line.stream} ${line.text}`)
const texts = (script: string, ageMs: number) => shown(at(told(script), ageMs))

test('a container has printed what it had the time for', () => {
  const script = 'echo a; echo b >&2; sleep 2; echo c; sleep 2; echo d'
  assert.deepEqual(texts(script, 0), ['0 stdout a', '0 stderr b'])
  assert.deepEqual(texts(script, 2000), ['0 stdout a', '0 stderr b', '2000 stdout c'])
  const ended = { state: 'exited', startedAt: START, finishedAt: START + 3000 } as const
  assert.equal(shown(toldLog(told(script), ended, START + 10_000)).length, 3)
  const notStarted = { state: 'exited', startedAt: 0, finishedAt: START } as const
  assert.deepEqual(shown(toldLog(told(script), notStarted, START)), [])
})

test('a line is one when its end is printed, or nothing more can be', () => {
  assert.deepEqual(texts('echo -n a; sleep 1; echo b', 500), [])
  assert.deepEqual(texts('echo -n a; sleep 1; echo b; echo -n c', 1000), ['1000 stdout ab'])
  const ended = { state: 'exited', startedAt: START, finishedAt: START + 1000 } as const
  assert.deepEqual(shown(toldLog(told('echo -n c; sleep 1'), ended, START + 5000)), ['1000 stdout c'])
})

test('of a loop the last lines are kept, and only those behind the place that was read to are made', () => {
  const script = 'echo first; while true; do echo a; echo b; sleep 1; done'
  assert.deepEqual(texts(script, 1000), [
    '0 stdout first',
    '0 stdout a',
    '0 stdout b',
    '1000 stdout a',
    '1000 stdout b',
  ])
  const loop = told(script)
  const log = at(loop, 1_000_000_000)
  assert.equal(log.next.line, 1 + 2 * 1_000_001)
  const lines = [...log.lines]
  assert.equal(lines.length, MOST_LINES)
  assert.equal(lines.at(-1)?.at, START + 1_000_000_000)
  const more = at(loop, 1_000_001_500, { from: log.next })
  assert.deepEqual(shown(more), ['1000001000 stdout a', '1000001000 stdout b'])
  assert.deepEqual(shown(at(loop, 1_000_001_600, { from: more.next })), [])
  assert.deepEqual(shown(at(loop, 1_000_001_600, { tail: 1 })), ['1000001000 stdout b'])
})

test('lines go over from round to round', () => {
  const script = 'echo -n x; while true; do echo a; echo -n e >&2; echo -n b; sleep 1; done'
  assert.deepEqual(texts(script, 2000), ['0 stdout xa', '1000 stdout ba', '2000 stdout ba'])
  const ended = { state: 'exited', startedAt: START, finishedAt: START + 3_600_000_000 } as const
  const log = toldLog(told(script), ended, START, { tail: 2 })
  assert.deepEqual(
    [...log.lines].map(({ text }) => [text.length, text[0]]),
    [
      [1, 'b'],
      [64 * 1024, 'e'],
    ],
  )
})

test('it is known when it prints next', () => {
  const loop = told('echo a; sleep 3; echo b; while true; do echo c; sleep 1; echo d; sleep 1; done')
  assert.equal(printsNextAt(loop, 0), 3000)
  assert.equal(printsNextAt(loop, 3000), 4000)
  assert.equal(printsNextAt(loop, 4000), 5000)
  assert.equal(printsNextAt(loop, 999_000), 1_000_000)
  assert.equal(printsNextAt(told('echo a'), 0), undefined)
})

async function logOf(script: string) {
  const runtime = simulatedRuntime(1)
  const cri = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  const labels = { [POD_UID_LABEL]: 'u' }
  const metadata = { name: 'p', namespace: 'n', uid: 'u', attempt: 0 }
  const sandbox = await runtime.complete(
    cri.runPodSandbox({ metadata, hostname: 'p', labels, annotations: {}, hostNetwork: false }),
  )
  const own = { image: 'busybox', command: ['sh', '-c', script], args: [], workingDir: '', envs: {}, mounts: [] }
  const config = { ...own, labels, annotations: {}, runsToCompletion: false, metadata: { name: 'c', attempt: 0 } }
  const id = await runtime.complete(cri.createContainer(sandbox, config))
  await runtime.complete(cri.startContainer(id))
  const abort = new AbortController()
  let text = ''
  let looks = 0
  const read = async (options: LogOptions) => {
    const simulated = cri.simulated!
    const source = {
      printed: (query: PrintedQuery) => {
        looks++
        return simulated.printed(id, query)
      },
      changed: () => simulated.printsMore(id, abort.signal),
      signal: abort.signal,
    }
    for await (const chunk of readPrinted(source, options)) text += Buffer.from(chunk).toString()
  }
  return { runtime, cri, id, abort, read, said: () => text.split('\n').slice(0, -1), looks: () => looks }
}

test('a log is read from its end, since a time, so many bytes of it, of one stream, with times', async () => {
  const script = 'echo a; sleep 1; echo b >&2; sleep 1; echo c'
  const after = async (options: LogOptions) => {
    const { runtime, read, said } = await logOf(script)
    await runtime.advance(1500)
    await read(options)
    return said()
  }
  assert.deepEqual(await after({}), ['a', 'b'])
  assert.deepEqual(await after({ tailLines: 1 }), ['b'])
  assert.deepEqual(await after({ tailLines: 0 }), [])
  assert.deepEqual(await after({ stream: 'stdout' }), ['a'])
  assert.deepEqual(await after({ limitBytes: 3 }), ['a'])
  const [first, second] = await after({ timestamps: true })
  assert.match(first!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z a$/)
  const times = [first, second].map((line) => Date.parse(line!.split(' ')[0]!))
  assert.equal(times[1]! - times[0]!, 1000)
  assert.deepEqual(await after({ since: times[1]! }), ['b'])
})

test('one that is followed comes as it is printed, and ends with its container', async () => {
  const { runtime, cri, id, read, said } = await logOf('echo a; while true; do echo tick; sleep 10; done')
  let ended = false
  const reading = read({ follow: true, tailLines: 1 }).then(() => {
    ended = true
  })
  await runtime.advance(0)
  assert.deepEqual(said(), ['tick'])
  await runtime.advance(20_000)
  assert.deepEqual(said(), ['tick', 'tick', 'tick'])
  assert.equal(ended, false)
  await runtime.complete(cri.stopContainer(id, 5))
  await runtime.complete(reading)
  assert.equal(said().length, 3)
})

test('a reader that goes leaves no timer, and one of a removed container comes to its end', async () => {
  const { runtime, abort, read } = await logOf('sleep 1000000')
  const reading = read({ follow: true })
  await runtime.advance(0)
  abort.abort()
  await runtime.complete(reading)
  const other = await logOf('sleep 1000000')
  const until = other.read({ follow: true })
  await other.runtime.advance(0)
  await other.runtime.complete(other.cri.removeContainer(other.id))
  await other.runtime.complete(until)
})

test('however often a container prints, its log is looked at ten times a second', async () => {
  const { runtime, abort, read, said, looks } = await logOf('while true; do echo x; sleep 0.001; done')
  const reading = read({ follow: true })
  await runtime.advance(10_000)
  assert.equal(said().length, 10_001)
  assert.ok(looks() <= 102, String(looks()))
  abort.abort()
  await runtime.complete(reading)
})
