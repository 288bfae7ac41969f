/**
 * MutatingAdmissionWebhook and ValidatingAdmissionWebhook (API concept: dynamic admission control): servers of the cluster's
 * own are asked about requests, and may change or refuse them.
 */

import { REQUEST_COST_LIMIT } from '../../../api/cel/cost-limits.ts'
import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '../../../api/generated/types.ts'
import { asJson, asKubeObject, type Json, type KubeObject } from '../../../api/object.ts'
import { sameJson } from '../../../api/same.ts'
import { withoutGivenEmpty } from '../../../api/schema/canonical.ts'
import type { ResourceRow } from '../../../api/scheme/resource.ts'
import { badRequest, forbidden, internalError, StatusError } from '../../../api/status.ts'
import { jsonText } from '../../../api/values/json.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { whenDecided } from '../../auth/decided.ts'
import type { CacheReads } from '../../reads.ts'
import { type WebhookMetrics, type WebhookType, webhookMetrics } from '../metrics.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin, AdmissionPluginFactory } from '../plugin.ts'
import { evaluateConditions, type MatchCondition, matchConditionsOf } from '../policies/conditions.ts'
import { requestVariables } from '../policies/expression.ts'
import { mayRun, noteChange, ranReinvocable, runsOf } from '../reinvocation.ts'
import {
  createWebhookCaller,
  denial,
  reviewOf,
  type WebhookAnswer,
  type WebhookCaller,
  type WebhookSpec,
} from './admission-review.ts'
import { applyWebhookPatch, reasonOf } from './json-patch.ts'
import { configuresAdmission, type Matcher, matchingRow, selectsObject, webhookMatcher } from './match.ts'

const GROUP = 'admissionregistration.k8s.io'
/** Of what webhooks did, in audit events. */
const NOTE = 'webhook.admission.k8s.io'

type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration

interface Webhook {
  readonly configuration: string
  /** Tells webhooks apart that have one name. */
  readonly id: string
  readonly name: string
  readonly spec: WebhookSpec
  readonly matcher: Matcher
  readonly conditions: readonly MatchCondition[]
}

/** The webhooks of all configurations, by the configurations' names; compiled again when one of them changes. */
function webhooksOf(reads: CacheReads, host: AdmissionHost, resource: string): () => readonly Webhook[] {
  const generation = host.generationOf([{ group: GROUP, resource }])
  let seen = -1
  let compiled: readonly Webhook[] = []
  return () => {
    const now = generation()
    if (now === seen) return compiled
    compiled = reads.list<WebhookConfiguration>(GROUP, resource).flatMap((configuration) =>
      (configuration.webhooks ?? []).map((spec, i) => ({
        configuration: configuration.metadata.name ?? '',
        id: `${configuration.metadata.uid}/${i}/${spec.name}`,
        name: spec.name,
        spec,
        matcher: webhookMatcher(spec, spec.rules ?? []),
        conditions: matchConditionsOf(spec),
      })),
    )
    // Only now: a list that throws is tried again by the next request, which must not go by what was there before.
    seen = now
    return compiled
  }
}

interface Matched {
  readonly hook: Webhook
  readonly row: ResourceRow
}

interface Asker {
  readonly runtime: Runtime
  readonly host: AdmissionHost
  readonly caller: WebhookCaller
  readonly type: WebhookType
  readonly metrics: WebhookMetrics
}

export type CreateCaller = (runtime: Runtime, reads: CacheReads) => WebhookCaller

const askerOf = (
  runtime: Runtime,
  reads: CacheReads,
  host: AdmissionHost,
  type: WebhookType,
  create: CreateCaller,
): Asker => ({
  runtime,
  host,
  caller: create(runtime, reads),
  type,
  metrics: webhookMetrics(runtime),
})

/** @throws StatusError 403 when a match condition cannot be evaluated and the webhook must not be passed by */
async function matching(
  hooks: readonly Webhook[],
  attributes: AdmissionAttributes,
  reads: CacheReads,
  asker: Asker,
): Promise<readonly Matched[]> {
  const found: Matched[] = []
  for (const hook of hooks) {
    if (!selectsObject(hook.matcher, attributes, reads)) continue
    const row = matchingRow(hook.matcher, attributes, asker.host.scheme)
    if (row === undefined) continue
    if (hook.conditions.length > 0 && !(await conditionsHold(hook, row, attributes, reads, asker))) continue
    found.push({ hook, row })
  }
  return found
}

async function conditionsHold(
  hook: Webhook,
  row: ResourceRow,
  attributes: AdmissionAttributes,
  reads: CacheReads,
  { host, metrics, type }: Asker,
): Promise<boolean> {
  const began = metrics.now()
  const { served } = host.endpointOf(row)
  const object = attributes.object && (await served.object(attributes.object))
  const oldObject = attributes.oldObject && (await served.object(attributes.oldObject))
  const { request } = reviewOf(attributes, { row, object, oldObject }, '')
  const outcome = await whenDecided(host.authorizer, (authorizer) => {
    const variables = requestVariables(attributes, { object, oldObject, request }, reads, authorizer)
    return evaluateConditions(hook.conditions, variables, { used: 0, limit: REQUEST_COST_LIMIT })
  })
  const result = 'error' in outcome ? 'failed' : outcome.matches ? 'held' : 'excluded'
  metrics.conditions({ name: hook.name, operation: attributes.operation, type }, began, result)
  if (!('error' in outcome)) return outcome.matches
  if (hook.spec.failurePolicy === 'Ignore') return false
  throw forbidden(
    { group: attributes.endpoint.row.group, resource: attributes.endpoint.row.resource },
    attributes.name,
    outcome.error,
  )
}

const isReadOnly = ({ spec }: Webhook) => spec.sideEffects === 'None' || spec.sideEffects === 'NoneOnDryRun'

/** Counted where there was no answer. */
const UNREACHABLE = 503

/** @param turn names the call in notes of the audit, `round_0_index_3` */
async function ask(
  { runtime, host, caller, metrics, type }: Asker,
  { hook, row }: Matched,
  attributes: AdmissionAttributes,
  turn: string,
) {
  const mayPatch = type === 'admit'
  if (attributes.dryRun && !isReadOnly(hook))
    throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`)
  const uid = runtime.random.uuid()
  const { served } = host.endpointOf(row)
  const shown = (object: KubeObject | undefined) => object && served.object(object)
  const object = await shown(attributes.object)
  const oldObject = await shown(attributes.oldObject)
  const review = reviewOf(attributes, { row, object, oldObject }, uid)
  const call = { name: hook.name, operation: attributes.operation, type }
  const began = metrics.now()
  let answer: WebhookAnswer
  try {
    answer = await caller.call(hook.spec, review, uid, mayPatch)
  } catch (error) {
    const isIgnored = !(error instanceof StatusError) && hook.spec.failurePolicy === 'Ignore'
    const code = error instanceof StatusError ? error.code : UNREACHABLE
    metrics.asked(call, began, code, !isIgnored)
    if (!isIgnored) metrics.rejected(call, code, 'calling_webhook_error')
    if (error instanceof StatusError) throw error
    if (isIgnored) {
      metrics.failedOpen(call)
      attributes.annotate?.(`failed-open.${mayPatch ? 'mutation' : 'validating'}.${NOTE}/${turn}`, hook.name)
      return undefined
    }
    throw internalError(new Error(`failed calling webhook ${JSON.stringify(hook.name)}: ${(error as Error).message}`))
  }
  const code = answer.allowed ? 200 : denial(hook.name, answer.status).code
  metrics.asked(call, began, code, !answer.allowed)
  if (!answer.allowed) metrics.rejected(call, code, 'no_error')
  for (const [key, value] of Object.entries(answer.auditAnnotations))
    attributes.annotate?.(`${hook.name}/${key}`, String(value))
  for (const warning of answer.warnings) attributes.warn(warning)
  return { answer, object }
}

export const mutatingAdmissionWebhook =
  (runtime: Runtime, create: CreateCaller = createWebhookCaller): AdmissionPluginFactory =>
  (reads, host): AdmissionPlugin => {
    const hooks = webhooksOf(reads, host, 'mutatingwebhookconfigurations')
    const asker = askerOf(runtime, reads, host, 'admit', create)
    return {
      name: 'MutatingAdmissionWebhook',
      handles: () => true,
      mutate(attributes) {
        const object = attributes.object as KubeObject
        if (configuresAdmission(attributes)) return object
        const all = hooks()
        if (all.length === 0) return object
        return mutateAll(asker, all, attributes, reads)
      },
    }
  }

/** The request is told how long it was held up. */
async function waited<T>({ metrics }: Asker, attributes: AdmissionAttributes, work: () => Promise<T>): Promise<T> {
  const began = metrics.now()
  try {
    return await work()
  } finally {
    attributes.waited?.(metrics.now() - began)
  }
}

/** One after the other, each with what those before it made. */
async function mutateAll(
  asker: Asker,
  hooks: readonly Webhook[],
  attributes: AdmissionAttributes,
  reads: CacheReads,
): Promise<KubeObject> {
  const again = attributes.reinvocation
  const runs = runsOf(again, 'webhooks', attributes.object)
  let current = attributes
  let hasKind = again?.isSecond === true
  const round = again?.isSecond === true ? 1 : 0
  for (const [at, hook] of hooks.entries()) {
    const [matched] = await matching([hook], current, reads, asker)
    if (matched === undefined) continue
    if (!mayRun(again, runs, hook.id)) continue
    const turn = `round_${round}_index_${at}`
    const about = { configuration: hook.configuration, webhook: hook.name }
    const noteMutation = (mutated: boolean) =>
      attributes.annotate?.(`mutation.${NOTE}/${turn}`, JSON.stringify({ ...about, mutated }))
    noteMutation(false)
    const asked = await waited(asker, attributes, () => ask(asker, matched, current, turn))
    const ifNeeded = 'reinvocationPolicy' in hook.spec && hook.spec.reinvocationPolicy === 'IfNeeded'
    if (asked !== undefined) {
      const { answer, object } = asked
      if (!answer.allowed) throw denial(hook.name, answer.status)
      if (!isEmptyPatch(answer.patch)) {
        if (object === undefined) throw cannotModify(hook)
        const next = await patched(asker, answer, object, matched, attributes)
        const isChanged = !sameJson(next, object)
        const endpoint = attributes.endpoint
        if (isChanged) current = { ...current, object: withoutGivenEmpty(await endpoint.worked.admitted(next)) }
        const gainsKind: boolean = !hasKind && endpoint.readerOf(attributes.endpoint.row).gainsKind
        hasKind ||= gainsKind
        if (isChanged || gainsKind) {
          noteChange(again, runs)
          noteMutation(true)
        }
        const note = { ...about, patch: answer.patch, patchType: 'JSONPatch' }
        attributes.annotateBody?.(`patch.${NOTE}/${turn}`, () => jsonText(note))
      }
    }
    if (ifNeeded) ranReinvocable(runs, hook.id)
  }
  if (runs !== undefined) runs.last = current.object
  return current.object as KubeObject
}

const isEmptyPatch = (patch: Json | undefined): boolean => (Array.isArray(patch) ? patch.length === 0 : patch == null)

/** What a deletion is about stays as it is, whatever the failure policy says. */
function cannotModify({ name }: Webhook): StatusError {
  const what = 'attempted to modify the object, which is not supported for this operation'
  return internalError(new Error(`admission webhook ${JSON.stringify(name)} ${what}`))
}

/** @throws StatusError 500: a patch that does not apply is the webhook's mistake, whatever its failure policy says */
async function patched(
  { host }: Asker,
  { patch }: WebhookAnswer,
  object: KubeObject,
  { row }: Matched,
  { subresource, endpoint }: AdmissionAttributes,
): Promise<KubeObject> {
  const { row: requested } = endpoint

  const sub = subresource === '' ? undefined : requested.subresources.find(({ name }) => name === subresource)
  const target = sub !== undefined && sub.kind !== row.kind ? sub : row
  try {
    const raw = asKubeObject(applyWebhookPatch(asJson(object), patch as Json))
    const reader = host.endpointOf(row).readerOf(target)
    const decoded = reader.decode({ kind: 'object', object: raw }, { fieldValidation: 'Ignore' }).object
    return reader.defaulted(decoded)
  } catch (error) {
    throw internalError(new Error(reasonOf(error), { cause: error }))
  }
}

export const validatingAdmissionWebhook =
  (runtime: Runtime, create: CreateCaller = createWebhookCaller): AdmissionPluginFactory =>
  (reads, host): AdmissionPlugin => {
    const hooks = webhooksOf(reads, host, 'validatingwebhookconfigurations')
    const asker = askerOf(runtime, reads, host, 'validating', create)
    return {
      name: 'ValidatingAdmissionWebhook',
      handles: () => true,
      validate(attributes) {
        if (configuresAdmission(attributes)) return
        const all = hooks()
        if (all.length === 0) return
        return matching(all, attributes, reads, asker).then((matched) =>
          waited(asker, attributes, () => validateAll(asker, matched, attributes)),
        )
      },
    }
  }

/** All at once; of several refusals the first by order counts. */
async function validateAll(asker: Asker, matched: readonly Matched[], attributes: AdmissionAttributes): Promise<void> {
  const unfit = attributes.dryRun ? matched.find(({ hook }) => !isReadOnly(hook)) : undefined
  if (unfit !== undefined)
    throw badRequest(`admission webhook ${JSON.stringify(unfit.hook.name)} does not support dry run`)
  const outcomes = await Promise.allSettled(
    matched.map(async (one, at) => {
      const asked = await ask(asker, one, attributes, `round_0_index_${at}`)
      if (asked !== undefined && !asked.answer.allowed) throw denial(one.hook.name, asked.answer.status)
    }),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
