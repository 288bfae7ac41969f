/** A server that takes more time for one request than for the next: what is asked at once is answered in another order. */
import type { ApiRequest } from '../api/request.ts'
import { sleep } from '../base/clock.ts'
import { seededRandom } from '../base/random.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Transport } from './transport.ts'

/** How long a request waits before it is sent, in milliseconds. Asked once for each, in their order; of watches not at all. */
export type Delays = (request: ApiRequest) => number

/** In milliseconds; few different ones, so that much of it is done at the same time. */
const TAKES_MS = [0, 0, 20, 300, 1500] as const

/** By chance: the same seed makes the same delays. */
export function delaysBySeed(seed: number): Delays {
  const random = seededRandom(seed)
  return () => TAKES_MS[Math.floor(random.float() * TAKES_MS.length)] ?? 0
}

const isWatch = ({ query }: ApiRequest) => query.get('watch') === 'true'

/** A watch begins at once. */
export function unevenTransport(runtime: Runtime, transport: Transport, delays: Delays): Transport {
  return {
    ...transport,
    async send(request, beforeItBegins) {
      const ms = isWatch(request) ? 0 : delays(request)
      if (ms > 0) await sleep(runtime.clock, ms, request.signal)
      return transport.send(request, beforeItBegins)
    },
  }
}
