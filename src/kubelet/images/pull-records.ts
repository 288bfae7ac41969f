/**
 * What this node pulled, and with which credentials (KEP-2535): a pod may use such an image without a pull if it shows credentials that have
 * pulled it once, or if it was pulled with none. Files below `image_manager`, in the form of a kubelet v1.37: an ImagePullIntent in
 * `pulling` from before each pull to its end, an ImagePulledRecord for each image in `pulled`. All of them are read once, at the start.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../../base/runtime.ts'
import { replaceFile } from '../checkpoint-file.ts'
import type { ImageMetrics } from '../metrics/image-metrics.ts'
import { fullImageName } from '../runtimes/image-names.ts'
import type { PullCredentials } from '../runtimes/runtime.ts'
import { mustVerify, type PullVerification, repositoryOf } from './pull-verification.ts'

export interface PullRecords {
  /** Before each pull. @throws Error when that cannot be kept */
  begin(image: string): void
  /** After a pull that brought nothing. `id`: what is there all the same, and was not before. */
  failed(image: string, id?: string): void
  /** After a pull with these credentials. Undefined: with none. */
  pulled(image: string, id: string, credentials: PullCredentials | undefined): void
  /** Whether a pod that shows these credentials has to pull the image that is there. */
  mustPull(image: string, id: string, shown: () => Promise<readonly PullCredentials[]>): Promise<boolean>
  /** The image has gone. */
  forget(id: string): void
  /** Records of images that are not there go, but for those that were made or changed since `until`, in milliseconds. */
  prune(there: ReadonlySet<string>, until: number): void
  /** Pulls that a kubelet which ended had begun: what has come of them has to be pulled again. `idOf`: what is there; where it throws the pull counts as under way. */
  recover(idOf: (image: string) => Promise<string | undefined>): Promise<void>
}

interface RecordedSecret {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  readonly credentialHash: string
}

interface RecordedCredentials {
  readonly kubernetesSecrets?: readonly RecordedSecret[]
  /** Of credential providers: kept as another kubelet has written them. */
  readonly kubernetesServiceAccounts?: readonly object[]
  readonly nodePodsAccessible?: boolean
}

interface PulledRecord {
  readonly lastUpdatedTime: string
  readonly imageRef: string
  /** By the image's name without tag and digest. */
  readonly credentialMapping: Readonly<Record<string, RecordedCredentials>>
}

const API_VERSION = 'kubelet.config.k8s.io/v1beta1'
const KINDS = ['pulling', 'pulled'] as const
/** Secrets beyond so many are not noted when their credentials are known already. */
const MOST_NOTED = 100

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const fileOf = (text: string) => `sha256-${sha256(text)}`

/** Of the credentials as Go writes them. */
function credentialHash({ username, password }: PullCredentials): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return sha256(JSON.stringify({ username, password }).replace(/[<>&\u2028\u2029]/g, escaped))
}

const recordedSecret = (credentials: PullCredentials): readonly RecordedSecret[] =>
  credentials.secret === undefined ? [] : [{ ...credentials.secret, credentialHash: credentialHash(credentials) }]

const isSame = (a: RecordedSecret, b: RecordedSecret) =>
  a.uid === b.uid && a.namespace === b.namespace && a.name === b.name

const keyOf = ({ namespace, name, uid }: RecordedSecret) => `${namespace}/${name}/${uid}`

/** In place of what was noted of the same Secret. */
const withSecret = (secrets: readonly RecordedSecret[], secret: RecordedSecret): readonly RecordedSecret[] =>
  [...secrets.filter((one) => !isSame(one, secret)), secret].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

/** Where they are of a node whose images outlive it in `kept`. */
export const recordsDirectory = (kept: string): string => join(kept, 'image_manager')

/**
 * Those that an earlier version kept with the node, which end with it, are moved to `kept`; what is recorded there already is the newer. To be called
 * before the node starts or goes. @throws Error
 */
export function takeOverRecords(node: string, kept: string): void {
  const [from, directory] = [recordsDirectory(node), recordsDirectory(kept)]
  if (from === directory || !existsSync(from)) return
  for (const kind of KINDS) {
    const [old, folder] = [join(from, kind), join(directory, kind)]
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const file of existsSync(old) ? filesIn(old) : [])
      if (!existsSync(join(folder, file))) renameSync(join(old, file), join(folder, file))
  }
  rmSync(from, { recursive: true })
}

/** @throws Error when its folders cannot be made or read */
export function createPullRecords(
  { clock, log }: Pick<Runtime, 'clock' | 'log'>,
  directory: string,
  verification: PullVerification,
  counts?: Pick<ImageMetrics, 'verified' | 'recordsKept'>,
): PullRecords {
  const [pullingDirectory, pulledDirectory] = KINDS.map((kind) => join(directory, kind)) as [string, string]
  for (const folder of [pullingDirectory, pulledDirectory]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  /** By file. Undefined: it cannot be read, so that no credentials are known. */
  const records = new Map<string, PulledRecord | undefined>()
  /** By file: the image of an intent, how many pulls of it there are, and whether a pull from before may have brought it. */
  const intents = new Map<string, { readonly image: string | undefined; pulls: number; readonly isLeft: boolean }>()

  for (const file of filesIn(pulledDirectory)) records.set(file, readRecord(join(pulledDirectory, file)))
  for (const file of filesIn(pullingDirectory))
    intents.set(file, { image: readIntent(join(pullingDirectory, file)), pulls: 0, isLeft: true })
  const count = () => counts?.recordsKept(records.size, intents.size)
  count()

  const storedText = (kind: string, fields: object) => JSON.stringify({ kind, apiVersion: API_VERSION, ...fields })

  /** What cannot be written is known until this process ends. Tells whether it was written. */
  function keep(image: string, id: string, change: (old: RecordedCredentials) => RecordedCredentials): boolean {
    const file = fileOf(id)
    const repository = repositoryOf(image)
    const mapping = records.get(file)?.credentialMapping ?? {}
    const old = Object.hasOwn(mapping, repository) ? mapping[repository]! : {}
    const credentials = change(old)
    if (records.get(file) !== undefined && credentials === old) return true
    const record: PulledRecord = {
      lastUpdatedTime: `${new Date(clock.now()).toISOString().slice(0, 19)}Z`,
      imageRef: id,
      credentialMapping: { ...mapping, [repository]: credentials },
    }
    records.set(file, record)
    count()
    return attempted('a record of a pulled image', () =>
      replaceFile(join(pulledDirectory, file), storedText('ImagePulledRecord', record)),
    )
  }

  function attempted(what: string, act: () => void): boolean {
    try {
      act()
      return true
    } catch (error) {
      log.error(`Writing ${what} failed`, error)
      return false
    }
  }

  function drop(kept: Map<string, unknown>, folder: string, file: string): void {
    kept.delete(file)
    attempted('records of pulled images', () => rmSync(join(folder, file), { force: true }))
    count()
  }

  /** The last pull of an image that ends takes its intent along. */
  function end(image: string, isKnown: (isLeft: boolean) => boolean): void {
    const file = fileOf(image)
    const intent = intents.get(file)
    if (intent === undefined) return
    intent.pulls--
    if (intent.pulls <= 0 && isKnown(intent.isLeft)) drop(intents, pullingDirectory, file)
  }

  /** Whether it is being pulled by another spelling of its name, or by its digest: the runtime has it a moment before its record is there. */
  function isUnderWay(image: string): boolean {
    const name = fullImageName(image)
    const isAlike = (other: string) =>
      other === name || ((other.includes('@') || name.includes('@')) && repositoryOf(other) === repositoryOf(name))
    return [...intents.values()].some((intent) => intent.image !== undefined && isAlike(fullImageName(intent.image)))
  }

  return {
    begin(image) {
      const file = fileOf(image)
      const intent = intents.get(file)
      if (intent === undefined || intent.image === undefined)
        replaceFile(join(pullingDirectory, file), storedText('ImagePullIntent', { image }))
      intents.set(file, { image, pulls: (intent?.pulls ?? 0) + 1, isLeft: intent?.isLeft ?? false })
      count()
    },
    failed(image, id) {
      const isKept = id === undefined || keep(image, id, (old) => old)
      end(image, (isLeft) => isKept && !isLeft)
    },
    pulled(image, id, credentials) {
      const isKept = keep(image, id, (old) => {
        if (old.nodePodsAccessible === true) return old
        const [secret] = credentials === undefined ? [] : recordedSecret(credentials)
        if (secret === undefined) return { nodePodsAccessible: true }
        return { ...old, kubernetesSecrets: withSecret(old.kubernetesSecrets ?? [], secret) }
      })
      end(image, () => isKept)
    },
    async mustPull(image, id, shown) {
      const isPulled = records.has(fileOf(id)) || intents.has(fileOf(image)) || isUnderWay(image)
      if (!mustVerify(verification, image, isPulled)) {
        counts?.verified('credentialPolicyAllowed')
        return false
      }
      const secrets = (await shown()).flatMap(recordedSecret)
      const mapping = records.get(fileOf(id))?.credentialMapping ?? {}
      const repository = repositoryOf(image)
      const { nodePodsAccessible, kubernetesSecrets: known = [] } = Object.hasOwn(mapping, repository)
        ? mapping[repository]!
        : {}
      const secret = secrets.find((one) =>
        known.some((other) => isSame(one, other) || one.credentialHash === other.credentialHash),
      )
      if (nodePodsAccessible !== true && secret === undefined) {
        counts?.verified('mustAuthenticate')
        return true
      }
      counts?.verified('credentialRecordFound')
      if (nodePodsAccessible === true || secret === undefined) return false
      const before = known.find((other) => isSame(secret, other))
      if (before === undefined ? known.length < MOST_NOTED : before.credentialHash !== secret.credentialHash)
        keep(image, id, (old) => ({ ...old, kubernetesSecrets: withSecret(old.kubernetesSecrets ?? [], secret) }))
      return false
    },
    forget(id) {
      const file = fileOf(id)
      if (records.has(file)) drop(records, pulledDirectory, file)
    },
    prune(there, until) {
      const files = new Set([...there].map(fileOf))
      // A record tells its time in seconds.
      const since = Math.floor(until / 1000) * 1000
      for (const [file, record] of records)
        if (!files.has(file) && !(record !== undefined && Date.parse(record.lastUpdatedTime) >= since))
          drop(records, pulledDirectory, file)
    },
    async recover(idOf) {
      for (const [file, { image, pulls }] of intents) {
        // One that cannot be read stays until its image is pulled: what is named so has to be.
        if (pulls > 0 || image === undefined) continue
        let id: string | undefined
        try {
          id = await idOf(image)
        } catch (error) {
          log.error('What a pull from before has brought could not be asked', error)
          continue
        }
        // A record from before the pull keeps what it tells.
        if (id !== undefined && !keep(image, id, (old) => old)) continue
        drop(intents, pullingDirectory, file)
      }
    },
  }
}

/** What a writer left that was cut off is none. @throws Error */
const filesIn = (directory: string): readonly string[] =>
  readdirSync(directory).filter((file) => /^sha256-[0-9a-f]{64}$/.test(file))

/** What a file may hold. */
interface Stored {
  readonly kind?: unknown
  readonly apiVersion?: unknown
  readonly image?: unknown
  readonly imageRef?: unknown
  readonly lastUpdatedTime?: unknown
  readonly credentialMapping?: unknown
}

function readJson(path: string, wanted: string): Stored {
  try {
    const found: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const stored: Stored = isObject(found) ? found : {}
    const isOwn = /^kubelet\.config\.k8s\.io\/v1(alpha1|beta1)$/.test(String(stored.apiVersion))
    return stored.kind === wanted && isOwn ? stored : {}
  } catch {
    return {}
  }
}

function readIntent(path: string): string | undefined {
  const { image } = readJson(path, 'ImagePullIntent')
  return typeof image === 'string' && path.endsWith(fileOf(image)) ? image : undefined
}

function readRecord(path: string): PulledRecord | undefined {
  const { imageRef, lastUpdatedTime, credentialMapping } = readJson(path, 'ImagePulledRecord')
  if (typeof imageRef !== 'string' || !path.endsWith(fileOf(imageRef))) return undefined
  const entries = isObject(credentialMapping) ? Object.entries(credentialMapping) : []
  const mapping = entries.flatMap(([repository, found]) =>
    isObject(found) ? [[repository, readCredentials(found)] as const] : [],
  )
  return { imageRef, lastUpdatedTime: String(lastUpdatedTime), credentialMapping: Object.fromEntries(mapping) }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type StoredCredentials = { readonly [Field in keyof RecordedCredentials]: unknown }

function readCredentials(found: StoredCredentials): RecordedCredentials {
  const { kubernetesSecrets: secrets, kubernetesServiceAccounts: accounts, nodePodsAccessible } = found
  if (nodePodsAccessible === true) return { nodePodsAccessible }
  return {
    ...(Array.isArray(secrets) ? { kubernetesSecrets: secrets.filter(isRecordedSecret) } : {}),
    ...(Array.isArray(accounts) ? { kubernetesServiceAccounts: accounts.filter(isObject) } : {}),
  }
}

function isRecordedSecret(value: unknown): value is RecordedSecret {
  if (!isObject(value)) return false
  const { uid, namespace, name, credentialHash }: { readonly [Field in keyof RecordedSecret]?: unknown } = value
  return [uid, namespace, name, credentialHash].every((text) => typeof text === 'string' && text !== '')
}
