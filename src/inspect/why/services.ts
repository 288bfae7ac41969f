/** Whether a Service that the API server calls (for a webhook, an aggregated API) can answer. */
import type { EndpointSlice, Service } from '../../api/generated/types.ts'
import type { ServiceRef } from './finding.ts'
import { ENDPOINT_SLICES, itemsOf, type Look, NAMESPACES, SERVICES } from './look.ts'

export async function serviceState(look: Look, namespace: string, name: string): Promise<ServiceRef> {
  const { reader } = look
  const service = await reader.get<Service>(SERVICES, namespace, name)
  if (service.state === 'missing') {
    const space = await reader.get(NAMESPACES, '', namespace)
    return {
      namespace,
      name,
      problem: space.state === 'missing' ? `namespace ${namespace} does not exist` : 'the Service does not exist',
    }
  }
  if (service.state !== 'found') return { namespace, name, problem: '' }
  const { spec } = service.value
  if (spec?.type === 'ExternalName') return { namespace, name, problem: '' }
  const slices = await reader.list<EndpointSlice>(ENDPOINT_SLICES, {
    namespace,
    labelSelector: `kubernetes.io/service-name=${name}`,
  })
  if (slices.state !== 'found') return { namespace, name, problem: '' }
  const isReady = itemsOf(slices).some(({ endpoints }) =>
    (endpoints ?? []).some(({ addresses, conditions }) => (addresses?.length ?? 0) > 0 && conditions?.ready !== false),
  )
  return { namespace, name, problem: isReady ? '' : 'the Service has no ready endpoints: none of its pods runs' }
}
