import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { test } from 'node:test'
import type { Clock } from '../base/clock.ts'
import { liveClock } from '../base/live-clock.ts'
import { ATTACH_PROTOCOL, attach } from './store-link.ts'

/** A second goes by with each pause; an answer may take a twentieth of what it may take. */
function hastyClock(): Clock {
  const live = liveClock()
  let now = 0
  return {
    ...live,
    monotonic: () => now,
    setTimer(ms, name, run) {
      if (name === 'answer of etcd') return live.setTimer(ms / 20, name, run)
      now += 1000
      return live.setTimer(0, name, run)
    },
  }
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const speaking = (said: string) => createServer((socket) => socket.on('error', () => {}).end(said))

test('an etcd that is not there is told of while it is waited for, once, and at the end', async () => {
  const lines: string[] = []
  const servers = ['http://127.0.0.1:1', 'http://127.0.0.1:2']
  const met = servers.map((server) => `${server}: connect ECONNREFUSED ${server.slice(7)}`).join('; ')
  await assert.rejects(
    attach(hastyClock(), servers, (line) => lines.push(line)),
    {
      message: `--etcd-servers: no etcd answers (${met})`,
    },
  )
  assert.deepEqual(lines, [`waiting for an etcd at --etcd-servers (${met})`])
})

test('what can be no etcd of skiff is refused at once, with the flag and what is wrong', async () => {
  const other = speaking('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
  const none = speaking('220 mail\r\n')
  const [otherUrl, noneUrl] = [await listening(other), await listening(none)]
  const isNoUrl = (text: string) =>
    `--etcd-servers: "${text}" is no http URL such as http://127.0.0.1:2379: this kube-apiserver keeps its objects itself, and attaches to skiff's etcd alone, which serves no other`
  for (const [server, message] of [
    ['127.0.0.1:2379', isNoUrl('127.0.0.1:2379')],
    ['http://127.0.0.1:99999', isNoUrl('http://127.0.0.1:99999')],
    ['https://127.0.0.1:2379', isNoUrl('https://127.0.0.1:2379')],
    ['unix:///tmp/etcd', isNoUrl('unix:///tmp/etcd')],
    [
      otherUrl,
      `--etcd-servers: ${otherUrl} is not skiff's etcd: this kube-apiserver keeps its objects itself, and takes no other store`,
    ],
    [noneUrl, `--etcd-servers: ${noneUrl} does not speak HTTP, as etcd does`],
  ] as const)
    await assert.rejects(
      attach(hastyClock(), [server], () => assert.fail('nothing is waited for')),
      { message },
    )
  other.close()
  none.close()
})

test('an answer that comes drop by drop is waited for no longer than none, and credentials are not told', async () => {
  const dripping = createServer((socket) => {
    socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n')
    const drops = setInterval(() => socket.write('a: b\r\n'), 20)
    socket.on('close', () => clearInterval(drops))
  })
  const url = await listening(dripping)
  const clock = hastyClock()
  const late = { ...clock, monotonic: () => clock.monotonic() * 30 }
  const told = attach(late, [url.replace('//', '//user:password@')], (line) => assert.doesNotMatch(line, /password/))
  await assert.rejects(told, {
    message: /^--etcd-servers: no etcd answers \(http:\/\/127[^@]*: no answer within 20 s\)$/,
  })
  dripping.close()
})

test('behind a server that is not there the next is asked', async () => {
  const etcd = createServer((socket) =>
    socket.once('data', () =>
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${ATTACH_PROTOCOL}\r\n\r\n`),
    ),
  )
  const link = await attach(hastyClock(), ['http://127.0.0.1:1', await listening(etcd)], () => {})
  link.close()
  await link.gone
  etcd.close()
})
