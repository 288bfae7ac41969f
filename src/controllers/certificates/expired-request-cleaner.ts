/** Takes away CertificateSigningRequests that are over or that were never answered. The controller manager starts it. */

import { X509Certificate } from 'node:crypto'
import type { CertificateSigningRequest } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { requestCondition, requestConditions, requestsResource } from './requests.ts'

const everyMs = 3_600_000
const decidedMs = 3_600_000
const pendingMs = 24 * 3_600_000

export function createCertificateCleaner(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const requests = informers.informer<CertificateSigningRequest>(requestsResource)

  async function clean(): Promise<void> {
    const over = requests.store.list().filter((request) => isOver(request, runtime.clock.now()))
    await Promise.all(
      over.map(async ({ metadata }) => {
        const { name = '', uid = '' } = metadata
        await client
          .resource<CertificateSigningRequest>(requestsResource)
          .delete(name, { preconditions: { uid } })
          .catch((error) => {
            if (!isNotFound(error)) runtime.log.info(2, 'a request was not cleaned', { name, err: String(error) })
          })
      }),
    )
  }

  const nothingBefore = () => (requests.store.list().length > 0 ? 0 : Number.POSITIVE_INFINITY)
  const again = () => {
    if (signal.aborted) return
    runtime.clock.setTimer(everyMs, 'csrcleaner', () => void clean().then(again), {
      everyMs,
      nothingBefore,
      goesOn: true,
    })
  }

  return {
    name: 'certificate-controller',
    async start() {
      await requests.whenSynced(signal)
      again()
    },
  }
}

/** An hour after it was answered; a day after it was asked without an answer; and when its certificate has run out. */
export function isOver(request: CertificateSigningRequest, nowMs: number): boolean {
  const certificate: string | undefined = request.status?.certificate
  if (certificate && validUntil(certificate) < nowMs) return true
  const age = (time: string | undefined) => (time === undefined ? 0 : nowMs - Date.parse(time))
  const told = ['Approved', 'Denied', 'Failed'].map((type) => requestCondition(request, type))
  if (requestConditions(request).length === 0 && !certificate)
    return age(request.metadata.creationTimestamp) > pendingMs
  const [approved, denied, failed] = told
  if (denied !== undefined) return age(denied.lastUpdateTime) > decidedMs
  if (failed !== undefined) return age(failed.lastUpdateTime) > decidedMs
  return approved !== undefined && Boolean(certificate) && age(approved.lastUpdateTime) > decidedMs
}

function validUntil(certificate: string): number {
  try {
    return new X509Certificate(Buffer.from(certificate, 'base64')).validToDate.getTime()
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
