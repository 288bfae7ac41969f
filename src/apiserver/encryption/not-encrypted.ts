/** What is stored where nothing says that it is to be encrypted. */
import type { Transformer } from '../../storage/transform.ts'
import { isEncrypted } from './providers.ts'

export const notEncrypted: Transformer = {
  encode: (_key, plain) => plain,
  isStale: () => false,
  decode(_key, stored) {
    if (isEncrypted(stored)) throw new Error('identity transformer tried to read encrypted data')
    return stored
  },
}
