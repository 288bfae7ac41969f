/** kubectl logs of simulated containers: what their commands print, and what annotations and files say in their place. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Any, type Kubectl, kubectlPath, withoutKubectl } from '../kubectl.ts'
import { isReady, made, pod, type Stage, startStage } from './stage.ts'

describe('logs of simulated containers', { skip: withoutKubectl }, () => {
  let stage: Stage
  let kubectl: Kubectl

  before(async () => {
    stage = await startStage()
    kubectl = stage.kubectl
    writeFileSync(join(stage.directory, 'a.log'), 'from a file\n')
    symlinkSync('/etc/hostname', join(stage.directory, 'link'))
    const crashed = (object: Any) => object.status?.containerStatuses?.[0]?.restartCount > 0
    const pulling = { 'sim.skiff.dev/image': 'absent', 'sim.skiff.dev/pull-delay': '1h' }
    await Promise.all([
      made(
        kubectl,
        isReady,
        pod('two', { containers: { a: 'echo one; echo two >&2; sleep 3600', b: 'echo other; sleep 3600' } }),
        pod('loop', { containers: { c: 'echo begun; while true; do echo tick; sleep 0.2; done' } }),
        pod('told', { annotations: { 'sim.skiff.dev/log': 'x\ny\n' } }),
        pod('file', { annotations: { 'sim.skiff.dev/log-file': 'a.log' } }),
        pod('link', { annotations: { 'sim.skiff.dev/log-file': 'link' } }),
      ),
      made(kubectl, crashed, pod('crash', { containers: { c: 'echo bye; exit 1' } })),
      made(kubectl, () => true, pod('pulling', { annotations: pulling })),
    ])
  })
  after(() => stage?.stop())

  const following = (...args: readonly string[]): ChildProcess =>
    spawn(kubectlPath, ['--kubeconfig', stage.cluster.kubeconfig, 'logs', '-f', ...args])

  test('what a command prints, by container, from its end, so many bytes, with times and since a time', async () => {
    assert.equal(await kubectl('logs', 'two', '-c', 'a'), 'one\ntwo\n')
    assert.equal(await kubectl('logs', 'two', '-c', 'a', '--tail=1'), 'two\n')
    assert.equal(await kubectl('logs', 'two', '-c', 'a', '--limit-bytes=2'), 'on')
    // kubectl asks for the containers in no order.
    const all = (await kubectl('logs', 'two', '--all-containers', '--prefix', '--timestamps'))
      .split(/^(?=\[)/m)
      .sort((one, other) => one.slice(0, '[pod/two/a'.length).localeCompare(other.slice(0, '[pod/two/a'.length)))
      .join('')
    const stamp = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{9}Z'
    const lines = ['a\\] STAMP one', 'a\\] STAMP two', 'b\\] STAMP other']
    assert.match(
      all,
      new RegExp(`^${lines.map((line) => `\\[pod/two/${line}\\n`).join('')}$`.replaceAll('STAMP', stamp)),
    )
    const timeOf = (line: string | undefined) => Date.parse(line?.split(' ')[0] as string)
    // Until what it printed first is more than a second old.
    const child = following('loop', '--timestamps')
    let printed = ''
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      printed += chunk
      const whole = printed.split('\n').slice(0, -1)
      if (timeOf(whole.at(-1)) - timeOf(whole[0]) >= 2000) break
    }
    child.kill()
    const [first, second] = printed.split('\n').slice(1)
    assert.equal(timeOf(second) - timeOf(first), 200)
    assert.equal(await kubectl('logs', 'loop', '--since-time=2100-01-01T00:00:00Z'), '')
    assert.doesNotMatch(await kubectl('logs', 'loop', '--since=1s'), /begun/)
  })

  test('a log that is followed comes as it is printed', async () => {
    const child = following('loop', '--tail=0')
    let text = ''
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      text += chunk
      if (text.length >= 'tick\n'.length * 3) break
    }
    assert.match(text, /^(tick\n){3}/)
    child.kill()
  })

  test('a log that is followed ends with its container', async () => {
    const child = following('told')
    const closed = once(child, 'close')
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk
    })
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
    await kubectl('delete', 'pod', 'told', '--grace-period=0', '--force')
    assert.equal((await closed)[0], 0)
    assert.equal(text, 'x\ny\n')
  })

  test('a file in the place of a log, as it grows; no other file', async () => {
    assert.equal(await kubectl('logs', 'file'), 'from a file\n')
    const child = following('file')
    const out = child.stdout as NonNullable<typeof child.stdout>
    assert.equal(String((await once(out, 'data'))[0]), 'from a file\n')
    appendFileSync(join(stage.directory, 'a.log'), 'more\n')
    assert.equal(String((await once(out, 'data'))[0]), 'more\n')
    writeFileSync(join(stage.directory, 'a.log'), 'anew\n')
    assert.equal(String((await once(out, 'data'))[0]), 'anew\n')
    child.kill()
    const { code, err } = await kubectl.run(['logs', 'link'])
    assert.deepEqual([code, /links are not followed/.test(err)], [1, true])
  })

  test('the log of the run before, and of none', async () => {
    assert.equal(await kubectl('logs', 'crash', '--previous'), 'bye\n')
    const none = await kubectl.run(['logs', 'two', '-c', 'a', '--previous'])
    assert.match(none.err, /previous terminated container "a" in pod "two" not found/)
    const waiting = await kubectl.run(['logs', 'pulling'])
    assert.match(waiting.err, /container "c" in pod "pulling" is waiting to start: ContainerCreating/)
  })
})
