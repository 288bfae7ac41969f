/**
 * Approves the client certificates that kubelets ask for, when an access review says that the asker may have them. The
 * controller manager starts it; whatever else is asked for waits for a person.
 */
import type { CertificateSigningRequest, SubjectAccessReview } from '../../api/generated/types.ts'
import { certificateRequestParts } from '../../api/validation/certificate-request.ts'
import { formatTime } from '../../base/clock.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { certificateController } from './certificate-controller.ts'
import {
  isDecided,
  kubeletClientProblem,
  kubeletClientSigner,
  requestsResource,
  withRequestCondition,
} from './requests.ts'

const reviewsResource = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' }

interface Recognizer {
  readonly subresource: string
  readonly message: string
  recognizes(username: string, commonName: string): boolean
}
const recognizers: readonly Recognizer[] = [
  {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    recognizes: (username, commonName) => username === commonName,
  },
  {
    subresource: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    recognizes: () => true,
  },
]

export function createCertificateApprover(context: ControllerContext): Controller {
  const { runtime, client, informers } = context
  const requests = informers.informer<CertificateSigningRequest>(requestsResource)

  async function sync(name: string): Promise<void> {
    const request = requests.store.get(name)
    if (request === undefined || isDecided(request) || request.status?.certificate) return
    const { signerName, request: text, usages = [], username = '' } = request.spec
    const parts = signerName === kubeletClientSigner ? certificateRequestParts(text) : undefined
    if (parts === undefined || kubeletClientProblem(parts, usages) !== undefined) return
    const tried: string[] = []
    for (const { subresource, message, recognizes } of recognizers) {
      if (!recognizes(username, parts.commonName)) continue
      if (await mayHave(request, subresource)) return approve(request, message)
      tried.push(subresource)
    }
    throw new Error(`recognized csr ${name} as [${tried.join(' ')}] but subject access review was not approved`)
  }

  async function mayHave(request: CertificateSigningRequest, subresource: string): Promise<boolean> {
    const { username: user = '', uid, groups, extra } = request.spec
    const review = await client.resource<SubjectAccessReview>(reviewsResource).create({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: {
        user,
        ...(uid ? { uid } : {}),
        ...(groups ? { groups } : {}),
        ...(extra ? { extra } : {}),
        resourceAttributes: {
          group: requestsResource.group,
          resource: requestsResource.resource,
          verb: 'create',
          subresource,
          version: '*',
        },
      },
    })
    return review.status?.allowed === true
  }

  async function approve(request: CertificateSigningRequest, message: string): Promise<void> {
    const now = formatTime(runtime.clock.now())
    const condition = {
      type: 'Approved',
      status: 'True',
      reason: 'AutoApproved',
      message,
      lastUpdateTime: now,
      lastTransitionTime: now,
    }
    await client
      .resource<CertificateSigningRequest>(requestsResource)
      .update(withRequestCondition(request, condition), { subresource: 'approval' })
  }

  return certificateController(context, requests, 'csrapproving', sync)
}
