import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createPlain } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { type AddressInfo, createServer, connect as dial, type Server, Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { issue, type KeyAndCertificate } from '../cluster/certificate.ts'
import { createHttpsClient } from './client.ts'
import { firstWords, peerCertificate } from './diagnose.ts'
import { ca, runtime, text } from './fixture.test.ts'
import { networkError } from './network-error.ts'
import { routeThrough } from './proxy.ts'

const issued = (host: string): KeyAndCertificate =>
  issue(runtime, { commonName: host, usage: 'server', hosts: [host], validDays: 1 }, ca)
const own = issued('127.0.0.1')
const named = issued('api.example')

async function listening(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** An HTTPS server that is `api.example` to whoever comes through a proxy. */
const api = (t: TestContext) =>
  listening(
    t,
    createSecure(named, (request, response) => response.end(request.url)),
  )

/** A proxy by CONNECT that leads everywhere to that port, and what it was asked. */
async function connecting(t: TestContext, port: number, tls?: KeyAndCertificate) {
  const asked: string[] = []
  const server = tls === undefined ? createPlain() : createSecure(tls)
  server.on('connect', (request, socket: Socket) => {
    const { 'proxy-authorization': user = '', connection = '' } = request.headers
    asked.push([request.method, request.url, request.headers.host, user, connection].join(' ').trim())
    const on = dial(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    socket.pipe(on).pipe(socket)
    socket.on('error', () => on.destroy())
    on.on('error', () => socket.destroy())
  })
  return { asked, at: `127.0.0.1:${await listening(t, server)}` }
}

/** A SOCKS proxy that answers with these bytes in turn, then leads to that port; and what it was told. */
async function socks(t: TestContext, answers: readonly (readonly number[])[], port = 0) {
  const told: string[] = []
  const server = createServer(async (socket) => {
    socket.on('error', () => {})
    for (const answer of answers) {
      const [data] = (await once(socket, 'data')) as [Buffer]
      told.push(data.toString('hex'))
      // Byte by byte, as it may come.
      for (const byte of answer) socket.write(Uint8Array.of(byte))
    }
    if (port === 0) socket.end()
    else {
      const on = dial(port, '127.0.0.1')
      socket.pipe(on).pipe(socket)
      on.on('error', () => socket.destroy())
    }
  })
  return { told, at: `127.0.0.1:${await listening(t, server)}` }
}

async function asked(t: TestContext, server: string, proxy: string, times = 1): Promise<string> {
  const client = createHttpsClient({ server, proxy, ca: ca.cert })
  t.after(() => client.close())
  try {
    let answer = ''
    for (let time = 0; time < times; time++) answer = await text(await client.send({ method: 'GET', path: '/version' }))
    return answer
  } catch (error) {
    return (error as Error).message
  }
}

test('a proxy by CONNECT is asked once for a connection that is kept, with its user, and by TLS where it has TLS', async (t) => {
  const plain = await connecting(t, await api(t))
  assert.equal(await asked(t, 'https://api.example/a', `http://u:p%40@${plain.at}`, 2), '/a/version')
  assert.deepEqual(plain.asked, ['CONNECT api.example:443 api.example:443 Basic dTpwQA=='])
  const secure = await connecting(t, await api(t), own)
  assert.equal(await asked(t, 'https://api.example:6443', `https://${secure.at}`), '/version')
  assert.deepEqual(secure.asked, ['CONNECT api.example:6443 api.example:6443'])
})

test('what is asked by plain HTTP goes to the proxy by its whole URL', async (t) => {
  const seen: unknown[] = []
  const server = createPlain((request, response) => {
    seen.push([request.url, request.headers.host, request.headers['proxy-authorization']])
    response.end('by proxy')
  })
  assert.equal(await asked(t, 'http://api.example/a', `http://u:p@127.0.0.1:${await listening(t, server)}`), 'by proxy')
  assert.deepEqual(seen, [['http://api.example/a/version', 'api.example', 'Basic dTpw']])
})

test('a SOCKS proxy is told names and addresses, and the user where it asks for one', async (t) => {
  const done = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
  const open = await socks(t, [[5, 0], done], await api(t))
  assert.equal(await asked(t, 'https://api.example', `socks5://${open.at}`), '/version')
  assert.deepEqual(open.told, ['050100', '050100030b6170692e6578616d706c6501bb'])
  const byUser = await socks(t, [[5, 2], [1, 0], done], await api(t))
  assert.equal(await asked(t, 'https://api.example', `socks5://u:pw@${byUser.at}`), '/version')
  assert.deepEqual(byUser.told.slice(0, 2), ['05020002', '010175027077'])
  const refused = await socks(t, [
    [5, 0],
    [5, 5, 0, 1],
  ])
  const why = await asked(t, 'https://[fe80::1]:6443', `socks5://${refused.at}`)
  assert.equal(why, `socks connect tcp ${refused.at}->[fe80::1]:6443: unknown error connection refused`)
  assert.equal(refused.told[1], `05010004fe80${'00'.repeat(13)}01192b`)
})

test('why a proxy leads nowhere is told as a Go client tells it', async (t) => {
  const api = 'https://10.0.0.1:6443'
  const deny = createPlain().on('connect', (_, socket: Socket) => socket.end('HTTP/1.1 403 Not From Here\r\n\r\n'))
  const denying = `127.0.0.1:${await listening(t, deny)}`
  assert.equal(await asked(t, api, `http://${denying}`), 'Not From Here')
  assert.equal(
    await asked(t, api, `https://${denying}`),
    'proxyconnect tcp: tls: first record does not look like a TLS handshake',
  )
  for (const scheme of ['http', 'https', 'socks5'])
    assert.equal(
      await asked(t, api, `${scheme}://127.0.0.1:1`),
      'proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused',
    )
  const words = async (...answers: readonly (readonly number[])[]) => {
    const proxy = await socks(t, answers)
    return (await asked(t, api, `socks5://u:p@${proxy.at}`)).replace(
      `socks connect tcp ${proxy.at}->10.0.0.1:6443: `,
      '',
    )
  }
  assert.equal(await words([5, 255]), 'no acceptable authentication methods')
  assert.equal(await words([4, 0]), 'unexpected protocol version 4')
  assert.equal(await words([5, 2], [1, 1]), 'username/password authentication failed')
  assert.equal(await words([5, 0], [5, 9, 0, 1]), 'unknown error unknown code: 9')
  assert.equal(await words([5]), 'EOF')
  const long = 'x'.repeat(256)
  const refused = async (server: string, user: string, ...answers: readonly (readonly number[])[]) => {
    const proxy = await socks(t, answers)
    const why = await asked(t, server, `socks5://${user}@${proxy.at}`)
    return why.slice(why.lastIndexOf(': ') + 2)
  }
  assert.equal(await refused(api, `${long}:p`, [5, 2]), 'invalid username/password')
  assert.equal(await refused(api, `u:${long}`, [5, 2]), 'invalid username/password')
  assert.equal(await refused(api, ':p', [5, 2]), 'invalid username/password')
  assert.equal(await refused(`https://${long}`, 'u:p', [5, 0]), 'FQDN too long')
})

test('a server behind a proxy whose certificate is not trusted is looked at by the proxy too', async (t) => {
  const proxy = await connecting(t, await api(t))
  const endpoint = {
    server: 'https://api.example',
    serverName: 'api.example',
    proxy: `http://${proxy.at}`,
    ca: own.cert,
  }
  const client = createHttpsClient(endpoint)
  t.after(() => client.close())
  const error = await client.send({ method: 'GET', path: '/' }).catch((thrown: unknown) => thrown)
  const timeout = new AbortController().signal
  assert.equal(
    await networkError(error, { endpoint, nowMs: Date.now(), timeout }),
    'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  )
  assert.equal(proxy.asked.length, 2)
})

/** A proxy that takes connections and what is said on them, and is silent; and its own connections, open or not. */
async function silent(t: TestContext) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => server.emit('greeted')).resume()
    server.emit('taken')
  })
  return { at: `127.0.0.1:${await listening(t, server)}`, sockets, server }
}

const gone = (socket: Socket | undefined) => socket?.destroyed || once(socket as Socket, 'close')

for (const scheme of ['http', 'https', 'socks5'])
  test(`a request through a silent proxy by ${scheme} ends with its signal, or its client, and its connection with it`, async (t) => {
    const proxy = await silent(t)
    const client = createHttpsClient({ server: 'https://api.example', proxy: `${scheme}://${proxy.at}` })
    t.after(() => client.close())
    const stopped = new AbortController()
    const taken = once(proxy.server, 'taken')
    const first = assert.rejects(client.send({ method: 'GET', path: '/', signal: stopped.signal }), /enough/)
    await taken
    assert.equal(client.inUse, true)
    stopped.abort(new Error('enough'))
    await first
    await gone(proxy.sockets[0])
    assert.equal(client.inUse, false)
    const takenAgain = once(proxy.server, 'taken')
    const second = assert.rejects(client.send({ method: 'GET', path: '/' }), /the client was closed/)
    await takenAgain
    client.close()
    await second
    await gone(proxy.sockets[1])
  })

test('a proxy that is silent for a minute before it leads anywhere is given up', async (t) => {
  const limit = t.mock.method(Socket.prototype, 'setTimeout')
  for (const scheme of ['http', 'https', 'socks5']) {
    const proxy = await silent(t)
    const taken = once(proxy.server, 'taken')
    const answer = asked(t, 'https://api.example', `${scheme}://${proxy.at}`)
    await taken
    const limited = limit.mock.calls.findLast(({ arguments: [ms] }) => ms === 60_000)?.this
    assert.ok(limited instanceof Socket)
    limited.emit('timeout')
    assert.equal(await answer, 'context deadline exceeded')
    await gone(proxy.sockets[0])
  }
})

test('a handshake that takes more than ten seconds is given up, of the server and of the proxy', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const server = await silent(t)
  const proxy = await connecting(t, Number(server.at.split(':')[1]))
  const ways: readonly (readonly [string, string | undefined, string])[] = [
    [`https://${server.at}`, undefined, 'net/http: TLS handshake timeout'],
    ['https://api.example', `http://${proxy.at}`, 'net/http: TLS handshake timeout'],
    ['https://api.example', `https://${server.at}`, 'proxyconnect tcp: net/http: TLS handshake timeout'],
    ['http://api.example', `https://${server.at}`, 'proxyconnect tcp: net/http: TLS handshake timeout'],
  ]
  for (const [at, via, why] of ways) {
    server.sockets.length = 0
    const client = createHttpsClient({ server: at, ...(via === undefined ? {} : { proxy: via }) })
    t.after(() => client.close())
    const greeted = once(server.server, 'greeted')
    const answer = assert.rejects(client.send({ method: 'GET', path: '/' }), { message: why }, `${at} by ${via}`)
    await greeted
    t.mock.timers.tick(10_000)
    await answer
    await gone(server.sockets[0])
  }
})

test('a connection to a proxy that comes when its request has ended is closed', async (t) => {
  const proxy = await silent(t)
  const dialed = t.mock.method(Socket.prototype, 'connect')
  const stopped = new AbortController()
  const made = routeThrough(`http://${proxy.at}`, new URL('https://api.example'), {}).connect(stopped.signal)
  stopped.abort(new Error('enough'))
  await assert.rejects(made, /enough/)
  await gone(dialed.mock.calls[0]?.this as Socket)
})

test('what an own way to a server has begun is told when the request has ended, and closed where it comes after that', async () => {
  const stopped = new AbortController()
  const { promise: asked, resolve: begun } = Promise.withResolvers<AbortSignal>()
  const { promise: late, resolve: comes } = Promise.withResolvers<Duplex>()
  const connect = (signal: AbortSignal) => {
    begun(signal)
    return late
  }
  const client = createHttpsClient({ server: 'http://pod.example', connect })
  const answer = assert.rejects(client.send({ method: 'GET', path: '/', signal: stopped.signal }), /enough/)
  const signal = await asked
  stopped.abort(new Error('enough'))
  await answer
  assert.equal(signal.aborted, true)
  const [socket] = duplexPair()
  comes(socket)
  await once(socket, 'close')
})

test('the look at a server whose certificate is not trusted ends with its signal where the proxy has become silent', async (t) => {
  const proxy = await silent(t)
  const stopped = new AbortController()
  const taken = once(proxy.server, 'taken')
  const suspect = { server: 'https://api.example', proxy: `http://${proxy.at}`, signal: stopped.signal }
  const found = peerCertificate(suspect)
  await taken
  stopped.abort()
  assert.equal(await found, undefined)
  await gone(proxy.sockets[0])
  assert.equal(await firstWords(suspect), '')
  assert.equal(proxy.sockets.length, 1)
})
