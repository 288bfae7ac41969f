/** The AppArmor profile of a container as it was told before pods had a field for it. */
import type { AppArmorProfile } from '../generated/types.ts'

/** Followed by the container's name. */
export const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/'

/** The field's value that says the same; undefined when the text is none of the known forms. */
export function appArmorProfileOf(text: string): AppArmorProfile | undefined {
  if (text === 'unconfined') return { type: 'Unconfined' }
  if (text === 'runtime/default') return { type: 'RuntimeDefault' }
  if (text.startsWith('localhost/')) return { type: 'Localhost', localhostProfile: text.slice('localhost/'.length) }
  return undefined
}
