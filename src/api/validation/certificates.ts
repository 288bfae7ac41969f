/** Rules of certificates.k8s.io. */
import type { Fields, KubeObject } from '../object.ts'
import { immutable, same } from './common.ts'
import { duplicate, type FieldError, forbiddenField, invalid, notSupported, required, tooLong } from './errors.ts'
import { dns1123Label, dns1123Subdomain } from './names.ts'
import { isCertificate, pemBlocks, problemOfCertificates, problemOfRequest } from './pem.ts'

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

export function validateCertificateSigningRequest(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  const wrong = problemOfRequest(Buffer.from(spec['request'] ?? '', 'base64').toString('latin1'))
  if (wrong !== undefined) errors.push(invalid('spec.request', spec['request'] ?? null, wrong))
  const usages: readonly string[] = spec['usages'] ?? []
  if (usages.length === 0) errors.push(required('spec.usages'))
  const named = new Set<string>()
  // Of more than there are one is wrong, and all of them would be a long answer.
  usages.slice(0, 4 * USAGES.length).forEach((usage, i) => {
    if (!USAGES.includes(usage)) errors.push(notSupported(`spec.usages[${i}]`, usage, USAGES))
    if (named.has(usage)) errors.push(duplicate(`spec.usages[${i}]`, usage))
    named.add(usage)
  })
  const signer: string = spec['signerName'] ?? ''
  if (signer === 'kubernetes.io/legacy-unknown')
    errors.push(invalid('spec.signerName', signer, 'the legacy signerName is not allowed via this API version'))
  else signerName(signer, 'spec.signerName', errors)
  const seconds: number | undefined = spec['expirationSeconds']
  if (seconds !== undefined && seconds < SHORTEST_SECONDS)
    errors.push(
      invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 600 seconds (10 minutes)'),
    )
  conditions(object['status']?.conditions ?? [], errors)
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

function conditions(list: readonly Fields[], errors: FieldError[]): void {
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

export function validateCertificateSigningRequestUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return same(object['spec'], old['spec']) && same(object['status'], old['status'])
    ? []
    : validateCertificateSigningRequest(object)
}

const DECISIONS = ['Approved', 'Denied']

/** What was decided about a request stays, and is only said through `approval`. */
function decisions(object: KubeObject, old: KubeObject, mayAdd: boolean, errors: FieldError[]): void {
  const types = (request: KubeObject): readonly string[] =>
    (request['status']?.conditions ?? []).map(({ type }: Fields) => type)
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

export function validateCertificateSigningRequestStatus(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = [...validateCertificateSigningRequestUpdate(object, old)]
  decisions(object, old, false, errors)
  const issued: string = object['status']?.certificate ?? ''
  const before: string = old['status']?.certificate ?? ''
  if (issued === before) return errors
  const path = 'status.certificate'
  const problem = problemOfCertificates(Buffer.from(issued, 'base64').toString('latin1'))
  if (before !== '') errors.push(forbiddenField(path, 'updates may not change issued certificate data'))
  else if (problem !== undefined) errors.push(invalid(path, CERTIFICATE, problem))
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
export function validateClusterTrustBundle(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  const signer: string = spec['signerName'] ?? ''
  bundleName(object.metadata.name ?? '', signer, errors)
  if (signer !== '') signerName(signer, 'spec.signerName', errors)
  const say = (detail: string) => errors.push(invalid('spec.trustBundle', '<value omitted>', detail))
  const blocks = pemBlocks(spec['trustBundle'] ?? '')
  if (blocks.length === 0) say('at least one trust anchor must be provided')
  blocks.forEach(({ type, der }, i) => {
    if (type !== 'CERTIFICATE') say(`entry ${i} has bad block type: ${type}`)
    else if (!isCertificate(der)) say(`entry ${i} does not parse as X.509`)
  })
  return errors
}

export function validateClusterTrustBundleUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors = [...validateClusterTrustBundle(object)]
  immutable('spec.signerName', object['spec']?.signerName ?? '', old['spec']?.signerName ?? '', errors)
  return errors
}

export function validatePodCertificateRequest(object: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Fields = object['spec'] ?? {}
  signerName(spec['signerName'] ?? '', 'spec.signerName', errors)
  for (const field of ['podName', 'serviceAccountName', 'nodeName'])
    for (const message of dns1123Subdomain(spec[field] ?? ''))
      errors.push(invalid(`spec.${field}`, spec[field] ?? '', message))
  for (const field of ['podUID', 'serviceAccountUID', 'nodeUID'])
    if (!spec[field]) errors.push(required(`spec.${field}`, 'must not be empty'))
  const seconds: number = spec['maxExpirationSeconds'] ?? 0
  if (seconds < 3600) errors.push(invalid('spec.maxExpirationSeconds', seconds, 'must be in the range [3600, 7862400]'))
  return errors
}

export function validatePodCertificateRequestUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return same(object['spec'], old['spec']) ? [] : [forbiddenField('spec', 'field is immutable')]
}
