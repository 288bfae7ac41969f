/** A server that takes more time for one request than for the next: what is asked at once is answered in another order. */
import type { ApiRequest } from '../api/request.ts'
import { sleep } from '../base/clock.ts'
import { seededRandom } from '../base/random.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Transport } from './transport.ts'

/** In milliseconds; few different ones, so that much of it is done at the same time. */
const TAKES_MS = [0, 0, 20, 300, 1500] as const

const isWatch = ({ query }: ApiRequest) => query.get('watch') === 'true'

/** The same seed makes the same delays, in the order of the requests. A watch begins at once. */
export function unevenTransport(runtime: Runtime, transport: Transport, seed: number): Transport {
  const random = seededRandom(seed)
  return {
    ...transport,
    async send(request, beforeItBegins) {
      const ms = TAKES_MS[Math.floor(random.float() * TAKES_MS.length)] ?? 0
      if (ms > 0 && !isWatch(request)) await sleep(runtime.clock, ms, request.signal)
      return transport.send(request, beforeItBegins)
    },
  }
}
