/** How a kubelet's server answers. */
import type { ApiResponse } from '../../api/request.ts'

/** An answer other than what was asked for. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export const textAnswer = (
  status: number,
  message: string,
  contentType = 'text/plain; charset=utf-8',
): ApiResponse => ({
  kind: 'bytes',
  status,
  contentType,
  bytes: [Buffer.from(message)],
})
export const METRICS_TYPE = 'text/plain; version=0.0.4'
export const jsonAnswer = (value: unknown): ApiResponse => textAnswer(200, JSON.stringify(value), 'application/json')
