/** NamespaceExists: what NamespaceLifecycle says of creations, said of every write. */
import type { Namespace } from '../../../api/generated/types.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

export const namespaceExists: AdmissionPluginFactory = (reads) => ({
  name: 'NamespaceExists',
  handles: (operation) => operation !== 'CONNECT',
  async validate(attributes) {
    const { endpoint, namespace } = attributes
    const { row } = endpoint
    if (!row.namespaced || namespace === '') return
    const found =
      reads.get<Namespace>('', 'namespaces', '', namespace) ??
      (await reads.getLive<Namespace>('', 'namespaces', '', namespace))
    if (found === undefined) throw refused(attributes, `namespace ${JSON.stringify(namespace)} not found`)
  },
})
