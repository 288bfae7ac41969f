/**
 * …/scale: a workload seen as autoscaling/v1 Scale. Reading maps, writing changes spec.replicas of the workload through the
 * rules of its own update.
 */

import { withScaleManagers, workloadManagers } from '../../../api/fields/scale.ts'
import { updateManagedFields } from '../../../api/fields/update.ts'
import type { Scale } from '../../../api/generated/types.ts'
import { withMetadata } from '../../../api/metadata.ts'
import type { KubeObject } from '../../../api/object.ts'
import { apiVersionOf } from '../../../api/object.ts'
import type { ApiResponse, StoredObject } from '../../../api/request.ts'
import { notFound } from '../../../api/status.ts'
import { namedKey, storageKey } from '../../cache/keys.ts'
import { undecodable, unreadableObject } from '../../cache/unreadable.ts'
import { checkOwnPreconditions } from '../../registry/delete-preconditions.ts'
import { checkName, inNamespace } from '../../registry/metadata.ts'
import { groupResource } from '../../registry/registry.ts'
import { updateObject } from '../../registry/update-and-retry-on-conflict.ts'
import { decodeObject } from '../body.ts'
import type { ResourceRequest } from '../context.ts'
import { negotiate } from '../negotiate.ts'
import { type WriteQuery, writeOptions } from '../options.ts'
import { patchedScale } from '../patch.ts'
import { admitUpdate } from '../update.ts'
import { admissionAttributes, managerOf, optionsObject, writeContext } from '../write.ts'
import { respondScale } from './scale-answer.ts'

export async function getScale(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint, info } = resource
  const { row } = endpoint
  const representation = negotiate(request, { kind: endpoint })
  const waiting = context.caches.fresh(request.signal)
  if (waiting !== undefined) await waiting
  const stored = context.registry.current(endpoint, namedKey(row, info.namespace, info.name))
  if (stored === undefined) throw notFound(groupResource(row), info.name)
  return respondScale(resource, endpoint.scale.of(await readObject(resource, stored)), representation)
}

/** A custom resource's Scale is at the paths of the request's version. */
async function readObject(
  { endpoint }: ResourceRequest,
  stored: Pick<StoredObject, 'key' | 'revision' | 'object'>,
): Promise<KubeObject> {
  try {
    return await endpoint.worked.ofStored(stored.object)
  } catch (error) {
    throw unreadableObject(stored, undecodable(stored, error))
  }
}

export async function updateScale(resource: ResourceRequest): Promise<ApiResponse> {
  const { request, info, endpoint, subresource } = resource
  const { row } = endpoint
  const options = writeOptions('UpdateOptions', request.query)
  const decoded = decodedScale(resource, () => decodeObject(resource, subresource ?? row, options.fieldValidation))
  const sent = inNamespace(decoded, true, info.namespace)
  checkName(sent, info.name)
  return writeScale(resource, { options, next: () => sent, uid: sent.metadata.uid })
}

/** @throws StatusError 400, in the words of the resource's kind */
function decodedScale({ endpoint }: ResourceRequest, decode: () => KubeObject): KubeObject {
  try {
    return decode()
  } catch (error) {
    throw endpoint.scale.refusal(error)
  }
}

export async function patchScale(resource: ResourceRequest): Promise<ApiResponse> {
  const { options, type, next } = patchedScale(resource)
  const { group, resource: name } = groupResource(resource.endpoint.row)
  const sameObject = (scale: Scale) => {
    const made = next(scale)
    const { uid } = made.metadata
    const preconditions = uid === undefined ? undefined : { uid }
    checkOwnPreconditions({ group, resource: `${name}/scale` }, scale, preconditions, 'Precondition failed')
    return made
  }
  return writeScale(resource, { options, next: sameObject, applies: type === 'apply' })
}

interface ScaleWrite {
  readonly options: WriteQuery
  next(scale: Scale): KubeObject | Promise<KubeObject>
  /** `next` has seen to managedFields itself. */
  readonly applies?: boolean
  readonly uid?: string | undefined
}

async function writeScale(
  resource: ResourceRequest,
  { options, next, applies, uid }: ScaleWrite,
): Promise<ApiResponse> {
  const { context, request, endpoint, info, subresource } = resource
  const { row } = endpoint
  const representation = negotiate(request, { kind: endpoint })
  const attributes = { dryRun: options.dryRun, options: optionsObject(options) }
  // The workload's own rules, not those of a subresource: a change of replicas is a new generation.
  const write = {
    ...writeContext(resource, { dryRun: options.dryRun, subresource: '' }),
    subresource: 'scale',
  }
  const version = apiVersionOf(row.group, row.version)
  const { scale: seen } = endpoint
  const { replicasOf } = seen
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
      const before = withScaleManagers(seen.lenientlyOf(existing), existing, replicasOf)
      const made = await next(before)
      const scale = await admitUpdate(resource, attributes, made, before, write.warn)
      seen.validate(scale)
      const replicas = (scale as Scale).spec?.replicas ?? 0
      const scaled = withMetadata(seen.withReplicas(existing, replicas), {
        resourceVersion: scale.metadata.resourceVersion || existing.metadata.resourceVersion,
      })
      const managed = applies === true ? scale : tracked(before, scale)
      return withMetadata(scaled, { managedFields: workloadManagers(existing, managed, version, replicasOf) })
    },
    validateCreate: () => {},
    validateUpdate: (object, old) =>
      context.admission.validate(
        admissionAttributes(resource, 'UPDATE', attributes, seen.lenientlyOf(object), seen.lenientlyOf(old)),
      ),
  })
  const { object } = updated
  const revision = Number(object.metadata.resourceVersion ?? 0)
  const key = storageKey(row, info.namespace, info.name)
  const written = await readObject(resource, { key, revision, object })
  return respondScale(resource, seen.lenientlyOf(written), representation)
}
