/**
 * Signs approved CertificateSigningRequests of Kubernetes' own signers, after their rules. The controller manager starts it
 * with what holds the key: the cluster's authority is not its own business.
 */
import type { KubeObject } from '../../api/object.ts'
import { certificateRequestParts } from '../../api/validation/certificate-request.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import {
  clientSigner,
  conditionOf,
  kubeletClientSigner,
  kubeletServingSigner,
  requestsResource,
  signingProblem,
  withCondition,
} from './requests.ts'

/** PEM. @throws for what no certificate can be made of */
export type SignCertificate = (request: {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** DER, as in the request. */
  readonly subject: Uint8Array
  readonly publicKey: Uint8Array
  readonly subjectAltName?: Uint8Array
  readonly usages: readonly string[]
  readonly validSeconds: number
}) => string

const signers = new Set([clientSigner, kubeletClientSigner, kubeletServingSigner])
/** A year, when the request does not say. */
const longestSeconds = 365 * 86_400
const shortestSeconds = 600

export function createCertificateSigner(context: ControllerContext, signCertificate: SignCertificate): Controller {
  const { runtime, client, informers, signal } = context
  const requests = informers.informer(requestsResource)
  const queue = createWorkQueue<string>(runtime, 'certificate')

  async function sync(name: string): Promise<void> {
    const request = requests.store.get(name)
    if (request === undefined || !signers.has(request['spec'].signerName)) return
    if (request['status']?.certificate || conditionOf(request, 'Failed') !== undefined) return
    if (conditionOf(request, 'Approved') === undefined || conditionOf(request, 'Denied') !== undefined) return
    await client.resource(requestsResource).update(decided(request), { subresource: 'status' })
  }

  /** With its certificate, or with why it gets none. */
  function decided(request: KubeObject): KubeObject {
    const { request: text, signerName, usages = [], expirationSeconds } = request['spec']
    const parts = certificateRequestParts(text)
    if (parts === undefined) return failed(request, 'unable to parse the certificate request')
    const problem = signingProblem(signerName, parts, usages)
    if (problem !== undefined) return failed(request, problem)
    const asked: number = expirationSeconds ?? longestSeconds
    const validSeconds = Math.min(longestSeconds, Math.max(shortestSeconds, asked))
    let signed: string
    try {
      signed = signCertificate({ ...parts, usages, validSeconds })
    } catch (error) {
      return failed(request, messageOf(error))
    }
    const certificate = Buffer.from(signed).toString('base64')
    return { ...request, status: { ...request['status'], certificate } } as KubeObject
  }

  function failed(request: KubeObject, message: string): KubeObject {
    const now = formatTime(runtime.clock.now())
    return withCondition(request, {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message,
      lastUpdateTime: now,
      lastTransitionTime: now,
    })
  }

  return {
    name: 'certificate-controller',
    async start() {
      const enqueue = (request: KubeObject) => queue.add(request.metadata.name ?? '')
      requests.addHandlers({ added: enqueue, updated: (_, request) => enqueue(request) })
      await requests.whenSynced(signal)
      runWorkers(runtime, queue, 1, sync, signal)
    },
  }
}
