/** How much is logged, set while the kubelet runs: a number, by PUT /debug/flags/v. Answers are a kubelet's. */
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { Logger } from '../../base/log.ts'
import { NOSNIFF } from './paths.ts'
import { textAnswer } from './refused.ts'

const MOST = 2 ** 31 - 1
const MOST_UNSIGNED = 2 ** 32 - 1

export function setVerbosity(log: Pick<Logger, 'setLevel'>, { method, body }: ApiRequest): ApiResponse {
  if (method !== 'PUT') return answer(406, 'unsupported http method\n')
  const text = body?.kind === 'bytes' ? Buffer.from(body.bytes).toString() : ''
  const parsing = (kind: string, why: string) => `strconv.${kind}: parsing ${JSON.stringify(text)}: ${why}\n`
  if (!/^\d+$/.test(text)) return answer(400, parsing('ParseUint', 'invalid syntax'))
  const level = Number(text)
  if (level > MOST_UNSIGNED) return answer(400, parsing('ParseUint', 'value out of range'))
  if (level > MOST)
    return answer(400, `failed set klog.logging.verbosity ${text}: ${parsing('ParseInt', 'value out of range')}`)
  log.setLevel(level)
  return answer(200, `successfully set klog.logging.verbosity to ${text}\n`)
}

const answer = (status: number, text: string) => textAnswer(status, text, 'text/plain', NOSNIFF)
