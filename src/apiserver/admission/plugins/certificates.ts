/**
 * CertificateApproval, CertificateSigning, CertificateSubjectRestriction and ClusterTrustBundleAttest (API concept:
 * certificate signing requests): a user that approves, signs or publishes for a signer must have that right over the signer, and
 * no client certificate ever says system:masters.
 */

import type { CertificateSigningRequest, ClusterTrustBundle } from '../../../api/generated/types.ts'
import type { Given } from '../../../api/object.ts'
import { certificateSubject } from '../../../api/validation/certificate-request.ts'
import { same } from '../../../api/validation/common.ts'
import type { Authorizer } from '../../auth/authorizer.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

const GROUP = 'certificates.k8s.io'

const isRequest = ({ endpoint: { row } }: AdmissionAttributes) =>
  row.group === GROUP && row.resource === 'certificatesigningrequests'

/** Refuses, in these words, a user that may not do `verb` for the signer, by its name or for the whole of its domain. */
async function requireSigner(
  authorizer: Authorizer,
  attributes: AdmissionAttributes,
  verb: string,
  signer: string,
  otherwise: string,
): Promise<void> {
  for (const name of [signer, `${signer.split('/')[0]}/*`]) {
    const decision = await authorizer.authorize({
      user: attributes.user,
      verb,
      isResource: true,
      group: GROUP,
      version: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      name,
      path: '',
    })
    if (decision.verdict === 'allow') return
  }
  throw refused(attributes, `user not permitted to ${otherwise} ${JSON.stringify(signer)}`)
}

export const certificateApproval: AdmissionPluginFactory = (_reads, { authorizer }) => ({
  name: 'CertificateApproval',
  handles: (operation) => operation === 'UPDATE',
  validate(attributes) {
    if (!isRequest(attributes) || attributes.subresource !== 'approval') return
    const old: Given<CertificateSigningRequest> | undefined = attributes.oldObject
    const signer = old?.spec?.signerName ?? ''
    return requireSigner(authorizer, attributes, 'approve', signer, 'approve requests with signerName')
  },
})

export const certificateSigning: AdmissionPluginFactory = (_reads, { authorizer }) => ({
  name: 'CertificateSigning',
  handles: (operation) => operation === 'UPDATE',
  validate(attributes) {
    if (!isRequest(attributes) || attributes.subresource !== 'status') return
    const { object, oldObject } = attributes
    const signed = (request: Given<CertificateSigningRequest> | undefined) => request?.status?.certificate ?? ''
    const failed = (request: Given<CertificateSigningRequest> | undefined) =>
      (request?.status?.conditions ?? []).filter((condition) => condition.type === 'Failed')
    if (signed(object) === signed(oldObject) && same(failed(object), failed(oldObject))) return
    const old: Given<CertificateSigningRequest> | undefined = oldObject
    const signer = old?.spec?.signerName ?? ''
    return requireSigner(authorizer, attributes, 'sign', signer, 'sign requests with signerName')
  },
})

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client'

export const certificateSubjectRestriction: AdmissionPluginFactory = () => ({
  name: 'CertificateSubjectRestriction',
  handles: (operation) => operation === 'CREATE',
  validate(attributes) {
    const request: Given<CertificateSigningRequest> | undefined = attributes.object
    if (!isRequest(attributes) || attributes.subresource !== '' || request?.spec?.signerName !== CLIENT_SIGNER) return
    const subject = certificateSubject(request.spec.request ?? '')
    if (subject === undefined) throw refused(attributes, 'unable to parse the certificate request')
    if (subject.organizations.includes('system:masters'))
      throw refused(attributes, `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`)
  },
})

export const clusterTrustBundleAttest: AdmissionPluginFactory = (_reads, { authorizer }) => ({
  name: 'ClusterTrustBundleAttest',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate(attributes) {
    const { endpoint, subresource } = attributes
    const { row } = endpoint
    const bundle: Given<ClusterTrustBundle> | undefined = attributes.object
    if (row.group !== GROUP || row.resource !== 'clustertrustbundles' || subresource !== '') return
    const signer = bundle?.spec?.signerName ?? ''
    if (signer === '') return
    return requireSigner(authorizer, attributes, 'attest', signer, 'attest for signerName')
  },
})
