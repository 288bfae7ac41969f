import type { ApiRequest, ApiResponse } from '../../api/request.ts'

export const PLAIN_TEXT_HEADERS = { 'x-content-type-options': 'nosniff' } as const

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => ENTITIES[sign] as string)

/** A 500 that is not even a Status; it quotes the whole target of the request. What a page would take for its own is escaped. */
export const plainTextError = ({ target, path }: ApiRequest, why: string): ApiResponse => ({
  kind: 'bytes',
  status: 500,
  headers: PLAIN_TEXT_HEADERS,
  contentType: 'text/plain; charset=utf-8',
  bytes: [Buffer.from(`${escaped(`Internal Server Error: ${JSON.stringify(target ?? path)}: ${why}`)}\n`)],
})
