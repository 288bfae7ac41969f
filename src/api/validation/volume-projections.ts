/** The sources of a projected volume: files that several objects put into one directory. */
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import { dns1123Subdomain } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { signerName } from './certificates.ts'
import { entries } from './common.ts'
import { internalForm } from './internal.ts'
import { isUsableSelector, printableSelector, validateLabelSelector } from './labels.ts'
import { localNonReservedPath } from './paths.ts'
import { downwardFile, fileMode, keyToPath } from './volume-files.ts'

/** What is said of a second source where one is allowed. */
export const MORE_THAN_ONE = 'may not specify more than 1 volume type'

export function projected(source: Fields, path: string, errors: FieldError[]): void {
  fileMode(source['defaultMode'], `${path}.defaultMode`, errors)
  const taken = new Set<string>()
  const once = (file: string | undefined, at: string, shown = file) => {
    if (!file) return
    if (taken.has(file)) errors.push(invalid(at, shown, 'conflicting duplicate paths'))
    else taken.add(file)
  }
  source['sources']?.forEach((part: Fields, i: number) => {
    validateProjection(part, `${path}.sources[${i}]`, `${path}`, once, errors)
  })
}

type Once = (file: string | undefined, path: string, shown?: string) => void

function validateProjection(part: Fields, at: string, path: string, once: Once, errors: FieldError[]): void {
  let count = 0
  const first = (kind: string): Fields | undefined => {
    const projection: Fields | undefined = part[kind]
    if (!projection) return undefined
    if (count++ > 0) {
      errors.push(forbiddenField(`${at}.${kind}`, MORE_THAN_ONE))
      return undefined
    }
    return projection
  }
  for (const kind of ['secret', 'configMap'] as const) {
    const projection = first(kind)
    if (!projection) continue
    if (!projection['name']) errors.push(required(`${at}.${kind}.name`))
    keyToPath(projection['items'], `${at}.${kind}.items`, errors)
    projection['items']?.forEach((item: Fields) => {
      once(item['path'], path, projection['name'])
    })
  }
  const downward = first('downwardAPI')
  downward?.['items']?.forEach((file: Fields) => {
    downwardFile(file, `${at}.downwardAPI`, errors)
    once(file['path'], path)
  })
  const token = first('serviceAccountToken')
  if (token) {
    const seconds: number = token['expirationSeconds'] ?? 0
    if (seconds < 600)
      errors.push(
        invalid(
          `${at}.serviceAccountToken.expirationSeconds`,
          seconds,
          'may not specify a duration less than 10 minutes',
        ),
      )
    if (seconds > 2 ** 32)
      errors.push(
        invalid(
          `${at}.serviceAccountToken.expirationSeconds`,
          seconds,
          'may not specify a duration larger than 2^32 seconds',
        ),
      )
    if (!token['path']) errors.push(required(`${path}.path`))
    else localNonReservedPath(token['path'], `${path}.path`, errors)
  }
  const bundle = first('clusterTrustBundle')
  if (bundle) validateTrustBundle(bundle, `${at}.clusterTrustBundle`, once, errors)
  const certificate = first('podCertificate')
  if (certificate) validatePodCertificate(certificate, `${at}.podCertificate`, path, once, errors)
}

const BUNDLE = 'io.k8s.api.core.v1.ClusterTrustBundleProjection'

function validateTrustBundle(bundle: Fields, path: string, once: Once, errors: FieldError[]): void {
  const name: string | undefined = bundle['name'] ?? undefined
  const signer: string | undefined = bundle['signerName'] ?? undefined
  if (name !== undefined && signer !== undefined)
    errors.push(invalid(path, internalForm(BUNDLE, bundle), 'only one of name and signerName may be used'))
  else if (name !== undefined) {
    if (name === '') errors.push(required(`${path}.name`, 'must be a valid object name'))
    // A signer's bundles have its name before the last colon.
    for (const message of dns1123Subdomain(name.slice(name.lastIndexOf(':') + 1)))
      errors.push(invalid(`${path}.name`, name, `not a valid clustertrustbundlename: ${message}`))
    if (bundle['labelSelector'])
      errors.push(
        invalid(
          `${path}.labelSelector`,
          printableSelector(bundle['labelSelector']),
          'labelSelector must be unset if name is specified',
        ),
      )
  } else if (signer !== undefined) {
    if (signer === '') errors.push(required(`${path}.signerName`, 'must be a valid signer name'))
    signerName(signer, `${path}.signerName`, errors)
  } else errors.push(required(path, 'either name or signerName must be specified'))
  if (bundle['labelSelector'] && !isUsableSelector(bundle['labelSelector']))
    validateLabelSelector(bundle['labelSelector'], `${path}.labelSelector`, errors)
  if (!bundle['path']) errors.push(required(`${path}.path`))
  else localNonReservedPath(bundle['path'], `${path}.path`, errors)
  once(bundle['path'], `${path}.path`)
}

const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']

/** An hour, 91 days, and what Kubernetes' own signers give at most: a day. */
const FEWEST_SECONDS = 3600
const MOST_SECONDS = 7_862_400
const OWN_SECONDS = 86_400

function validatePodCertificate(
  certificate: Fields,
  path: string,
  volumePath: string,
  once: Once,
  errors: FieldError[],
): void {
  signerName(certificate['signerName'] ?? '', `${path}.signerName`, errors)
  for (const [key] of entries(certificate['userAnnotations']))
    if (!key.includes('/'))
      errors.push(invalid(`${path}.userAnnotations`, key, 'must be a domain-prefixed key (such as "acme.io/foo")'))
  if (!KEY_TYPES.includes(certificate['keyType'] ?? ''))
    errors.push(notSupported(`${path}.keyType`, certificate['keyType'] ?? '', KEY_TYPES))
  const files = ['credentialBundlePath', 'certificateChainPath', 'keyPath'].filter((field) => certificate[field])
  const seconds: number | undefined = certificate['maxExpirationSeconds'] ?? undefined
  const longest = certificate['signerName']?.startsWith('kubernetes.io/') ? OWN_SECONDS : MOST_SECONDS
  if (seconds !== undefined && (seconds < FEWEST_SECONDS || seconds > longest))
    errors.push(
      invalid(
        `${path}.maxExpirationSeconds`,
        seconds,
        `if provided, maxExpirationSeconds must be ${seconds < FEWEST_SECONDS ? `>= ${FEWEST_SECONDS}` : `<= ${longest}`}`,
      ),
    )
  if (files.length === 0)
    errors.push(required(path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'))
  for (const field of files) {
    localNonReservedPath(certificate[field], `${path}.${field}`, errors)
    once(certificate[field], volumePath)
  }
}
