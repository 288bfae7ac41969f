/** kubectl port-forward to simulated pods, and the proxy of pods and services: a program of this machine stands for the container. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { createAsker } from '../../conformance/ask.ts'
import { kubectlPath, withoutKubectl } from '../kubectl.ts'
import { PROTOCOLS, speaking } from '../streams/kubelet-behind.ts'
import { isReady, made, pod, type Stage, startStage } from './stage.ts'

const PODS = '/api/v1/namespaces/default/pods'

describe('ports of simulated pods', { skip: withoutKubectl }, () => {
  let stage: Stage
  let server: Server
  let asker: ReturnType<typeof createAsker>

  before(async () => {
    server = createServer((request, response) => {
      response.writeHead(200, { 'x-said': `${request.method} ${request.url}`, 'content-type': 'text/plain' })
      request.pipe(response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    stage = await startStage(['--sim-forward', `127.0.0.1:${port}`])
    asker = createAsker(stage.cluster.kubeconfig)
    const annotations = { 'sim.skiff.dev/forward': `80=localhost:${port}, 81=127.0.0.1:${port - 1}` }
    const containers = [{ name: 'c', image: 'nginx', ports: [{ containerPort: 80, name: 'http' }] }]
    await Promise.all([
      made(stage.kubectl, isReady, pod('web', { annotations, more: { containers } })),
      stage.kubectl.send('create', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web' },
        spec: { selector: { app: 'web' }, ports: [{ port: 8080, targetPort: 'http' }] },
      }),
    ])
  })
  after(async () => {
    asker?.close()
    server?.close()
    await stage?.stop()
  })

  const ask = async (path: string, m = 'GET', b?: string) => {
    const { code, text, headers } = await asker.call({ m, p: path, ...(b === undefined ? {} : { b }) })
    return { code, text, said: headers['x-said'] }
  }

  for (const by of PROTOCOLS)
    test(`port-forward leads to the program that the annotation names, by ${by}`, async () => {
      const child = spawn(
        kubectlPath,
        [
          '--kubeconfig',
          stage.cluster.kubeconfig,
          'port-forward',
          'pod/web',
          ':80',
          ':81',
          '--address=127.0.0.1',
          '-v=4',
        ],
        { env: { ...process.env, ...speaking(by) } },
      )
      let err = ''
      child.stderr?.on('data', (chunk: Buffer) => {
        err += chunk
      })
      const [first, second] = await forwardedPorts(child)
      const sent = [1, 2, 3].map((n) => randomBytes(n * 200_000))
      const back = await Promise.all(
        sent.map(async (body) => {
          const response = await fetch(`http://127.0.0.1:${first}/echo`, { method: 'POST', body })
          return Buffer.from(await response.arrayBuffer()).equals(body)
        }),
      )
      assert.deepEqual(back, [true, true, true])
      const closed = once(child, 'close')
      await assert.rejects(fetch(`http://127.0.0.1:${second}/`))
      // After an error of one connection kubectl ends.
      await closed
      assert.match(err, /error forwarding port 81: 127\.0\.0\.1:\d+ is not among the addresses/)
      assert.doesNotMatch(err, /fallback/i)
    })

  test('the proxies of pods and services lead there too', async () => {
    assert.deepEqual(await ask(`${PODS}/web/proxy/a?b=c`), { code: 200, text: '', said: 'GET /a?b=c' })
    assert.equal((await ask(`${PODS}/web:80/proxy/x`, 'PUT', '"y"')).said, 'PUT /x')
    // The endpoint comes after the pod is ready.
    using slices = stage.kubectl.watch('endpointslices')
    await slices.until(({ object }) => object.endpoints?.[0]?.conditions?.ready === true)
    assert.equal((await ask('/api/v1/namespaces/default/services/web:8080/proxy/s')).said, 'GET /s')
    const refused = await ask(`${PODS}/web:81/proxy/`)
    assert.equal(refused.code, 503)
    assert.match(JSON.parse(refused.text).message, /error trying to reach service: .*is not among the addresses/)
    assert.match(JSON.parse((await ask(`${PODS}/web:82/proxy/`)).text).message, /connection refused: nothing listens/)
  })

  test('an image serves, or fails, by its name', async () => {
    const image = (name: string, more: object = {}) => ({ containers: [{ name: 'c', image: name, ...more }] })
    await made(
      stage.kubectl,
      ({ metadata, status }) =>
        metadata.name === 'served'
          ? status.phase === 'Running'
          : metadata.name === 'failed'
            ? status.phase === 'Failed'
            : status?.containerStatuses?.[0]?.state.waiting?.reason === 'ErrImagePull',
      pod('served', { more: image('sim.skiff.dev/serve:8080', { ports: [{ containerPort: 8080 }] }) }),
      pod('failed', { more: { ...image('sim.skiff.dev/exit-code:3'), restartPolicy: 'Never' } }),
      pod('unpulled', { more: image('sim.skiff.dev/image:missing') }),
    )
    assert.equal((await ask(`${PODS}/served:8080/proxy/a?b=c`)).text, 'served GET /a?b=c\n')
    assert.equal((await ask(`${PODS}/served:8080/proxy/p`, 'POST', '"z"')).text, 'served POST /p\n')
    assert.match(
      JSON.parse((await ask(`${PODS}/served:81/proxy/`)).text).message,
      /connection refused: nothing listens/,
    )
    const failed = JSON.parse((await ask(`${PODS}/failed`)).text)
    assert.equal(failed.status.containerStatuses[0].state.terminated.exitCode, 3)
  })

  test('old clients forward by the channels of a WebSocket', async () => {
    const { url, token } = await proxied(stage)
    const socket = new WebSocket(`${url}${PODS}/web/portforward?ports=80`, 'v4.channel.k8s.io', token)
    const messages: Buffer[] = []
    let text = ''
    const answered = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        messages.push(data)
        if (messages.length > 2) text += data.subarray(1)
        if (text.includes('hello')) resolve()
      })
    })
    await once(socket, 'open')
    const request = 'POST /ws HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello'
    socket.send(Buffer.concat([Buffer.from([0]), Buffer.from(request)]))
    await answered
    assert.deepEqual(messages.slice(0, 2), [Buffer.from([0, 80, 0]), Buffer.from([1, 80, 0])])
    assert.match(text, /x-said: POST \/ws/)
    socket.close()
  })
})

/** The API server's address for WebSockets, and how to speak as the administrator. */
async function proxied(stage: Stage) {
  const config = await stage.kubectl.json('config', 'view', '--raw', '--minify')
  const decoded = (text: string) => Buffer.from(text, 'base64')
  const [{ cluster }] = config.clusters
  const [{ user }] = config.users
  return {
    url: String(cluster.server).replace('https:', 'wss:'),
    token: {
      ca: decoded(cluster['certificate-authority-data']),
      cert: decoded(user['client-certificate-data']),
      key: decoded(user['client-key-data']),
    },
  }
}

function forwardedPorts(child: ChildProcess): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk
      const ports = [...text.matchAll(/127\.0\.0\.1:(\d+) ->/g)].map(([, port]) => Number(port))
      if (ports.length === 2) resolve(ports)
    })
    child.on('close', () => reject(new Error(`kubectl ended: ${text}`)))
  })
}
