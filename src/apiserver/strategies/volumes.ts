/** PersistentVolume and PersistentVolumeClaim. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { validatePersistentVolume, validatePersistentVolumeUpdate } from '../../api/validation/persistent-volume.ts'
import {
  validatePersistentVolumeClaim,
  validatePersistentVolumeClaimStatus,
  validatePersistentVolumeClaimUpdate,
} from '../../api/validation/persistent-volume-claim.ts'
import { claimWarnings, persistentVolumeWarnings } from '../../api/validation/warnings.ts'
import type { Strategy } from '../registry/strategy.ts'
import {
  JUDGES_FINALIZERS_FIRST,
  JUDGES_GENERATE_NAME_FIRST,
  RESETS_SPEC,
  RESETS_STATUS,
  withFieldOf,
} from './common.ts'

/** dataSource and dataSourceRef name the same thing; one given fills the other, but across namespaces only the second can. */
function withBothSources(object: PersistentVolumeClaim): KubeObject {
  const { dataSource, dataSourceRef } = object.spec ?? {}
  if (dataSource !== undefined && dataSourceRef === undefined)
    return { ...object, spec: { ...object.spec, dataSourceRef: dataSource } }
  if (dataSourceRef !== undefined && dataSource === undefined && !dataSourceRef.namespace)
    return { ...object, spec: { ...object.spec, dataSource: dataSourceRef } }
  return object
}

/** dataSource is older than sources of any kind, and knows only claims and snapshots: others are dropped where it stands alone. */
function withKnownSource(object: PersistentVolumeClaim, old?: PersistentVolumeClaim): KubeObject {
  const { dataSource, ...spec } = object.spec ?? {}
  if (old?.spec?.dataSource !== undefined || dataSource === undefined || spec['dataSourceRef'] !== undefined)
    return object
  const { apiGroup, kind } = dataSource
  const known =
    (!apiGroup && kind === 'PersistentVolumeClaim') ||
    (apiGroup === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot')
  return known ? object : { ...object, spec }
}

/** Sources in other namespaces are behind a feature that is off (CrossNamespaceVolumeDataSource): a new one is dropped whole. */
function withoutForeignSource(object: PersistentVolumeClaim, old?: PersistentVolumeClaim): KubeObject {
  const { dataSourceRef: source, ...spec } = object.spec ?? {}
  return !source?.namespace || old?.spec?.dataSourceRef !== undefined ? object : { ...object, spec }
}

function withPhase(claim: PersistentVolumeClaim): KubeObject {
  return claim.status?.phase ? claim : { ...claim, status: { ...claim.status, phase: 'Pending' } }
}

export const persistentVolumeClaims: Strategy = {
  ...JUDGES_FINALIZERS_FIRST,
  prepareForCreate: (object) => ({
    ...withBothSources(withKnownSource(withoutForeignSource(object))),
    status: {},
  }),
  validate: (object) => validatePersistentVolumeClaim(object),
  defaultsOnRead: withPhase,
  prepareForUpdate: (object, old) =>
    withFieldOf(withBothSources(withKnownSource(withoutForeignSource(object, old), old)), old, 'status'),
  validateUpdate: (object, old) => validatePersistentVolumeClaimUpdate(object, old),
  warningsOnCreate: claimWarnings,
  warningsOnUpdate: claimWarnings,
  resetFields: RESETS_STATUS,
  returnDeletedObject: true,
  status: {
    prepareForUpdate: (object, old) => withFieldOf(object, old, 'spec'),
    validateUpdate: (object) => validatePersistentVolumeClaimStatus(object),
    resetFields: RESETS_SPEC,
  },
}

export const persistentVolumes: Strategy = {
  ...JUDGES_GENERATE_NAME_FIRST,
  prepareForCreate: (object, context) => ({
    ...object,
    status: { phase: 'Pending', lastPhaseTransitionTime: context.now },
  }),
  validate: (object) => validatePersistentVolume(object),
  prepareForUpdate: (object, old) => withFieldOf(object, old, 'status'),
  validateUpdate: (object, old) => validatePersistentVolumeUpdate(object, old),
  warningsOnCreate: persistentVolumeWarnings,
  warningsOnUpdate: persistentVolumeWarnings,
  resetFields: RESETS_STATUS,
  returnDeletedObject: true,
  status: {
    prepareForUpdate(object: PersistentVolume, old: PersistentVolume, context) {
      const kept: PersistentVolume = withFieldOf(object, old, 'spec')
      const phaseChanged = kept.status?.phase !== old.status?.phase
      const time: string | undefined = kept.status?.lastPhaseTransitionTime
      const timeGiven = time !== undefined && time !== old.status?.lastPhaseTransitionTime
      if (timeGiven) return kept
      const since: string | undefined = phaseChanged ? context.now : old.status?.lastPhaseTransitionTime
      if (since === undefined || since === time) return kept
      return { ...kept, status: { ...kept.status, lastPhaseTransitionTime: since } }
    },
    resetFields: RESETS_SPEC,
  },
}
