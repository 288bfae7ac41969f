/**
 * Take away CertificateSigningRequests that are over or that were never answered, and PodCertificateRequests, whose nodes have
 * long taken their certificates. The controller manager starts them.
 */

import { X509Certificate } from 'node:crypto'
import type { CertificateSigningRequest, PodCertificateRequest } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isNotFound } from '../../api/status.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { podCertificateRequestsResource, requestCondition, requestConditions, requestsResource } from './requests.ts'

const HOUR_MS = 3_600_000
const DECIDED_MS = HOUR_MS
const PENDING_MS = 24 * HOUR_MS
const POD_CERTIFICATES_EVERY_MS = 300_000
/** Whatever became of it: a node and a signer are done with it in that time (KEP-4317). */
const POD_CERTIFICATE_MS = 900_000

interface Cleaner<T extends KubeObject> {
  readonly serviceAccount: string
  readonly resource: typeof requestsResource
  readonly everyMs: number
  isOver(request: T, nowMs: number): boolean
}

export const createCertificateCleaner = (context: ControllerContext): Controller =>
  createCleaner<CertificateSigningRequest>(context, {
    serviceAccount: 'certificate-controller',
    resource: requestsResource,
    everyMs: HOUR_MS,
    isOver,
  })

export const createPodCertificateCleaner = (context: ControllerContext): Controller =>
  createCleaner<PodCertificateRequest>(context, {
    serviceAccount: 'podcertificaterequestcleaner',
    resource: podCertificateRequestsResource,
    everyMs: POD_CERTIFICATES_EVERY_MS,
    isOver: ({ metadata }, nowMs) => nowMs - Date.parse(metadata.creationTimestamp ?? '') >= POD_CERTIFICATE_MS,
  })

function createCleaner<T extends KubeObject>(
  { runtime, client, informers, signal }: ControllerContext,
  { serviceAccount, resource, everyMs, isOver }: Cleaner<T>,
): Controller {
  const requests = informers.informer<T>(resource)

  async function clean(): Promise<void> {
    const over = requests.store.list().filter((request) => isOver(request, runtime.clock.now()))
    await Promise.all(
      over.map(async ({ metadata: { name = '', namespace = '', uid = '' } }) => {
        const all = client.resource<T>(resource)
        await (namespace === '' ? all : all.namespace(namespace))
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
    const timing = { everyMs, nothingBefore, goesOn: true }
    runtime.clock.setTimer(everyMs, `cleaner of ${resource.resource}`, () => void clean().then(again), timing)
  }

  return {
    name: serviceAccount,
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
    return age(request.metadata.creationTimestamp) > PENDING_MS
  const [approved, denied, failed] = told
  if (denied !== undefined) return age(denied.lastUpdateTime) > DECIDED_MS
  if (failed !== undefined) return age(failed.lastUpdateTime) > DECIDED_MS
  return approved !== undefined && Boolean(certificate) && age(approved.lastUpdateTime) > DECIDED_MS
}

function validUntil(certificate: string): number {
  try {
    return new X509Certificate(Buffer.from(certificate, 'base64')).validToDate.getTime()
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
