/** Aggregated APIs that do not answer (API concept: API aggregation). */
import type { APIService } from '../../api/generated/types.ts'
import { asTold } from './as-told.ts'
import { type Link, lastLink } from './finding.ts'
import { API_SERVICES, type Look } from './look.ts'
import { serviceState } from './services.ts'

/** What they hold of a namespace is unknown, so it cannot be said to be empty. */
export async function unavailableApis(look: Look): Promise<readonly Link[]> {
  const read = await look.reader.list<APIService>(API_SERVICES)
  if (read.state !== 'found') return []
  const links: Link[] = []
  for (const { metadata, spec, status } of read.value) {
    const available = status?.conditions?.find(({ type }) => type === 'Available')
    const service = spec?.service
    if (available?.status !== 'False' || service === undefined || service === null) continue
    links.push(
      lastLink('nobody', {
        kind: 'api-unavailable',
        apiService: metadata.name ?? '',
        service: await serviceState(look, service.namespace ?? '', service.name ?? ''),
        reason: available.reason ?? '',
        message: asTold(available.message ?? ''),
      }),
    )
  }
  return links
}
