/** Whoever this server asks may answer without end: of none is more read than a bound, and none keeps it waiting for ever. */

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { parseJws } from '../../src/apiserver/auth/jws.ts'
import { jwtKey, signJwt } from '../../src/apiserver/auth/jwt.ts'
import { createProvider } from '../../src/apiserver/auth/oidc/provider.ts'
import { createReviewClient } from '../../src/apiserver/auth/webhook/client.ts'
import type { CacheReads } from '../../src/apiserver/reads.ts'
import { createWebhookClient } from '../../src/apiserver/webhooks/client.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { issue } from '../../src/cluster/certificate.ts'
import { fetchDocument } from '../../src/http/fetch.ts'
import { endless, MEGABYTE } from '../endless.ts'

const runtime = liveRuntime({ log: { write: () => {} } })
const ca = issue(runtime, { commonName: 'endless', usage: 'ca', validDays: 1 })
const serving = issue(runtime, { commonName: 'x', usage: 'server', hosts: ['127.0.0.1'], validDays: 1 }, ca)
/** More than any bound, and little enough to end should there be none. */
const MOST = 96 * MEGABYTE

/** Bytes that were taken, by the path that was asked. */
const taken = new Map<string, Promise<number>>()

const server = createServer({ cert: serving.cert, key: serving.key }, (request, response) => {
  request.resume()
  const path = (request.url ?? '').split('?')[0] ?? ''
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  if (path === '/keys/.well-known/openid-configuration') {
    response.end(JSON.stringify({ issuer: `${origin}/keys`, jwks_uri: `${origin}/keys/jwks` }))
    return
  }
  // The beginning of an answer that could become a good one.
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write('{"kind":"x","a":"')
  taken.set(path, endless(response, MOST, Buffer.alloc(64 * 1024, 'x')))
})
let url: string
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

const signingKey = jwtKey(
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
)
const signedBy = (iss: string) => {
  const jws = parseJws(signJwt(signingKey, { iss } as never))
  assert.ok(jws)
  return createProvider(runtime, { url: iss, certificateAuthority: ca.cert }).signed(jws)
}
const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: {} }

const askers: Readonly<Record<string, { path: string; bound: number; error: RegExp; ask: () => Promise<unknown> }>> = {
  'a webhook for admission or conversion': {
    path: '/webhook',
    bound: 7,
    error: /^received response larger than 7340032 bytes$/,
    ask: () =>
      createWebhookClient(runtime, {} as CacheReads).post({
        clientConfig: { url: `${url}/webhook`, caBundle: Buffer.from(ca.cert).toString('base64') },
        timeoutSeconds: 30,
        userAgent: 'test',
        review: { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' },
      }),
  },
  'a webhook for tokens or authorization': {
    path: '/review',
    bound: 1,
    error: /larger than 1048576 bytes$/,
    ask: () => createReviewClient(runtime, { server: `${url}/review`, ca: ca.cert }, 30_000).ask(review),
  },
  "an issuer's discovery document": {
    path: '/discovery/.well-known/openid-configuration',
    bound: 1,
    error: /not initialized/,
    ask: () => signedBy(`${url}/discovery`),
  },
  "an issuer's keys": { path: '/keys/jwks', bound: 1, error: /./, ask: () => signedBy(`${url}/keys`) },
  'any other document': {
    path: '/document',
    bound: 1,
    error: /larger than 1000 bytes/,
    ask: () => fetchDocument(`${url}/document`, { ca: ca.cert, maxBytes: 1000, signal: new AbortController().signal }),
  },
}

for (const [what, { path, bound, error, ask }] of Object.entries(askers))
  test(`${what} gets read no further than its bound`, async () => {
    await assert.rejects(ask(), (thrown: Error) => error.test(thrown.message) || assert.fail(thrown.message))
    const bytes = await taken.get(path)
    // What is on its way in sockets' buffers comes on top.
    assert.ok(bytes !== undefined && bytes < (bound + 24) * MEGABYTE, `${bytes} bytes were taken`)
  })
