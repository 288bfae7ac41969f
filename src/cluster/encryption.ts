/** How values are encrypted where they are stored: by a configuration file, which may be read again when it changes. */
import type { Scheme } from '../api/scheme/resource.ts'
import type { EncryptionEntry } from '../apiserver/encryption/configuration.ts'
import type { KmsProvider } from '../apiserver/encryption/kms/provider.ts'
import type { KmsSettings } from '../apiserver/encryption/kms/service.ts'
import type { Timer } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { oneByOne } from '../base/one-by-one.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Transformer } from '../storage/transform.ts'
import { parsed, readText } from './read-file.ts'
import { configurationInUse, idHash, reloadMetrics } from './reload-metrics.ts'
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
  /** Throws what is wrong with its KMS plugins; undefined where it has none, and never will. */
  readonly checkPlugins: (() => Promise<void>) | undefined
  /**
   * Begins to look for changes, where that is asked for, and calls `onChange` when another configuration is in use than before, and when a KMS
   * plugin has come back.
   */
  start(onChange: () => Promise<void>): void
  close(): void
}

/** A configuration in use. */
interface InUse {
  readonly transformer: Transformer
  readonly plugins: readonly KmsProvider[]
}

/** For so long the plugins of a configuration that was replaced are talked to: reads of before may be under way. */
const CLOSE_MS = 10_000
/** Until the plugins of a new configuration are asked again that were not well. */
const RETRY_MS = 10_000

/** undefined without a configuration. @throws StartError with what is wrong in the file */
export async function loadEncryption(
  runtime: Runtime,
  scheme: Scheme,
  { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: isReloaded = false }: EncryptionOptions,
): Promise<Encryption | undefined> {
  if (file === undefined) return undefined
  const [{ encryptionOf }, { EncryptionConfigError, parseEncryptionConfiguration }] = await Promise.all([
    import('../apiserver/encryption/config.ts'),
    import('../apiserver/encryption/configuration.ts'),
  ])
  const log = runtime.log.named('encryption')
  const stopping = new AbortController()
  let onChange: (() => Promise<void>) | undefined
  const readAnew = () => {
    onChange?.().catch((error) => log.error('what could not be decrypted is not read again', error, { file }))
  }

  async function use(configuration: readonly EncryptionEntry[]): Promise<InUse> {
    const wanted = configuration.flatMap(({ providers }) =>
      providers.flatMap((provider) => (provider.kind === 'kms' ? [provider.settings] : [])),
    )
    const kms = new Map<KmsSettings, KmsProvider>()
    if (wanted.length > 0) {
      const [{ kmsProvider }, { connectKms }] = await Promise.all([
        import('../apiserver/encryption/kms/provider.ts'),
        import('../apiserver/encryption/kms/service.ts'),
      ])
      for (const settings of wanted)
        kms.set(
          settings,
          kmsProvider(runtime, { name: settings.name, server: idHash() }, connectKms(runtime, settings)),
        )
      await Promise.all([...kms.values()].map((plugin) => plugin.start(readAnew)))
    }
    return { transformer: encryptionOf(configuration, scheme, runtime.random, kms), plugins: [...kms.values()] }
  }

  const unread = (why: string) =>
    `error while parsing file: error while loading file: error reading encryption provider configuration file ${JSON.stringify(file)}: ${why}`
  const first = readText(file, unread)
  let text = first
  let current = await parsed(file, text, () => use(parseEncryptionConfiguration(text, file)), { wrong: (why) => why })
  configurationInUse(runtime, 'encryption', () => text)
  let stop = () => {}
  /** Another configuration is used once its plugins are well. */
  async function replace(changed: string): Promise<void> {
    const next = await use(parseEncryptionConfiguration(changed, file as string))
    try {
      await checkAll(next.plugins)
    } catch (error) {
      closeAll(next.plugins)
      throw error
    }
    if (stopping.signal.aborted) return closeAll(next.plugins)
    const { plugins } = current
    current = next
    text = changed
    if (plugins.length > 0) runtime.machineClock.setTimer(CLOSE_MS, 'close KMS plugins', () => closeAll(plugins))
  }
  return {
    transformer: {
      encode: (key, plain) => current.transformer.encode(key, plain),
      isStale: (key, stored) => current.transformer.isStale(key, stored),
      decode: (key, stored) => current.transformer.decode(key, stored),
      get prepare() {
        return current.transformer.prepare
      },
      get mayBeGarbled() {
        return current.transformer.mayBeGarbled === true
      },
    },
    isReloaded,
    checkPlugins: isReloaded || current.plugins.length > 0 ? () => checkAll(current.plugins) : undefined,
    start(changed) {
      onChange = changed
      if (!isReloaded) return
      const reloaded = reloadMetrics(runtime, 'encryption')
      const changes = oneByOne()
      let retry: Timer | undefined
      const attempt = (found: string) =>
        changes(async () => {
          retry?.cancel()
          if (found === text || stopping.signal.aborted) return
          try {
            await replace(found)
          } catch (error) {
            log.error('the changed encryption configuration is not used', error, { file })
            reloaded(false)
            // What is wrong in the file stays so until it is another; a plugin may come.
            if (!(error instanceof EncryptionConfigError))
              retry = runtime.machineClock.setTimer(
                RETRY_MS,
                'KMS plugins of a new configuration',
                () => void attempt(found),
              )
            return
          }
          log.info(0, 'reloaded encryption config', { file })
          reloaded(true)
          readAnew()
        })
      stop = watchFile(runtime, file, first, (found) => void attempt(found))
    },
    close() {
      stopping.abort()
      stop()
      closeAll(current.plugins)
    },
  }
}

/** @throws Error with what is wrong with the first that is not well, which it names by its place */
async function checkAll(plugins: readonly KmsProvider[]): Promise<void> {
  for (const [i, plugin] of plugins.entries()) {
    try {
      await plugin.check()
    } catch (cause) {
      throw new Error(`kms-provider-${i}: ${messageOf(cause)}`, { cause })
    }
  }
}

function closeAll(plugins: readonly KmsProvider[]): void {
  for (const plugin of plugins) plugin.close()
}
