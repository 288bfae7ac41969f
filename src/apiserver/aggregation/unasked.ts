/** Aggregated APIs of a cluster that opens no connection outward: they serve nothing, and are unavailable where their Services lead nowhere. */
import type { APIService } from '../../api/generated/types.ts'
import type { ServerReads } from '../reads.ts'
import type { Isolation } from '../webhooks/unasked.ts'
import type { Aggregator, RemoteGroupVersion } from './aggregator.ts'
import { unavailable } from './pass.ts'
import { resolveService, ServiceUnresolved } from './service.ts'

export function unaskedAggregator({ knowsServices }: Isolation, reads: ServerReads): Aggregator {
  let generation = 0
  let before = ''

  /** @throws ServiceUnresolved */
  function requireServer({ spec }: APIService): void {
    const { namespace = '', name = '', port = 443 } = spec?.service ?? {}
    if (knowsServices(namespace)) resolveService(reads, { namespace, name, port })
  }
  function isReachable(service: APIService): boolean {
    try {
      requireServer(service)
      return true
    } catch (error) {
      if (error instanceof ServiceUnresolved) return false
      throw error
    }
  }
  function remotes(): readonly RemoteGroupVersion[] {
    const services: readonly APIService[] = reads.remoteServices()
    return services.map((service) => ({
      group: service.spec?.group ?? '',
      version: service.spec?.version ?? '',
      resources: isReachable(service) ? [] : undefined,
    }))
  }

  return {
    forward({ path }) {
      const [, root, group = '', version = ''] = path.split('/')
      if (root !== 'apis' || version === '') return undefined
      const services: readonly APIService[] = reads.remoteServices()
      const named = services.find(({ spec }) => spec?.group === group && spec?.version === version)
      return named === undefined || isReachable(named) ? undefined : Promise.resolve(unavailable('service unavailable'))
    },
    remotes,
    get generation() {
      const now = JSON.stringify(remotes())
      if (now !== before) generation++
      before = now
      return generation
    },
    async check(service) {
      requireServer(service)
      return { url: '', status: 200, why: '' }
    },
    close() {},
  }
}
