/** Asks an extender over HTTP or HTTPS. Why it cannot be asked is told in the words of a Go client. */
import type { Runtime } from '../../base/runtime.ts'
import { createHttpsClient, type HttpsClient } from '../../http/client.ts'
import { AnswerTooLarge, limitedText } from '../../http/fetch.ts'
import { networkError } from '../../http/network-error.ts'
import type { ExtenderServer, ExtenderSettings } from './extender.ts'

/** Nodes may be told whole: room for many thousands of them. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024
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
      const { origin, hostname, path, authorization, shown } = targetOf(url)
      client ??= connected(origin)
      const late = new AbortController()
      const { timeoutMs } = settings
      const timer = timeoutMs > 0 ? runtime.clock.setTimer(timeoutMs, 'extender', () => late.abort()) : undefined
      try {
        const answer = await client.send({
          method: 'POST',
          path,
          headers: { ...HEADERS, ...(authorization === undefined ? {} : { authorization }) },
          body,
          signal: late.signal,
        })
        return { status: answer.status, text: await limitedText(answer.chunks(), MAX_ANSWER_BYTES) }
      } catch (error) {
        const endpoint = { server: origin, serverName: serverName ?? hostname, ca }
        const attempt = { endpoint, nowMs: runtime.clock.now(), timeout: late.signal }
        const isTooLarge = error instanceof AnswerTooLarge
        const why = late.signal.aborted ? LATE : isTooLarge ? error.message : await networkError(error, attempt)
        throw new Error(`Post ${JSON.stringify(shown)}: ${why}`, { cause: error })
      } finally {
        timer?.cancel()
      }
    },
  }
}

/** Where a question goes, its path with the query; `shown`: without the password. @throws why nothing can be asked there */
function targetOf(url: string) {
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? ''
  const post = `Post ${JSON.stringify(url)}:`
  if (scheme !== 'http' && scheme !== 'https')
    throw new Error(`${post} unsupported protocol scheme ${JSON.stringify(scheme)}`)
  if (!/^\w+:\/\/[^/?#]/.test(url)) throw new Error(`${post} http: no Host in request URL`)
  if (!URL.canParse(url)) throw new Error(`parse ${JSON.stringify(url)}: it is no URL`)
  const { origin, hostname, pathname, search, username, password } = new URL(url)
  const user = [username, password].map(decodeURIComponent).join(':')
  return {
    origin,
    hostname,
    path: `${pathname}${search}`,
    authorization: user === ':' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`,
    shown: url.replace(/^(\w+:\/\/[^/?#:]*):[^/?#]*@/, '$1:***@'),
  }
}
