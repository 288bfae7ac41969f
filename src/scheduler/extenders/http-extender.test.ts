/** How extenders are asked over HTTP and HTTPS, whom they are taken for, and what is said of one that cannot be asked. */
import assert from 'node:assert/strict'
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
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

test('a URL says by its query and its user what to send; one that cannot be asked is told of as a Go client tells', async () => {
  const post = async (url: string): Promise<string> => {
    const extender = httpExtender(runtime, { ...SETTINGS, timeoutMs: -1000, tls: { insecure: false } })
    return extender.post(url, '{}').then(
      ({ status, text }) => `${status} ${text}`,
      (error: Error) => error.message,
    )
  }
  const server = createPlainServer((request, answer) => answer.end(`${request.headers.authorization} ${request.url}`))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  // A timeout below zero is none.
  assert.equal(await post(`http://u:p%20w@${address}/x?a=b/f#c`), `200 Basic ${btoa('u:p w')} /x?a=b/f`)
  assert.equal(await post(`http://${address}/x/f`), '200 undefined /x/f')
  const refused = 'dial tcp 127.0.0.1:1: connect: connection refused'
  assert.equal(await post('http://u:p@127.0.0.1:1/f'), `Post "http://u:***@127.0.0.1:1/f": ${refused}`)
  assert.equal(await post('nourl/f'), 'Post "nourl/f": unsupported protocol scheme ""')
  assert.equal(await post('ftp://h/f'), 'Post "ftp://h/f": unsupported protocol scheme "ftp"')
  assert.equal(await post('http:///f'), 'Post "http:///f": http: no Host in request URL')
  assert.equal(await post('http://127.0.0.1:x/f'), 'parse "http://127.0.0.1:x/f": it is no URL')
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
