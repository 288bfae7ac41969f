/**
 * NamespaceLifecycle: nothing is created in a namespace that is not there or is ending, and the system's own namespaces are
 * not deleted.
 */
import type { Namespace } from '../../../api/generated/types.ts'
import { notFound, StatusError } from '../../../api/status.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

const immortal = new Set(['default', 'kube-system', 'kube-public'])
const NAMESPACES = { group: '', resource: 'namespaces' }

export const namespaceLifecycle: AdmissionPluginFactory = (reads) => ({
  name: 'NamespaceLifecycle',
  handles: (operation) => operation !== 'CONNECT',
  mutate(attributes) {
    const object = attributes.object!
    const answer = check(attributes)
    return answer instanceof Promise ? answer.then(() => object) : object

    function check({ operation, endpoint, namespace, name }: AdmissionAttributes): void | Promise<void> {
      const { row } = endpoint
      const isNamespace = row.isOwnNamespace
      if (operation === 'DELETE') {
        if (isNamespace && immortal.has(name)) throw refused(attributes, 'this namespace may not be deleted')
        return
      }
      if (isNamespace || !row.namespaced || namespace === '' || row.kind === 'LocalSubjectAccessReview') return
      const found = reads.get<Namespace>('', 'namespaces', '', namespace)
      if (found) return admit(attributes, found.metadata.deletionTimestamp !== undefined)
      // The cache may be behind a namespace that was answered a moment ago elsewhere: storage knows.
      return reads.getLive<Namespace>('', 'namespaces', '', namespace).then((live) => {
        if (live === undefined) throw notFound(NAMESPACES, namespace)
        admit(attributes, live.metadata.deletionTimestamp !== undefined)
      })
    }
  },
})

function admit(attributes: AdmissionAttributes, terminating: boolean): void {
  if (attributes.operation !== 'CREATE' || !terminating) return
  const { namespace, name, endpoint } = attributes
  const { row } = endpoint
  const base = refused(
    attributes,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  )
  throw new StatusError(base.code, base.reason, base.message, {
    ...(name === '' ? {} : { name }),
    ...(row.group === '' ? {} : { group: row.group }),
    kind: row.resource,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  })
}
