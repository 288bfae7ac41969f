/** Manifests at a URL: a Pod or a list of them, asked for every so often. While nothing usable comes, what came last stays. */
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { fetchDocument } from '../../http/fetch.ts'
import type { Pod } from '../pod.ts'
import { staticPodOf, staticPodsOf } from './static-pod.ts'
import type { StaticPodSource } from './static-pods.ts'

export interface ManifestUrl {
  readonly url: string
  /** Sent with each request: `a:hello,b:again`; of a name that is there twice, both. */
  readonly headers?: readonly string[]
}

export interface ManifestUrlOptions extends ManifestUrl {
  readonly runtime: Runtime
  readonly nodeName: string
  /** Milliseconds; default 20 seconds. */
  readonly everyMs?: number
}

export const URL_CHECK_MS = 20_000
const TIMEOUT_MS = 10_000
const MOST_BYTES = 10 * 1024 * 1024

/** @throws Error for what is no URL of a server, or no header */
export function checkManifestUrl({ url, headers }: ManifestUrl): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Error(`${JSON.stringify(url)} is no URL: give http://… or https://…`)
  parseHeaders(headers)
}

/** `a:hello,b:again`, each perhaps given several times. @throws Error */
export function parseHeaders(texts: readonly string[] = []): Readonly<Record<string, readonly string[]>> {
  const headers: Record<string, string[]> = {}
  for (const pair of texts.flatMap((text) => text.split(',')).filter((one) => one !== '')) {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*?)\s*$/.exec(pair) ?? []
    if (name === undefined || value === undefined)
      throw new Error(`${JSON.stringify(pair)} is not of the form name:value`)
    headers[name.toLowerCase()] = [...(headers[name.toLowerCase()] ?? []), value]
  }
  return headers
}

export function manifestUrl(options: ManifestUrlOptions): StaticPodSource {
  const { runtime, nodeName, url, everyMs = URL_CHECK_MS } = options
  const { machineClock, log } = runtime
  const headers = parseHeaders(options.headers)
  let complaint: string | undefined

  /** Undefined: nothing at all stands there. */
  async function podsNow(signal: AbortSignal): Promise<readonly Pod[] | undefined> {
    const { status, text } = await fetchDocument(url, { headers, maxBytes: MOST_BYTES, signal, allowsPlain: true })
    if (status !== 200) throw new Error(`${url}: ${status}`)
    if (text === '') return undefined
    const origin = { source: 'http', place: url, nodeName, seenAt: runtime.clock.now() } as const
    const bytes = Buffer.from(text)
    return staticPodsOf(bytes, origin) ?? [staticPodOf(bytes, origin)]
  }

  return {
    name: 'http',
    start(tell, signal) {
      const look = async () => {
        const limit = new AbortController()
        const timer = machineClock.setTimer(TIMEOUT_MS, 'a manifest’s URL answers', () => {
          limit.abort(new Error(`${url} does not answer`))
        })
        try {
          const pods = await podsNow(AbortSignal.any([signal, limit.signal]))
          tell(pods ?? [])
          if (pods === undefined) throw new Error(`zero-length data received from ${url}`)
          complaint = undefined
        } catch (error) {
          if (signal.aborted) return
          const text = messageOf(error)
          // Said once, however long it lasts.
          if (text !== complaint) log.error('Manifests of static pods cannot be had', error, { url })
          complaint = text
        } finally {
          timer.cancel()
        }
      }
      const again = (): void => {
        void look().then(() => {
          if (signal.aborted) return
          const next = machineClock.setTimer(everyMs, 'a manifest’s URL is asked', again, { everyMs, goesOn: true })
          signal.addEventListener('abort', () => next.cancel(), { once: true })
        })
      }
      again()
    },
  }
}
