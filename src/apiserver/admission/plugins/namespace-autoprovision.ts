/** NamespaceAutoProvision: a namespace that something is created in, and that is not there, is made first. */
import type { Namespace } from '../../../api/generated/types.ts'
import { isAlreadyExists } from '../../../api/status.ts'
import { loopbackOf } from '../../loopback.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'

export const namespaceAutoProvision: AdmissionPluginFactory = (reads, host) => ({
  name: 'NamespaceAutoProvision',
  handles: (operation) => operation === 'CREATE',
  mutate({ endpoint, namespace, dryRun, object }) {
    const { row } = endpoint
    const given = object!
    if (dryRun || !row.namespaced || namespace === '') return given
    if (reads.get<Namespace>('', 'namespaces', '', namespace) !== undefined) return given
    const made = loopbackOf((request) => host.loopback(request))('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    })
    return made.then(
      () => given,
      (error) => {
        if (isAlreadyExists(error)) return given
        throw error
      },
    )
  },
})
