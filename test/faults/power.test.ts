import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { seededInts } from '../../src/base/random.ts'
import { answersOf, checkAnswers, rounds } from './answers.ts'
import { noiseOf } from './noise.ts'
import { type Chunk, createDisk, readTrace, STRACE_OPTIONS, straceMissing } from './power.ts'

const WRITER = join(import.meta.dirname, 'writer.ts')
const SERVER = join(import.meta.dirname, 'server-writer.ts')
const missing = straceMissing()
/** Each looks into some hundred stores, and takes as long as a hundred of the rounds that kill one. */
const ROUNDS = Math.floor(rounds(100) / 100)

/** The stores that are only looked into lie in memory, where the machine has a place for that: their own syncs prove nothing. */
const LOOKED_INTO = firstWritable('/dev/shm', tmpdir())

test('power loss at the moment of an answer, or within a commit: every answered write is on disk', {
  skip: missing ?? false,
}, async () => {
  const { answers, between } = await everyMoment([WRITER], ['4', '90'], isWhole)
  assert.ok(answers >= ROUNDS * 90 && between > ROUNDS * 20, `${answers} answers, ${between} moments between`)
})

test('the same where writes come one by one, and are done in place', { skip: missing ?? false }, async () => {
  const { answers, inPlace } = await everyMoment([WRITER], ['1', '60', 'quick'], isWhole)
  assert.ok(answers >= ROUNDS * 60 && inPlace > ROUNDS * 40, `${answers} answers, ${inPlace} in place`)
})

test('the same of a log whose files are written in turn and again, at a sixth of the moments', {
  skip: missing ?? false,
}, async () => {
  const { answers, begunAnew } = await everyMoment([WRITER], ['1', '320', 'quick', 'whole'], isWhole, 6)
  assert.ok(answers >= ROUNDS * 50, `${answers} answers`)
  assert.ok(begunAnew >= ROUNDS * 3, `the log was begun at the beginning of a file ${begunAnew} times`)
})

test('the same of a whole API server: what it has answered is on disk', { skip: missing ?? false }, async () => {
  const { answers, between } = await everyMoment([SERVER], ['4', '45'], (key, value) => {
    const { kind, metadata } = JSON.parse(value)
    return kind === 'ConfigMap' && metadata.name === key.split('/').at(-1)
  })
  assert.ok(answers >= ROUNDS * 45 && between > ROUNDS * 10, `${answers} answers, ${between} moments between`)
})

/** A value as the writer writes them, to its end. */
function isWhole(key: string, value: string): boolean {
  if (!value.startsWith(`${key} `)) return false
  const text = value.slice(key.length + 1)
  return text === 'x'.repeat(text.length) || text === noiseOf(text.length)
}

/** The tables, and the log before them. */
const FILES = ['data.mdb', 'log-0', 'log-1'].map((name) => join('store', name))

interface Moments {
  answers: number
  /** Within a commit. */
  between: number
  /** Syncs by the thread that answers. */
  inPlace: number
  /** Records at the beginning of a file of the log. */
  begunAnew: number
}

/**
 * Runs a program that writes to the store in a directory, under strace, and looks into the store that a loss of power would
 * have left at each answer and after each write to the disk that no sync has finished.
 */
async function everyMoment(
  program: readonly string[],
  args: readonly string[],
  valid: (key: string, value: string) => boolean,
  /** Of so many moments one is looked into, by chance. */
  oneOf = 1,
): Promise<Moments> {
  const moments: Moments = { answers: 0, between: 0, inPlace: 0, begunAnew: 0 }
  for (let round = 0; round < ROUNDS; round++) await everyMomentOf(round, [...program, ...args], valid, moments, oneOf)
  return moments
}

async function everyMomentOf(
  round: number,
  program: readonly string[],
  valid: (key: string, value: string) => boolean,
  moments: Moments,
  oneOf: number,
): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'skiff-power-'))
  const after = mkdtempSync(join(LOOKED_INTO, 'skiff-power-'))
  try {
    // The writer's store is its directory, the server's is below its own.
    const [script = '', ...args] = program
    const dir = join(root, script === SERVER ? 'data' : 'store')
    const log = join(root, 'trace')
    const child = [process.execPath, '--disable-warning=ExperimentalWarning', script, dir, ...args]
    const traced = spawnSync('strace', [...STRACE_OPTIONS, '-o', log, ...child], { encoding: 'utf8' })
    assert.equal(traced.status, 0, traced.stderr)

    const random = seededInts(1 + round)
    const disk = createDisk()
    let said = ''
    const lines = readFileSync(log, 'latin1').split('\n')
    const main = lines[0]?.split(' ')[0]
    moments.inPlace += lines.filter((line) => line.startsWith(`${main} `) && line.includes(' fdatasync(')).length
    for (const step of readTrace(lines, ...FILES)) {
      if (step.type !== 'said') disk.apply(step)
      if ('chunks' in step && step.file.includes('log-') && isRecordAtBeginning(step.chunks)) moments.begunAnew++
      if (step.type === 'said') said += step.text
      if (random() % oneOf !== 0) continue
      if (step.type === 'said') {
        moments.answers++
        // The least that the disk can hold.
        await checkImages(
          after,
          disk.images(() => false),
          said,
          valid,
        )
      } else if (step.type === 'written' && said !== '') {
        // In the midst of a commit: some of it has reached the disk, and no promise says which part.
        moments.between++
        await checkImages(
          after,
          disk.images(() => random() % 2 === 0),
          said,
          valid,
        )
      }
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
    rmSync(after, { recursive: true, force: true })
  }
}

/** Not of zeros, by which a file is made as long as it will be. */
const isRecordAtBeginning = (chunks: readonly Chunk[]) =>
  chunks.some(({ offset, bytes }) => offset === 0 && bytes.some((byte) => byte !== 0))

function firstWritable(wanted: string, other: string): string {
  try {
    accessSync(wanted, constants.W_OK)
    return wanted
  } catch {
    return other
  }
}

async function checkImages(
  root: string,
  images: readonly (readonly [file: string, bytes: Buffer])[],
  said: string,
  valid: (key: string, value: string) => boolean,
): Promise<void> {
  const dir = join(root, 'after')
  mkdirSync(dir)
  for (const [file, bytes] of images) writeFileSync(join(dir, basename(file)), bytes)
  await checkAnswers(dir, answersOf(said), valid)
  rmSync(dir, { recursive: true })
}

test('a store that answers before its sync would be found out', () => {
  const disk = createDisk()
  const trace = [
    '7  openat(AT_FDCWD</tmp>, "\\x64\\x62", O_RDWR|O_CREAT, 0664) = 5</tmp/db>',
    '7  pwrite64(5</tmp/db>, "\\x61\\x62", 2, 0) = 2',
    '8  fdatasync(5</tmp/db> <unfinished ...>',
    '7  pwrite64(5</tmp/db>, "\\x63\\x64", 2, 2) = 2',
    '8  <... fdatasync resumed>)          = 0',
    '7  write(1<pipe:[1]>, "\\x6f\\x6b\\x0a", 3) = 3',
    '7  openat(AT_FDCWD</tmp>, "\\x64\\x62", O_WRONLY|O_DSYNC) = 6</tmp/db>',
    '7  pwritev(6</tmp/db>, [{iov_base="\\x65", iov_len=1}, {iov_base="\\x66", iov_len=1}], 2, 4) = 2',
  ]
  const images: string[] = []
  for (const step of readTrace(trace, 'db')) {
    if (step.type !== 'said') disk.apply(step)
    images.push(`${step.type} ${textOf(disk.images(() => false))}`)
  }
  assert.deepEqual(images, ['written ', 'written ', 'synced ab', 'said ab', 'durable ab\0\0ef'])
  assert.equal(textOf(disk.images(() => true)), 'abcdef')
})

const textOf = (images: readonly (readonly [string, Buffer])[]) =>
  images.map(([, bytes]) => bytes.toString('latin1')).join(' ')
