/** Which answers are compressed, and how: those of kube-apiserver, by gzip alone. */
import type { OutgoingHttpHeaders } from 'node:http'
import { constants, createGzip } from 'node:zlib'
import type { ApiRequest } from '../api/request.ts'
import { drained, isGone } from './drained.ts'
import type { Outgoing } from './respond.ts'
import type { Slices } from './slices.ts'

/** As kube-apiserver: smaller answers are not worth compressing. */
export const GZIP_FROM_BYTES = 128 * 1024

/** As kube-apiserver: no gzip for an Accept-Encoding with q-values; the word must stand alone between commas. */
export function acceptsGzip(request: ApiRequest | undefined): boolean {
  const accepted = request?.headers['accept-encoding']
  return accepted !== undefined && request?.method !== 'HEAD' && /(^|,)\s*gzip\s*(,|$)/.test(accepted)
}

/** Writes slices compressed, each when the one before has left. */
export async function sendGzip(
  request: ApiRequest,
  outgoing: Outgoing,
  status: number,
  headers: OutgoingHttpHeaders,
  slices: Slices,
): Promise<void> {
  headers['content-encoding'] = 'gzip'
  const { vary, ...others } = headers
  // A line for each, as kube-apiserver has it.
  outgoing.setHeader('vary', [...new Set([vary ?? []].flat().map(String)).add('Accept-Encoding')])
  outgoing.writeHead(status, others)
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 })
  const onAbort = () => gzip.destroy()
  request.signal.addEventListener('abort', onAbort, { once: true })
  const pumped = (async () => {
    for await (const chunk of gzip as AsyncIterable<Buffer>) {
      if (isGone(outgoing)) return
      if (!outgoing.write(chunk)) await drained(outgoing)
    }
    outgoing.end()
  })()
  pumped.catch(() => {})
  for (let next = slices.next(); next.done !== true && !gzip.destroyed; ) {
    const isTaken = gzip.write(next.value)
    if (!isTaken) await drained(gzip)
    next = slices.next(!isTaken)
  }
  gzip.end()
  await pumped
  request.signal.removeEventListener('abort', onAbort)
}
