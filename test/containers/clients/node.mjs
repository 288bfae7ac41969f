// The same with the TypeScript client of the Kubernetes project (@kubernetes/client-node), which speaks WebSocket.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { PassThrough, Readable, Writable } from 'node:stream'
import { Attach, Exec, KubeConfig, Log, PortForward } from '@kubernetes/client-node'

const config = new KubeConfig()
config.loadFromDefault()
const LARGE = 8 << 20

const collector = () => {
  const parts = []
  const stream = new Writable({
    write(chunk, _, done) {
      parts.push(chunk)
      done()
    },
  })
  return { stream, bytes: () => Buffer.concat(parts) }
}

async function run(command, stdin = null, tty = false) {
  const out = collector()
  const err = collector()
  const ended = Promise.withResolvers()
  const exec = new Exec(config)
  await exec.exec('default', 'p', 'c', command, out.stream, tty ? null : err.stream, stdin, tty, ended.resolve)
  const status = await ended.promise
  return { status, out: out.bytes(), err: err.bytes() }
}

const sh = (script) => ['/bin/busybox', 'sh', '-c', script]

const { status, out, err } = await run(sh('echo out; echo err >&2; exit 7'))
assert.equal(status.status, 'Failure')
assert.equal(status.details.causes.find(({ reason }) => reason === 'ExitCode').message, '7')
assert.deepEqual([String(out), String(err)], ['out\n', 'err\n'])

const sent = Buffer.alloc(LARGE, '0123456789abcdef')
const back = await run(['/bin/busybox', 'head', '-c', String(LARGE)], Readable.from(sent))
assert.equal(back.status.status, 'Success')
assert.ok(back.out.equals(sent), `${back.out.length} of ${LARGE} bytes came back`)

const missing = await run(['/no/such'])
assert.equal(missing.status.status, 'Failure')
assert.match(missing.status.message, /\/no\/such/)

const attached = collector()
const socket = await new Attach(config).attach('default', 'p', 'c', attached.stream, null, null, false)
socket.close()
await once(socket, 'close')

const followed = new PassThrough()
await new Log(config).log('default', 'p', 'c', followed, { follow: true })
const [line] = await once(followed, 'data')
assert.match(String(line), /^ready\n/)

const forward = new PortForward(config)
const server = createServer((client) => void forward.portForward('default', 'p', [8080], client, null, client))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const client = connect(server.address().port, '127.0.0.1')
client.write('GET /index.html HTTP/1.0\r\n\r\n')
let text = ''
for await (const chunk of client) {
  text += chunk
  if (text.endsWith('hi\n')) break
}
assert.match(text, /^HTTP\/1\.\d 200 [\s\S]*\r\n\r\nhi\n$/)
console.log('all is well')
process.exit(0)
