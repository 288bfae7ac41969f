/** Asks an extender over HTTP or HTTPS. Why it cannot be asked is told in the words of a Go client. */
import type { Runtime } from '../../base/runtime.ts'
import { createHttpsClient, type HttpsClient } from '../../http/client.ts'
import { networkError } from '../../http/network-error.ts'
import type { ExtenderServer, ExtenderSettings } from './extender.ts'

const HEADERS = { 'content-type': 'application/json' }
const LATE = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'

/** Its connection is kept for the next question. */
export function httpExtender(runtime: Runtime, settings: ExtenderSettings): ExtenderServer {
  const { ca, cert, key, serverName, insecure } = settings.tls
  let client: HttpsClient | undefined
  const connected = (server: string) =>
    createHttpsClient({
      server,
      insecureSkipTlsVerify: insecure,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
      ...(serverName === undefined ? {} : { serverName }),
    })

  return {
    settings,
    async post(url, body) {
      const { origin, pathname, hostname } = new URL(url)
      client ??= connected(origin)
      const late = new AbortController()
      const timer = runtime.clock.setTimer(settings.timeoutMs, 'extender', () => late.abort())
      try {
        const answer = await client.send({
          method: 'POST',
          path: pathname,
          headers: HEADERS,
          body,
          signal: late.signal,
        })
        return { status: answer.status, text: Buffer.from(await answer.bytes()).toString('utf8') }
      } catch (error) {
        const endpoint = { server: origin, serverName: serverName ?? hostname, ca }
        const attempt = { endpoint, nowMs: runtime.clock.now(), timeout: late.signal }
        throw new Error(`Post "${url}": ${late.signal.aborted ? LATE : await networkError(error, attempt)}`, {
          cause: error,
        })
      } finally {
        timer.cancel()
      }
    },
  }
}
