import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { liveRuntime } from '../../base/live-runtime.ts'
import type { Runtime } from '../../base/runtime.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { openAuditLog } from './log.ts'

/** The log's files are real, and so are its turns. */
const withTurns = ({ machineClock }: Pick<Runtime, 'machineClock'>) => ({
  machineClock,
  scheduler: liveRuntime().scheduler,
})

const line = (text: string) => ({ text: () => text, lost: () => assert.fail('nothing is lost') })

test('an event that cannot become text is lost alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const log = await openAuditLog(withTurns(simulatedRuntime(1)), { path })
  const broken = {
    text: () => {
      throw new RangeError('too deep')
    },
    lost: (error: unknown) => lost.push(error),
  }
  const lost: unknown[] = []
  log.note(line('a'))
  log.note(broken)
  const refused = assert.rejects(log.append(broken), /too deep/)
  await log.append(line('b'.repeat(600_000)))
  await refused
  await log.append(line('c'))
  assert.equal(lost.length, 1)
  assert.equal(readFileSync(path, 'utf8'), `a\n${'b'.repeat(600_000)}\nc\n`)
  await log.close()
  rmSync(folder, { recursive: true })
})

test('the log is rotated by size and keeps as many old files as it should', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const runtime = simulatedRuntime(1)
  const log = await openAuditLog(withTurns(runtime), {
    path: join(folder, 'audit.log'),
    maxSizeMb: 0.001,
    maxBackups: 2,
  })
  for (let i = 0; i < 8; i++) {
    await log.append(line(`${i}`.repeat(600)))
    await runtime.advance(1000)
  }
  await log.close()
  const files = readdirSync(folder).sort()
  assert.equal(files.length, 3)
  assert.equal(readFileSync(join(folder, 'audit.log'), 'utf8'), `${'7'.repeat(600)}\n`)
  rmSync(folder, { recursive: true })
})

test('lines nobody waits for are written together, with the next one somebody waits for, or when the log is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const { machineClock, advance } = simulatedRuntime(1)
  const log = await openAuditLog(withTurns({ machineClock }), { path })
  const lines = () => readFileSync(path, 'utf8')
  log.note(line('a'))
  log.note(line('bb'))
  assert.equal(log.behind, 2)
  assert.equal(lines(), '')
  await log.append(line('c'))
  assert.equal(lines(), 'a\nbb\nc\n')
  assert.equal(log.behind, 0)
  log.note(line('d'))
  await advance(50)
  const first = log.append(line('e'))
  log.note(line('f'))
  await first
  // Nothing waits: the timer that comes now must not keep later lines from being written.
  await advance(50)
  await log.append(line('g'))
  log.note(line('h'))
  await log.close()
  assert.equal(lines(), 'a\nbb\nc\nd\ne\nf\ng\nh\n')
  rmSync(folder, { recursive: true })
})

test('what is appended in one turn is written as one, in a later turn', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const { machineClock, scheduler: simulated } = simulatedRuntime(1)
  const turns: (() => void)[] = []
  const scheduler = { ...simulated, later: (_label: string, task: () => void) => turns.push(task) }
  const log = await openAuditLog({ machineClock, scheduler }, { path })
  for (const text of ['a', 'b']) {
    const lines = Array.from({ length: 10 }, () => log.append(line(text)))
    assert.equal(turns.length, 1)
    turns.pop()?.()
    assert.equal(log.behind, 10)
    await Promise.all(lines)
    assert.equal(log.behind, 0)
  }
  assert.equal(readFileSync(path, 'utf8'), 'a\n'.repeat(10) + 'b\n'.repeat(10))
  await log.close()
  rmSync(folder, { recursive: true })
})

/** A log whose turns are the test's, and whether a line is written without another thread, for which microtasks alone would not do. */
async function logByTurns(path: string, monotonic = () => 0) {
  const turns: (() => void)[] = []
  const { machineClock, scheduler: simulated } = simulatedRuntime(1)
  const scheduler = { ...simulated, later: (_label: string, task: () => void) => turns.push(task) }
  const log = await openAuditLog({ machineClock: { ...machineClock, monotonic }, scheduler }, { path })
  const microtasks = async () => {
    for (let i = 0; i < 100; i++) await undefined
  }
  const isWrittenHere = async (text: string) => {
    let isWritten = false
    const written = log.append(line(text)).then(() => {
      isWritten = true
    })
    turns.pop()?.()
    await microtasks()
    const here = isWritten
    await written
    return here
  }
  return { log, turns, microtasks, isWrittenHere }
}

test('a disk that makes its writers wait is left to another thread until that is quick again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  let now = 0
  let step = 0
  const { log, isWrittenHere } = await logByTurns(path, () => {
    now += step
    return now
  })
  assert.equal(await isWrittenHere('a'), true)
  step = 60
  assert.equal(await isWrittenHere('b'), true)
  assert.equal(await isWrittenHere('c'), false)
  step = 0
  const here: boolean[] = []
  for (let i = 0; i < 10; i++) here.push(await isWrittenHere('d'))
  assert.deepEqual([here[0], here.at(-1)], [false, true])
  assert.equal(readFileSync(path, 'utf8'), `a\nb\nc\n${'d\n'.repeat(10)}`)
  await log.close()
  rmSync(folder, { recursive: true })
})

test('a pipe, whose reader may not read, is always left to another thread', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'pipe')
  assert.equal(spawnSync('mkfifo', [path]).status, 0)
  const reader = spawn('cat', [path])
  const read = new Promise<string>((resolve) => {
    let text = ''
    reader.stdout.on('data', (chunk) => {
      text += chunk
    })
    reader.on('close', () => resolve(text))
  })
  const { log, isWrittenHere } = await logByTurns(path)
  assert.equal(await isWrittenHere('a'), false)
  await log.close()
  assert.equal(await read, 'a\n')
  rmSync(folder, { recursive: true })
})

test('lines that write themselves stand among the others, in their order, also where the buffer ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const log = await openAuditLog(liveRuntime(), { path })
  let quick = 0
  /** Every other one writes itself where there is room. */
  const event = (i: number) => {
    const text = `${i} ${'é'.repeat(2000)}`
    if (i % 2 === 0) return line(text)
    const write = (into: Buffer, at: number) => {
      const bytes = Buffer.from(`${text}\n`)
      if (at + bytes.length > into.length) return 0
      quick++
      return bytes.copy(into, at)
    }
    return { ...line(text), write }
  }
  const events = Array.from({ length: 1000 }, (_, i) => event(i))
  await Promise.all(events.map((one, i) => (i % 3 === 0 ? log.append(one) : log.note(one))))
  await log.close()
  const numbers = readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((text) => Number(text.split(' ')[0]))
  assert.deepEqual(
    numbers,
    events.map((_, i) => i),
  )
  assert.ok(quick > 450, `${quick}`)
  rmSync(folder, { recursive: true })
})

/** Lines that write themselves, and how often each was told to be lost. */
function quickLines(count: number) {
  const lost = Array<number>(count).fill(0)
  const events = lost.map((_, i) => ({
    text: () => assert.fail('it wrote itself'),
    write: (into: Buffer, at: number) => into.write(`${i}\n`, at),
    lost: () => {
      lost[i] = (lost[i] as number) + 1
    },
  }))
  return { events, lost }
}

test('lines that wrote themselves are in the file once the log is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const log = await openAuditLog(liveRuntime(), { path })
  const { events } = quickLines(5)
  for (const event of events) log.note(event)
  assert.equal(log.behind, 5)
  await log.close()
  assert.equal(log.behind, 0)
  assert.equal(readFileSync(path, 'utf8'), '0\n1\n2\n3\n4\n')
  rmSync(folder, { recursive: true })
})

test('lines that wrote themselves and could not be written are told to be lost, each once', async () => {
  const log = await openAuditLog(liveRuntime(), { path: '/dev/full' })
  const { events, lost } = quickLines(300)
  for (const event of events) log.note(event)
  await log.close()
  assert.deepEqual(lost, Array(300).fill(1))
})

test('a line that cannot write itself is written as text', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const log = await openAuditLog(liveRuntime(), { path })
  const write = () => {
    throw new Error('no')
  }
  log.note({ ...line('a'), write })
  await log.append({ ...line('b'), write })
  await log.close()
  assert.equal(readFileSync(path, 'utf8'), 'a\nb\n')
  rmSync(folder, { recursive: true })
})

test('what is more than the buffer takes several turns, so that others have theirs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const { log, turns, microtasks } = await logByTurns(path)
  const lines = Array.from({ length: 30 }, (_, i) => log.append(line(String(i % 10).repeat(50_000))))
  const sizes: number[] = []
  for (let i = 0; i < 100 && log.behind > 0; i++) {
    turns.shift()?.()
    await microtasks()
    sizes.push(statSync(path).size)
  }
  await Promise.all(lines)
  // Behind eight lines of 50 kB a ninth would not surely fit, whatever characters it has.
  assert.deepEqual(
    sizes,
    [8, 16, 24, 30].map((count) => count * 50_001),
  )
  await log.close()
  rmSync(folder, { recursive: true })
})

test('a line that was refused in its middle does not take the next one with it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const script = join(folder, 'script.ts')
  const from = (module: string) => JSON.stringify(new URL(module, import.meta.url).href)
  writeFileSync(
    script,
    `import { truncateSync } from 'node:fs'
    import { liveRuntime } from ${from('../../base/live-runtime.ts')}
    import { openAuditLog } from ${from('./log.ts')}
    const log = await openAuditLog(liveRuntime(), { path: ${JSON.stringify(path)} })
    const append = (text: string) => log.append({ text: () => text }).then(() => 'written', () => 'refused')
    console.log(await append('a'.repeat(600)), await append('b'.repeat(600)))
    truncateSync(${JSON.stringify(path)}, 700)
    console.log(await append('c'))`,
  )
  const { stdout } = spawnSync('sh', ['-c', 'ulimit -f 2 && exec "$0" "$1"', process.execPath, script])
  assert.equal(stdout.toString(), 'written refused\nwritten\n')
  assert.equal(readFileSync(path, 'utf8'), `${'a'.repeat(600)}\n${'b'.repeat(99)}\nc\n`)
  rmSync(folder, { recursive: true })
})

test('a rotation that fails half way is gone on with by the next event', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  // What is to be removed and cannot be, since it is a folder.
  mkdirSync(join(folder, 'audit-0.log'))
  const log = await openAuditLog(withTurns(simulatedRuntime(1)), { path, maxSizeMb: 0.001, maxBackups: 1 })
  await log.append(line('a'.repeat(600)))
  await assert.rejects(log.append(line('b'.repeat(600))), /EISDIR|directory/)
  await log.append(line('c'))
  assert.equal(readFileSync(path, 'utf8'), 'c\n')
  await log.close()
  rmSync(folder, { recursive: true })
})

test('a size of 0 is the default one, as it is in Kubernetes: nothing is rotated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const log = await openAuditLog(withTurns(simulatedRuntime(1)), { path, maxSizeMb: 0, maxBackups: 0, maxAgeDays: 0 })
  for (const name of ['a', 'b', 'c']) await log.append(line(name))
  assert.equal(readFileSync(path, 'utf8'), 'a\nb\nc\n')
  assert.deepEqual(readdirSync(folder), ['audit.log'])
  await log.close()
  rmSync(folder, { recursive: true })
})

test('what is rotated is compressed where that is asked for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const log = await openAuditLog(withTurns(simulatedRuntime(1)), {
    path: join(folder, 'audit.log'),
    maxSizeMb: 1,
    compress: true,
  })
  for (const text of ['a', 'b']) await log.append(line(text.repeat(700_000)))
  await log.close()
  const [rotated = '', current] = readdirSync(folder).sort()
  assert.match(rotated, /^audit-.*\.log\.gz$/)
  assert.equal(current, 'audit.log')
  assert.equal(gunzipSync(readFileSync(join(folder, rotated))).toString(), `${'a'.repeat(700_000)}\n`)
  rmSync(folder, { recursive: true })
})

test('what an earlier process had not finished compressing is compressed, and counts once among what is kept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.log')
  const old = (day: number) => join(folder, `audit-1969-01-0${day}T00-00-00.000Z.log`)
  for (const day of [1, 2, 3]) writeFileSync(old(day), `day ${day}\n`)
  writeFileSync(`${old(3)}.gz`, 'half of it')
  const options = { path, maxSizeMb: 0.001, maxBackups: 3, compress: true }
  const first = await openAuditLog(withTurns(simulatedRuntime(1)), options)
  await first.close()
  assert.deepEqual(
    readdirSync(folder).sort(),
    [...[1, 2, 3].map((day) => `${basename(old(day))}.gz`), 'audit.log'].sort(),
  )
  assert.equal(gunzipSync(readFileSync(`${old(3)}.gz`)).toString(), 'day 3\n')
  writeFileSync(old(3), 'day 3\n')
  const log = await openAuditLog(withTurns(simulatedRuntime(1)), options)
  for (const text of ['a', 'b']) await log.append(line(text.repeat(700)))
  await log.close()
  assert.deepEqual(
    [1, 2, 3].map((day) => existsSync(`${old(day)}.gz`)),
    [false, true, true],
  )
  rmSync(folder, { recursive: true })
})
