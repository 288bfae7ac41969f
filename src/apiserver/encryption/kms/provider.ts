/**
 * The provider `kms` of version v2 (KEP-3299): values are encrypted by keys that are derived of one seed, and a plugin wraps the seed. A new seed
 * is made at each start and each time that the plugin's status names another key; it may be used for three minutes after the last status that
 * was well. Seeds of before are unwrapped when a value is first read that needs one: `prepare` does that, ahead of the reading, which
 * does not wait.
 */
import { createHash } from 'node:crypto'
import { formatTime, type Timer } from '../../../base/clock.ts'
import { messageOf } from '../../../base/errors.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { type EncryptionProvider, startsWith } from '../providers.ts'
import { decryptWith, encryptWithSeed, SEED, SEED_BYTES } from './data-keys.ts'
import {
  decodeEncryptedObject,
  type EncryptedObject,
  encodeData,
  encodeWrappedKey,
  type WrappedKey,
} from './encrypted-object.ts'
import { keyIdHash, kmsMetrics } from './metrics.ts'
import { keyIdProblem, wrappedKeyProblem } from './rules.ts'
import type { KmsService, KmsStatus } from './service.ts'

export interface KmsProvider extends EncryptionProvider {
  prepare(stored: readonly Uint8Array[]): Promise<void> | undefined
  /** Asks the plugin for the first time. `onReadable`: called each time that what could not be decrypted may be now. */
  start(onReadable: () => void): Promise<void>
  /** Throws what is wrong with the plugin, which is asked unless that was a moment ago. */
  check(): Promise<void>
  close(): void
}

const LOOK_MS = 60_000
const LOOK_AGAIN_MS = 10_000
/** For so long what a look has found is what a health check answers. */
const [WELL_MS, NOT_WELL_MS] = [20_000, 3000]
const SEED_MS = 180_000
const UNWRAPPED_MS = 3_600_000
/** Keys that a plugin is asked to unwrap at once. */
const AT_ONCE = 32
const [RETRY_MS, LONGEST_RETRY_MS] = [1000, 10_000]
const VERSIONS = ['v2', 'v2beta1']

interface Writing {
  readonly key: WrappedKey
  readonly seed: Uint8Array
  /** The message, but for the ciphertext. */
  readonly tail: Buffer
  expiresAt: number
}

interface Unwrapped {
  readonly secret: Uint8Array
  readonly since: number
}

interface Failure {
  readonly error: Error
  readonly key: WrappedKey
  readonly since: number
}

/** `server`: what this server is called in metrics. */
export function kmsProvider(
  runtime: Runtime,
  named: { readonly name: string; readonly server: string },
  service: KmsService,
): KmsProvider {
  const { name } = named
  const { machineClock: clock, random } = runtime
  const log = runtime.log.named('kms')
  const prefix = `k8s:enc:kms:v2:${name}:`
  const head = Buffer.from(prefix)
  const unwrapped = new Map<string, Unwrapped>()
  /** Not asked for again by reading: a plugin that is away would hold up each read. Those tried longest ago come first. */
  const failures = new Map<string, Failure>()
  const unwrapping = new Map<string, Promise<void>>()
  const counted = kmsMetrics(runtime, named, () => unwrapped.size)
  let writing: Writing | undefined
  let version: string | undefined
  let onReadable = () => {}
  let isClosed = false
  let looking: Promise<void> | undefined
  let last: { readonly at: number; readonly error?: Error } | undefined
  let nextLook: Timer | undefined
  let retry: Timer | undefined
  let retryMs = RETRY_MS

  function writingNow(): Writing {
    if (writing === undefined) throw new Error('got unexpected nil transformer')
    return writing
  }

  /** @throws Error when too long has passed since the plugin was well */
  function writable(): Writing {
    const state = writingNow()
    const now = clock.now()
    if (now > state.expiresAt)
      throw new Error(
        `encryptedDEKSource with keyID hash ${JSON.stringify(keyIdHash(state.key.keyId))} expired at ${formatTime(state.expiresAt)} (current time is ${formatTime(now)})`,
      )
    return state
  }

  /** A new seed, wrapped by the plugin. @throws Error */
  async function makeSeed(uid: string): Promise<Writing> {
    const seed = random.bytes(SEED_BYTES)
    let answer: Omit<WrappedKey, 'type'>
    try {
      answer = await service.encrypt(uid, seed)
    } catch (cause) {
      throw new Error(`failed to encrypt DEK, error: ${messageOf(cause)}`, { cause })
    }
    const key = { ...answer, type: SEED }
    const problem = wrappedKeyProblem(key)
    if (problem !== undefined) throw new Error(problem)
    return { key, seed, tail: encodeWrappedKey(key), expiresAt: clock.now() + SEED_MS }
  }

  async function rotate({ keyId }: KmsStatus): Promise<void> {
    const isUsable = writing !== undefined && writing.key.keyId === keyId
    if (writing !== undefined && isUsable) {
      writing.expiresAt = clock.now() + SEED_MS
      return
    }
    const uid = random.uuid()
    const stateProblem = writing === undefined ? 'got unexpected nil transformer' : undefined
    let made: Writing | undefined
    let problem: string | undefined
    try {
      made = await makeSeed(uid)
    } catch (error) {
      problem = messageOf(error)
    }
    if (made !== undefined && made.key.keyId === keyId) {
      const isFirst = writing === undefined
      writing = made
      remember(identityOf(made.key), made.seed)
      log.info(isFirst ? 2 : 0, 'successfully rotated DEK', { uid, keyIDHash: keyIdHash(keyId) })
      return
    }
    const before = writing === undefined ? '' : keyIdHash(writing.key.keyId)
    throw new Error(
      `failed to rotate DEK uid=${JSON.stringify(uid)}, useSeed=true, errState=${stateProblem ?? '<nil>'}, errGen=${problem ?? '<nil>'}, statusKeyIDHash=${quotedHash(keyId)}, encryptKeyIDHash=${quotedHash(made?.key.keyId)}, stateKeyIDHash=${JSON.stringify(before)}, expirationTimestamp=${writing === undefined ? '0001-01-01T00:00:00Z' : formatTime(writing.expiresAt)}`,
    )
  }

  async function follow(status: KmsStatus): Promise<void> {
    if (status.healthz !== 'ok') throw new Error(`got unexpected healthz status: ${status.healthz}`)
    if (!VERSIONS.includes(status.version)) throw new Error(`expected KMSv2 API version v2, got ${status.version}`)
    if (version !== undefined && version !== status.version)
      throw new Error(
        `KMSv2 API version should not change after the initial status response version ${version}, got ${status.version}`,
      )
    const problem = keyIdProblem(status.keyId)
    if (problem !== undefined) {
      counted.invalidKeyId(problem.kind)
      throw new Error(`got invalid KMSv2 KeyID hash ${quotedHash(status.keyId)}: ${problem.words}`)
    }
    counted.status(status.keyId)
    version ??= status.version
    await rotate(status)
  }

  async function ask(): Promise<void> {
    const wasWell = last?.error === undefined
    try {
      const status = await service.status()
      try {
        await follow(status)
      } catch (cause) {
        const error = new Error(`kmsv2 Provider ${name} is not healthy, error: ${messageOf(cause)}`, { cause })
        last = { at: clock.now(), error }
        throw error
      }
      last = { at: clock.now() }
      if (!wasWell && !isClosed) askAnew()
    } catch (cause) {
      const error = cause as Error
      if (last?.error === error) throw error
      last = { at: clock.now(), error }
      throw new Error(
        `failed to perform status section of the healthz check for KMS Provider ${name}, error: ${error.message}`,
        {
          cause,
        },
      )
    }
  }

  /** One at a time: those that come meanwhile are told what it has found. */
  async function check(): Promise<void> {
    if (looking !== undefined) await looking.catch(() => {})
    if (last !== undefined && clock.now() - last.at < (last.error === undefined ? WELL_MS : NOT_WELL_MS)) {
      if (last.error !== undefined) throw last.error
      return
    }
    looking = ask().finally(() => {
      looking = undefined
    })
    await looking
  }

  async function look(): Promise<void> {
    let error: unknown
    try {
      await check()
    } catch (failure) {
      error = failure
      log.error('the KMS plugin is not well', failure, { provider: name })
    }
    if (isClosed) return
    forgetOld()
    nextLook = clock.setTimer(error === undefined ? LOOK_MS : LOOK_AGAIN_MS, 'KMS status', () => void look())
  }

  function remember(identity: string, secret: Uint8Array): void {
    unwrapped.set(identity, { secret, since: clock.now() })
    failures.delete(identity)
  }

  function forgetOld(): void {
    const own = writing === undefined ? undefined : identityOf(writing.key)
    const before = clock.now() - UNWRAPPED_MS
    for (const [identity, { since }] of unwrapped) if (since < before && identity !== own) unwrapped.delete(identity)
    // What they were for may be gone.
    if ([...failures.values()].some(({ since }) => since < before)) askAnew()
  }

  /** What is still to be read asks for its keys. */
  function askAnew(): void {
    failures.clear()
    onReadable()
  }

  /** Never rejects: why it failed is told to the reader. */
  function unwrap(identity: string, key: WrappedKey): Promise<void> {
    const begun = unwrapping.get(identity)
    if (begun !== undefined) return begun
    const done = service
      .decrypt(random.uuid(), key)
      .then((secret) => {
        if (secret.length !== SEED_BYTES) throw new Error(`crypto/aes: invalid key size ${secret.length}`)
        remember(identity, secret)
      })
      .catch((cause: unknown) => {
        const error = new Error(`failed to decrypt DEK, error: ${messageOf(cause)}`, { cause })
        const since = failures.get(identity)?.since ?? clock.now()
        // Behind the others.
        failures.delete(identity)
        failures.set(identity, { error, key, since })
        tryAgainLater()
      })
      .finally(() => unwrapping.delete(identity))
    unwrapping.set(identity, done)
    return done
  }

  async function unwrapAll(missing: ReadonlyMap<string, WrappedKey>): Promise<void> {
    const left = [...missing]
    const worker = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await unwrap(...next)
    }
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, left.length) }, worker))
  }

  /** What could not be unwrapped is tried by some of them, in turn, until one is unwrapped: the others are then asked for anew. */
  function tryAgainLater(): void {
    if (isClosed || retry !== undefined) return
    retry = clock.setTimer(retryMs, 'KMS unwrapping', () => {
      retry = undefined
      const some = [...failures].slice(0, AT_ONCE)
      if (some.length === 0 || isClosed) return
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
      void unwrapAll(new Map(some.map(([identity, { key }]) => [identity, key]))).then(() => {
        if (isClosed || !some.some(([identity]) => unwrapped.has(identity))) return
        retryMs = RETRY_MS
        askAnew()
      })
    })
  }

  return {
    prefix,
    isAuthenticated: true,
    encrypt(storageKey, plain) {
      const { seed, tail, key } = writable()
      counted.used('to_storage', key.keyId)
      return Buffer.concat([head, encodeData(encryptWithSeed(seed, storageKey, plain, random)), tail])
    },
    isCurrent(stored) {
      if (!startsWith(stored, prefix)) return false
      const { key } = decodeEncryptedObject(stored.subarray(head.length))
      return writing === undefined || (key.keyId === writing.key.keyId && key.type === SEED)
    },
    decrypt(storageKey, stored) {
      writingNow()
      const { data, key } = decodeEncryptedObject(stored.subarray(head.length))
      const identity = identityOf(key)
      const known = unwrapped.get(identity)
      if (known === undefined)
        throw failures.get(identity)?.error ?? new Error('failed to decrypt DEK, error: it was not unwrapped')
      counted.used('from_storage', key.keyId)
      return decryptWith(key.type, known.secret, storageKey, data)
    },
    prepare(stored) {
      if (writing === undefined) return undefined
      const missing = new Map<string, WrappedKey>()
      for (const value of stored) {
        const key = startsWith(value, prefix) ? keyOf(value.subarray(head.length)) : undefined
        if (key === undefined) continue
        const identity = identityOf(key)
        if (!unwrapped.has(identity) && !failures.has(identity)) missing.set(identity, key)
      }
      return missing.size === 0 ? undefined : unwrapAll(missing)
    },
    async start(told) {
      onReadable = told
      await look()
    },
    check,
    close() {
      isClosed = true
      nextLook?.cancel()
      retry?.cancel()
      service.close()
    },
  }
}

const quotedHash = (keyId = ''): string => JSON.stringify(keyIdHash(keyId))

/** undefined for what is none, which the reading tells. */
function keyOf(message: Uint8Array): EncryptedObject['key'] | undefined {
  try {
    return decodeEncryptedObject(message).key
  } catch {
    return undefined
  }
}

/** Whatever differs in it is another key. */
const identityOf = (key: WrappedKey): string => createHash('sha256').update(encodeWrappedKey(key)).digest('base64')
