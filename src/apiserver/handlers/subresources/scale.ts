/**
 * …/scale: a workload seen as autoscaling/v1 Scale. Reading maps, writing changes spec.replicas of the workload through the
 * rules of its own update.
 */

import { builtinReplicas, withScaleManagers, workloadManagers } from '../../../api/fields/scale.ts'
import { updateManagedFields } from '../../../api/fields/update.ts'
import { withMetadata } from '../../../api/metadata.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { apiVersionOf } from '../../../api/object.ts'
import { formatLabelSelector, labelSelectorOf } from '../../../api/objects/label-selector.ts'
import { scaleWith } from '../../../api/objects/scale.ts'
import type { ApiResponse, StoredObject } from '../../../api/request.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { badRequest, isBadRequest, notFound } from '../../../api/status.ts'
import { type FieldError, invalid, invalidError } from '../../../api/validation/errors.ts'
import { customReplicas, customScaleOf, withCustomReplicas } from '../../customresources/scale.ts'
import { checkOwnPreconditions } from '../../registry/deletion.ts'
import { checkName, inNamespace } from '../../registry/metadata.ts'
import { groupResource, namedKey, storageKey } from '../../registry/registry.ts'
import { unreadableObject } from '../../registry/unreadable.ts'
import { updateObject } from '../../registry/update.ts'
import { decodeObject } from '../body.ts'
import type { ResourceRequest } from '../context.ts'
import { negotiate } from '../negotiate.ts'
import { type WriteOptions, writeOptions } from '../options.ts'
import { patchedScale } from '../patch.ts'
import { admitUpdate } from '../update.ts'
import { admissionAttributes, managerOf, optionsObject, writeContext } from '../write.ts'
import { respondScale } from './scale-answer.ts'

/** The Scale of a workload. ReplicationControllers select by a plain map. */
export function scaleOf(object: KubeObject, row: ResourceRow): KubeObject {
  if (row.custom?.scale !== undefined) return customScaleOf(object, row.custom.scale)
  const spec: Fields = object['spec'] ?? {}
  const status: Fields = object['status'] ?? {}
  const selector = object.kind === 'ReplicationController' ? { matchLabels: spec['selector'] ?? {} } : spec['selector']
  return scaleWith(object, {
    wanted: spec['replicas'] ?? 0,
    present: status['replicas'] ?? 0,
    selector: selector ? formatLabelSelector(labelSelectorOf(selector)) : '',
  })
}

/** The same where a custom resource does not say how many replicas it wants: none. */
function lenientScale(object: KubeObject, row: ResourceRow): KubeObject {
  return row.custom?.scale === undefined ? scaleOf(object, row) : customScaleOf(object, row.custom.scale, 0)
}

export async function getScale(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, row, info } = resource
  const representation = negotiate(request, { row })
  const stored = context.registry.current(row, namedKey(row, info.namespace, info.name))
  if (stored === undefined) throw notFound(groupResource(row), info.name)
  return respondScale(resource, scaleOf(await readObject(resource, stored), row), representation)
}

/** A custom resource's Scale is at the paths of the request's version. */
async function readObject(
  { endpoint }: ResourceRequest,
  stored: Pick<StoredObject, 'key' | 'revision' | 'object'>,
): Promise<KubeObject> {
  try {
    return await endpoint.worked.ofStored(stored.object)
  } catch (error) {
    throw unreadableObject(stored, error)
  }
}

export async function updateScale(resource: ResourceRequest): Promise<ApiResponse> {
  const { request, info, row, subresource } = resource
  const options = writeOptions('UpdateOptions', request.query)
  const decoded = decodedScale(resource, () => decodeObject(resource, subresource ?? row, options.fieldValidation))
  const sent = inNamespace(decoded, true, info.namespace)
  checkName(sent, info.name)
  return writeScale(resource, { options, next: () => sent, uid: sent.metadata.uid })
}

/** What is wrong with the Scale of a custom resource Kubernetes cannot tell. @throws StatusError 400 */
function decodedScale({ row }: ResourceRequest, decode: () => KubeObject): KubeObject {
  try {
    return decode()
  } catch (error) {
    if (row.custom === undefined || !isBadRequest(error)) throw error
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"', error)
  }
}

export async function patchScale(resource: ResourceRequest): Promise<ApiResponse> {
  const { options, type, next } = patchedScale(resource)
  const { group, resource: name } = groupResource(resource.row)
  const sameObject = (scale: KubeObject) => {
    const made = next(scale)
    const { uid } = made.metadata
    const preconditions = uid === undefined ? undefined : { uid }
    checkOwnPreconditions({ group, resource: `${name}/scale` }, scale, preconditions, 'Precondition failed')
    return made
  }
  return writeScale(resource, { options, next: sameObject, applies: type === 'apply' })
}

interface ScaleWrite {
  readonly options: WriteOptions
  next(scale: KubeObject): KubeObject | Promise<KubeObject>
  /** `next` has seen to managedFields itself. */
  readonly applies?: boolean
  readonly uid?: string | undefined
}

async function writeScale(
  resource: ResourceRequest,
  { options, next, applies, uid }: ScaleWrite,
): Promise<ApiResponse> {
  const { context, request, row, info, subresource } = resource
  const representation = negotiate(request, { row })
  const attributes = { dryRun: options.dryRun, options: optionsObject(options) }
  // The workload's own rules, not those of a subresource: a change of replicas is a new generation.
  const write = {
    ...writeContext(resource, { dryRun: options.dryRun, subresource: '' }),
    subresource: 'scale',
  }
  const version = apiVersionOf(row.group, row.version)
  const replicasOf = row.custom === undefined ? builtinReplicas : customReplicas(row.group, row.custom)
  const target = subresource ?? row
  const tracked = (live: KubeObject, changed: KubeObject) =>
    updateManagedFields({
      schema: target.schema,
      apiVersion: apiVersionOf(target.group, target.version),
      live,
      next: changed,
      manager: managerOf(request, options),
      subresource: 'scale',
      time: write.now,
    })
  const updated = await updateObject(context.registry, write, {
    ...(uid === undefined ? {} : { uid }),
    async next(existing) {
      if (existing === undefined) throw notFound(groupResource(row), info.name)
      const before = withScaleManagers(lenientScale(existing, row), existing, replicasOf)
      const made = await next(before)
      const scale = await admitUpdate(resource, attributes, made, before, write.warn)
      // A custom resource's own rules say what it may be scaled to.
      if (row.custom === undefined) validateScale(scale)
      const replicas: number = scale['spec']?.replicas ?? 0
      const scaled = withMetadata(
        row.custom?.scale === undefined
          ? { ...existing, spec: { ...existing['spec'], replicas } }
          : withCustomReplicas(existing, row.custom.scale, replicas),
        { resourceVersion: scale.metadata.resourceVersion || existing.metadata.resourceVersion },
      )
      const managed = applies === true ? scale : tracked(before, scale)
      return withMetadata(scaled, { managedFields: workloadManagers(existing, managed, version, replicasOf) })
    },
    validateCreate: () => {},
    validateUpdate: (object, old) =>
      context.admission.validate(
        admissionAttributes(resource, 'UPDATE', attributes, lenientScale(object, row), lenientScale(old, row)),
      ),
  })
  const { object } = updated
  const revision = Number(object.metadata.resourceVersion ?? 0)
  const key = storageKey(row, info.namespace, info.name)
  const written = await readObject(resource, { key, revision, object })
  return respondScale(resource, lenientScale(written, row), representation)
}

function validateScale(scale: KubeObject): void {
  const errors: FieldError[] = []
  const replicas: unknown = scale['spec']?.replicas
  if (typeof replicas === 'number' && replicas < 0)
    errors.push(invalid('spec.replicas', replicas, 'must be greater than or equal to 0'))
  if (errors.length) throw invalidError({ group: 'autoscaling', kind: 'Scale' }, scale.metadata.name ?? '', errors)
}
