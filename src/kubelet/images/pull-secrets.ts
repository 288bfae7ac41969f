/** Secrets by which a pod's images are pulled (`spec.imagePullSecrets`): those that are missing are told of, and pulls are tried without them. */
import type { Secret } from '../../api/generated/types.ts'
import { createBesideSyncs } from '../beside-syncs.ts'
import type { References } from '../configmaps-and-secrets.ts'
import { namespaceOf, type Pod, specOf, uidOf } from '../pod.ts'
import type { PodEvents } from '../pod-events.ts'

export interface PullSecrets {
  /** Those that are there. */
  find(pod: Pod): Promise<readonly Secret[]>
  /** Tells of those that are not. Undefined: they are still looked for from before. */
  check(pod: Pod): Promise<void> | undefined
  forget(uid: string): void
}

export function createPullSecrets(references: Pick<References, 'secret'>, events: PodEvents): PullSecrets {
  const beside = createBesideSyncs()
  const namesOf = (pod: Pod) =>
    (specOf(pod).imagePullSecrets ?? []).flatMap(({ name }) => (name === undefined || name === '' ? [] : [name]))
  const lookUp = (pod: Pod, name: string) => references.secret(namespaceOf(pod), name).catch(() => undefined)

  async function tellMissing(pod: Pod, ended: AbortSignal): Promise<void> {
    const names = namesOf(pod)
    if (names.length === 0) return
    const secrets = await Promise.all(names.map((name) => lookUp(pod, name)))
    const missing = names.filter((_, at) => secrets[at] === undefined)
    if (missing.length === 0 || ended.aborted) return
    const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`
    events.warning(pod, 'FailedToRetrieveImagePullSecret', message)
  }

  return {
    async find(pod) {
      const secrets = await Promise.all(namesOf(pod).map((name) => lookUp(pod, name)))
      return secrets.filter((secret) => secret !== undefined)
    },
    check: (pod) => beside.begin(uidOf(pod), 'check', (ended) => tellMissing(pod, ended)),
    forget: (uid) => void beside.end(uid),
  }
}
