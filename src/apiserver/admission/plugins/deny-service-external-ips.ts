/** DenyServiceExternalIPs: external IPs that a Service has may stay; no new ones (CVE-2020-8554). */
import type { Service } from '../../../api/generated/types.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

export const denyServiceExternalIPs: AdmissionPluginFactory = () => ({
  name: 'DenyServiceExternalIPs',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate(attributes) {
    const { endpoint, subresource } = attributes
    const { row } = endpoint
    const service: Service | undefined = attributes.object
    const old: Service | undefined = attributes.oldObject
    if (row.group !== '' || row.resource !== 'services' || subresource !== '') return
    const before = old?.spec?.externalIPs ?? []
    const now = service?.spec?.externalIPs ?? []
    if (now.every((ip) => before.includes(ip))) return
    throw refused(attributes, 'Use of external IPs is denied by admission control')
  },
})
