import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { liveClock } from '../../base/live-clock.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import { issue } from '../certificate.ts'
import { authorityHash, discoverCluster } from './discovery.ts'
import { clusterInfoText } from './joining-rules.ts'

const TOKEN = { id: 'abcdef', secret: '0123456789abcdef' }
const runtime = liveRuntime({ log: { write() {} } })
const authority = (commonName: string) => issue(runtime, { commonName, usage: 'ca', validDays: 3 })
const [own, evil] = [authority('own'), authority('evil')]
const hash = authorityHash(own.cert)

/** As the bootstrap signer writes it. */
function signed(text: string, { id, secret } = TOKEN): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url')
  const mac = createHmac('sha256', secret).update(`${header}.${Buffer.from(text).toString('base64url')}`)
  return `${header}..${mac.digest('base64url')}`
}

/** A server that its authority vouches for; each question is answered with what `answer` is. */
async function serving(by: typeof own) {
  const answers: { status: number; body: string } = { status: 200, body: '' }
  const { cert, key } = issue(
    runtime,
    { commonName: 'server', usage: 'server', hosts: ['127.0.0.1'], validDays: 3 },
    by,
  )
  const server = createServer({ cert, key }, (_request, response) => {
    response.writeHead(answers.status).end(answers.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answer = (body: unknown, status = 200) => {
    answers.body = typeof body === 'string' ? body : JSON.stringify(body)
    answers.status = status
  }
  return { url, answer, stop: () => server.close() }
}
type Serving = Awaited<ReturnType<typeof serving>>

let [honest, foreign] = [] as Serving[] as [Serving, Serving]
before(async () => {
  honest = await serving(own)
  foreign = await serving(evil)
})
after(() => {
  honest.stop()
  foreign.stop()
})

/** The same with a key on a curve that there is not. */
function withUnreadableKey(pem: string): string {
  const der = Buffer.from(pem.replaceAll(/-----[^-]*-----|\n/g, ''), 'base64')
  const curve = der.indexOf(Buffer.from('06082a8648ce3d030107', 'hex'))
  assert.ok(curve > 0)
  der[curve + 9] = 0x55
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
}

const info = (kubeconfig: string, signature = signed(kubeconfig)) => ({
  data: { kubeconfig, [`jws-kubeconfig-${TOKEN.id}`]: signature },
})
const discover = ({ url }: Serving) => discoverCluster(liveClock(), url, TOKEN, hash)

test('of several authorities in cluster-info those alone are trusted that have the hash', async () => {
  honest.answer(info(clusterInfoText(honest.url, evil.cert + own.cert)))
  const { ca, server } = await discover(honest)
  assert.deepEqual([ca.replaceAll('\n', ''), server], [own.cert.replaceAll('\n', ''), honest.url])
  // With the token an attacker signs another authority beside the cluster's, and leads to a server of that.
  const text = clusterInfoText(foreign.url, own.cert + evil.cert)
  for (const one of [honest, foreign]) one.answer(info(text))
  await assert.rejects(discover(honest), /cannot read cluster-info of https:[^ ]+: (self-signed|unable to)[^\n]+$/)
  await assert.rejects(discover(foreign), /cannot read cluster-info of https:[^ ]+: (self-signed|unable to)[^\n]+$/)
})

test('an authority whose key cannot be read has no hash, and of many hashes a few are told', async () => {
  const unreadable = withUnreadableKey(evil.cert)
  honest.answer(info(clusterInfoText(honest.url, unreadable + own.cert)))
  assert.equal((await discover(honest)).ca.replaceAll('\n', ''), own.cert.replaceAll('\n', ''))
  honest.answer(info(clusterInfoText(honest.url, unreadable)))
  await assert.rejects(discover(honest), { name: 'StartError', message: /has a key that cannot be read, not the one/ })
  honest.answer(info(clusterInfoText(honest.url, evil.cert.repeat(100))))
  await assert.rejects(discover(honest), { name: 'StartError', message: /has the hash (sha256:[^ ]+ ){3}and 97 more,/ })
})

test('whatever a server tells that is not what it should be is refused in one line', async () => {
  const good = clusterInfoText(honest.url, own.cert)
  const kubeconfig = (cluster: object) => JSON.stringify({ clusters: [{ cluster }] })
  const ca = Buffer.from(own.cert).toString('base64')
  const header = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const [, , mac] = signed(good).split('.')
  for (const [body, words, status] of [
    ['', /does not know the token/],
    ['[', /does not know the token/],
    ['null', /does not know the token/],
    [{ data: 5 }, /does not know the token/],
    [{ data: [good] }, /does not know the token/],
    ['x'.repeat(2_000_000), /cannot read cluster-info/],
    ['', /it answers 500/, 500],
    ['', /it answers 302/, 302],
    ['', /lets no machine join/, 403],
    [info(good, 'a'), /is not signed/],
    [info(good, 'a.b.c.d'), /is not signed/],
    [info(good, signed(`${good} `)), /is not signed/],
    [info(good, signed(good, { ...TOKEN, secret: '0123456789abcdee' })), /is not signed/],
    [info(good, signed(good, { ...TOKEN, id: 'abcdeg' })), /is not signed/],
    [info(good, `${header({ alg: 'none', kid: TOKEN.id })}..${mac}`), /is not signed/],
    [info(good, `${header({ alg: 'none', kid: TOKEN.id })}..`), /is not signed/],
    [{ data: { kubeconfig: 5, 'jws-kubeconfig-abcdef': signed('5') } }, /is not signed/],
    [{ data: { kubeconfig: good, 'jws-kubeconfig-abcdef': { a: 1 } } }, /does not know the token/],
    [info(''), /names no server/],
    [info('a: [b\n  c: {'), /is no kubeconfig/],
    [
      info(
        `a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nclusters: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]`,
      ),
      /is no kubeconfig|names no server/,
    ],
    [info(kubeconfig({ server: honest.url })), /names no server/],
    [info(kubeconfig({ server: 'http://h', 'certificate-authority-data': ca })), /names no server/],
    [info(kubeconfig({ server: ['https://h'], 'certificate-authority-data': ca })), /names no server/],
    [
      info(kubeconfig({ server: honest.url, 'certificate-authority-data': 'aGVsbG8=' })),
      /names an authority that is none/,
    ],
    [info(clusterInfoText(honest.url, own.cert.replace(/[A-Z]/g, 'A'))), /names an authority that is none/],
    [info(clusterInfoText(honest.url, own.key)), /names an authority that is none/],
    [info(clusterInfoText(honest.url, evil.cert)), /another cluster, or an attacker/],
  ] as const) {
    honest.answer(body, status)
    await assert.rejects(discover(honest), ({ name, message }: Error) => {
      assert.equal(name, 'StartError', message)
      assert.match(message, words)
      assert.doesNotMatch(message, /\n/)
      return true
    })
  }
})
