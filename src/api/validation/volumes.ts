/** Volumes: one source each, and the rules of every source. Called by the rules of PodSpec and by PersistentVolume's. */
import type { Fields } from '../object.ts'
import { nanosOf } from '../objects/quantity.ts'
import { validateFieldRef, validateResourceFieldRef } from './environment.ts'
import { duplicate, type FieldError, forbiddenField, invalid, notSupported, required, tooLong } from './errors.ts'
import { isUsableSelector, validateLabelSelector } from './labels.ts'
import { dns1123Label, dns1123Subdomain } from './names.ts'
import { validateClaimTemplate } from './volume-claims.ts'
import type { VolumeTable } from './volume-mounts.ts'

type SourceRule = (source: Fields, path: string, errors: FieldError[], volumeName: string) => void

/** The volumes of a pod; gives the table by which mounts find them. */
export function validateVolumes(
  volumes: readonly Fields[],
  podName: string,
  path: string,
  errors: FieldError[],
): VolumeTable {
  const sources = new Map<string, Fields>()
  volumes.forEach((volume, i) => {
    const at = `${path}[${i}]`
    const name: string = volume['name'] ?? ''
    const found: FieldError[] = []
    validateSource(volume, at, found, podName)
    if (name === '') found.push(required(`${at}.name`))
    else for (const message of dns1123Label(name)) found.push(invalid(`${at}.name`, name, message))
    if (sources.has(name)) found.push(duplicate(`${at}.name`, name))
    errors.push(...found)
    if (found.length === 0) sources.set(name, volume)
  })
  return { sources }
}

/** `podSources` in a form that is walked without making it anew for every volume. */
let sourceRules: readonly (readonly [string, SourceRule])[] | undefined

const MORE_THAN_ONE = 'may not specify more than 1 volume type'

function validateSource(volume: Fields, path: string, errors: FieldError[], podName: string): void {
  let count = 0
  sourceRules ??= Object.entries(podSources)
  for (const [kind, rule] of sourceRules) {
    const source: Fields | undefined = volume[kind]
    if (source === undefined || source === null) continue
    if (count > 0) {
      errors.push(forbiddenField(`${path}.${kind}`, MORE_THAN_ONE))
      continue
    }
    count++
    rule(source, `${path}.${kind}`, errors, volume['name'] ?? '')
    if (kind === 'ephemeral' && volume['name'] && podName) {
      for (const message of dns1123Subdomain(`${podName}-${volume['name']}`))
        errors.push(invalid(`${path}.name`, volume['name'], `PVC name "${podName}-${volume['name']}": ${message}`))
    }
  }
  if (count === 0) errors.push(required(path, 'must specify a volume type'))
}

const need =
  (...fields: readonly string[]): SourceRule =>
  (source, path, errors) => {
    for (const field of fields) if (!source[field]) errors.push(required(`${path}.${field}`))
  }

/** A path that may not climb: no `..` between slashes. */
export function noDotDot(text: string, path: string, errors: FieldError[]): void {
  if (text.split('/').includes('..')) errors.push(invalid(path, text, "must not contain '..'"))
}

function relativePath(text: string, path: string, errors: FieldError[]): void {
  if (text.startsWith('/')) errors.push(invalid(path, text, 'must be a relative path'))
  else noDotDot(text, path, errors)
}

/** Not absolute, and neither climbing nor hidden at its start. */
function localNonReservedPath(text: string, path: string, errors: FieldError[]): void {
  relativePath(text, path, errors)
  if (text.startsWith('..') && !text.startsWith('../')) errors.push(invalid(path, text, "must not start with '..'"))
}

const MODE = 'must be a number between 0 and 0777 (octal), both inclusive'

function fileMode(mode: number | undefined | null, path: string, errors: FieldError[]): void {
  if (mode !== undefined && mode !== null && (mode < 0 || mode > 0o777)) errors.push(invalid(path, mode, MODE))
}

function keyToPath(items: readonly Fields[] | undefined, path: string, errors: FieldError[]): void {
  items?.forEach((item, i) => {
    const at = `${path}[${i}]`
    if (!item['key']) errors.push(required(`${at}.key`))
    if (!item['path']) errors.push(required(`${at}.path`))
    else localNonReservedPath(item['path'], `${at}.path`, errors)
    fileMode(item['mode'], `${at}.mode`, errors)
  })
}

export const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

const hostPath: SourceRule = (source, path, errors) => {
  if (!source['path']) return void errors.push(required(`${path}.path`))
  noDotDot(source['path'], `${path}.path`, errors)
  if (source['type'] && !HOST_PATH_TYPES.includes(source['type']))
    errors.push(notSupported(`${path}.type`, source['type'], HOST_PATH_TYPES))
}

const emptyDir: SourceRule = (source, path, errors) => {
  const limit: string | undefined = source['sizeLimit'] ?? undefined
  if (limit !== undefined && nanosOf(limit) < 0n)
    errors.push(forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'))
}

const secret: SourceRule = (source, path, errors) => {
  if (!source['secretName']) errors.push(required(`${path}.secretName`))
  fileMode(source['defaultMode'], `${path}.defaultMode`, errors)
  keyToPath(source['items'], `${path}.items`, errors)
}

const configMap: SourceRule = (source, path, errors) => {
  if (!source['name']) errors.push(required(`${path}.name`))
  fileMode(source['defaultMode'], `${path}.defaultMode`, errors)
  keyToPath(source['items'], `${path}.items`, errors)
}

const gitRepo: SourceRule = (source, path, errors) => {
  if (!source['repository']) errors.push(required(`${path}.repository`))
  relativePath(source['directory'] ?? '', `${path}.directory`, errors)
}

const partition = (source: Fields, path: string, errors: FieldError[]): void => {
  const number: number = source['partition'] ?? 0
  if (number < 0 || number > 255)
    errors.push(invalid(`${path}.partition`, number, 'must be between 1 and 255, inclusive'))
}

export const nfs: SourceRule = (source, path, errors) => {
  need('server', 'path')(source, path, errors, '')
  if (source['path'] && !source['path'].startsWith('/'))
    errors.push(invalid(`${path}.path`, source['path'], 'must be an absolute path'))
}

const IQN = /^iqn\.\d{4}-\d{2}\.(?:[^\s:./]+\.?)+(?::[^,;*&$|\s]+)$/

const iscsi: SourceRule = (source, path, errors) => {
  if (!source['targetPortal']) errors.push(required(`${path}.targetPortal`))
  const iqn: string = source['iqn'] ?? ''
  if (iqn === '') errors.push(required(`${path}.iqn`))
  else if (!/^(?:iqn|eui|naa)/.test(iqn))
    errors.push(invalid(`${path}.iqn`, iqn, 'must be valid format starting with iqn, eui, or naa'))
  else if (
    iqn.length > 300
      ? true
      : iqn.startsWith('iqn')
        ? !IQN.test(iqn)
        : !/^(?:eui\.[0-9A-Za-z]{16}|naa\.[0-9A-Za-z]{32})$/.test(iqn)
  )
    errors.push(invalid(`${path}.iqn`, iqn, 'must be valid format'))
  const lun: number = source['lun'] ?? 0
  if (lun < 0 || lun > 255) errors.push(invalid(`${path}.lun`, lun, 'must be between 0 and 255, inclusive'))
  if ((source['chapAuthDiscovery'] || source['chapAuthSession']) && !source['secretRef'])
    errors.push(required(`${path}.secretRef`))
}

const fc: SourceRule = (source, path, errors) => {
  const wwns = source['targetWWNs']?.length ?? 0
  const wwids = source['wwids']?.length ?? 0
  if (wwns < 1 && wwids < 1)
    errors.push(required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'))
  if (wwns && wwids)
    errors.push(
      invalid(`${path}.targetWWNs`, source['targetWWNs'], 'targetWWNs and wwids can not be specified simultaneously'),
    )
  if (wwns) {
    const lun: number | undefined = source['lun'] ?? undefined
    if (lun === undefined) errors.push(required(`${path}.lun`, 'lun is required if targetWWNs is specified'))
    else if (lun < 0 || lun > 255) errors.push(invalid(`${path}.lun`, lun, 'must be between 0 and 255, inclusive'))
  }
}

const azureDisk: SourceRule = (source, path, errors) => {
  const caching: string | undefined = source['cachingMode'] ?? undefined
  const kind: string | undefined = source['kind'] ?? undefined
  const uri: string = source['diskURI'] ?? ''
  if (!source['diskName']) errors.push(required(`${path}.diskName`))
  if (uri === '') errors.push(required(`${path}.diskURI`))
  if (caching && !['None', 'ReadOnly', 'ReadWrite'].includes(caching))
    errors.push(notSupported(`${path}.cachingMode`, caching, ['None', 'ReadOnly', 'ReadWrite']))
  if (kind && !['Dedicated', 'Managed', 'Shared'].includes(kind))
    errors.push(notSupported(`${path}.kind`, kind, ['Dedicated', 'Managed', 'Shared']))
  if (kind === 'Managed' && !uri.startsWith('/subscriptions/'))
    errors.push(
      notSupported(`${path}.diskURI`, uri, [
        '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
      ]),
    )
  if (kind && kind !== 'Managed' && !uri.startsWith('https://'))
    errors.push(
      notSupported(`${path}.diskURI`, uri, [
        'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd',
      ]),
    )
}

const DOWNWARD_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

function downwardFile(file: Fields, path: string, errors: FieldError[]): void {
  if (!file['path']) errors.push(required(`${path}.path`))
  else localNonReservedPath(file['path'], `${path}.path`, errors)
  if (file['fieldRef']) {
    validateFieldRef(file['fieldRef'], DOWNWARD_FIELDS, `${path}.fieldRef`, errors)
    if (file['resourceFieldRef'])
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (file['resourceFieldRef'])
    validateResourceFieldRef(file['resourceFieldRef'], true, `${path}.resourceFieldRef`, errors)
  else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  fileMode(file['mode'], `${path}.mode`, errors)
}

const downwardAPI: SourceRule = (source, path, errors) => {
  fileMode(source['defaultMode'], `${path}.defaultMode`, errors)
  source['items']?.forEach((file: Fields, i: number) => {
    downwardFile(file, `${path}.items[${i}]`, errors)
  })
}

const projected: SourceRule = (source, path, errors) => {
  fileMode(source['defaultMode'], `${path}.defaultMode`, errors)
  const taken = new Set<string>()
  const once = (file: string | undefined, at: string, shown = file) => {
    if (!file) return
    if (taken.has(file)) errors.push(invalid(at, shown, 'conflicting duplicate paths'))
    else taken.add(file)
  }
  source['sources']?.forEach((part: Fields, i: number) => {
    validateProjection(part, `${path}.sources[${i}]`, `${path}`, once, errors)
  })
}

type Once = (file: string | undefined, path: string, shown?: string) => void

function validateProjection(part: Fields, at: string, path: string, once: Once, errors: FieldError[]): void {
  let count = 0
  const first = (kind: string): Fields | undefined => {
    const projection: Fields | undefined = part[kind]
    if (!projection) return undefined
    if (count++ > 0) {
      errors.push(forbiddenField(`${at}.${kind}`, MORE_THAN_ONE))
      return undefined
    }
    return projection
  }
  for (const kind of ['secret', 'configMap'] as const) {
    const projection = first(kind)
    if (!projection) continue
    if (!projection['name']) errors.push(required(`${at}.${kind}.name`))
    keyToPath(projection['items'], `${at}.${kind}.items`, errors)
    projection['items']?.forEach((item: Fields) => {
      once(item['path'], path, projection['name'])
    })
  }
  const downward = first('downwardAPI')
  downward?.['items']?.forEach((file: Fields) => {
    downwardFile(file, `${at}.downwardAPI`, errors)
    once(file['path'], path)
  })
  const token = first('serviceAccountToken')
  if (token) {
    const seconds: number = token['expirationSeconds'] ?? 0
    if (seconds < 600)
      errors.push(
        invalid(
          `${at}.serviceAccountToken.expirationSeconds`,
          seconds,
          'may not specify a duration less than 10 minutes',
        ),
      )
    if (seconds > 2 ** 32)
      errors.push(
        invalid(
          `${at}.serviceAccountToken.expirationSeconds`,
          seconds,
          'may not specify a duration larger than 2^32 seconds',
        ),
      )
    if (!token['path']) errors.push(required(`${path}.path`))
    else localNonReservedPath(token['path'], `${at}.serviceAccountToken.path`, errors)
    once(token['path'], path)
  }
  const bundle = first('clusterTrustBundle')
  if (bundle) validateTrustBundle(bundle, `${at}.clusterTrustBundle`, once, errors)
  const certificate = first('podCertificate')
  if (certificate) validatePodCertificate(certificate, `${at}.podCertificate`, once, errors)
}

function validateTrustBundle(bundle: Fields, path: string, once: Once, errors: FieldError[]): void {
  const name: string | undefined = bundle['name'] ?? undefined
  const signer: string | undefined = bundle['signerName'] ?? undefined
  if (name !== undefined && signer !== undefined)
    errors.push(invalid(path, null, 'only one of name and signerName may be used'))
  else if (name === undefined && signer === undefined)
    errors.push(required(path, 'either name or signerName must be specified'))
  else if (name !== undefined && bundle['labelSelector'])
    errors.push(invalid(`${path}.labelSelector`, null, 'labelSelector may not be used with name'))
  if (bundle['labelSelector'] && !isUsableSelector(bundle['labelSelector']))
    validateLabelSelector(bundle['labelSelector'], `${path}.labelSelector`, errors)
  if (!bundle['path']) errors.push(required(`${path}.path`))
  else localNonReservedPath(bundle['path'], `${path}.path`, errors)
  once(bundle['path'], `${path}.path`)
}

const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']

function validatePodCertificate(certificate: Fields, path: string, once: Once, errors: FieldError[]): void {
  if (!certificate['signerName']) errors.push(required(`${path}.signerName`))
  if (!KEY_TYPES.includes(certificate['keyType'] ?? ''))
    errors.push(notSupported(`${path}.keyType`, certificate['keyType'] ?? '', KEY_TYPES))
  const files = ['credentialBundlePath', 'certificateChainPath', 'keyPath'].filter((field) => certificate[field])
  if (files.length === 0)
    errors.push(required(path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'))
  for (const field of files) {
    localNonReservedPath(certificate[field], `${path}.${field}`, errors)
    once(certificate[field], `${path}.${field}`)
  }
}

const csi: SourceRule = (source, path, errors) => {
  driverName(source['driver'] ?? '', `${path}.driver`, errors)
  const reference: Fields | undefined = source['nodePublishSecretRef'] ?? undefined
  if (reference && !reference['name']) errors.push(required(`${path}.nodePublishSecretRef.name`))
}

export function driverName(name: string, path: string, errors: FieldError[]): void {
  if (name === '') return void errors.push(required(path))
  if (Buffer.byteLength(name) > 63) errors.push(tooLong(path, 63))
  for (const message of dns1123Subdomain(name.toLowerCase())) errors.push(invalid(path, name, message))
}

const image: SourceRule = (source, path, errors) => {
  if (!source['reference']) errors.push(required(`${path}.reference`))
  const policy: string = source['pullPolicy'] ?? ''
  if (!['Always', 'IfNotPresent', 'Never'].includes(policy))
    errors.push(notSupported(`${path}.pullPolicy`, policy, ['Always', 'IfNotPresent', 'Never']))
}

const ephemeral: SourceRule = (source, path, errors) => {
  const template: Fields | undefined = source['volumeClaimTemplate']
  if (!template) errors.push(required(`${path}.volumeClaimTemplate`))
  else validateClaimTemplate(template, `${path}.volumeClaimTemplate`, errors)
}

/** In the order in which Kubernetes looks for them. */
const podSources: Readonly<Record<string, SourceRule>> = {
  emptyDir,
  hostPath,
  gitRepo,
  gcePersistentDisk(source, path, errors) {
    const at = path.replace(/gcePersistentDisk$/, 'persistentDisk')
    need('pdName')(source, at, errors, '')
    partition(source, at, errors)
  },
  awsElasticBlockStore(source, path, errors) {
    need('volumeID')(source, path, errors, '')
    partition(source, path, errors)
  },
  secret,
  nfs,
  iscsi,
  glusterfs: need('endpoints', 'path'),
  flocker(source, path, errors) {
    const { datasetName = '', datasetUUID = '' } = source
    if (datasetName === '' && datasetUUID === '')
      errors.push(required(path, 'one of datasetName and datasetUUID is required'))
    if (datasetName !== '' && datasetUUID !== '')
      errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'))
    if (datasetName.includes('/')) errors.push(invalid(`${path}.datasetName`, datasetName, "must not contain '/'"))
  },
  persistentVolumeClaim: need('claimName'),
  rbd: need('monitors', 'image'),
  cinder: need('volumeID'),
  cephfs: need('monitors'),
  quobyte(source, path, errors) {
    const registry: string = source['registry'] ?? ''
    if (registry === '')
      errors.push(required(`${path}.registry`, 'must be a host:port pair or multiple pairs separated by commas'))
    else if (Buffer.byteLength(source['tenant'] ?? '') >= 65)
      errors.push(required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'))
    if (!source['volume']) errors.push(required(`${path}.volume`))
  },
  downwardAPI,
  fc,
  flexVolume: need('driver'),
  configMap,
  azureFile: need('secretName', 'shareName'),
  vsphereVolume: need('volumePath'),
  photonPersistentDisk: need('pdID'),
  portworxVolume: need('volumeID'),
  azureDisk,
  storageos: need('volumeName'),
  projected,
  scaleIO: need('gateway', 'system', 'volumeName'),
  csi,
  ephemeral,
  image,
}
