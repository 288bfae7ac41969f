import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainCommand } from './container-command.ts'

const ends = (endsAfterMs: number | undefined, exitCode = 0, others: object = {}) => ({
  endsAfterMs,
  exitCode,
  onSigterm: undefined,
  terminationMessage: '',
  ...others,
})
const shell = (script: string) => plainCommand(['sh', '-c', script], [])

test('plain commands say when and how they end', () => {
  assert.deepEqual(plainCommand(['true'], []), ends(0))
  assert.deepEqual(plainCommand(['/bin/false'], []), ends(0, 1))
  assert.deepEqual(plainCommand([], ['sleep', '5']), ends(5000))
  assert.deepEqual(plainCommand(['sleep'], ['1.5m']), ends(90_000))
  assert.deepEqual(plainCommand(['echo'], ['a', '$(B)']), ends(0))
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
  assert.deepEqual(shell("echo 'it is > done'; exec sleep 2"), ends(2000))
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
