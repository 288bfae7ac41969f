/**
 * Logs, exec, attach, port-forward and proxies, from the real kubectl through the API server to a kubelet: by WebSocket, as kubectl does
 * of itself, and by SPDY, as it does when told to and older ones always do.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { parse } from 'yaml'
import { createAsker } from '../../conformance/ask.ts'
import type { StartedCluster } from '../../conformance/server.ts'
import { kubectlPath, withoutKubectl } from '../kubectl.ts'
import { type KubeletBehind, PROTOCOLS, speaking, startKubeletBehind } from './kubelet-behind.ts'
import type { StandIn } from './kubelet-stand-in.ts'

describe('a kubelet behind the API server', { skip: withoutKubectl }, () => {
  let behind: KubeletBehind
  let cluster: StartedCluster
  let kubelet: StandIn
  let asker: ReturnType<typeof createAsker>

  before(async () => {
    behind = await startKubeletBehind()
    cluster = behind.cluster
    kubelet = behind.kubelet
    asker = createAsker(cluster.kubeconfig)
  })
  after(async () => {
    asker?.close()
    await behind?.stop()
  })

  test('logs are asked of it with the options given, as the API server', async () => {
    const kubectl = behind.kubectls.websocket
    const text = await kubectl('logs', 'p', '--tail=5', '--since=1m', '--timestamps', '--limit-bytes=100')
    assert.equal(text, 'asked limitBytes=100&sinceSeconds=60&tailLines=5&timestamps=true\nthe end\n')
    assert.equal(kubelet.asked.at(-1)?.split('?')[0], 'GET /containerLogs/default/p/c')
    assert.equal(kubelet.clients.at(-1), 'kube-apiserver-kubelet-client')
    assert.match(await kubectl('logs', 'two', '--all-containers', '--prefix'), /\[pod\/two\/b\] the end/)
    const ofOne = ['get', '--raw', '/api/v1/namespaces/default/pods/p/log?stream=Stderr']
    assert.match((await kubectl.run(ofOne)).err, /stream: Forbidden: may not be specified/)
  })

  test('kubelets let it do what it asks of them, and it may do no more', async () => {
    const kubectl = behind.kubectls.websocket
    const may = async (...what: readonly string[]) => {
      const as = ['--as', 'kube-apiserver-kubelet-client', '--as-group', 'system:authenticated']
      return (await kubectl.run(['auth', 'can-i', ...what, ...as])).out.trim()
    }
    for (const verb of ['get', 'create', 'update'])
      assert.equal(await may(verb, 'nodes', '--subresource=proxy'), 'yes', `${verb} nodes/proxy`)
    for (const name of ['log', 'metrics', 'stats', 'pods', 'healthz'])
      assert.equal(await may('get', 'nodes', `--subresource=${name}`), 'yes', `nodes/${name}`)
    for (const what of ['secrets', 'pods', 'clusterroles']) assert.equal(await may('get', what), 'no', what)
    assert.equal(await may('delete', 'nodes'), 'no')
  })

  test('a log that is followed comes as it is written', async () => {
    const child = spawn(kubectlPath, ['--kubeconfig', cluster.kubeconfig, 'logs', '-f', 'p'])
    const [first] = (await once(child.stdout, 'data')) as [Buffer]
    assert.equal(first.toString(), 'asked follow=true\n')
    child.kill()
    await once(child, 'close')
  })

  const webSocket = (path: string, protocols: string[]) => {
    const { clusters, users } = parse(readFileSync(cluster.kubeconfig, 'utf8'))
    const { server } = clusters[0].cluster
    const { 'client-certificate-data': cert, 'client-key-data': key } = users[0].user
    const identity = { cert: Buffer.from(cert, 'base64'), key: Buffer.from(key, 'base64'), rejectUnauthorized: false }
    const url = `${server.replace('https', 'wss')}/api/v1/namespaces/default/pods/p/${path}`
    return new WebSocket(url, protocols, identity)
  }

  test('a session begins with an empty message on its first channel, and ends with a Status that has no kind', async () => {
    const socket = webSocket('exec?container=c&command=exit&command=3&stdout=true', ['v5.channel.k8s.io'])
    const messages: (readonly [channel: number | undefined, text: string])[] = []
    socket.on('message', (data: Buffer) => messages.push([data[0], data.subarray(1).toString()]))
    await once(socket, 'close')
    assert.deepEqual(messages[0], [1, ''])
    const [channel, text = ''] = messages.at(-1) ?? []
    const { kind, reason } = JSON.parse(text) as { kind?: string; reason?: string }
    assert.deepEqual([channel, kind, reason], [3, undefined, 'NonZeroExitCode'])
  })

  test('a log comes by WebSocket too, in bytes or as base64', async () => {
    const logBy = async (protocols: string[]) => {
      const socket = webSocket('log?container=c', protocols)
      const messages: string[] = []
      socket.on('message', (data: Buffer) => messages.push(data.toString()))
      await once(socket, 'close')
      assert.equal(messages[0], '')
      return [socket.protocol, messages.join('')]
    }
    const said = 'asked \nthe end\n'
    assert.deepEqual(await logBy([]), ['', said])
    assert.deepEqual(await logBy(['binary.k8s.io']), ['binary.k8s.io', said])
    const [protocol, coded = ''] = await logBy(['base64.binary.k8s.io'])
    assert.equal(protocol, 'base64.binary.k8s.io')
    assert.ok(coded.startsWith(Buffer.from(said.slice(0, 6)).toString('base64').slice(0, 8)))
    await assert.rejects(logBy(['v9.example.com']), /Unexpected server response: 400/)
  })

  test('what the kubelet refuses about a log is said in its words', async () => {
    const { code, err } = await behind.kubectls.websocket.run(['logs', 'p', '--previous'])
    assert.equal(code, 1)
    assert.match(err, /\(BadRequest\): previous terminated container "c" in pod "p" not found/)
  })

  for (const by of PROTOCOLS)
    describe(`by ${by}`, () => {
      const kubectl = () => behind.kubectls[by]
      /** kubectl asks by SPDY once WebSockets were refused. */
      const askedFor = (pod: string) =>
        pod === 'declared' && by === 'websocket' ? ['websocket', 'SPDY/3.1'] : ['SPDY/3.1']

      test('exec gives both streams and the exit code', async () => {
        const both = await kubectl().run(['exec', 'p', '--', 'both'])
        assert.deepEqual([both.code, both.out, both.err], [0, 'out\n', 'err\n'])
        const failed = await kubectl().run(['exec', 'p', '--', 'exit', '3'])
        assert.equal(failed.code, 3)
        assert.match(failed.err, /command terminated with exit code 3/)
      })

      test('exec -i sends standard input, and its end', async () => {
        const text = randomBytes(300_000).toString('base64')
        const { code, out, err } = await kubectl().run(['exec', '-i', 'two', '-c', 'b', '--', 'cat'], text)
        assert.deepEqual([code, err], [0, ''])
        assert.ok(out === text, `${out.length} of ${text.length} bytes came back`)
        assert.equal(kubelet.asked.at(-1)?.split('?')[0]?.split(' ')[1], '/exec/default/two/b')
      })

      test('attach reaches the container', async () => {
        const { out } = await kubectl().run(['attach', 'p'])
        assert.equal(out, '')
        assert.match(kubelet.asked.at(-1) ?? '', /\/attach\/default\/p\/c\?error=1&output=1$/)
      })

      test('what the kubelet refuses is said', async () => {
        const { code, err } = await kubectl().run(['exec', 'p', '--', 'refuse'])
        assert.equal(code, 1)
        assert.match(err, by === 'websocket' ? /unable to upgrade connection: no such c/ : /no such c/)
      })

      test('a kubelet that declares WebSockets is asked as the client asks, and its refusal is the answer', async () => {
        const before = kubelet.upgrades.length
        const { code, err } = await kubectl().run(['exec', 'declared', '--', 'refuse'])
        assert.deepEqual([code, err], [1, 'error: unable to upgrade connection: no such c\n'])
        assert.deepEqual(kubelet.upgrades.slice(before), askedFor('declared'))
      })

      for (const pod of ['p', 'declared'])
        test(`port-forward to ${pod} carries several connections at once, whole`, async () => {
          const before = kubelet.upgrades.length
          const forward = spawn(
            kubectlPath,
            ['--kubeconfig', cluster.kubeconfig, 'port-forward', `pod/${pod}`, ':80', '--address=127.0.0.1'],
            { env: { ...process.env, ...speaking(by) } },
          )
          const port = await forwardedPort(forward)
          const echoes = await Promise.all([1, 2, 3, 4].map((n) => echo(port, randomBytes(n * 100_000))))
          forward.kill()
          await once(forward, 'close')
          assert.deepEqual(echoes, [true, true, true, true])
          // The stand-in speaks no WebSocket.
          assert.deepEqual(kubelet.upgrades.slice(before), askedFor(pod))
        })

      test('a client that goes leaves nothing open', async () => {
        const child = spawn(kubectlPath, ['--kubeconfig', cluster.kubeconfig, 'exec', '-i', 'p', '--', 'wait'], {
          env: { ...process.env, ...speaking(by) },
        })
        while (kubelet.open.size === 0) await new Promise((resolve) => setImmediate(resolve))
        const [socket] = [...kubelet.open]
        const closed = once(socket as NonNullable<typeof socket>, 'close')
        child.kill('SIGKILL')
        await closed
        assert.equal(kubelet.open.size, 0)
      })
    })

  test('an answer that is neither a refusal nor the change of protocol is none to pass on', async () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1' }
    const p = '/api/v1/namespaces/default/pods/p/exec?command=elsewhere&stdout=true'
    const { code, text } = await asker.call({ m: 'POST', p, h: upgrade })
    const { reason, message } = JSON.parse(text)
    assert.deepEqual([code, reason, message], [500, undefined, 'invalid upgrade response: status code 302'])
  })

  test('without a change of protocol, of a container that is not there, or on no node, a session is refused', async () => {
    const ask = async (path: string, h: Record<string, string> = {}) => {
      const { code, text } = await asker.call({ m: 'POST', p: `/api/v1/namespaces/default/pods/${path}`, h })
      return [code, JSON.parse(text).message]
    }
    assert.deepEqual(await ask('p/exec?command=x&stdout=true'), [400, 'Upgrade request required'])
    assert.deepEqual(await ask('p/exec?command=x&container=no'), [400, 'container no is not valid for pod p'])
    assert.deepEqual(await ask('none/exec'), [404, 'pods "none" not found'])
  })

  test('the node proxy refuses an address of this machine', async () => {
    const { code, text } = await asker.call({ m: 'GET', p: '/api/v1/nodes/real/proxy/pods' })
    assert.deepEqual([code, JSON.parse(text).message], [400, 'address not allowed'])
  })
})

async function forwardedPort(child: ChildProcess): Promise<number> {
  // It goes on writing: its output is read to its end.
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk
      const port = /127\.0\.0\.1:(\d+) ->/.exec(text)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    child.on('close', () => reject(new Error(`port-forward ended: ${text}`)))
  })
}

async function echo(port: number, bytes: Buffer): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const parts: Buffer[] = []
  socket.end(bytes)
  for await (const part of socket as AsyncIterable<Buffer>) {
    parts.push(part)
  }
  return Buffer.concat(parts).equals(bytes)
}
