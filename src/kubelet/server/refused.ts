/** How a kubelet's server answers. */
import type { ApiResponse } from '../../api/request.ts'

type Headers = Readonly<Record<string, string>>

/** An answer other than what was asked for. */
export class Refused extends Error {
  readonly status: number
  readonly headers: Headers
  constructor(status: number, message: string, headers: Headers = {}, cause?: unknown) {
    super(message, { cause })
    this.status = status
    this.headers = headers
  }
}

export const textAnswer = (
  status: number,
  message: string,
  contentType = 'text/plain; charset=utf-8',
  headers: Headers = {},
): ApiResponse => ({
  kind: 'bytes',
  status,
  contentType,
  bytes: [Buffer.from(message)],
  headers,
})
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'
export const jsonAnswer = (value: unknown): ApiResponse => textAnswer(200, JSON.stringify(value), 'application/json')
