/** Rules of sources that pods' volumes and PersistentVolumes share. Called by volumes.ts and persistent-volume.ts. */
import { type FieldError, invalid, notSupported, required } from '../errors/field-errors.ts'
import { dns1123Label } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { noDotDot } from './paths.ts'

type SharedRule = (source: Fields, path: string, errors: FieldError[]) => void

export const need =
  (...fields: readonly string[]): SharedRule =>
  (source, path, errors) => {
    for (const field of fields) if (isMissing(source[field])) errors.push(required(`${path}.${field}`))
  }

/** A text that is empty, or a list. */
const isMissing = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0)

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

export const hostPath: SharedRule = (source, path, errors) => {
  if (!source['path']) return void errors.push(required(`${path}.path`))
  noDotDot(source['path'], `${path}.path`, errors)
  if (source['type'] && !HOST_PATH_TYPES.includes(source['type']))
    errors.push(notSupported(`${path}.type`, source['type'], HOST_PATH_TYPES))
}

export const nfs: SharedRule = (source, path, errors) => {
  need('server', 'path')(source, path, errors)
  const directory: string = source['path'] ?? ''
  if (!directory.startsWith('/')) errors.push(invalid(`${path}.path`, directory, 'must be an absolute path'))
}

/** `path` names the field as it once was: persistentDisk. */
export const gcePersistentDisk: SharedRule = (source, path, errors) => {
  need('pdName')(source, path, errors)
  partition(source, path, errors)
}

export const awsElasticBlockStore: SharedRule = (source, path, errors) => {
  need('volumeID')(source, path, errors)
  partition(source, path, errors)
}

const partition: SharedRule = (source, path, errors) => {
  const number: number = source['partition'] ?? 0
  if (number < 0 || number > 255)
    errors.push(invalid(`${path}.partition`, number, 'must be between 1 and 255, inclusive'))
}

const IQN = /^iqn\.\d{4}-\d{2}\.(?:[^\s:./]+\.?)+(?::[^,;*&$|\s]+)$/
const LONGEST_NAME = 300

/** An iSCSI name of one of the three kinds (RFC 3720: iqn, eui, naa). */
export function isQualifiedName(name: string): boolean {
  if (name.length > LONGEST_NAME) return false
  return name.startsWith('iqn') ? IQN.test(name) : /^(?:eui\.[0-9A-Za-z]{16}|naa\.[0-9A-Za-z]{32})$/.test(name)
}

export const PORTAL_TOO_LONG =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'

/** With an initiator's name, an iSCSI interface is named after volume and portal. */
export function fitsWithPortal(volumeName: string, targetPortal: string): boolean {
  return Buffer.byteLength(`${volumeName}:${targetPortal}`) < 64
}

export function unitNumber(lun: number, path: string, errors: FieldError[]): void {
  if (lun < 0 || lun > 255) errors.push(invalid(path, lun, 'must be between 0 and 255, inclusive'))
}

const REGISTRY = 'must be a host:port pair or multiple pairs separated by commas'

/** `host:port` of which the host may stand in brackets. */
const isPair = (text: string): boolean => /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(text)

export function quobyte(source: Fields, path: string, errors: FieldError[]): void {
  const registry: string = source['registry'] ?? ''
  if (registry === '') errors.push(required(`${path}.registry`, REGISTRY))
  else if (Buffer.byteLength(source['tenant'] ?? '') >= 65)
    errors.push(required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'))
  else
    for (const pair of registry.split(','))
      if (!isPair(pair)) errors.push(invalid(`${path}.registry`, registry, REGISTRY))
  if (!source['volume']) errors.push(required(`${path}.volume`))
}

export function storageOS(source: Fields, path: string, errors: FieldError[]): void {
  const { volumeName = '', volumeNamespace = '' } = source
  if (volumeName === '') errors.push(required(`${path}.volumeName`))
  else for (const message of dns1123Label(volumeName)) errors.push(invalid(`${path}.volumeName`, volumeName, message))
  if (volumeNamespace !== '')
    for (const message of dns1123Label(volumeNamespace))
      errors.push(invalid(`${path}.volumeNamespace`, volumeNamespace, message))
}

/** A Flocker dataset, by name or by uuid. */
export function flocker({ datasetName = '', datasetUUID = '' }: Fields, path: string, errors: FieldError[]): void {
  if (datasetName === '' && datasetUUID === '')
    errors.push(required(path, 'one of datasetName and datasetUUID is required'))
  if (datasetName !== '' && datasetUUID !== '')
    errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'))
  if (datasetName.includes('/')) errors.push(invalid(`${path}.datasetName`, datasetName, "must not contain '/'"))
}
