/** kubectl exec, attach and cp with simulated containers, by WebSocket and by SPDY, and the Events about what is not understood. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { kubectlFor, kubectlPath, withoutKubectl } from '../kubectl.ts'
import { PROTOCOLS, speaking } from '../streams/kubelet-behind.ts'
import { isReady, made, pod, type Stage, startStage } from './stage.ts'

const ANSWERS = `
- command: [pg_isready]
  stdout: "accepting connections\\n"
- command: psql *
  stdout: "1 row\\n"
  stderr: "a warning\\n"
  exitCode: 4
  delay: 100ms`
const probe = { exec: { command: ['pg_isready'] }, periodSeconds: 1 }
const failing = { exec: { command: ['psql', '-l'] }, periodSeconds: 1 }

describe('sessions with simulated containers', { skip: withoutKubectl }, () => {
  let stage: Stage

  before(async () => {
    stage = await startStage()
    const exec = { 'sim.skiff.dev/exec': ANSWERS }
    const container = (name: string, more: object) => ({ name, image: 'postgres', ...more })
    await Promise.all([
      made(
        stage.kubectl,
        isReady,
        pod('db', { annotations: exec, more: { containers: [container('c', { readinessProbe: probe })] } }),
        pod('loop', { containers: { c: 'while true; do echo tick; sleep 0.1; done' } }),
        pod('wrong', { annotations: { 'sim.skiff.dev/exec': '- command: [a' } }),
      ),
      made(
        stage.kubectl,
        ({ status }) => status?.containerStatuses?.[1]?.state.terminated !== undefined,
        pod('ended', {
          more: {
            restartPolicy: 'Never',
            containers: [container('c', {}), container('job', { image: 'sim.skiff.dev/exit-code:0' })],
          },
        }),
      ),
      made(
        stage.kubectl,
        ({ status }) => status?.phase === 'Running',
        pod('sick', { annotations: exec, more: { containers: [container('c', { readinessProbe: failing })] } }),
      ),
    ])
  })
  after(() => stage?.stop())

  for (const by of PROTOCOLS)
    describe(`by ${by}`, () => {
      const kubectl = () => kubectlFor(stage.cluster.kubeconfig, 'default', speaking(by))
      const exec = async (args: readonly string[], input?: string) => {
        const { code, out, err } = await kubectl().run(['exec', ...args], input)
        return [code, out, err.replace(/^command terminated.*\n/m, '')]
      }

      test('exec gives what the annotation says, on both streams, and the exit code', async () => {
        assert.deepEqual(await exec(['db', '--', 'pg_isready']), [0, 'accepting connections\n', ''])
        assert.deepEqual(await exec(['db', '--', 'psql', '-c', 'x']), [4, '1 row\n', 'a warning\n'])
      })

      test('a plain command does what it says, and one that nothing is known of is not there', async () => {
        assert.deepEqual(await exec(['loop', '--', 'sh', '-c', 'echo a; exit 7']), [7, 'a\n', ''])
        const [code, , err] = await exec(['loop', '--', 'ls', '/'])
        assert.equal(code, 1)
        assert.match(String(err), /exec: "ls": executable file not found in \$PATH: the container is simulated/)
        // Once for the runtime, and once for what asks it on behalf of a WebSocket.
        assert.equal(String(err).split('Internal error occurred: ').length - 1, by === 'websocket' ? 2 : 1)
        const wrong = await exec(['wrong', '--', 'true'])
        assert.match(String(wrong[2]), /annotation sim\.skiff\.dev\/exec: Flow sequence/)
      })

      test('a container that has ended is refused before there is a session', async () => {
        const refused = async (...args: readonly string[]) => (await kubectl().run(args)).err.trim().split('\n').at(-1)
        const refusal = 'error: unable to upgrade connection: container'
        assert.equal(await refused('exec', 'ended', '-c', 'job', '--', 'true'), `${refusal} not found ("job")`)
        assert.equal(await refused('attach', 'ended', '-c', 'job'), `${refusal} job not found in pod ended_default`)
      })

      test('exec -i sends standard input, to a shell and through', async () => {
        const text = 'line\n'.repeat(40_000)
        assert.deepEqual(await exec(['-i', 'db', '--', 'cat'], text), [0, text, ''])
        assert.deepEqual(await exec(['-i', 'db', '--', 'sh'], 'pg_isready\nexit 3\n'), [
          3,
          'accepting connections\n',
          '',
        ])
      })

      test('attach shows what is printed from then on', async () => {
        const child = spawn(kubectlPath, ['--kubeconfig', stage.cluster.kubeconfig, 'attach', 'loop'], {
          env: { ...process.env, ...speaking(by) },
        })
        let text = ''
        for await (const chunk of child.stdout) {
          text += chunk
          if (text.length >= 'tick\n'.length * 3) break
        }
        assert.match(text, /^(tick\n){3}/)
        child.kill()
        await once(child, 'close')
      })

      test('cp is refused in words', async () => {
        const { code, err } = await kubectl().run(['cp', 'db:/etc/passwd', '/dev/null'])
        assert.deepEqual([code, /"tar": executable file not found/.test(err)], [1, true])
      })
    })

  test('probes are answered as commands are, and what is not understood is told as an Event', async () => {
    using events = stage.kubectl.watch('events')
    const said = (name: string, reason: string, words: RegExp) =>
      events.until(
        ({ object }) =>
          object.involvedObject.name === name && object.reason === reason && words.test(object.message as string),
      )
    await said('sick', 'Unhealthy', /Readiness probe failed: 1 row\na warning/)
    await said('wrong', 'InvalidSimulation', /^annotation sim\.skiff\.dev\/exec: Flow sequence/)
  })
})
