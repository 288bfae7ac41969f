/** What the certificate controllers need to know of a CertificateSigningRequest (API concept of that name). Pure. */
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../api/generated/types.ts'
import type { CertificateRequestParts } from '../../api/validation/certificate-request.ts'

export const requestsResource = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' }
export const podCertificateRequestsResource = { ...requestsResource, resource: 'podcertificaterequests' }
export const clientSigner = 'kubernetes.io/kube-apiserver-client'
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving'

export const requestConditions = (request: CertificateSigningRequest): readonly CertificateSigningRequestCondition[] =>
  request.status?.conditions ?? []
export const requestCondition = (
  request: CertificateSigningRequest,
  type: string,
): CertificateSigningRequestCondition | undefined =>
  requestConditions(request).find((condition) => condition.type === type)
export const isDecided = (request: CertificateSigningRequest): boolean =>
  requestCondition(request, 'Approved') !== undefined || requestCondition(request, 'Denied') !== undefined

const nodes = 'system:nodes'
const nodePrefix = 'system:node:'

/** Why the signer does not sign this, in Kubernetes' words; undefined when it does. */
export function signingProblem(
  signer: string,
  parts: CertificateRequestParts,
  usages: readonly string[],
): string | undefined {
  if (signer === kubeletClientSigner) return kubeletClientProblem(parts, usages)
  if (signer === kubeletServingSigner) return kubeletServingProblem(parts, usages)
  return clientProblem(usages)
}

function clientProblem(usages: readonly string[]): string | undefined {
  const allowed = ['digital signature', 'key encipherment', 'client auth']
  const wrong = usages.find((usage) => !allowed.includes(usage))
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

/** Also what the approver takes for a kubelet's. */
export function kubeletClientProblem(parts: CertificateRequestParts, usages: readonly string[]): string | undefined {
  if (!isOfNodes(parts)) return 'subject organization is not system:nodes'
  for (const kind of ['DNS', 'Email', 'IP', 'URI'] as const)
    if (parts.altNames.has(kind)) return `${kind} subjectAltNames are not allowed`
  return (
    usagesProblem(usages, 'client auth', ['client auth', 'digital signature', 'key encipherment']) ?? nameProblem(parts)
  )
}

function kubeletServingProblem(parts: CertificateRequestParts, usages: readonly string[]): string | undefined {
  if (!isOfNodes(parts)) return 'subject organization is not system:nodes'
  if (!parts.altNames.has('DNS') && !parts.altNames.has('IP')) return 'DNS or IP subjectAltName is required'
  for (const kind of ['Email', 'URI'] as const)
    if (parts.altNames.has(kind)) return `${kind} subjectAltNames are not allowed`
  return (
    usagesProblem(usages, 'server auth', ['digital signature', 'key encipherment', 'server auth']) ?? nameProblem(parts)
  )
}

const isOfNodes = ({ organizations }: CertificateRequestParts): boolean =>
  organizations.length === 1 && organizations[0] === nodes

const nameProblem = ({ commonName }: CertificateRequestParts): string | undefined =>
  commonName.startsWith(nodePrefix) ? undefined : 'subject common name does not begin with system:node:'

/** Exactly these; key encipherment is for RSA keys only and may be missing. */
function usagesProblem(usages: readonly string[], auth: string, told: readonly string[]): string | undefined {
  const own = new Set(usages)
  const needed = [auth, 'digital signature']
  const fits =
    needed.every((usage) => own.has(usage)) &&
    [...own].every((usage) => needed.includes(usage) || usage === 'key encipherment')
  return fits ? undefined : `usages did not match [${told.join(' ')}]`
}

/** With one more condition. */
export function withRequestCondition(
  request: CertificateSigningRequest,
  condition: CertificateSigningRequestCondition,
): CertificateSigningRequest {
  const conditions = [...requestConditions(request), condition]
  return { ...request, status: { ...request.status, conditions } }
}
