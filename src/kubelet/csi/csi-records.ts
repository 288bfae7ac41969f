/** What is published for a pod by CSI drivers stands beside it in files, so that a kubelet that starts anew takes it back too. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { replaceFile } from '../checkpoint-file.ts'
import type { PodDirectories } from '../machine/pod-directories.ts'

/** What a pod has of a driver, as it is kept. */
export interface CsiRecord {
  readonly driverName: string
  readonly volumeHandle: string
  /** Undefined: it is not staged. */
  readonly stagingPath?: string
  /** Where it is published. Default: the folder `mount` beside the record. */
  readonly target?: string
  /** Its driver attaches it to nodes. */
  readonly isAttached?: boolean
  /** The driver has not been asked for it yet. */
  readonly isWaiting?: boolean
}

export interface CsiRecordInFolder extends CsiRecord {
  /** That of the record. */
  readonly folder: string
}

const PLUGIN = 'csi'
const RECORD = 'vol_data.json'

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The folder of a pod's volume that a driver publishes; its record is in it. */
export const csiFolderOf = (directories: PodDirectories, uid: string, name: string): string =>
  directories.volume(uid, PLUGIN, name)

/** @throws Error when the file cannot be written */
export function writeCsiRecord(
  folder: string,
  { driverName, volumeHandle, stagingPath, target, isAttached, isWaiting }: CsiRecord,
): void {
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  const record: CsiRecord = {
    driverName,
    volumeHandle,
    ...(stagingPath === undefined ? {} : { stagingPath }),
    ...(target === undefined ? {} : { target }),
    ...(isAttached === true ? { isAttached } : {}),
    ...(isWaiting === true ? { isWaiting } : {}),
  }
  replaceFile(join(folder, RECORD), JSON.stringify(record))
}

export const hasCsiRecord = (folder: string): boolean => existsSync(join(folder, RECORD))

/** Every volume of the pod that a driver has, or may have. @throws Error for a record that cannot be read */
export function csiRecordsOf(directories: PodDirectories, uid: string): readonly CsiRecordInFolder[] {
  const folder = dirname(directories.volume(uid, PLUGIN, 'any'))
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const file = join(folder, name, RECORD)
    if (!existsSync(file)) return []
    return [{ ...(JSON.parse(readFileSync(file, 'utf8')) as CsiRecord), folder: join(folder, name) }]
  })
}

/** By which the attach/detach controller and kubelets know a volume. */
export const uniqueName = ({ driverName, volumeHandle }: CsiRecord): string =>
  `kubernetes.io/csi/${driverName}^${volumeHandle}`
