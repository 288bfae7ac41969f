/** What is said as a warning with every answer about a kind in a version, as Kubernetes v1.37 says it. */
import { parseApiVersion } from '../../api/object.ts'

/** Versions that are served where that is asked for: of a group's version the kinds, since when and until when, and what takes their place. */
const DEPRECATED_VERSIONS = `
resource.k8s.io/v1beta1 35 DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
resource.k8s.io/v1beta2 36 DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
resource.k8s.io/v1alpha3 36 DeviceTaintRule
admissionregistration.k8s.io/v1alpha1 35 MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
admissionregistration.k8s.io/v1beta1 37 MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
certificates.k8s.io/v1beta1 37 ClusterTrustBundle PodCertificateRequest
storagemigration.k8s.io/v1beta1 37 StorageVersionMigration
`

/** API versions deprecated since v1.37 name the version that replaces them. */
function deprecatedVersions(): Readonly<Record<string, string>> {
  const entries = DEPRECATED_VERSIONS.trim()
    .split('\n')
    .flatMap((line) => {
      const [apiVersion = '', since, ...kinds] = line.split(' ')
      const { group } = parseApiVersion(apiVersion)
      return kinds.map((kind): [string, string] => {
        const instead = since === '37' ? `; use ${group}/v1 ${kind}` : ''
        const until = Number(since) + 3
        return [
          `${apiVersion} ${kind}`,
          `${apiVersion} ${kind} is deprecated in v1.${since}+, unavailable in v1.${until}+${instead}`,
        ]
      })
    })
  return Object.fromEntries(entries)
}

/** By apiVersion and kind. */
export const DEPRECATED: Readonly<Record<string, string>> = {
  'v1 Endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  'v1 ComponentStatus': 'v1 ComponentStatus is deprecated in v1.19+',
  ...deprecatedVersions(),
}
