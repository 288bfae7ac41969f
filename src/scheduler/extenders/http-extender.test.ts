/** How extenders are asked over HTTP and HTTPS, whom they are taken for, and what is said of one that cannot be asked. */
import assert from 'node:assert/strict'
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { alice, ca, runtime, serving as shown } from '../../http/fixture.test.ts'
import type { ExtenderTls } from './extender.ts'
import { httpExtender } from './http-extender.ts'

type Answering = (asked: IncomingMessage, answer: ServerResponse) => void

/** What comes of a question to a server; its address is told as ADDRESS. */
async function asked(answering: Answering, tls?: ExtenderTls, options?: ServerOptions): Promise<string> {
  const server = options === undefined ? createPlainServer(answering) : createServer(options, answering)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const extender = httpExtender(runtime, { ...SETTINGS, tls: tls ?? { insecure: false } })
  try {
    const { status, text } = await extender.post(`http${options ? 's' : ''}://${address}/a/filter`, '{"Pod":{}}')
    return `${status} ${text}`
  } catch (error) {
    return (error as Error).message.replaceAll(address, 'ADDRESS')
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
const SETTINGS = {
  urlPrefix: '',
  filterVerb: 'filter',
  prioritizeVerb: '',
  preemptVerb: '',
  bindVerb: '',
  weight: 0,
  timeoutMs: 300,
  nodeCacheCapable: false,
  managedResources: new Set<string>(),
  ignorable: false,
}
const echo: Answering = async (request, answer) => {
  let body = ''
  for await (const chunk of request) body += chunk
  answer.end(`${request.method} ${request.url} ${request.headers['content-type']} ${body}`)
}

test('a question is a POST of JSON, over HTTP', async () => {
  assert.equal(await asked(echo), '200 POST /a/filter application/json {"Pod":{}}')
})

test('over HTTPS the server is held against the authority, or is believed where that is said, and sees a certificate', async () => {
  const known = { insecure: false, ca: ca.cert }
  assert.match(await asked(echo, known, shown), /^200 POST/)
  assert.match(await asked(echo, { insecure: true }, shown), /^200 POST/)
  assert.match(
    await asked(echo, { insecure: false }, shown),
    /^Post "https:\/\/ADDRESS\/a\/filter": tls: failed to verify certificate: x509: certificate signed by unknown authority/,
  )
  assert.match(
    await asked(echo, { ...known, serverName: 'another.example' }, shown),
    /x509: certificate is not valid for any names, but wanted to match another\.example/,
  )
  const needed = { ...shown, ca: ca.cert, requestCert: true, rejectUnauthorized: true }
  assert.match(await asked(echo, { ...known, ...alice }, needed), /^200 POST/)
  assert.match(await asked(echo, known, needed), /^Post "https:\/\/ADDRESS\/a\/filter": /)
})

test('one that does not answer in time, or at all, is told of as a Go client tells', async () => {
  assert.equal(
    await asked(() => {}),
    'Post "http://ADDRESS/a/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
  )
  const nowhere = httpExtender(runtime, { ...SETTINGS, tls: { insecure: false } })
  await assert.rejects(nowhere.post('http://127.0.0.1:1/x/filter', '{}'), {
    message: 'Post "http://127.0.0.1:1/x/filter": dial tcp 127.0.0.1:1: connect: connection refused',
  })
})
