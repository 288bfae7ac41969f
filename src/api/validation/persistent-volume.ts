/** Rules of PersistentVolume and of the sources that only it has. */
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import type {
  CSIPersistentVolumeSource,
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../generated/types.ts'
import { dns1123Label, dns1123Subdomain } from '../names/name-formats.ts'
import { positiveQuantity } from '../names/resource-names.ts'
import type { Fields, Json } from '../object.ts'
import { asGiven } from '../schema/canonical.ts'
import { quantityValue } from '../values/quantity.ts'
import { entries, IMMUTABLE, same } from './common.ts'
import { printedDifference } from './difference.ts'
import { driverName } from './driver-name.ts'
import { internalForm } from './internal.ts'
import { validateNodeSelector } from './node-selector.ts'
import { noDotDot } from './paths.ts'
import { accessModes, className, volumeMode } from './persistent-volume-claim.ts'
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

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain']
/** JSON name and Go name of each source, in the order of Kubernetes' internal type. */
const SOURCES: readonly (readonly [string, string])[] = [
  ['gcePersistentDisk', 'GCEPersistentDisk'],
  ['awsElasticBlockStore', 'AWSElasticBlockStore'],
  ['hostPath', 'HostPath'],
  ['glusterfs', 'Glusterfs'],
  ['nfs', 'NFS'],
  ['rbd', 'RBD'],
  ['quobyte', 'Quobyte'],
  ['iscsi', 'ISCSI'],
  ['flexVolume', 'FlexVolume'],
  ['cinder', 'Cinder'],
  ['cephfs', 'CephFS'],
  ['fc', 'FC'],
  ['flocker', 'Flocker'],
  ['azureFile', 'AzureFile'],
  ['vsphereVolume', 'VsphereVolume'],
  ['azureDisk', 'AzureDisk'],
  ['photonPersistentDisk', 'PhotonPersistentDisk'],
  ['portworxVolume', 'PortworxVolume'],
  ['scaleIO', 'ScaleIO'],
  ['local', 'Local'],
  ['storageos', 'StorageOS'],
  ['csi', 'CSI'],
]

type SourceRule = (source: Fields, path: string, errors: FieldError[], spec: Fields, volumeName: string) => void

const csi: SourceRule = (source, path, errors) => {
  driverName(source['driver'] ?? '', `${path}.driver`, errors)
  need('volumeHandle')(source, path, errors)
  for (const reference of [
    'controllerPublishSecretRef',
    'controllerExpandSecretRef',
    'nodePublishSecretRef',
    'nodeExpandSecretRef',
  ])
    if (source[reference]) secretReference(source[reference], `${path}.${reference}`, errors)
}

/** A CSI driver's secret, by name and namespace. */
function secretReference({ name = '', namespace = '' }: Fields, path: string, errors: FieldError[]): void {
  if (name === '') errors.push(required(`${path}.name`))
  else for (const message of dns1123Subdomain(name)) errors.push(invalid(`${path}.name`, name, message))
  if (namespace === '') errors.push(required(`${path}.namespace`))
  else for (const message of dns1123Label(namespace)) errors.push(invalid(`${path}.namespace`, namespace, message))
}

const fc: SourceRule = (source, path, errors) => {
  const named = (source['targetWWNs']?.length ?? 0) > 0
  const wide = (source['wwids']?.length ?? 0) > 0
  if (named === wide)
    errors.push(
      named
        ? forbiddenField(`${path}.targetWWNs`, 'targetWWNs and wwids can not be specified simultaneously')
        : required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'),
    )
  else if (named && (source['lun'] === undefined || source['lun'] === null))
    errors.push(required(`${path}.lun`, 'lun is required if targetWWNs is specified'))
}

const iscsi: SourceRule = (source, path, errors, _spec, volumeName) => {
  const { targetPortal = '', iqn = '', initiatorName, secretRef } = source
  if (initiatorName && !fitsWithPortal(volumeName, targetPortal))
    errors.push(invalid(`${path}.targetportal`, targetPortal, PORTAL_TOO_LONG))
  if (targetPortal === '') errors.push(required(`${path}.targetPortal`))
  if (iqn === '') errors.push(required(`${path}.iqn`))
  else if (!isQualifiedName(iqn)) errors.push(invalid(`${path}.iqn`, iqn, 'must be valid format'))
  unitNumber(source['lun'] ?? 0, `${path}.lun`, errors)
  if ((source['chapAuthDiscovery'] || source['chapAuthSession']) && !secretRef)
    errors.push(required(`${path}.secretRef`))
  if (secretRef && !secretRef.name) errors.push(required(`${path}.secretRef.name`))
  if (typeof initiatorName === 'string' && !isQualifiedName(initiatorName))
    errors.push(invalid(`${path}.initiatorname`, initiatorName, 'must be valid format'))
}

const glusterfs: SourceRule = (source, path, errors) => {
  need('endpoints', 'path')(source, path, errors)
  const namespace: string | undefined = source['endpointsNamespace'] ?? undefined
  if (namespace === undefined) return
  const at = `${path}.endpointsNamespace`
  if (namespace === '')
    errors.push(invalid(at, namespace, 'if the endpointnamespace is set, it must be a valid namespace name'))
  else for (const message of dns1123Label(namespace)) errors.push(invalid(at, namespace, message))
}

const cinder: SourceRule = (source, path, errors) => {
  need('volumeID')(source, path, errors)
  if (source['secretRef']) need('name', 'namespace')(source['secretRef'], `${path}.secretRef`, errors)
}

const azureFile: SourceRule = (source, path, errors) => {
  need('secretName', 'shareName')(source, path, errors)
  if (source['secretNamespace'] === '') errors.push(required(`${path}.secretNamespace`))
}

const DISK_KINDS = ['Dedicated', 'Managed', 'Shared']
const CACHING = ['None', 'ReadOnly', 'ReadWrite']

const azureDisk: SourceRule = (source, path, errors) => {
  need('diskName', 'diskURI')(source, path, errors)
  const { diskURI = '', cachingMode, kind } = source
  if (cachingMode !== undefined && !CACHING.includes(cachingMode))
    errors.push(notSupported(`${path}.cachingMode`, cachingMode, CACHING))
  if (kind !== undefined && !DISK_KINDS.includes(kind)) errors.push(notSupported(`${path}.kind`, kind, DISK_KINDS))
  // What is not managed is a blob.
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/'))
    errors.push(
      notSupported(`${path}.diskURI`, diskURI, [
        '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
      ]),
    )
  if (kind !== 'Managed' && !diskURI.startsWith('https://') && !diskURI.startsWith('http://'))
    errors.push(
      notSupported(`${path}.diskURI`, diskURI, [
        'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd',
      ]),
    )
}

const storageos: SourceRule = (source, path, errors) => {
  storageOS(source, path, errors)
  if (source['secretRef']) need('name', 'namespace')(source['secretRef'], `${path}.secretRef`, errors)
}

const local: SourceRule = (source, path, errors, spec) => {
  if (!source['path']) errors.push(required(`${path}.path`))
  else noDotDot(source['path'], `${path}.path`, errors)
  if (!spec['nodeAffinity']) errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'))
}

/** In the order in which Kubernetes looks for them. */
const SOURCE_RULES: { readonly [source: string]: SourceRule | undefined } = {
  hostPath,
  // Kubernetes names the field as it once was.
  gcePersistentDisk: (source, _path, errors) => gcePersistentDisk(source, 'spec.persistentDisk', errors),
  awsElasticBlockStore,
  glusterfs,
  flocker,
  nfs,
  rbd: need('monitors', 'image'),
  quobyte,
  cephfs: need('monitors'),
  iscsi,
  cinder,
  fc,
  flexVolume: need('driver'),
  azureFile,
  vsphereVolume: need('volumePath'),
  photonPersistentDisk: need('pdID'),
  portworxVolume: need('volumeID'),
  azureDisk,
  scaleIO: need('gateway', 'system', 'volumeName'),
  local,
  storageos,
  csi,
}

export function validatePersistentVolume(object: PersistentVolume): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: PersistentVolumeSpec = object.spec ?? {}
  const context = { root: object }
  accessModes('')(spec.accessModes, 'spec.accessModes', errors, context)
  const capacity: Fields = spec.capacity ?? {}
  if (Object.keys(capacity).length === 0) errors.push(required('spec.capacity'))
  if (capacity['storage'] === undefined || Object.keys(capacity).length > 1)
    errors.push(notSupported('spec.capacity', sortedMap(asGiven(spec, 'capacity', {}) as Fields | null), ['storage']))
  for (const [name, value] of entries(capacity)) {
    const whole = quantityValue(value as string)
    if (whole < 0n) errors.push(invalid(`spec.capacity[${name}]`, Number(whole), 'must be a valid resource quantity'))
    positiveQuantity(value as string, `spec.capacity[${name}]`, errors)
  }
  const policy: string = spec.persistentVolumeReclaimPolicy ?? ''
  if (policy !== '' && !RECLAIM_POLICIES.includes(policy))
    errors.push(notSupported('spec.persistentVolumeReclaimPolicy', policy, RECLAIM_POLICIES))
  nodeAffinity(spec.nodeAffinity, errors)
  volumeSource(spec, object.metadata.name ?? '', 'spec', errors)
  if (spec.hostPath && isRoot(spec.hostPath.path ?? '') && policy === 'Recycle')
    errors.push(
      forbiddenField('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'"),
    )
  className(spec.storageClassName, 'spec.storageClassName', errors, context)
  volumeMode(spec.volumeMode, 'spec.volumeMode', errors, context)
  if (spec.volumeAttributesClassName === '')
    errors.push(required('spec.volumeAttributesClassName', 'an empty string is disallowed'))
  else className(spec.volumeAttributesClassName, 'spec.volumeAttributesClassName', errors, context)
  if (spec.volumeAttributesClassName !== undefined && !spec.csi)
    errors.push(required('spec.csi', 'has to be specified when using volumeAttributesClassName'))
  if (Object.hasOwn(object.metadata.annotations ?? {}, MOUNT_OPTIONS) && !WITH_MOUNT_OPTIONS.some((kind) => spec[kind]))
    errors.push(
      forbiddenField(`metadata.annotations.${MOUNT_OPTIONS}`, 'may not specify mount options for this volume type'),
    )
  return errors
}

/** Only the annotation, older than `spec.mountOptions`, is looked at. */
const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options'
const WITH_MOUNT_OPTIONS = [
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephfs',
  'cinder',
  'gcePersistentDisk',
  'glusterfs',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'quobyte',
  'rbd',
  'vsphereVolume',
] as const

function sortedMap(map: Fields | null): Json {
  return map === null ? null : (Object.fromEntries(entries(map)) as Json)
}

function nodeAffinity(affinity: VolumeNodeAffinity | undefined, errors: FieldError[]): void {
  if (affinity === undefined) return
  if (affinity.required === undefined)
    errors.push(required('spec.nodeAffinity.required', 'must specify required node constraints'))
  else validateNodeSelector(affinity.required, 'spec.nodeAffinity.required', errors)
}

/** The first source is judged, and each further one refused; but a flexVolume, which is judged always. */
function volumeSource(spec: PersistentVolumeSpec, name: string, path: string, errors: FieldError[]): void {
  const given = Object.keys(SOURCE_RULES).filter(
    (kind) => (spec as Fields)[kind] !== undefined && (spec as Fields)[kind] !== null,
  )
  given.forEach((kind, i) => {
    if (i === 0 || kind === 'flexVolume')
      SOURCE_RULES[kind]?.((spec as Fields)[kind], `${path}.${kind}`, errors, spec, name)
    else errors.push(forbiddenField(`${path}.${NAMED[kind] ?? kind}`, 'may not specify more than 1 volume type'))
  })
  if (given.length === 0) errors.push(required(path, 'must specify a volume type'))
}

/** As messages name a source that is one too many. */
const NAMED: { readonly [source: string]: string | undefined } = { cephfs: 'cephFS' }

const INLINE = 'may not be specified in the context of inline volumes'

/** A volume that stands in an attachment instead of being named: only what a CSI driver needs to attach it. */
export function validateInlineVolume(spec: PersistentVolumeSpec, path: string, errors: FieldError[]): void {
  const forbid = (field: string) => {
    if ((spec as Fields)[field] !== undefined) errors.push(forbiddenField(`${path}.${field}`, INLINE))
  }
  forbid('claimRef')
  forbid('capacity')
  if (!spec.csi) errors.push(required(`${path}.csi`, 'has to be specified in the context of inline volumes'))
  accessModes('')(spec.accessModes, `${path}.accessModes`, errors, { root: spec })
  const { persistentVolumeReclaimPolicy: policy = '', storageClassName: storageClass = '', volumeMode: mode } = spec
  if (policy !== '' && policy !== 'Retain')
    errors.push(
      forbiddenField(`${path}.persistentVolumeReclaimPolicy`, 'may only be Retain in the context of inline volumes'),
    )
  forbid('nodeAffinity')
  volumeSource(spec, '', path, errors)
  if (storageClass !== '') errors.push(forbiddenField(`${path}.storageClassName`, INLINE))
  if (mode !== undefined && mode !== 'Filesystem')
    errors.push(
      forbiddenField(
        `${path}.volumeMode`,
        'may not specify volumeMode other than Filesystem in the context of inline volumes',
      ),
    )
}

/** The fields of Kubernetes' internal type, in its order. */
const PRINTED =
  'GCEPersistentDisk AWSElasticBlockStore HostPath Glusterfs NFS RBD ISCSI Cinder CephFS FC Flocker FlexVolume AzureFile VsphereVolume Quobyte AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO Local StorageOS CSI'.split(
    ' ',
  )

function sourceForm(spec: PersistentVolumeSpec): Json {
  const all = internalForm('io.k8s.api.core.v1.PersistentVolumeSpec', spec) as Fields
  return Object.fromEntries(PRINTED.map((goName) => [goName, all[goName] ?? null])) as Json
}

export function validatePersistentVolumeUpdate(object: PersistentVolume, old: PersistentVolume): readonly FieldError[] {
  const errors: FieldError[] = [...validatePersistentVolume(object)]
  const now: PersistentVolumeSpec = object.spec ?? {}
  const before: PersistentVolumeSpec = old.spec ?? {}
  if (SOURCES.some(([name]) => !sameSource(name, now, before)))
    errors.push(
      forbiddenField(
        'spec.persistentvolumesource',
        `spec.persistentvolumesource is immutable after creation\n${printedDifference(sourceForm(before), sourceForm(now))}`,
      ),
    )
  if (!same(now.volumeMode, before.volumeMode)) errors.push(invalid('volumeMode', now.volumeMode ?? null, IMMUTABLE))
  if (before.volumeAttributesClassName && now.volumeAttributesClassName === undefined)
    errors.push(forbiddenField('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden'))
  const affinity: VolumeNodeAffinity | undefined = before.nodeAffinity
  if (affinity && !same(now.nodeAffinity, affinity) && !same(now.nodeAffinity, withNewLabels(affinity)))
    errors.push(
      invalid(
        'nodeAffinity',
        now.nodeAffinity ? internalForm('io.k8s.api.core.v1.VolumeNodeAffinity', now.nodeAffinity) : null,
        `${IMMUTABLE}, except for updating from beta label to GA`,
      ),
    )
  return errors
}

const NEW_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
])

/** Old labels may become the new ones; Kubernetes looks up every key there, so that others become none. */
function withNewLabels(affinity: VolumeNodeAffinity): Fields {
  const renamed = (requirement: Fields) => ({ ...requirement, key: NEW_LABELS.get(requirement['key']) ?? '' })
  const terms: readonly NodeSelectorTerm[] = affinity.required?.nodeSelectorTerms ?? []
  return {
    required: {
      nodeSelectorTerms: terms.map((term) => ({
        ...term,
        ...(term.matchExpressions ? { matchExpressions: term.matchExpressions.map(renamed) } : {}),
      })),
    },
  }
}

/** A CSI source may be given its secret for expansion later. */
function sameSource(name: string, now: PersistentVolumeSpec, before: PersistentVolumeSpec): boolean {
  if (((now as Fields)[name] === undefined) !== ((before as Fields)[name] === undefined)) return false
  if (name !== 'csi' || before.csi === undefined) return same((now as Fields)[name], (before as Fields)[name])
  const withoutSecret = (csi: CSIPersistentVolumeSource | undefined) => ({
    ...csi,
    controllerExpandSecretRef: undefined,
  })
  return before.csi.controllerExpandSecretRef === undefined
    ? same(withoutSecret(now.csi), withoutSecret(before.csi))
    : same(now.csi, before.csi)
}

/** `/`, `//`, `/a/..`: a path that is the root once its dots are followed. */
function isRoot(path: string): boolean {
  if (!path.startsWith('/')) return false
  let depth = 0
  for (const segment of path.split('/')) {
    if (segment === '..') depth = Math.max(0, depth - 1)
    else if (segment !== '' && segment !== '.') depth++
  }
  return depth === 0
}
