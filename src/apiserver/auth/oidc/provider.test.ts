import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { liveRuntime } from '../../../base/live-runtime.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { parseJws } from '../jws.ts'
import { jwtKey, signJwt } from '../jwt.ts'
import { TokenError } from '../token-error.ts'
import { createOidcAuthenticator } from './authenticator.ts'
import { createProvider } from './provider.ts'

/** Time stands still until the issuer has been reached; then all that was given has gone by. */
function hurried(reached: Promise<void>): Runtime {
  const live = liveRuntime({ log: { write: () => {} } })
  const setTimer = (_ms: number, _label: string, task: () => void) => {
    let cancelled = false
    void reached.then(() => cancelled || task())
    return {
      cancel: () => {
        cancelled = true
      },
    }
  }
  return { ...live, machineClock: { ...live.clock, setTimer } }
}

interface Silent {
  readonly url: string
  readonly sockets: Socket[]
  /** Somebody has connected. */
  readonly reached: Promise<void>
  stop(): void
}

/** Takes every connection, and never says anything. */
async function silent(): Promise<Silent> {
  const sockets: Socket[] = []
  let connected = () => {}
  const reached = new Promise<void>((resolve) => {
    connected = resolve
  })
  const server = createServer((socket) => {
    sockets.push(socket)
    connected()
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as { port: number }).port}`,
    sockets,
    reached,
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
const token = (claims: object) => signJwt(jwtKey(pem.toString()), claims as never)

test('an issuer that never answers is waited for no longer than it may take, and by all together', async (t) => {
  const { url, sockets, reached, stop } = await silent()
  t.after(stop)
  const provider = createProvider(hurried(reached), { url })
  const jws = parseJws(token({ iss: url }))
  assert.ok(jws)
  const refused = await Promise.allSettled(Array.from({ length: 20 }, () => provider.signed(jws)))
  for (const outcome of refused) {
    assert.equal(outcome.status, 'rejected')
    assert.ok(outcome.reason instanceof TokenError)
    assert.equal(outcome.reason.message, 'oidc: authenticator not initialized')
  }
  assert.equal(sockets.length, 1)
  // Just refused: it is not asked again at once.
  await assert.rejects(provider.signed(jws), TokenError)
  assert.equal(sockets.length, 1)
})

test('a token of another issuer waits for nobody', async (t) => {
  const { url, reached, stop } = await silent()
  t.after(stop)
  const mappings = { username: { claim: 'sub', prefix: '' }, extra: [], claimRules: [], userRules: [] }
  const authenticator = createOidcAuthenticator(hurried(reached), [
    { url, audiences: ['x'], algorithms: ['ES256'], mappings },
  ])
  assert.equal(await authenticator.authenticate(token({ iss: 'https://elsewhere' })), undefined)
  assert.equal(await authenticator.authenticate('nonsense'), undefined)
})
