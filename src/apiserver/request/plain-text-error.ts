import type { ApiRequest, ApiResponse } from '../../api/request.ts'

export const PLAIN_TEXT_HEADERS = { 'x-content-type-options': 'nosniff' } as const

/** A 500 that is not even a Status; it quotes the whole target of the request. */
export const plainTextError = ({ target, path }: ApiRequest, why: string): ApiResponse => ({
  kind: 'bytes',
  status: 500,
  headers: PLAIN_TEXT_HEADERS,
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from(`Internal Server Error: ${JSON.stringify(target ?? path)}: ${why}\n`)],
})
