/** Volumes: one source each, and the rules of every source. Called by the rules of PodSpec and by PersistentVolume's. */
import { duplicate, type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import type { Volume } from '../generated/types.ts'
import { dns1123Label, dns1123Subdomain } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { nanosOf } from '../values/quantity.ts'
import { driverName } from './driver-name.ts'
import { relativePath } from './paths.ts'
import { validateClaimTemplate } from './volume-claims.ts'
import { downwardFile, fileMode, keyToPath } from './volume-files.ts'
import type { VolumeTable } from './volume-mounts.ts'
import { MORE_THAN_ONE, projected } from './volume-projections.ts'
import {
  awsElasticBlockStore,
  fitsWithPortal,
  flocker,
  gcePersistentDisk,
  hostPath,
  isQualifiedName,
  need,
  nfs,
  PORTAL_TOO_LONG,
  quobyte,
  storageOS,
  unitNumber,
} from './volume-sources.ts'

/** As Kubernetes spells these fields where it tells of one source too many. */
const SPELLED: { readonly [kind: string]: string | undefined } = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

type SourceRule = (source: Fields, path: string, errors: FieldError[], volumeName: string) => void

/** The volumes of a pod; gives the table by which mounts find them. */
export function validateVolumes(
  volumes: readonly Partial<Volume>[],
  podName: string,
  path: string,
  errors: FieldError[],
): VolumeTable {
  const sources = new Map<string, Fields>()
  volumes.forEach((volume, i) => {
    const at = `${path}[${i}]`
    const name: string = volume.name ?? ''
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

function validateSource(volume: Partial<Volume>, path: string, errors: FieldError[], podName: string): void {
  let count = 0
  sourceRules ??= Object.entries(podSources)
  for (const [kind, rule] of sourceRules) {
    const source: Fields | undefined = (volume as Fields)[kind]
    if (source === undefined || source === null) continue
    if (count > 0) {
      errors.push(forbiddenField(`${path}.${SPELLED[kind] ?? kind}`, MORE_THAN_ONE))
      continue
    }
    count++
    rule(source, `${path}.${kind}`, errors, volume.name ?? '')
    if (kind === 'ephemeral' && volume.name && podName) {
      for (const message of dns1123Subdomain(`${podName}-${volume.name}`))
        errors.push(invalid(`${path}.name`, volume.name, `PVC name "${podName}-${volume.name}": ${message}`))
    }
  }
  if (count === 0) errors.push(required(path, 'must specify a volume type'))
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

const iscsi: SourceRule = (source, path, errors, volumeName) => {
  const { targetPortal = '', iqn = '', initiatorName } = source as Fields
  if (initiatorName && !fitsWithPortal(volumeName, targetPortal))
    errors.push(invalid(path.replace(/iscsi$/, 'name'), volumeName, PORTAL_TOO_LONG))
  if (targetPortal === '') errors.push(required(`${path}.targetPortal`))
  const named = (name: string, at: string) => {
    if (!/^(?:iqn|eui|naa)/.test(name))
      errors.push(invalid(at, name, 'must be valid format starting with iqn, eui, or naa'))
    else if (!isQualifiedName(name)) errors.push(invalid(at, name, 'must be valid format'))
  }
  if (iqn === '') errors.push(required(`${path}.iqn`))
  else named(iqn, `${path}.iqn`)
  unitNumber(source['lun'] ?? 0, `${path}.lun`, errors)
  if ((source['chapAuthDiscovery'] || source['chapAuthSession']) && !source['secretRef'])
    errors.push(required(`${path}.secretRef`))
  if (typeof initiatorName === 'string') named(initiatorName, `${path}.initiatorname`)
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
    else unitNumber(lun, `${path}.lun`, errors)
  }
}

const azureDisk: SourceRule = (source, path, errors) => {
  const caching: string | undefined = source['cachingMode'] ?? undefined
  const kind: string | undefined = source['kind'] ?? undefined
  const uri: string = source['diskURI'] ?? ''
  if (!source['diskName']) errors.push(required(`${path}.diskName`))
  if (uri === '') errors.push(required(`${path}.diskURI`))
  if (caching !== undefined && !['None', 'ReadOnly', 'ReadWrite'].includes(caching))
    errors.push(notSupported(`${path}.cachingMode`, caching, ['None', 'ReadOnly', 'ReadWrite']))
  if (kind !== undefined && !['Dedicated', 'Managed', 'Shared'].includes(kind))
    errors.push(notSupported(`${path}.kind`, kind, ['Dedicated', 'Managed', 'Shared']))
  if (kind === 'Managed' && !uri.startsWith('/subscriptions/'))
    errors.push(
      notSupported(`${path}.diskURI`, uri, [
        '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
      ]),
    )
  if (kind !== undefined && kind !== 'Managed' && !uri.startsWith('https://'))
    errors.push(
      notSupported(`${path}.diskURI`, uri, [
        'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd',
      ]),
    )
}

const downwardAPI: SourceRule = (source, path, errors) => {
  fileMode(source['defaultMode'], `${path}.defaultMode`, errors)
  // Kubernetes names the volume's part, not the item.
  source['items']?.forEach((file: Fields) => {
    downwardFile(file, path, errors)
  })
}

const csi: SourceRule = (source, path, errors) => {
  driverName(source['driver'] ?? '', `${path}.driver`, errors)
  const reference: Fields | undefined = source['nodePublishSecretRef'] ?? undefined
  if (!reference) return
  const { name = '' } = reference
  if (name === '') errors.push(required(`${path}.nodePublishSecretRef.name`))
  else for (const message of dns1123Subdomain(name)) errors.push(invalid(`${path}.name`, name, message))
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
  gcePersistentDisk: (source, path, errors) =>
    gcePersistentDisk(source, path.replace(/gcePersistentDisk$/, 'persistentDisk'), errors),
  awsElasticBlockStore,
  secret,
  nfs,
  iscsi,
  glusterfs: need('endpoints', 'path'),
  flocker,
  persistentVolumeClaim: need('claimName'),
  rbd: need('monitors', 'image'),
  cinder(source, path, errors) {
    need('volumeID')(source, path, errors)
    if (source['secretRef']) need('name')(source['secretRef'], `${path}.secretRef`, errors)
  },
  cephfs: need('monitors'),
  quobyte,
  downwardAPI,
  fc,
  flexVolume: need('driver'),
  configMap,
  azureFile: need('secretName', 'shareName'),
  vsphereVolume: need('volumePath'),
  photonPersistentDisk: need('pdID'),
  portworxVolume: need('volumeID'),
  azureDisk,
  storageos(source, path, errors) {
    storageOS(source, path, errors)
    if (source['secretRef']) need('name')(source['secretRef'], `${path}.secretRef`, errors)
  },
  projected,
  scaleIO: need('gateway', 'system', 'volumeName'),
  csi,
  ephemeral,
  image,
}
