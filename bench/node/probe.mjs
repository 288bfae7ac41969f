// Runs in a node's network: two servers that tell their port, and how long it takes until a Service's address leads to the one that is asked for.
// It reads lines of `ADDRESS PORT SERVER` (SERVER: 0 or 1) and answers each with the time, milliseconds since the epoch, at which it was so.
import { createConnection, createServer } from 'node:net'
import { createInterface } from 'node:readline'

const [host] = process.argv.slice(2)
const ports = []
for (let i = 0; i < 2; i++) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end(String(i))
  })
  await new Promise((resolve) => server.listen(0, host, resolve))
  ports.push(server.address().port)
}
console.log(ports.join(' '))

const EVERY_MS = 4
const PATIENCE_MS = 100

/** What answers there; '' where nothing does soon. */
const answers = (address, port) =>
  new Promise((resolve) => {
    let heard = ''
    const socket = createConnection({ host: address, port })
    const done = () => {
      socket.destroy()
      resolve(heard)
    }
    const timer = setTimeout(done, PATIENCE_MS)
    socket.on('data', (data) => {
      heard += data
    })
    socket.on('close', () => {
      clearTimeout(timer)
      done()
    })
    socket.on('error', () => {})
  })

for await (const line of createInterface({ input: process.stdin })) {
  const [address, port, wanted] = line.split(' ')
  while ((await answers(address, Number(port))) !== wanted)
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
  console.log(Date.now())
}
