/** Rules that pods' volumes and PersistentVolumes share about network storage. Called by volumes.ts and persistent-volume.ts. */
import type { Fields } from '../object.ts'
import { type FieldError, invalid, required } from './errors.ts'
import { dns1123Label } from './names.ts'

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
