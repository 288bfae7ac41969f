/**
 * pods/eviction (policy/v1): a delete that asks the pod's disruption budgets first. A pod that runs no more, or never did,
 * disrupts no budget.
 */

import type {
  Condition,
  Eviction,
  Pod,
  PodCondition,
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../../api/generated/types.ts'
import type { Fields, Given, KubeObject } from '../../../api/object.ts'
import { labelSelectorOf } from '../../../api/objects/label-selector.ts'
import type { ApiResponse } from '../../../api/request.ts'
import { badRequest, isConflict, notFound, StatusError } from '../../../api/status.ts'
import { storageKey } from '../../cache/keys.ts'
import { loopbackOf } from '../../loopback.ts'
import { deleteObject } from '../../registry/delete.ts'
import { checkPreconditions } from '../../registry/delete-preconditions.ts'
import { inNamespace } from '../../registry/metadata.ts'
import { groupResource, type WriteContext } from '../../registry/registry.ts'
import type { DeleteOptions } from '../../registry/strategy.ts'
import { updateObject } from '../../registry/update-and-retry-on-conflict.ts'
import { decodeObject } from '../body.ts'
import type { ResourceRequest } from '../context.ts'
import { admitDelete } from '../delete.ts'
import { negotiate } from '../negotiate.ts'
import { validateDeleteOptions, writeOptions } from '../options.ts'
import { encoded } from '../respond.ts'
import { admissionAttributes, optionsObject, writeContext } from '../write.ts'
import { created } from './binding.ts'

const EMPTY: DeleteOptions = {}
/** How often a budget is written before its other writers win. */
const MOST_TRIES = 20
/** As many disrupted pods a budget keeps in mind. */
const MAX_DISRUPTED = 2000

/** @throws StatusError 500 when the query and the options of the deletion both say something of a dry run, and not the same */
function checkDryRun(asked: readonly string[], deletion: readonly string[]): void {
  if (asked.length === 0 || deletion.length === 0 || asked.join(' ') === deletion.join(' ')) return
  const message = `Non-matching dry-run options in request and content: [${asked.join(' ')}] and [${deletion.join(' ')}]`
  throw new StatusError(500, '', message)
}

export async function createEviction(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint, subresource, info, warnings } = resource
  const { row } = endpoint
  const representation = negotiate(request, {})
  const options = writeOptions('CreateOptions', request.query)
  const sent = decodeObject(resource, subresource ?? row, options.fieldValidation)
  const eviction = inNamespace(sent, true, info.namespace)
  if ((eviction.metadata.name ?? '') !== info.name)
    throw badRequest('name in URL does not match name in Eviction object')
  const deleteOptions: DeleteOptions = (eviction as Given<Eviction>).deleteOptions ?? EMPTY
  const dryRun = options.dryRun || (deleteOptions.dryRun?.length ?? 0) > 0
  const attributes = { dryRun, options: optionsObject(options) }
  const admitted = await context.admission.mutate(
    admissionAttributes(resource, 'CREATE', attributes, eviction, undefined),
  )
  await context.admission.validate(admissionAttributes(resource, 'CREATE', attributes, admitted, undefined))

  const waiting = context.caches.fresh(request.signal)
  if (waiting !== undefined) await waiting
  const pod = context.registry.current(endpoint, storageKey(row, info.namespace, info.name))?.object
  if (pod === undefined) throw notFound(groupResource(row), info.name)
  checkDryRun(request.query.getAll('dryRun'), deleteOptions.dryRun ?? [])
  const write = writeContext(resource, { dryRun, subresource: '' })
  if (!isDone(pod)) await spendBudget(resource, pod, write)
  validateDeleteOptions(deleteOptions)
  const deletion = hasEnded(pod)
    ? withUid(deleteOptions, pod)
    : await markDisrupted(resource, write, withUid(deleteOptions, pod))
  await deleteObject(context.registry, write, deletion, (existing) =>
    admitDelete({ ...resource, info: { ...info, subresource: '' } }, { dryRun, options: { ...deletion } }, existing),
  )
  return encoded(201, created, representation, warnings)
}

const CONDITION = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
}

/**
 * Tells in the pod's status why it ends (KEP-3329), where the pod is as `options` want it.
 *
 * @returns the options, whose resourceVersion, where they have one, is that of the pod as it is written here
 * @throws StatusError 409 when the pod is not as they want it
 */
async function markDisrupted(
  resource: ResourceRequest,
  write: WriteContext,
  options: DeleteOptions,
): Promise<DeleteOptions> {
  const { context, endpoint, info } = resource
  const { row } = endpoint
  const { preconditions } = options
  const { object } = await updateObject(
    context.registry,
    { ...write, strategy: {} },
    {
      next(pod) {
        if (pod === undefined) throw notFound(groupResource(row), info.name)
        checkPreconditions({ group: row.group, kind: row.kind }, pod, preconditions)
        return withCondition(pod, { ...CONDITION, lastProbeTime: null }, write.now)
      },
      validateCreate: () => {},
      validateUpdate: () => {},
    },
  )
  const { resourceVersion } = object.metadata
  if (preconditions?.resourceVersion === undefined || resourceVersion === undefined) return options
  return { ...options, preconditions: { ...preconditions, resourceVersion } }
}

type ConditionToSet = Fields & { readonly type: string; readonly status: string }

/** In the place of one of its type. The time is that of the last change of its status. */
function withCondition(object: Pod | PodDisruptionBudget, condition: ConditionToSet, now: string): KubeObject {
  const conditions: readonly (PodCondition | Condition)[] = object.status?.conditions ?? []
  const before = conditions.find(({ type }) => type === condition.type)
  const lastTransitionTime = before?.status === condition.status ? (before?.lastTransitionTime ?? null) : now
  const next = { ...condition, lastTransitionTime }
  const status = {
    ...object.status,
    conditions:
      before === undefined ? [...conditions, next] : conditions.map((each) => (each === before ? next : each)),
  }
  return { ...object, status }
}

/** With the uid as a precondition: only the pod that was checked against the budgets is deleted. */
function withUid(options: DeleteOptions, pod: Pod): DeleteOptions {
  if (options.preconditions !== undefined || pod.metadata.uid === undefined) return options
  return { ...options, preconditions: { uid: pod.metadata.uid } }
}

function hasEnded(pod: Pod): boolean {
  const phase: string = pod.status?.phase ?? ''
  return phase === 'Succeeded' || phase === 'Failed'
}

/** Nothing that runs is disrupted. */
function isDone(pod: Pod): boolean {
  return hasEnded(pod) || pod.status?.phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined
}

function isReady(pod: Pod): boolean {
  const conditions: readonly PodCondition[] = pod.status?.conditions ?? []
  return conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True')
}

/** The API server asks it of itself, as every other client would. @throws StatusError 429 when a budget does not allow it, 500 when several budgets are about one pod */
async function spendBudget(resource: ResourceRequest, pod: Pod, write: WriteContext): Promise<void> {
  const { context, info } = resource
  const budgets = context.reads
    .list<PodDisruptionBudget>('policy', 'poddisruptionbudgets', info.namespace)
    .filter((budget) => labelSelectorOf(budget.spec?.selector).matches(pod.metadata.labels))
  if (budgets.length > 1)
    throw new StatusError(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  const [budget] = budgets
  if (budget === undefined) return
  const healthy: number = budget.status?.currentHealthy ?? 0
  const desired: number = budget.status?.desiredHealthy ?? 0
  // An unhealthy pod costs its budget nothing while enough others are healthy, or always when the policy says so.
  const always = budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow'
  if (!isReady(pod) && (always || (healthy >= desired && desired > 0))) return
  const row = context.scheme.find('policy', 'v1', 'poddisruptionbudgets')
  if (row === undefined) return
  const name = budget.metadata.name ?? ''
  const endpoint = context.endpointOf(row)
  const send = loopbackOf(context.loopback, resource.request.signal)
  const path = `/apis/policy/v1/namespaces/${info.namespace}/poddisruptionbudgets/${name}/status`
  const spend = async (): Promise<void> => {
    const current = context.registry.current(endpoint, storageKey(row, info.namespace, name))?.object
    if (current === undefined) throw notFound(groupResource(row), name)
    const next = spent(current, pod, write.now)
    if (!write.dryRun) await send('PUT', path, next)
  }
  try {
    await spend()
  } catch (error) {
    if (!isConflict(error)) throw error
    // All at once, each try of theirs would let one of them through. The first try waits for none: a webhook that is asked of
    // a budget's write may evict a pod itself.
    const fresh = () => context.caches.fresh(resource.request.signal)
    await context.budgetWrites(path, () => spendAgain(spend, fresh))
  }
}

/** Other writers than evictions are left, as the budget's controller and other servers. */
async function spendAgain(spend: () => Promise<void>, fresh: () => Promise<void> | undefined): Promise<void> {
  for (let tries = 1; ; tries++) {
    await fresh()
    try {
      return await spend()
    } catch (error) {
      if (!isConflict(error) || tries === MOST_TRIES) throw error
    }
  }
}

const exhausted = (observedGeneration: number): ConditionToSet => ({
  type: 'DisruptionAllowed',
  status: 'False',
  observedGeneration,
  reason: 'InsufficientPods',
  message: '',
})

/** Why a budget allows none: its controller's own word is worth most where it could not count the pods. */
function whyNone({ currentHealthy = 0, desiredHealthy = 0, conditions }: Partial<PodDisruptionBudgetStatus>): string {
  const refused = conditions?.find(({ type, status }) => type === 'DisruptionAllowed' && status === 'False')
  const message = refused?.message ?? ''
  const plain = 'does not allow evicting pods currently'
  if (refused?.reason === 'SyncFailed' && message !== '') return `${plain} because it failed sync: ${message}`
  if (currentHealthy <= desiredHealthy)
    return `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  return message === '' ? plain : `${plain} (${refused?.reason}): ${message}`
}

function spent(budget: PodDisruptionBudget, pod: Pod, now: string): KubeObject {
  const name = budget.metadata.name ?? ''
  const status: Partial<PodDisruptionBudgetStatus> = budget.status ?? {}
  const refuse = (message: string, retryAfterSeconds?: number): never => {
    throw new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
      causes: [{ reason: 'DisruptionBudget', message }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    })
  }
  if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0))
    refuse(`The disruption budget ${name} is still being processed by the server.`, 10)
  const allowed: number = status.disruptionsAllowed ?? 0
  if (allowed < 0) throw new StatusError(403, 'Forbidden', `pdb disruptions allowed is negative`)
  const disrupted: Readonly<Record<string, string>> = status.disruptedPods ?? {}
  if (Object.keys(disrupted).length > MAX_DISRUPTED)
    throw new StatusError(
      403,
      'Forbidden',
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    )
  if (allowed === 0) refuse(`The disruption budget ${name} ${whyNone(status)}`)
  const next = {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: allowed - 1,
      disruptedPods: { ...disrupted, [pod.metadata.name ?? '']: now },
    },
  }
  return allowed > 1 ? next : withCondition(next as PodDisruptionBudget, exhausted(status.observedGeneration ?? 0), now)
}
