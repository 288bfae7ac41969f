import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../../base/simulated-runtime.ts'
import type { CommandStreams } from '../runtime.ts'
import { readExecAnswers } from './exec-answers.ts'
import { runCommand } from './simulated-command.ts'

const answers = await readExecAnswers(`
- {command: [slow], stdout: "out\\n", stderr: "err\\n", exitCode: 3, delay: 5s}
- {command: "ls /*", stdout: "bin\\n"}`)

/** Keys that are typed, or undefined: none is sent. */
function run(
  command: readonly string[],
  { keys, tty = false }: { keys?: AsyncIterable<Uint8Array>; tty?: boolean } = {},
) {
  const runtime = simulatedRuntime(1)
  const said = { stdout: '', stderr: '' }
  const streams: CommandStreams = {
    tty,
    ...(keys === undefined ? {} : { stdin: keys }),
    print: async (stream, what) => {
      said[stream] += Buffer.from(what).toString()
    },
  }
  const abort = new AbortController()
  const place = { clock: runtime.clock, answers, envs: { A: 'b' }, hostname: 'p', workingDir: '' }
  return { runtime, said, abort, code: runCommand(place, command, streams, abort.signal) }
}

async function* typed(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

const ended = async (started: ReturnType<typeof run>) => [
  await started.runtime.complete(started.code),
  started.said.stdout,
  started.said.stderr,
]

test('a command is answered as the annotation says, after the time it takes', async () => {
  const started = run(['slow'])
  await started.runtime.advance(4999)
  assert.deepEqual(started.said, { stdout: '', stderr: '' })
  await started.runtime.advance(1)
  assert.deepEqual(await ended(started), [3, 'out\n', 'err\n'])
  assert.deepEqual(await ended(run(['sh', '-c', 'ls /etc'])), [0, 'bin\n', ''])
})

test('a plain one does what it says, in its time; one that does not end, until the client goes', async () => {
  assert.deepEqual(await ended(run(['sh', '-c', 'echo a; echo b >&2; exit 4'])), [4, 'a\n', 'b\n'])
  const loop = run(['sh', '-c', 'while true; do echo tick; sleep 10; done'])
  await loop.runtime.advance(25_000)
  assert.equal(loop.said.stdout, 'tick\ntick\ntick\n')
  const gone = assert.rejects(loop.code, /gone/)
  loop.abort.abort(new Error('gone'))
  await loop.runtime.complete(gone)
})

test('what a container knows of itself', async () => {
  assert.deepEqual(await ended(run(['env'])), [0, 'HOSTNAME=p\nA=b\n', ''])
  assert.deepEqual(await ended(run(['printenv', 'A'])), [0, 'b\n', ''])
  assert.deepEqual(await ended(run(['printenv', 'toString'])), [1, '', ''])
  assert.deepEqual(await ended(run(['/bin/hostname'])), [0, 'p\n', ''])
  assert.deepEqual(await ended(run(['pwd'])), [0, '/\n', ''])
  assert.deepEqual(await ended(run(['cat'], { keys: typed('a\nb', 'c') })), [0, 'a\nbc', ''])
})

test('anything else is not there', async () => {
  for (const command of [['ls'], ['cat', '/etc/passwd'], ['sh', 'script'], ['tar', 'cf', '-', '/'], ['']])
    await assert.rejects(run(command).code, /executable file not found in \$PATH: the container is simulated/)
})

test('a shell takes its script from standard input', async () => {
  const script = 'echo a\nls /tmp\nnone x\n\nfalse\nexit\necho never\n'
  assert.deepEqual(await ended(run(['sh'], { keys: typed(script) })), [1, 'a\nbin\n', 'sh: none: not found\n'])
  assert.deepEqual(await ended(run(['/bin/bash', '-i'], { keys: typed('exit 300') })), [300 & 0xff, '', ''])
  assert.deepEqual(await ended(run(['sh'])), [0, '', ''])
})

test('a line of any length costs what it is long', async () => {
  const started = process.hrtime.bigint()
  const megabyte = Array.from({ length: 16 }, () => 'a'.repeat(64 * 1024))
  const [code, , err] = await ended(run(['sh'], { keys: typed(...megabyte, '\necho b\n') }))
  assert.deepEqual([code, String(err).length], [0, `sh: ${'a'.repeat(64 * 1024)}: not found\n`.length])
  const spaces = `${' '.repeat(60_000)}x\nexit${' '.repeat(60_000)}x\n exit 3 ;${' '.repeat(60_000)}\necho never\n`
  assert.deepEqual((await ended(run(['sh'], { keys: typed(spaces) }))).slice(0, 2), [3, ''])
  const backspaces = typed('ü'.repeat(60_000), '\x7f'.repeat(60_000), 'exit 2\r')
  assert.equal((await ended(run(['sh'], { keys: backspaces, tty: true })))[0], 2)
  assert.ok(process.hrtime.bigint() - started < 10_000_000_000n)
})

test('at a terminal it shows what is typed, and Ctrl-C ends what runs', async () => {
  const keys = typed('no\x03', 'abc\x15', 'exü', '\x7f', 'it 2\r')
  const screen = '$ no^C\n$ abc\b \b\b \b\b \bexü\b \bit 2\n'
  assert.deepEqual(await ended(run(['sh'], { keys, tty: true })), [2, screen, ''])
  assert.deepEqual(await ended(run(['sh'], { keys: typed('sleep 1000000\r', '\x03', '\x04'), tty: true })), [
    130,
    '$ sleep 1000000\n^C\n$ ',
    '',
  ])
  assert.deepEqual(await ended(run(['sleep', '1000000'], { keys: typed('\x03'), tty: true })), [130, '', ''])
})
