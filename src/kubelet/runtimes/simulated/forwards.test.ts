import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { simulatedRuntime } from '../../../base/simulated-runtime.ts'
import { type AddressRange, connectForward, forwardProblem, readAddressRange, readForwards } from './forwards.ts'

test('addresses are listed with their ports', () => {
  assert.deepEqual(readAddressRange('127.0.0.1:3000-3999'), { ip: '127.0.0.1', first: 3000, last: 3999 })
  assert.deepEqual(readAddressRange('[0:0::1]:80'), { ip: '::1', first: 80, last: 80 })
  assert.deepEqual(readAddressRange('localhost:1-65535'), { ip: '127.0.0.1', first: 1, last: 65535 })
  for (const text of [
    '',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:0',
    '127.0.0.1:9-1',
    '127.0.0.1:1-2-3',
    'example.com:80',
  ])
    assert.throws(() => readAddressRange(text), /is no address with ports/, text)
  for (const text of ['127.0.0.1:1-', '127.0.0.1:65536', '127.0.0.256:80', '127.1:80', '::1:80', '0.0.0.0/0:80'])
    assert.throws(() => readAddressRange(text), /is no address with ports/, text)
})

test('a pod says where its ports lead', () => {
  assert.deepEqual(
    [...readForwards(' 80=127.0.0.1:3000, 443 = [::1]:3001,53=name:1 ')],
    [
      [80, { host: '127.0.0.1', port: 3000 }],
      [443, { host: '::1', port: 3001 }],
      [53, { host: 'name', port: 1 }],
    ],
  )
  assert.equal(readForwards('').size, 0)
  for (const text of ['80', '80=', '80=127.0.0.1', '0=127.0.0.1:1', '80=127.0.0.1:1=2', 'x=127.0.0.1:1', '80=a b:1'])
    assert.throws(() => readForwards(text), /says no port and where it leads/, text)
  assert.throws(() => readForwards('80=a:1,80=b:1'), /port 80 is there twice/)
})

test('only what is listed is reached, whatever form or name its address has', async () => {
  const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const here: readonly AddressRange[] = [{ ip: '127.0.0.1', first: port, last: port }]
  const { signal } = new AbortController()
  const { clock } = simulatedRuntime(1)
  const said = async (host: string) => {
    const socket = await connectForward({ host, port }, here, clock, signal)
    const parts = await socket.toArray()
    socket.destroy()
    return Buffer.concat(parts).toString()
  }
  assert.equal(await said('127.0.0.1'), 'hello')
  assert.equal(await said('localhost'), 'hello')
  server.close()
  await assert.rejects(said('127.0.0.1'), /failed to connect to 127\.0\.0\.1:\d+: .*ECONNREFUSED/)
  for (const host of ['127.0.0.2', '::ffff:127.0.0.1', '::1', '169.254.169.254', '0.0.0.0'])
    await assert.rejects(said(host), /is not among the addresses/, host)
  for (const host of ['2130706433', '0x7f.1', '127.1', 'no-such-name.invalid'])
    await assert.rejects(said(host), /cannot be resolved|is not among|failed to connect/, host)
  await assert.rejects(connectForward({ host: 'localhost', port: port + 1 }, here, clock, signal), /is not among/)
  assert.match(forwardProblem({ host: 'no-such-name.invalid', port: port + 1 }, here) ?? '', /is not among/)
  assert.equal(forwardProblem({ host: 'no-such-name.invalid', port }, here), undefined)
  assert.match(forwardProblem({ host: '127.0.0.1', port }, []) ?? '', /no addresses are listed/)
})
