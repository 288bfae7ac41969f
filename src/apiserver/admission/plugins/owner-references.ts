/**
 * OwnerReferencesPermissionEnforcement: a user that gives an object owners must be allowed to delete the object, and one that makes an
 * owner wait for it must be allowed to set the owner's finalizers.
 */
import type { OwnerReference } from '../../../api/object.ts'
import { parseApiVersion } from '../../../api/object.ts'
import type { Scheme } from '../../../api/scheme/resource.ts'
import { same } from '../../../api/validation/common.ts'
import type { Authorizer } from '../../auth/authorizer.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

export const ownerReferencesPermissionEnforcement: AdmissionPluginFactory = (_reads, { authorizer, scheme }) => ({
  name: 'OwnerReferencesPermissionEnforcement',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate(attributes) {
    const { object, oldObject, subresource } = attributes
    if (subresource !== '' && subresource !== 'status') return
    const now = object?.metadata.ownerReferences ?? []
    const before = oldObject?.metadata.ownerReferences ?? []
    if (same(now, before)) return
    return judge(authorizer, scheme, attributes, now, before)
  },
})

async function judge(
  authorizer: Authorizer,
  scheme: Scheme,
  attributes: AdmissionAttributes,
  now: readonly OwnerReference[],
  before: readonly OwnerReference[],
): Promise<void> {
  const { endpoint } = attributes
  const { row } = endpoint
  const may = async (verb: string, group: string, resource: string, sub: string, name: string) => {
    const { user, namespace } = attributes
    const decision = await authorizer.authorize({
      user,
      verb,
      isResource: true,
      group,
      version: '*',
      resource,
      subresource: sub,
      namespace,
      name,
      path: '',
    })
    return decision.verdict === 'allow'
  }
  if (attributes.operation === 'UPDATE' && !(await may('delete', row.group, row.resource, '', attributes.name)))
    throw refused(attributes, "cannot set an ownerRef on a resource you can't delete: , <nil>")
  for (const owner of now.filter((ref) => ref.blockOwnerDeletion === true && !wasBlocking(before, ref))) {
    const { group, version } = parseApiVersion(owner.apiVersion)
    const target = scheme.findKind(group, version, owner.kind)
    if (target === undefined)
      throw refused(
        attributes,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${owner.apiVersion} Kind ${owner.kind}`,
      )
    if (!(await may('update', target.group, target.resource, 'finalizers', owner.name)))
      throw refused(
        attributes,
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
      )
  }
}

function wasBlocking(before: readonly OwnerReference[], ref: OwnerReference): boolean {
  return before.some((old) => old.uid === ref.uid && old.blockOwnerDeletion === true)
}
