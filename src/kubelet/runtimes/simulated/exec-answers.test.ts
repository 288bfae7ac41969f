import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerTo, readExecAnswers } from './exec-answers.ts'
import { simulationProblems } from './simulation-problems.ts'

test('answers are read from JSON and from YAML', async () => {
  const expected = [{ command: ['a', 'b'], stdout: 'x\n', stderr: '', exitCode: 3, delayMs: 500 }]
  assert.deepEqual(
    await readExecAnswers('[{"command": ["a", "b"], "stdout": "x\\n", "exitCode": 3, "delay": "500ms"}]'),
    expected,
  )
  assert.deepEqual(
    await readExecAnswers('- command: [a, b]\n  stdout: |\n    x\n  exitCode: 3\n  delay: 0.5\n'),
    expected,
  )
  assert.deepEqual(await readExecAnswers('[]'), [])
})

test('what is wrong with them is said in one line', async () => {
  for (const [text, words] of [
    ['{}', /^it must be a list/],
    ['- command: [a\n', /^Flow sequence/],
    ['- a: &x [*x]\n', /./],
    ['- x', /^answer 1: it must have fields/],
    ['- command: a\n- command: []', /^answer 2: command must be/],
    ['- command: [1]', /command must be/],
    ['- {command: a, stdin: x}', /^answer 1: there is no field "stdin", only command/],
    ['- {command: a, stdout: 1}', /stdout and stderr must be texts/],
    ['- {command: a, exitCode: 256}', /exitCode/],
    ['- {command: a, exitCode: "1"}', /exitCode/],
    ['- {command: a, delay: soon}', /delay must be a time/],
  ] as const)
    await assert.rejects(readExecAnswers(text), ({ message }) => words.test(message) && !message.includes('\n'), text)
})

test('YAML is read up to a length, JSON of any; what has been read is not read again', {
  timeout: 20_000,
}, async () => {
  const started = process.hrtime.bigint()
  const long = JSON.stringify([{ command: 'a', stdout: 'x'.repeat(200_000) }])
  const [answer] = await readExecAnswers(long)
  assert.equal(answer?.stdout.length, 200_000)
  assert.equal(await readExecAnswers(long), await readExecAnswers(long))
  for (const text of ['\'"'.repeat(60_000), '['.repeat(240_000), 'k: x\n'.repeat(20_000)])
    await assert.rejects(readExecAnswers(text), /too long to be read as YAML/)
  for (const text of ['\'"'.repeat(4000), '['.repeat(8000), 'k: x\n'.repeat(1600)])
    await assert.rejects(readExecAnswers(text), /./)
  assert.ok(process.hrtime.bigint() - started < 10_000_000_000n)
})

test('the first that is about a command answers it: by its words, or by a pattern', () => {
  const answer = (command: string | readonly string[]) => ({ command, stdout: '', stderr: '', exitCode: 0, delayMs: 0 })
  const answers = [['ls', '/'], 'ls /tmp*', 'a*b*c', '*', 'never'].map(answer)
  const found = (...command: string[]) => answers.indexOf(answerTo(answers, command)!)
  assert.equal(found('ls', '/'), 0)
  assert.equal(found('ls', '/tmp'), 1)
  assert.equal(found('ls', '/tmp', 'x y'), 1)
  assert.equal(found('axbxc'), 2)
  assert.equal(found('abc', 'c'), 2)
  for (const text of ['ab', 'acb', 'xabc', 'ls']) assert.equal(found(text), 3, text)
  const started = process.hrtime.bigint()
  assert.equal(answerTo([answer(`${'a*'.repeat(100)}b`)], ['a'.repeat(100_000)]), undefined)
  assert.ok(process.hrtime.bigint() - started < 1_000_000_000n)
})

test('what of the annotations is not understood is told', async () => {
  const problems = (annotations: Readonly<Record<string, string>>) =>
    simulationProblems({ annotations, metadata: { name: 'c', attempt: 0 } })
  assert.equal(problems({ other: 'x', 'd.sim.skiff.dev/exit-code': 'x' }), undefined)
  assert.deepEqual(
    await problems({
      'sim.skiff.dev/exit-after': 'never',
      'sim.skiff.dev/exit-code': '3',
      'sim.skiff.dev/readiness': 'success-after=5s',
      'sim.skiff.dev/cpu': '250m',
      'sim.skiff.dev/memory': '64Mi',
      'c.sim.skiff.dev/log': '',
      'sim.skiff.dev/image': 'absent',
      'sim.skiff.dev/exec': '[]',
    }),
    [],
  )
  const wrong = await problems({
    'sim.skiff.dev/exit-after': 'soon',
    'c.sim.skiff.dev/exit-code': '-1',
    'sim.skiff.dev/readiness': 'success-after',
    'sim.skiff.dev/exec': 'x',
    'sim.skiff.dev/exit-cod': '1',
    'sim.skiff.dev/never-ready': 'yes',
    'sim.skiff.dev/cpu': 'much',
    'sim.skiff.dev/image': 'gone',
  })
  assert.equal(wrong?.length, 8)
  assert.ok(wrong?.includes('annotation sim.skiff.dev/exit-cod: there is no annotation of this name'))
})
