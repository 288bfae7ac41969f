/**
 * Rules of Event, of both groups. The older API (core/v1) is held to less than events.k8s.io, so the rules ask by which
 * group and version the request came.
 */
import { type FieldError, invalid, required } from '../errors/field-errors.ts'
import type { Event } from '../generated/types.ts'
import { dns1123Subdomain, qualifiedName } from '../names/name-formats.ts'
import type { Given, Json, KubeObject } from '../object.ts'
import { IMMUTABLE, same } from './common.ts'
import { internalForm } from './internal.ts'

const MAX_NAME = 128
const MAX_NOTE = 1024
const REFERENCE = 'io.k8s.api.core.v1.ObjectReference'
const SOURCE = 'io.k8s.api.core.v1.EventSource'

/** `requestApiVersion`: of the request's path, `v1` or `events.k8s.io/v1`. Events are in their stored form (core/v1). */
export function validateEvent(event: KubeObject, requestApiVersion: string): readonly FieldError[] {
  const errors = [...anyEvent(event, requestApiVersion)]
  if (requestApiVersion === 'v1') return errors
  const name = event.metadata.name ?? ''
  if (name !== '') for (const message of dns1123Subdomain(name)) errors.push(invalid('metadata.name', name, message))
  if (!event['eventTime']) errors.push(required('eventTime'))
  const type: string = event['type'] ?? ''
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalid('type', '', `has invalid value: ${type}`))
  const unset = 'needs to be unset'
  if (event['firstTimestamp']) errors.push(invalid('firstTimestamp', '', unset))
  if (event['lastTimestamp']) errors.push(invalid('lastTimestamp', '', unset))
  if (event['count']) errors.push(invalid('count', '', unset))
  if (event['source']?.component) errors.push(invalid('source', '', unset))
  if (event['source']?.host) errors.push(invalid('source', '', unset))
  return errors
}

export function validateEventUpdate(
  event: KubeObject,
  old: Given<Event>,
  requestApiVersion: string,
): readonly FieldError[] {
  const errors = [...anyEvent(event, requestApiVersion)]
  if (requestApiVersion === 'v1') return errors
  const fixed = (field: string, printed: Json | undefined = event[field] ?? '') => {
    if (!same(event[field] || undefined, old[field] || undefined)) errors.push(invalid(field, printed, IMMUTABLE))
  }
  fixed('involvedObject', internalForm(REFERENCE, event['involvedObject']))
  fixed('reason')
  fixed('message')
  fixed('source', internalForm(SOURCE, event['source']))
  fixed('firstTimestamp', event['firstTimestamp'] ?? null)
  fixed('lastTimestamp', event['lastTimestamp'] ?? null)
  fixed('count', event['count'] ?? 0)
  fixed('eventTime', event['eventTime'] ?? null)
  fixed('type')
  fixed('action')
  fixed('related', event['related'] ? internalForm(REFERENCE, event['related']) : null)
  if ((event['reportingComponent'] ?? '') !== (old.reportingComponent ?? ''))
    errors.push(invalid('reportingController', event['reportingComponent'] ?? '', IMMUTABLE))
  fixed('reportingInstance')
  return errors
}

function anyEvent(event: KubeObject, requestApiVersion: string): FieldError[] {
  const errors: FieldError[] = []
  const controllerField = requestApiVersion === 'v1' ? 'reportingComponent' : 'reportingController'
  const namespace = event.metadata.namespace ?? ''
  involvedNamespace(event, namespace, errors)
  if (event['eventTime']) {
    const controller: string = event['reportingComponent'] ?? ''
    if (controller === '') errors.push(required(controllerField))
    for (const message of qualifiedName(controller)) errors.push(invalid(controllerField, controller, message))
    shortText('reportingInstance', event['reportingInstance'], errors)
    shortText('action', event['action'], errors)
    shortText('reason', event['reason'], errors)
    if (Buffer.byteLength(event['message'] ?? '') > MAX_NOTE)
      errors.push(invalid('message', '', `can have at most ${MAX_NOTE} characters`))
    if (requestApiVersion !== 'v1' && event['series'] && (event['series'].count ?? 0) < 2)
      errors.push(invalid('series.count', '', 'should be at least 2'))
  }
  for (const message of dns1123Subdomain(namespace)) errors.push(invalid('namespace', namespace, message))
  return errors
}

/** An object without a namespace may have its events in the default namespace or, for newer clients, kube-system. */
function involvedNamespace(event: KubeObject, namespace: string, errors: FieldError[]): void {
  const involved: string = event['involvedObject']?.namespace ?? ''
  const old = !event['eventTime']
  const fits =
    involved === ''
      ? namespace === '' || namespace === 'default' || (!old && namespace === 'kube-system')
      : !old || involved === namespace
  if (!fits) errors.push(invalid('involvedObject.namespace', involved, 'does not match event.namespace'))
}

function shortText(field: string, value: string | undefined, errors: FieldError[]): void {
  if (!value) errors.push(required(field))
  else if (Buffer.byteLength(value) > MAX_NAME)
    errors.push(invalid(field, '', `can have at most ${MAX_NAME} characters`))
}
