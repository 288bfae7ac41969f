/** pods/binding and bindings: the scheduler's answer, written into the pod. */
import type { Binding, ObjectReference, Pod, PodSpec, PodStatus } from '../../../api/generated/types.ts'
import { dns1123Subdomain } from '../../../api/names/name-formats.ts'
import type { Given, KubeObject } from '../../../api/object.ts'
import type { ApiResponse } from '../../../api/request.ts'
import { badRequest, conflict, notFound, StatusError } from '../../../api/status.ts'
import { inNamespace } from '../../registry/metadata.ts'
import { groupResource } from '../../registry/registry.ts'
import { updateObject } from '../../registry/update-and-retry-on-conflict.ts'
import { decodeObject } from '../body.ts'
import type { ResourceRequest } from '../context.ts'
import { negotiate } from '../negotiate.ts'
import { writeOptions } from '../options.ts'
import { encoded } from '../respond.ts'
import { admissionAttributes, optionsObject, writeContext } from '../write.ts'

const BINDING = { group: '', resource: 'pods/binding' }

export const created: KubeObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/** POST of a Binding to a pod. */
export async function createBinding(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint, subresource, info } = resource
  const { row } = endpoint
  const representation = negotiate(request, {})
  const options = writeOptions('CreateOptions', request.query)
  const sent = decodeObject(resource, subresource ?? row, options.fieldValidation)
  const binding = inNamespace(sent, true, info.namespace)
  const attributes = { dryRun: options.dryRun, options: optionsObject(options) }
  const admitted = await context.admission.mutate(
    admissionAttributes(resource, 'CREATE', attributes, binding, undefined),
  )
  if (admitted.metadata.name !== info.name && info.name !== '')
    throw badRequest('name in URL does not match name in Binding object')
  const target: ObjectReference = (admitted as Given<Binding>).target ?? {}
  checkTarget(target)
  await context.admission.validate(admissionAttributes(resource, 'CREATE', attributes, admitted, undefined))
  await assign(resource, admitted, target, options.dryRun)
  return encoded(201, created, representation, resource.warnings)
}

/** @throws StatusError 500: Kubernetes answers the field error as it is, without a kind */
function checkTarget({ kind = '', name = '' }: ObjectReference): void {
  if (kind !== '' && kind !== 'Node')
    throw new StatusError(
      500,
      '',
      `target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`,
    )
  if (name === '') throw new StatusError(500, '', 'target.name: Required value')
  const [wrong] = dns1123Subdomain(name)
  if (wrong !== undefined)
    throw new StatusError(500, '', `target.name: Invalid value: ${JSON.stringify(name)}: ${wrong}`)
}

async function assign(
  resource: ResourceRequest,
  binding: KubeObject,
  target: ObjectReference,
  dryRun: boolean,
): Promise<void> {
  const { context } = resource
  const pods = context.scheme.find('', 'v1', 'pods')
  if (pods === undefined) throw new StatusError(500, 'InternalError', 'pods are not served')
  const name = binding.metadata.name ?? ''
  if (name === '') throw badRequest('Name parameter required.')
  const write = {
    ...writeContext(
      { ...resource, endpoint: context.endpointOf(pods), info: { ...resource.info, name } },
      { dryRun, subresource: 'binding' },
    ),
  }
  const { uid = '', resourceVersion = '' } = binding.metadata
  await updateObject(context.registry, write, {
    // A binding that is made among `bindings` has a uid of its own, whatever it came with.
    uid: resource.info.name === '' ? '' : uid,
    resourceVersion,
    next(pod: Pod | undefined) {
      if (pod === undefined) throw notFound(groupResource(pods), name)
      if (pod.metadata.deletionTimestamp !== undefined)
        throw conflict(BINDING, name, `pod ${name} is being deleted, cannot be assigned to a host`)
      const spec: Partial<PodSpec> = pod.spec ?? {}
      if ((spec.nodeName ?? '') !== '')
        throw conflict(BINDING, name, `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`)
      if ((spec.schedulingGates?.length ?? 0) !== 0)
        throw conflict(BINDING, name, `pod ${name} has non-empty .spec.schedulingGates`)
      return bound(pod, spec, binding, target, write.now)
    },
    validateCreate: () => {},
    validateUpdate: () => {},
  })
}

/** The pod on its node, with the condition that says so and the annotations and labels the scheduler wants on it. */
function bound(
  pod: Pod,
  spec: Partial<PodSpec>,
  binding: KubeObject,
  target: ObjectReference,
  now: string,
): KubeObject {
  const { annotations, labels } = binding.metadata
  const metadata = {
    ...pod.metadata,
    ...(annotations === undefined ? {} : { annotations: { ...pod.metadata.annotations, ...annotations } }),
    ...(labels === undefined ? {} : { labels: { ...pod.metadata.labels, ...labels } }),
  }
  // It was meant for a node; now it has one.
  const { nominatedNodeName: _, ...status }: PodStatus = pod.status ?? {}
  const conditions = status.conditions ?? []
  const scheduled = { lastProbeTime: null, lastTransitionTime: now, status: 'True', type: 'PodScheduled' }
  const at = conditions.findIndex((condition) => condition.type === 'PodScheduled')
  const next =
    at < 0
      ? [...conditions, scheduled]
      : conditions.map((condition, i) => (i !== at || condition.status === 'True' ? condition : scheduled))
  return {
    ...pod,
    metadata,
    spec: { ...spec, nodeName: target.name },
    status: { ...status, conditions: next },
  }
}
