/** What create, update, patch and delete have in common: contexts, attributes for admission, field managers. */

import { updateManagedFields, withManagedFields } from '../../api/fields/update.ts'
import type { Namespace } from '../../api/generated/types.ts'
import { apiVersionOf, type JsonObject, type KubeObject } from '../../api/object.ts'
import type { RequestInfo } from '../../api/request.ts'
import { formatTime } from '../../base/clock.ts'
import { decodeHeader } from '../../http/header-text.ts'
import type { AdmissionAttributes } from '../admission/plugin.ts'
import { noReinvocation } from '../admission/reinvocation.ts'
import type { WriteContext, WriteOrigin } from '../registry/registry.ts'
import type { Strategy } from '../registry/strategy.ts'
import type { ServerRequest } from '../request/server-request.ts'
import type { ResourceRequest, ServerContext } from './context.ts'
import type { WriteQuery } from './options.ts'
import { comparingVersions } from './other-versions.ts'

/** The rules of the endpoint that is written: the kind's own, its status', or another subresource's. */
function endpointStrategy(strategy: Strategy, subresource: string): WriteContext['strategy'] {
  if (subresource === '') return strategy
  if (subresource === 'status') return strategy.status ?? strategy
  return strategy.subresources?.[subresource] ?? strategy
}

const DELETES: ReadonlySet<string> = new Set(['delete', 'deletecollection'])

function originOf(request: ServerRequest, { verb, subresource }: RequestInfo): WriteOrigin {
  const { headers, query, served } = request
  return {
    verb,
    subresource,
    userAgent: decodeHeader(headers['user-agent'] ?? ''),
    fieldManager: DELETES.has(verb) ? undefined : managerOf(request, { fieldManager: query.get('fieldManager') ?? '' }),
    auditId: request.auditId ?? served?.audit?.id,
  }
}

export function writeContext(
  { context, request, user, endpoint, info, warnings }: ResourceRequest,
  options: { readonly dryRun: boolean; readonly subresource?: string },
): WriteContext {
  const { row } = endpoint
  const nowMs = context.runtime.clock.now()
  const kindStrategy = endpoint.strategy
  const subresource = options.subresource ?? info.subresource
  return {
    endpoint,
    kindStrategy,
    strategy: endpointStrategy(kindStrategy, subresource),
    user,
    namespace: row.namespaced ? info.namespace : '',
    name: info.name,
    now: formatTime(nowMs),
    nowMs,
    dryRun: options.dryRun,
    collectsGarbage: context.collectsGarbage,
    subresource,
    parts: endpoint.parts,
    requestApiVersion: apiVersionOf(row.group, row.version),
    origin: () => originOf(request, info),
    namespaceLabels: () => context.reads.get<Namespace>('', 'namespaces', '', info.namespace)?.metadata.labels ?? {},
    warn: (message) => warnings.push(message),
  }
}

/** For AdmissionAttributes: the question is put when it is first called, and its answer holds for the whole request. */
export function askedOnce({ caches }: ServerContext): () => Promise<void> | undefined {
  let asked: { readonly answer: Promise<void> | undefined } | undefined
  return () => {
    asked ??= { answer: caches.fresh() }
    return asked.answer
  }
}

export function admissionAttributes(
  { endpoint, info, user, warnings, request: { served } }: ResourceRequest,
  operation: AdmissionAttributes['operation'],
  options: Pick<AdmissionAttributes, 'dryRun' | 'options' | 'charges' | 'fresh'>,
  object: KubeObject | undefined,
  oldObject: KubeObject | undefined,
): AdmissionAttributes {
  const { row } = endpoint
  return {
    operation,
    endpoint,
    subresource: info.subresource,
    namespace: row.namespaced || row.isOwnNamespace ? info.namespace : '',
    name: info.name !== '' ? info.name : (object?.metadata.name ?? ''),
    object,
    oldObject,
    user,
    dryRun: options.dryRun,
    options: options.options,
    ...(options.charges === undefined ? {} : { charges: options.charges }),
    ...(options.fresh === undefined ? {} : { fresh: options.fresh }),
    warn: (message) => warnings.push(message),
    annotate: (key, value) => {
      const audit = served?.audit
      if (audit !== undefined) audit.annotations[key] = value
    },
    annotateBody: (key, value) => {
      const audit = served?.audit
      if (audit?.tellsBodies === true) audit.annotations[key] = value()
    },
    waited: (ms) => {
      if (served !== undefined) served.webhookMs += ms
    },
    reinvocation: noReinvocation(),
  }
}

/** Of which nothing is left out below: nearly all. */
const PLAIN_MANAGER = /^[ -~]{0,128}$/

/** The manager named in the options, or the first word of the user agent. */
export function managerOf(request: ServerRequest, { fieldManager }: Pick<WriteQuery, 'fieldManager'>): string {
  if (fieldManager !== '') return fieldManager
  const agent = (request.headers['user-agent'] ?? '').split('/')[0] as string
  if (PLAIN_MANAGER.test(agent)) return agent
  let manager = ''
  for (const character of decodeHeader(agent)) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) continue
    if (Buffer.byteLength(manager) + Buffer.byteLength(character) > 128) break
    manager += character
  }
  return manager
}

/**
 * The next object with its managedFields, as of an Update by this request's manager.
 *
 * `live` and `next` are of the request's version; entries of other versions are compared in their own.
 */
export function trackManager(
  resource: ResourceRequest,
  write: WriteContext,
  options: WriteQuery,
  live: KubeObject | undefined,
  next: KubeObject,
): KubeObject | Promise<KubeObject> {
  const { endpoint, request } = resource
  const { row } = endpoint
  const { isDivisible } = endpoint.worked
  if (!isDivisible(next) || !(live === undefined || isDivisible(live)))
    return withManagedFields(next, live?.metadata.managedFields)
  return comparingVersions(resource, write, (others) =>
    updateManagedFields({
      live,
      next: write.kindStrategy.timedDefaults?.(next, write.now) ?? next,
      schema: row.schema,
      manager: managerOf(request, options),
      apiVersion: apiVersionOf(row.group, row.version),
      subresource: write.subresource,
      time: write.now,
      parts: endpoint.parts,
      ...(write.strategy.resetFields === undefined ? {} : { resetFields: write.strategy.resetFields }),
      ...others,
    }),
  )
}

export const optionsObject = (options: WriteQuery): JsonObject => ({
  apiVersion: 'meta.k8s.io/v1',
  kind: options.kind,
  ...(options.dryRun ? { dryRun: ['All'] } : {}),
  ...(options.fieldManager === '' ? {} : { fieldManager: options.fieldManager }),
  ...(options.fieldValidation === 'Warn' ? {} : { fieldValidation: options.fieldValidation }),
  ...(options.force === undefined ? {} : { force: options.force }),
})
