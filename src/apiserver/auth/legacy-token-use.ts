/**
 * Tracking of service account tokens of the old kind (KEP-2799): the Secret that holds one is labelled with the day of its last
 * use, once a day, before the request is answered. The legacy service account token cleaner judges by it.
 */
import type { KubeObject } from '../../api/object.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'

export interface LegacyTokenUse {
  /** Resolves when the use is noted, or could not be. */
  note(secret: KubeObject): Promise<void>
  /** Until then nothing is noted. */
  start(send: SendPatch): void
}

/** Sends a merge patch in the API server's own name. @throws StatusError */
export type SendPatch = (method: 'PATCH', path: string, object: KubeObject) => Promise<unknown>

const LAST_USED = 'kubernetes.io/legacy-token-last-used'

export function createLegacyTokenUse({ clock, log }: Runtime): LegacyTokenUse {
  let send: SendPatch | undefined
  return {
    async note({ metadata }) {
      const { namespace = '', name = '', uid = '', labels = {} } = metadata
      const today = new Date(clock.now()).toISOString().slice(0, 10)
      if (send === undefined || labels[LAST_USED] === today) return
      const object = {
        kind: 'Secret',
        apiVersion: 'v1',
        metadata: { name, namespace, uid, labels: { [LAST_USED]: today } },
      }
      try {
        await send('PATCH', `/api/v1/namespaces/${namespace}/secrets/${name}`, object)
      } catch (error) {
        log.info(1, 'the use of a legacy token was not noted', {
          secret: `${namespace}/${name}`,
          err: messageOf(error),
        })
      }
    },
    start: (patch) => {
      send = patch
    },
  }
}
