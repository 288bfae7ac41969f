/** How values are encrypted where they are stored: by a configuration file, which may be read again when it changes. */
import type { Scheme } from '../api/scheme/resource.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Transformer } from '../storage/transform.ts'
import { parsed, readText } from './read-file.ts'
import { configurationInUse, reloadMetrics } from './reload-metrics.ts'
import { watchFile } from './watch-file.ts'

/** Named after kube-apiserver's flags. */
export interface EncryptionOptions {
  /** EncryptionConfiguration. Without it values are stored as they are. */
  readonly encryptionProviderConfig?: string
  /** Whether it is used anew when the file changes, if what is in it is right. Default: false. */
  readonly encryptionProviderConfigAutomaticReload?: boolean
}

export interface Encryption {
  /** By the configuration in use: from one call to the next it may be another. */
  readonly transformer: Transformer
  readonly isReloaded: boolean
  /** Begins to look for changes, where that is asked for, and calls `onChange` when another configuration is in use than before. */
  start(onChange: () => Promise<void>): void
  close(): void
}

/** undefined without a configuration. @throws StartError with the file and what is wrong in it */
export async function loadEncryption(
  runtime: Runtime,
  scheme: Scheme,
  { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: isReloaded = false }: EncryptionOptions,
): Promise<Encryption | undefined> {
  if (file === undefined) return undefined
  const { encryptionOf } = await import('../apiserver/encryption/config.ts')
  const first = readText(file)
  let text = first
  let current = await parsed(file, text, () => encryptionOf(text, scheme, runtime.random))
  configurationInUse(runtime, 'encryption', () => text)
  let stop = () => {}
  return {
    transformer: {
      encode: (key, plain) => current.encode(key, plain),
      isStale: (key, stored) => current.isStale(key, stored),
      decode: (key, stored) => current.decode(key, stored),
      get mayBeGarbled() {
        return current.mayBeGarbled === true
      },
    },
    isReloaded,
    start(onChange) {
      if (!isReloaded) return
      const log = runtime.log.named('encryption')
      const reloaded = reloadMetrics(runtime, 'encryption')
      stop = watchFile(runtime, file, first, (changed) => {
        if (changed === text) return
        try {
          current = encryptionOf(changed, scheme, runtime.random)
        } catch (error) {
          log.error('the changed encryption configuration is not used', error, { file })
          reloaded(false)
          return
        }
        text = changed
        log.info(0, 'reloaded encryption config', { file })
        reloaded(true)
        onChange().catch((error) => log.error('what could not be decrypted is not read again', error, { file }))
      })
    },
    close: () => stop(),
  }
}
