import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainCommand } from './container-command.ts'

const ends = (endsAfterMs: number | undefined, exitCode = 0, others: object = {}) => ({
  endsAfterMs,
  exitCode,
  onSigterm: undefined,
  terminationMessage: '',
  output: [],
  ...others,
})
const out = (text: string, afterMs = 0) => ({ afterMs, stream: 'stdout', text })
const err = (text: string, afterMs = 0) => ({ afterMs, stream: 'stderr', text })
const printed = (script: string) => shell(script)?.output
const shell = (script: string) => plainCommand(['sh', '-c', script], [])

test('plain commands say when and how they end', () => {
  assert.deepEqual(plainCommand(['true'], []), ends(0))
  assert.deepEqual(plainCommand(['/bin/false'], []), ends(0, 1))
  assert.deepEqual(plainCommand([], ['sleep', '5']), ends(5000))
  assert.deepEqual(plainCommand(['sleep'], ['1.5m']), ends(90_000))
  assert.deepEqual(plainCommand(['echo'], ['a', '$(B)', '>']), ends(0, 0, { output: [out('a $(B) >\n')] }))
  assert.deepEqual(plainCommand(['sleep', 'infinity'], []), ends(undefined))
  assert.deepEqual(plainCommand(['sleep', '999999999999'], []), ends(undefined))
})

test('a shell runs its statements one after the other', () => {
  assert.deepEqual(shell('exit 4'), ends(0, 4))
  assert.deepEqual(shell('sleep 1; exit 3'), ends(1000, 3))
  assert.deepEqual(shell('sleep 1 && false\nsleep 2'), ends(3000))
  assert.deepEqual(shell('false && sleep 5'), ends(0, 1))
  assert.deepEqual(shell('false; exit'), ends(0, 1))
  assert.deepEqual(shell(''), ends(0))
  assert.deepEqual(shell("echo 'it is > done'; exec sleep 2"), ends(2000, 0, { output: [out('it is > done\n')] }))
  assert.deepEqual(shell('sleep 5 > /dev/null 2>&1; exit 1'), ends(5000, 1))
  assert.deepEqual(plainCommand(['/bin/bash', '-ec'], ['exit 1']), ends(0, 1))
})

test('what a shell traps and what it leaves as its message', () => {
  const loop = 'while true; do sleep 0.2; done'
  assert.deepEqual(shell(`trap '' TERM; ${loop}`), ends(undefined, 0, { onSigterm: 'ignored' }))
  assert.deepEqual(shell(`touch /ok; trap "exit 5" SIGTERM; ${loop}`), ends(undefined, 0, { onSigterm: 5 }))
  assert.deepEqual(
    shell(`echo oh no > /dev/termination-log; sleep 1; exit 3`),
    ends(1000, 3, { terminationMessage: 'oh no\n' }),
  )
  assert.deepEqual(shell('echo elsewhere > /tmp/x'), ends(0))
})

test('what it prints, when, and where to', () => {
  assert.deepEqual(printed('echo a; sleep 1; echo b; false && echo c; exit 1; echo d'), [out('a\n'), out('b\n', 1000)])
  assert.deepEqual(printed('echo  one \'two  \'three"\\$4" grüße!'), [out('one two  three$4 grüße!\n')])
  assert.deepEqual(printed("echo -n a; echo -e 'b\\tc\\q'; echo 'd\\n'; echo"), [
    out('a'),
    out('b\tc\\q\n'),
    out('d\\n\n'),
    out('\n'),
  ])
  assert.deepEqual(printed("printf '%s=%d%%\\n' a 1 b 2; printf 'x\\101\\n'"), [out('a=1%\nb=2%\n'), out('xA\n')])
  assert.deepEqual(printed('echo a >&2; echo b > /dev/stderr; echo c 2>/dev/null; echo d > /tmp/x; >&2 echo e'), [
    err('a\n'),
    err('b\n'),
    out('c\n'),
    err('e\n'),
  ])
  assert.deepEqual(shell('echo a > /dev/termination-log; echo b >> /dev/termination-log')?.terminationMessage, 'a\nb\n')
  for (const script of ["printf '%x' 1", "printf '%d' a", 'printf', 'echo a >', 'echo a > ; echo b', 'echo *'])
    assert.equal(shell(script), undefined, script)
})

test('what it does over and over', () => {
  assert.deepEqual(
    shell('echo begin; while true; do echo tick; sleep 0.5; echo tock\nsleep 0.5; done'),
    ends(undefined, 0, {
      output: [out('begin\n')],
      loop: { beginsAfterMs: 0, everyMs: 1000, output: [out('tick\n'), out('tock\n', 500)] },
    }),
  )
  assert.deepEqual(shell('echo a; while :; do echo b; sleep infinity; done')?.output, [out('a\n'), out('b\n')])
  assert.deepEqual(shell('exit 2; while true; do sleep 1; done'), ends(0, 2))
  for (const body of ['echo busy', 'sleep 1; exit 1', 'sleep 1; echo x > /dev/termination-log', 'date; sleep 1'])
    assert.equal(shell(`while true; do ${body}; done`), undefined, body)
})

test('a script of any form is read in a time that its length bounds', () => {
  const started = process.hrtime.bigint()
  for (const [begin, filling] of [
    ['while :\ndo', '\n'],
    ['while :', '\n'],
    ['while true; do x', ' '],
    ['', 'while : ;do '],
    ['while true; do sleep 1; ', ';'],
  ] as const)
    for (let round = 0; round < 20; round++)
      assert.equal(shell((begin + filling.repeat(1000)).slice(0, 1000)), undefined, begin)
  assert.equal(shell(`while :${'\n'.repeat(400)}do\nsleep 1${'\n'.repeat(400)}done ;\n`)?.endsAfterMs, undefined)
  assert.ok(process.hrtime.bigint() - started < 3_000_000_000n)
})

test('a command that is too long, or prints too much, is not understood', () => {
  const words = (count: number) => ['printf', 'x'.repeat(900).concat('%s'), ...Array<string>(count).fill('')]
  assert.equal(plainCommand(words(70), [])?.output[0]?.text.length, 63_000)
  assert.equal(plainCommand(words(80), []), undefined)
  assert.equal(plainCommand(['echo', ...Array<string>(11_000).fill('')], []), undefined)
})

test('what is not plain is not understood', () => {
  for (const script of [
    'sleep $X',
    'ls',
    'exit "$?"',
    'sleep 1 | cat',
    'sleep 1 &',
    '(exit 1)',
    'if true; then exit 1; fi',
    'sleep',
    'sleep 1 2',
    'exit -1',
    "trap 'rm x' TERM",
    "echo 'a",
    'sleep 1e9',
    `echo ${'a'.repeat(2000)}`,
  ])
    assert.equal(shell(script), undefined, script)
  for (const command of [
    [],
    ['nginx'],
    ['sh'],
    ['sh', 'script.sh'],
    ['sh', '-c'],
    ['sh', '-c', 'exit 0', 'x'],
    ['__proto__'],
    [''],
  ])
    assert.equal(plainCommand(command, []), undefined, command.join(' '))
})
