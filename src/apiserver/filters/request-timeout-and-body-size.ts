/** Limits on one request: how long it may take and how large its body may be. */

import type { ApiResponse } from '../../api/request.ts'
import { badRequest, StatusError } from '../../api/status.ts'
import { createDeadlines } from '../../base/deadlines.ts'
import { messageOf } from '../../base/errors.ts'
import { parseGoDurationMs } from '../../base/go-duration.ts'
import type { Runtime } from '../../base/runtime.ts'
import { isLongRunning } from '../request/long-running.ts'
import type { Filter } from '../request/server-request.ts'

export const MAX_BODY_BYTES = 3 * 1024 * 1024

/** @throws StatusError 413; 500 for a body that broke off on its way */
export function bodyLimit(maxBytes: number): Filter {
  return (next) => (request) => {
    const { body, bodyFailure } = request
    if (bodyFailure !== undefined) throw bodyFailure
    if (body?.kind === 'bytes' && body.bytes.length > maxBytes)
      throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`)
    return next(request)
  }
}

/**
 * Answers for a request that takes longer than `defaultMs`, or than its own `timeout=` (a Go duration, which may only be shorter);
 * what is under way ends by itself. Applies to requests over a wire: components of this process bring their own signals.
 */
export function requestTimeout(runtime: Runtime, defaultMs: number): Filter {
  const { machineClock: clock } = runtime
  const deadlines = createDeadlines(clock, defaultMs, 'request timeout')
  return (next) => (request) => {
    if (request.connection === undefined || isLongRunning(request.info)) return next(request)
    const asked = request.query.size > 0 ? request.query.get('timeout') : null
    const wanted = asked === null || asked === '' ? 0 : timeoutMs(asked)
    const limit = wanted > 0 ? Math.min(defaultMs, wanted) : defaultMs
    const answer = next(request)
    if (!(answer instanceof Promise)) return answer
    return new Promise((resolve, reject) => {
      const onEnd = () => resolve(TIMED_OUT)
      const timer = limit === defaultMs ? deadlines.add(onEnd) : clock.setTimer(limit, 'request timeout', onEnd)
      answer.then(
        (response) => {
          timer.cancel()
          resolve(response)
        },
        (error) => {
          timer.cancel()
          reject(error)
        },
      )
    })
  }
}

/** As kube-apiserver writes it: a Status that does not say what it is, and calls itself plain text. */
const TIMED_OUT: ApiResponse = {
  kind: 'bytes',
  status: 504,
  contentType: 'text/plain; charset=utf-8',
  bytes: [
    Buffer.from(
      `${JSON.stringify({
        metadata: {},
        status: 'Failure',
        message: 'Timeout: request did not complete within the allotted timeout',
        reason: 'Timeout',
        details: {},
        code: 504,
      })}\n`,
    ),
  ],
}

/** A Go duration in milliseconds; a negative one is understood, and has no effect. @throws StatusError 400 */
export function timeoutMs(text: string): number {
  try {
    return parseGoDurationMs(text)
  } catch (error) {
    throw badRequest(`invalid timeout specified in the request URL - ${messageOf(error)}`)
  }
}
