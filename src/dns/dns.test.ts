/** The server's own sockets, asked by a resolver that is not ours (Node's, which is c-ares). */
import assert from 'node:assert/strict'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, before, describe, test } from 'node:test'
import type { Service } from '../api/generated/types.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { seededRandom } from '../base/random.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { allowing, nameServersOf, respond } from './dns.ts'
import { createForwarder } from './forward.ts'
import { FormatError, parseForeign, parseQuery, TYPE } from './read-message.ts'
import { openSockets, type Sockets } from './server.ts'
import { questionOf, writeAnswer, writeQuery } from './write-message.ts'
import type { Names } from './zone.ts'

const ADDRESSES = Array.from({ length: 100 }, (_, i) => `10.244.1.${i}`)
const service = (name: string, spec: Service['spec']): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'n' },
  ...(spec ? { spec } : {}),
})
const SERVICES = [
  service('web', {
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7'],
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  }),
  service('many', { clusterIP: 'None' }),
  service('away', { type: 'ExternalName', externalName: 'example.test' }),
]
const names: Names = {
  domain: 'cluster.local',
  servers: ['10.96.0.10'],
  service: (_, name) => SERVICES.find(({ metadata }) => metadata.name === name),
  slices: () => [
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {},
      addressType: 'IPv4',
      endpoints: ADDRESSES.map((address) => ({ addresses: [address] })),
      ports: [],
    },
  ],
  hasNamespace: () => true,
  servicesByAddress: () => [],
  slicesByAddress: () => [],
  serial: () => 1,
}

const LOOPBACK_OF_IPV6 = networkInterfaces()['lo']?.some(({ address }) => address === '::1') ? ['::1'] : []
const noIPv6 = LOOPBACK_OF_IPV6.length === 0 ? 'this machine has no address of IPv6' : false
const PLAIN = { edns: undefined, checkingDisabled: false }

describe('the DNS of the cluster', () => {
  const stopping = new AbortController()
  const clock = simulatedRuntime(1)
  const runtime = { ...liveRuntime(), clock: clock.clock }
  const asked: { readonly name: string; readonly id: number; readonly port: number }[] = []
  let upstream: Socket
  let upstreamTcp: ReturnType<typeof createServer>
  let sockets: Sockets
  let resolver: Resolver
  /** What the upstream says instead. */
  let lie: ((bytes: Buffer, from: RemoteInfo) => readonly Buffer[]) | undefined

  const upstreamAnswer = (bytes: Buffer, limit: number) => {
    const query = parseQuery(bytes)
    const count = query.name.startsWith('large') ? 100 : 1
    const answers = Array.from({ length: count }, (_, i) => ({
      name: query.name,
      ttl: 20,
      type: 'A' as const,
      address: Uint8Array.of(192, 0, 2, i),
    }))
    const shared = { authoritative: false, recursionAvailable: true, authority: [], additional: [] }
    return Buffer.from(
      writeAnswer(
        query,
        { rcode: query.name.startsWith('no.') ? 3 : 0, ...shared, answers: query.type === TYPE.A ? answers : [] },
        limit,
      ),
    )
  }

  before(async () => {
    upstream = createSocket('udp4')
    upstream.on('message', (bytes, from) => {
      const { name, id } = parseQuery(bytes)
      asked.push({ name, id, port: from.port })
      for (const answer of lie?.(bytes, from) ?? [upstreamAnswer(bytes, 512)])
        upstream.send(answer, from.port, from.address)
    })
    await new Promise<void>((resolve) => upstream.bind(0, '127.0.0.1', resolve))
    const { port } = upstream.address()
    upstreamTcp = createServer((socket) =>
      socket.on('data', (bytes: Buffer) => {
        const answer = upstreamAnswer(bytes.subarray(2), 65_535)
        const head = Buffer.alloc(2)
        head.writeUInt16BE(answer.length)
        socket.write(Buffer.concat([head, answer]))
      }),
    )
    await new Promise<void>((resolve) => upstreamTcp.listen(port, '127.0.0.1', resolve))
    const forwarder = createForwarder({ runtime, servers: () => [`127.0.0.1#${port}`], signal: stopping.signal })
    sockets = await openSockets({
      runtime,
      addresses: ['127.0.0.1', ...LOOPBACK_OF_IPV6],
      ports: [0],
      isAllowed: allowing([]),
      answer: (query, protocol) => respond(query, protocol, names, forwarder, (values) => values),
    })
    resolver = new Resolver()
    resolver.setServers([`127.0.0.1:${sockets.port}`])
  })
  after(async () => {
    stopping.abort()
    await sockets.close()
    upstream.close()
    upstreamTcp.close()
  })

  test('answers what the cluster has, and says what it has not', async () => {
    assert.deepEqual(await resolver.resolve4('web.n.svc.cluster.local', { ttl: true }), [
      { address: '10.96.0.7', ttl: 30 },
    ])
    assert.deepEqual(await resolver.resolve4('WEB.N.svc.Cluster.Local'), ['10.96.0.7'])
    const [srv] = await resolver.resolveSrv('_http._tcp.web.n.svc.cluster.local')
    assert.deepEqual([srv?.name, srv?.port], ['web.n.svc.cluster.local', 80])
    await assert.rejects(resolver.resolve4('gone.n.svc.cluster.local'), { code: 'ENOTFOUND' })
    await assert.rejects(resolver.resolve6('web.n.svc.cluster.local'), { code: 'ENODATA' })
    assert.equal((await resolver.resolveSoa('cluster.local')).nsname, 'ns.dns.cluster.local')
  })

  test('an answer that is too long for a packet comes by TCP, whole', async () => {
    assert.deepEqual(new Set(await resolver.resolve4('many.n.svc.cluster.local')), new Set(ADDRESSES))
  })

  test('other names are asked of the machine’s servers, by UDP and by TCP, and of an alias the end is told', async () => {
    assert.deepEqual(await resolver.resolve4('www.example.test'), ['192.0.2.0'])
    await assert.rejects(resolver.resolve4('no.example.test'), { code: 'ENOTFOUND' })
    assert.equal((await resolver.resolve4('large.example.test')).length, 100)
    assert.deepEqual(await resolver.resolve4('away.n.svc.cluster.local'), ['192.0.2.0'])
    assert.deepEqual(await resolver.resolveCname('away.n.svc.cluster.local'), ['example.test'])
  })

  test('an answer is kept as long as it may be, its time running down, and asked for again afterwards', async () => {
    const count = () => asked.filter(({ name }) => name === 'kept.example.test').length
    const ttl = async () => (await resolver.resolve4('kept.example.test', { ttl: true }))[0]?.ttl
    assert.deepEqual([await ttl(), count()], [20, 1])
    await clock.advance(5000)
    assert.deepEqual([await ttl(), count()], [15, 1])
    await clock.advance(15_000)
    assert.deepEqual([await ttl(), count()], [20, 2])
  })

  test('every question goes out from another port with another id, and only its own answer counts', async () => {
    lie = (bytes) => {
      const wrongId = upstreamAnswer(bytes, 512)
      wrongId[0] = (wrongId[0] ?? 0) ^ 0xff
      const wrongName = Buffer.from(
        writeAnswer(
          parseQuery(
            Buffer.from(
              writeQuery(bytes.readUInt16BE(), {
                question: questionOf('evil.test', TYPE.A),
                edns: undefined,
                checkingDisabled: false,
              }),
            ),
          ),
          { rcode: 0, authoritative: false, recursionAvailable: true, answers: [], authority: [], additional: [] },
          512,
        ),
      )
      return [wrongId, wrongName, Buffer.from('nonsense'), upstreamAnswer(bytes, 512)]
    }
    const from = asked.length
    for (let i = 0; i < 20; i++) assert.deepEqual(await resolver.resolve4(`n${i}.example.test`), ['192.0.2.0'])
    lie = undefined
    const these = asked.slice(from)
    assert.equal(these.length, 20)
    assert.ok(new Set(these.map(({ port }) => port)).size > 15)
    assert.ok(new Set(these.map(({ id }) => id)).size > 15)
  })

  test('equal questions that come together are asked once', async () => {
    await Promise.all(Array.from({ length: 10 }, () => resolver.resolve4('together.example.test')))
    assert.equal(asked.filter(({ name }) => name === 'together.example.test').length, 1)
  })

  test('a label with a point in it is another question than two labels, and so is another type', async () => {
    const label = (text: string) => [text.length, ...Buffer.from(text)]
    const ask = async (type: number, ...labels: readonly string[]) => {
      const client = createSocket('udp4')
      const question = Uint8Array.from([...labels.flatMap(label), 0, 0, type, 0, 1])
      client.send(writeQuery(7, { question, edns: undefined, checkingDisabled: false }), sockets.port, '127.0.0.1')
      await once(client, 'message')
      client.close()
    }
    const count = () => asked.filter(({ name }) => name === 'www.dotted.test').length
    await ask(TYPE.A, 'www.dotted', 'test')
    assert.deepEqual([await resolver.resolve4('www.dotted.test'), count()], [['192.0.2.0'], 2])
    await ask(TYPE.A, 'WWW', 'Dotted', 'test')
    assert.equal(count(), 2, 'the case of letters makes no difference')
    // As letters these types are A and a.
    await ask(65, 'www', 'dotted', 'test')
    await ask(97, 'www', 'dotted', 'test')
    assert.equal(count(), 4)
  })

  test('it answers at its address of the other family too, on the same port', { skip: noIPv6 }, async () => {
    const other = new Resolver()
    other.setServers([`[::1]:${sockets.port}`])
    assert.deepEqual(await other.resolve4('web.n.svc.cluster.local'), ['10.96.0.7'])
    const query = writeQuery(7, { question: questionOf('web.n.svc.cluster.local', TYPE.A), ...PLAIN })
    const socket = connect(sockets.port, '::1')
    socket.write(Buffer.from([0, query.length, ...query]))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.equal(answer.readUInt16BE(2), 7)
    socket.destroy()
  })

  test('of a connection that asks and does not read, no more is answered than it takes', async () => {
    const answer = new Uint8Array(60_000)
    let answered = 0
    let read = 0
    let ahead = 0
    const own = await openSockets({
      runtime,
      addresses: ['127.0.0.1'],
      ports: [0],
      isAllowed: allowing([]),
      answer: async () => {
        answered++
        ahead = Math.max(ahead, answered * 60_002 - read)
        return answer
      },
    })
    const query = writeQuery(7, { question: questionOf('a.test', TYPE.A), edns: undefined, checkingDisabled: false })
    const socket = connect(own.port, '127.0.0.1')
    socket.write(Buffer.concat(Array.from({ length: 1500 }, () => Buffer.from([0, query.length, ...query]))))
    for await (const piece of socket as AsyncIterable<Buffer>) {
      read += piece.length
      if (read === 1500 * 60_002) break
    }
    await own.close()
    assert.equal(answered, 1500)
    assert.ok(ahead < 30_000_000, `${ahead}`)
  })

  test('what is no question is answered by an error or not at all, and the server goes on', async () => {
    const client = createSocket('udp4')
    const good = Buffer.from(
      writeQuery(7, {
        question: questionOf('web.n.svc.cluster.local', TYPE.A),
        edns: undefined,
        checkingDisabled: false,
      }),
    )
    const ask = async (bytes: Uint8Array) => {
      client.send(bytes, sockets.port, '127.0.0.1')
      const [answer] = (await once(client, 'message')) as [Buffer]
      return answer.readUInt16BE(2) & 0xf
    }
    const changed = (at: number, ...bytes: readonly number[]) => {
      const copy = Buffer.from(good)
      copy.set(bytes, at)
      return copy
    }
    assert.equal(await ask(changed(4, 0, 2)), 1, 'two questions')
    assert.equal(await ask(good.subarray(0, 20)), 1, 'cut off')
    assert.equal(await ask(changed(12, 0xc0, 4)), 1, 'a pointer in the question')
    assert.equal(await ask(changed(2, 0x29)), 4, 'another kind of request')
    assert.equal(await ask(changed(good.length - 2, 0, 3)), 5, 'class CH')
    assert.equal(await ask(changed(good.length - 4, 0, 252)), 5, 'a transfer')
    // Neither an answer nor four bytes are answered: the next answer is that of the question behind them.
    client.send(changed(2, 0x81), sockets.port, '127.0.0.1')
    client.send(good.subarray(0, 4), sockets.port, '127.0.0.1')
    assert.equal(await ask(good), 0)
    client.close()
  })

  test('a connection that says nonsense is closed', async () => {
    const socket = connect(sockets.port, '127.0.0.1')
    socket.end(Buffer.from([0, 4, 1, 2, 3, 4]))
    await once(socket, 'close')
    assert.equal(socket.bytesRead, 0)
  })
})

test('no bytes make a reader fail otherwise than by saying that they are no message', () => {
  const random = seededRandom(5)
  const good = writeQuery(1, {
    question: questionOf('a.b.cluster.local', TYPE.A),
    edns: { size: 1232, version: 0, dnssec: false },
    checkingDisabled: false,
  })
  for (let i = 0; i < 20_000; i++) {
    const bytes = i % 2 === 0 ? random.bytes(12 + (i % 60)) : Uint8Array.from(good)
    for (let n = 0; n < 3; n++) bytes[Math.floor(random.float() * bytes.length)] = Math.floor(random.float() * 256)
    for (const read of [parseQuery, parseForeign])
      try {
        read(bytes)
      } catch (error) {
        assert.ok(error instanceof FormatError, String(error))
      }
  }
  const loop = Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0xc0, 17, 0, 1, 0, 1])
  assert.throws(() => parseQuery(loop), /does not lead back/)
})

test('pods and the machine itself are answered, others are not', () => {
  const isAllowed = allowing(['10.244.3.0/24', 'fd00:10:244:3::/64'])
  assert.deepEqual(['10.244.3.9', '127.0.0.1', '10.244.4.9', '8.8.8.8', 'x'].map(isAllowed), [
    true,
    true,
    false,
    false,
    false,
  ])
  assert.deepEqual(['fd00:10:244:3::9', 'FD00:10:244:3:0::9', 'fd00:10:244:4::9', 'fe80::1%eth0'].map(isAllowed), [
    true,
    true,
    false,
    false,
  ])
})

test('name servers are read as the resolver’s file has them', () => {
  const text =
    '# x\nsearch a b\nnameserver 192.0.2.1 # one\n  nameserver 2001:db8::1\nnameserver evil;reboot\nnameserver\n'
  assert.deepEqual(nameServersOf(text), ['192.0.2.1', '2001:db8::1'])
})
