// Runs on the machine of a test: many sessions at once over WebSocket, each of which must get back what it sent.
// Arguments: exec or portforward, the path of the pod, how many, and with `hold` the sessions stay until this process is killed.
import { readFileSync } from 'node:fs'
import WebSocket from 'ws'
import { parse } from 'yaml'

const [kind, path, count, hold] = process.argv.slice(2)
const config = parse(readFileSync(process.env.KUBECONFIG, 'utf8'))
const { cluster } = config.clusters[0]
const { user } = config.users[0]
const decoded = (data) => Buffer.from(data, 'base64')
const tls = {
  ca: decoded(cluster['certificate-authority-data']),
  cert: decoded(user['client-certificate-data']),
  key: decoded(user['client-key-data']),
}
const server = cluster.server.replace(/^https/, 'wss')

function session(i) {
  const text = `session ${i} ${'x'.repeat(5000)}`
  return new Promise((resolve, reject) => {
    const isExec = kind === 'exec'
    const query = isExec ? 'stdin=true&stdout=true&command=/bin/busybox&command=cat' : 'ports=8081'
    const socket = new WebSocket(
      `${server}${path}/${kind}?${query}`,
      isExec ? 'v5.channel.k8s.io' : 'v4.channel.k8s.io',
      tls,
    )
    let heard = ''
    let ports = 0
    socket.on('open', () => socket.send(Buffer.concat([Buffer.from([0]), Buffer.from(text)])))
    socket.on('message', (data) => {
      const [channel] = data
      const rest = data.subarray(1)
      if (isExec && channel === 3) return reject(new Error(String(rest)))
      if (!isExec && channel === 1 && ports >= 2) return reject(new Error(String(rest)))
      // The first word on each channel is the port's number.
      if (!isExec && ports < 2) {
        ports += 1
        return
      }
      heard += String(rest)
      if (heard.length < text.length) return
      if (heard !== text) return reject(new Error(`session ${i} got ${heard.slice(0, 40)}`))
      resolve(socket)
    })
    socket.on('error', reject)
    socket.on('close', (code, reason) => reject(new Error(`session ${i} closed: ${code} ${reason}`)))
  })
}

const sockets = await Promise.all(Array.from({ length: Number(count) }, (_, i) => session(i)))
console.log(`${sockets.length} sessions`)
if (hold === 'hold') {
  let left = sockets.length
  for (const socket of sockets)
    socket.on('close', () => {
      left -= 1
      if (left === 0) process.exit(0)
    })
} else for (const socket of sockets) socket.close()
