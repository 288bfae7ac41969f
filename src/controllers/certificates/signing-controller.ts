/**
 * Signs approved CertificateSigningRequests of Kubernetes' own signers, after their rules. The controller manager starts it
 * with what holds the key: the cluster's authority is not its own business.
 */
import type { CertificateSigningRequest } from '../../api/generated/types.ts'
import { certificateRequestParts } from '../../api/validation/certificate-request.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { certificateController } from './certificate-controller.ts'
import {
  clientSigner,
  kubeletClientSigner,
  kubeletServingSigner,
  requestCondition,
  requestsResource,
  signingProblem,
  withRequestCondition,
} from './requests.ts'

/** What a CertificateSigningRequest asks for, as it was found good. */
export interface SigningRequest {
  /** The user that the subject was found to name: any reader of the certificate must find the same. */
  readonly commonName: string
  readonly organizations: readonly string[]
  /** DER, as in the request. */
  readonly subject: Uint8Array
  readonly publicKey: Uint8Array
  readonly subjectAltName?: Uint8Array
  /** Names of certificates.k8s.io/v1. */
  readonly usages: readonly string[]
  readonly validSeconds: number
}

/** PEM. @throws for what no certificate can be made of */
export type SignCertificate = (request: SigningRequest) => string

const signers = new Set([clientSigner, kubeletClientSigner, kubeletServingSigner])
export interface CertificateSigningOptions {
  /** How long a certificate is valid when the request does not say, and at most. Default a year. */
  readonly longestSeconds?: number
}

const yearSeconds = 365 * 86_400
const shortestSeconds = 600

export function createCertificateSigner(context: ControllerContext, signCertificate: SignCertificate): Controller {
  const { runtime, client, informers } = context
  const longestSeconds = context.settings?.certificateSigning?.longestSeconds ?? yearSeconds
  const requests = informers.informer<CertificateSigningRequest>(requestsResource)

  async function sync(name: string): Promise<void> {
    const request = requests.store.get(name)
    if (request === undefined || !signers.has(request.spec.signerName)) return
    if (request.status?.certificate || requestCondition(request, 'Failed') !== undefined) return
    if (requestCondition(request, 'Approved') === undefined || requestCondition(request, 'Denied') !== undefined) return
    await client
      .resource<CertificateSigningRequest>(requestsResource)
      .update(decided(request), { subresource: 'status' })
  }

  /** With its certificate, or with why it gets none. */
  function decided(request: CertificateSigningRequest): CertificateSigningRequest {
    const { request: text, signerName, usages = [], expirationSeconds } = request.spec
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
    return { ...request, status: { ...request.status, certificate } }
  }

  function failed(request: CertificateSigningRequest, message: string): CertificateSigningRequest {
    const now = formatTime(runtime.clock.now())
    return withRequestCondition(request, {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message,
      lastUpdateTime: now,
      lastTransitionTime: now,
    })
  }

  return certificateController(context, requests, 'certificate', sync)
}
