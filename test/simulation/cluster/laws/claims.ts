/** A claim that is deleted stays while a pod uses it that was scheduled before: whoever lets it go has had to look. */
import type { KubeObject } from '../../../../src/api/object.ts'
import { claimsOf } from '../../../../src/api/objects/pod-claims.ts'
import { describe, isMarked, type Law, type LawParts } from './laws.ts'

const PROTECTION = 'kubernetes.io/pvc-protection'

export function claimLaw({ truth, failed }: LawParts): Law {
  /** By claim: the pods that used it when it began to go. */
  const users = new Map<string, readonly KubeObject[]>()
  const isProtected = ({ metadata }: KubeObject) => metadata.finalizers?.includes(PROTECTION) === true

  const usersOf = ({ metadata }: KubeObject): readonly KubeObject[] =>
    truth
      .list('pods')
      .filter((pod) => pod['spec'].nodeName && claimsOf(pod).includes(`${metadata.namespace}/${metadata.name}`))

  return {
    changed({ resource, before, after }) {
      if (resource !== 'persistentvolumeclaims' || before === undefined) return
      const { uid = '' } = before.metadata
      if (!isMarked(before) && after !== undefined && isMarked(after)) users.set(uid, usersOf(after))
      if (!isMarked(before) || !isProtected(before) || (after !== undefined && isProtected(after))) return
      for (const { metadata } of users.get(uid) ?? []) {
        const pod = truth.ofUid(metadata.uid ?? '')
        if (pod !== undefined && !['Succeeded', 'Failed'].includes(pod['status']?.phase))
          failed(`${describe(before)} is let go while ${describe(pod)} uses it`)
      }
    },
  }
}
