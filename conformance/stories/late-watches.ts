/** A wire on which watches tell of a write a little after it was answered: components then look at what they have just written as it was before. */
import type { ApiRequest, WatchEvent } from '../../src/api/request.ts'
import type { Runtime } from '../../src/base/runtime.ts'
import { Stream, type StreamReader } from '../../src/base/stream.ts'
import type { Transport } from '../../src/client/transport.ts'

/** Each event comes `ms` late, in its order; `ms` 0: at once. */
export function lateWatches(runtime: Runtime, transport: Transport, ms: number): Transport {
  if (ms === 0) return transport
  return {
    ...transport,
    async send(request: ApiRequest, beforeItBegins) {
      const response = await transport.send(request, beforeItBegins)
      return response.kind === 'watch' ? { ...response, events: late(runtime, response.events, ms) } : response
    },
  }
}

function late(runtime: Runtime, events: StreamReader<WatchEvent>, ms: number): StreamReader<WatchEvent> {
  const told = new Stream<WatchEvent>({ capacity: Number.POSITIVE_INFINITY, onClose: () => events.close() })
  const after = (act: () => void) => void runtime.clock.setTimer(ms, 'late watch event', act)
  async function pass(): Promise<void> {
    try {
      for (let event = await events.next(); event !== undefined; event = await events.next()) {
        const one = event
        after(() => told.push(one))
      }
      after(() => told.close())
    } catch (error) {
      after(() => told.close(error))
    }
  }
  void pass()
  return told
}
