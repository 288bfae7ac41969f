/** Rules of certificates.k8s.io. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  invalidOmitted,
  notSupported,
  required,
  tooLong,
} from '../errors/field-errors.ts'
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestSpec,
  ClusterTrustBundle,
  ClusterTrustBundleSpec,
  PodCertificateRequest,
} from '../generated/types.ts'
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../names/name-formats.ts'
import type { Fields, Given, KubeObject } from '../object.ts'
import { immutable, same } from './common.ts'
import { isCertificate, pemBlocks, problemOfCertificates, problemOfRequest } from './pem.ts'
import { problemOfStub } from './pkcs10.ts'

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]
const SHORTEST_SECONDS = 600
const MAX_SIGNER = 571

export function validateCertificateSigningRequest(object: Given<CertificateSigningRequest>): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<CertificateSigningRequestSpec> = object.spec ?? {}
  const wrong = problemOfRequest(Buffer.from(spec.request ?? '', 'base64').toString('latin1'))
  if (wrong !== undefined) errors.push(invalid('spec.request', spec.request ?? null, wrong))
  const usages: readonly string[] = spec.usages ?? []
  if (usages.length === 0) errors.push(required('spec.usages'))
  const named = new Set<string>()
  // Of more than there are one is wrong, and all of them would be a long answer.
  usages.slice(0, 4 * USAGES.length).forEach((usage, i) => {
    if (!USAGES.includes(usage)) errors.push(notSupported(`spec.usages[${i}]`, usage, USAGES))
    if (named.has(usage)) errors.push(duplicate(`spec.usages[${i}]`, usage))
    named.add(usage)
  })
  const signer: string = spec.signerName ?? ''
  if (signer === 'kubernetes.io/legacy-unknown')
    errors.push(invalid('spec.signerName', signer, 'the legacy signerName is not allowed via this API version'))
  else signerName(signer, 'spec.signerName', errors)
  const seconds: number | undefined = spec.expirationSeconds
  if (seconds !== undefined && seconds < SHORTEST_SECONDS)
    errors.push(
      invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 600 seconds (10 minutes)'),
    )
  conditions(object.status?.conditions ?? [], errors)
  return errors
}

export function signerName(name: string, path: string, errors: FieldError[]): void {
  const say = (detail: string) => errors.push(invalid(path, name, detail))
  if (name === '') {
    errors.push(required(path))
    return
  }
  const parts = name.split('/')
  if (parts.length !== 2) {
    say("must be a fully qualified domain and path of the form 'example.com/signer-name'")
    return
  }
  const [host = '', rest = ''] = parts
  const labels = host.split('.')
  firstBad(labels, dns1123Label, host, path, errors)
  if (labels.length < 2)
    errors.push(invalid(path, host, 'should be a domain with at least two segments separated by dots'))
  firstBad(rest.split('.'), dns1123Subdomain, rest, path, errors)
  if (Buffer.byteLength(name) > MAX_SIGNER) errors.push(tooLong(path, MAX_SIGNER))
}

/** Of several bad labels only the first is named. */
function firstBad(
  labels: readonly string[],
  rule: (label: string) => readonly string[],
  whole: string,
  path: string,
  errors: FieldError[],
): void {
  for (const label of labels) {
    const messages = rule(label)
    for (const message of messages)
      errors.push(invalid(path, whole, `validating label ${JSON.stringify(label)}: ${message}`))
    if (messages.length > 0) return
  }
}

const [APPROVED, DENIED] = ['Approved', 'Denied'].map((type) => `conditions[{"type": "${type}"}]`)
const BOTH = `{${APPROVED}, ${DENIED}}`
const ONE_OF = `\`${APPROVED}\`, \`${DENIED}\``

function conditions(list: readonly CertificateSigningRequestCondition[], errors: FieldError[]): void {
  const seen = new Set<string>()
  let approved = false
  let denied = false
  list.forEach(({ type = '', status = '' }, i) => {
    const path = `status.conditions[${i}]`
    if (type === '') errors.push(required(`${path}.type`))
    if (type === 'Approved') approved = true
    if (type === 'Denied') denied = true
    const deciding = ['Approved', 'Denied', 'Failed'].includes(type)
    if (status === '') errors.push(required(`${path}.status`))
    else if (deciding ? status !== 'True' : !['True', 'False', 'Unknown'].includes(status))
      errors.push(notSupported(`${path}.status`, status, deciding ? ['True'] : ['False', 'True', 'Unknown']))
    if (seen.has(type)) errors.push(duplicate(`${path}.type`, type))
    seen.add(type)
  })
  if (approved && denied) errors.push(invalid('status.conditions', BOTH, `must specify at most one of: ${ONE_OF}`))
}

export function validateCertificateSigningRequestUpdate(
  object: Given<CertificateSigningRequest>,
  old: Given<CertificateSigningRequest>,
): readonly FieldError[] {
  return same(object.spec, old.spec) && same(object.status, old.status) ? [] : validateCertificateSigningRequest(object)
}

const DECISIONS = ['Approved', 'Denied']

/** What was decided about a request stays, and is only said through `approval`. */
function decisions(object: KubeObject, old: KubeObject, mayAdd: boolean, errors: FieldError[]): void {
  const types = (request: Given<CertificateSigningRequest>): readonly string[] =>
    (request.status?.conditions ?? []).map(({ type }) => type)
  const [now, before] = [types(object), types(old)]
  const add = mayAdd ? [] : DECISIONS
  for (const type of [...DECISIONS, 'Failed']) {
    const path = 'status.conditions'
    if (before.includes(type) && !now.includes(type))
      errors.push(forbiddenField(path, `updates may not remove a condition of type ${JSON.stringify(type)}`))
    if (add.includes(type) && now.includes(type) && !before.includes(type))
      errors.push(forbiddenField(path, `updates may not add a condition of type ${JSON.stringify(type)}`))
  }
}

export function validateCertificateSigningRequestApproval(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = [...validateCertificateSigningRequestUpdate(object, old)]
  decisions(object, old, true, errors)
  return errors
}

const CERTIFICATE = '<certificate data>'

export function validateCertificateSigningRequestStatus(
  object: Given<CertificateSigningRequest>,
  old: Given<CertificateSigningRequest>,
): readonly FieldError[] {
  const errors = [...validateCertificateSigningRequestUpdate(object, old)]
  const issued: string = object.status?.certificate ?? ''
  const before: string = old.status?.certificate ?? ''
  const path = 'status.certificate'
  const isNew = issued !== before
  const problem =
    isNew && issued !== '' ? problemOfCertificates(Buffer.from(issued, 'base64').toString('latin1')) : undefined
  if (problem !== undefined) errors.push(invalid(path, CERTIFICATE, problem))
  decisions(object, old, false, errors)
  if (isNew && before !== '') errors.push(forbiddenField(path, 'updates may not modify existing certificate content'))
  return errors
}

/** Bundles of a signer have its name before their own, with colons; the rule of their names knows the signer. */
function bundleName(name: string, signer: string, errors: FieldError[]): void {
  if (name === '') return
  const say = (detail: string) => errors.push(invalid('metadata.name', name, detail))
  const prefix = signer === '' ? '' : `${signer.replaceAll('/', ':')}:`
  if (!name.startsWith(prefix)) say(`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`)
  else if (signer === '' && name.includes(':'))
    say('ClusterTrustBundle without signer name must not have ":" in its name')
  else for (const message of dns1123Subdomain(name.slice(prefix.length))) say(message)
}

/** The certificates of a trust bundle, as PEM: at least one, each a whole DER element. */
export function validateClusterTrustBundle(object: Given<ClusterTrustBundle>): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<ClusterTrustBundleSpec> = object.spec ?? {}
  const signer: string = spec.signerName ?? ''
  bundleName(object.metadata.name ?? '', signer, errors)
  if (signer !== '') signerName(signer, 'spec.signerName', errors)
  const say = (detail: string) => errors.push(invalid('spec.trustBundle', '<value omitted>', detail))
  const blocks = pemBlocks(spec.trustBundle ?? '')
  if (blocks.length === 0) say('at least one trust anchor must be provided')
  blocks.forEach(({ type, der }, i) => {
    if (type !== 'CERTIFICATE') say(`entry ${i} has bad block type: ${type}`)
    else if (!isCertificate(der)) say(`entry ${i} does not parse as X.509`)
  })
  return errors
}

export function validateClusterTrustBundleUpdate(
  object: Given<ClusterTrustBundle>,
  old: Given<ClusterTrustBundle>,
): readonly FieldError[] {
  const errors = [...validateClusterTrustBundle(object)]
  immutable('spec.signerName', object.spec?.signerName ?? '', old.spec?.signerName ?? '', errors)
  return errors
}

const MAX_UID = 128
const MAX_STUB = 10 * 1024
const MAX_ANNOTATIONS = 256 * 1024
const SHORTEST_POD_SECONDS = 3600
/** 91 days; of Kubernetes' own signers one. */
const LONGEST_POD_SECONDS = 91 * 86_400
const LONGEST_OWN_SECONDS = 86_400

interface PodRequest extends KubeObject {
  readonly spec?: Fields
}

export function validatePodCertificateRequest({ spec = {} }: PodRequest): readonly FieldError[] {
  const errors: FieldError[] = []
  const signer: string = spec['signerName'] ?? ''
  signerName(signer, 'spec.signerName', errors)
  for (const [name, uid] of [
    ['podName', 'podUID'],
    ['serviceAccountName', 'serviceAccountUID'],
    ['nodeName', 'nodeUID'],
  ] as const) {
    for (const message of dns1123Subdomain(spec[name] ?? ''))
      errors.push(invalid(`spec.${name}`, spec[name] ?? '', message))
    const id: string = spec[uid] ?? ''
    if (id === '') errors.push(invalid(`spec.${uid}`, '', 'must not be empty'))
    else if (Buffer.byteLength(id) > MAX_UID) errors.push(tooLong(`spec.${uid}`, MAX_UID))
  }
  const seconds: number = spec['maxExpirationSeconds'] ?? 0
  const longest = signer.startsWith('kubernetes.io/') ? LONGEST_OWN_SECONDS : LONGEST_POD_SECONDS
  if (seconds < SHORTEST_POD_SECONDS || seconds > longest)
    errors.push(
      invalid('spec.maxExpirationSeconds', seconds, `must be in the range [${SHORTEST_POD_SECONDS}, ${longest}]`),
    )
  stub(spec['stubPKCS10Request'] ?? '', errors)
  userAnnotations(spec['unverifiedUserAnnotations'] ?? {}, errors)
  return errors
}

function stub(base64: string, errors: FieldError[]): void {
  const path = 'spec.stubPKCS10Request'
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length === 0) {
    const one = 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'
    errors.push(invalidOmitted('spec', one))
  } else if (bytes.length > MAX_STUB) errors.push(tooLong(path, MAX_STUB))
  else {
    const problem = problemOfStub(bytes)
    if (problem === undefined) return
    const { value, detail } = problem
    errors.push(value === undefined ? invalidOmitted(path, detail) : invalid(path, value, detail))
  }
}

/** Keys of a domain, in total not more than annotations may be. */
function userAnnotations(annotations: Readonly<Record<string, string>>, errors: FieldError[]): void {
  const path = 'spec.unverifiedUserAnnotations'
  let size = 0
  for (const [key, value] of Object.entries(annotations)) {
    const problems = qualifiedName(key.toLowerCase())
    for (const message of problems) errors.push(invalid(path, key, message))
    if (problems.length === 0 && !key.includes('/'))
      errors.push(invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")'))
    size += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (size > MAX_ANNOTATIONS) errors.push(tooLong(path, MAX_ANNOTATIONS))
}

export function validatePodCertificateRequestUpdate(
  object: Given<PodCertificateRequest>,
  old: Given<PodCertificateRequest>,
): readonly FieldError[] {
  return same(object.spec, old.spec) ? [] : [forbiddenField('spec', 'field is immutable')]
}
