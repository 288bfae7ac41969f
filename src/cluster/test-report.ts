/**
 * What is there to be said of a cluster in which a test has failed: the objects that have changed since a revision, their Events, and
 * the last requests that came from outside. Plain text; no values of Secrets and ConfigMaps, no specifications.
 */

import type { Event, Pod } from '../api/generated/types.ts'
import type { KubeObject, SpecAndStatus } from '../api/object.ts'
import { asList, asObject } from '../api/unchecked.ts'
import { printPod } from '../apiserver/handlers/printers/pod-row.ts'
import { plainLine } from '../base/plain-text.ts'
import type { Client } from '../client/client.ts'
import { type FaultsStatus, strikeLine } from './fault-lines.ts'
import type { LastRequest } from './last-requests.ts'

export interface ReportOptions {
  /** Objects of this namespace, and those of none. Default: all. */
  readonly namespace?: string
  /** Only what has changed after it. */
  readonly revision: number
  readonly requests: readonly LastRequest[]
  /** The cluster's time. */
  readonly nowMs: number
  /** Where the cluster makes faults. */
  readonly faults?: FaultsStatus
}

const MOST_OBJECTS = 500
const MOST_EVENTS = 200
const MOST_REQUESTS = 50
/** A cluster's own, of its keys: a fork makes them anew. */
const OF_THE_CLUSTER =
  /^(kube-root-ca\.crt|extension-apiserver-authentication|kubernetes\.io:kube-apiserver-serving:.*)$/
/** They change by themselves all the time. */
const LEFT_OUT: ReadonlySet<string> = new Set(['events', 'leases', 'endpoints'])

export async function testReport(
  client: Client,
  { namespace, revision, requests, nowMs, faults }: ReportOptions,
): Promise<string> {
  const isMeant = ({ metadata }: KubeObject) =>
    Number(metadata.resourceVersion) > revision &&
    !OF_THE_CLUSTER.test(metadata.name ?? '') &&
    (namespace === undefined || metadata.namespace === undefined || metadata.namespace === namespace)
  const { resources } = await client.discover()
  const objects: string[] = []
  for (const resource of resources) {
    if (!resource.verbs.includes('list') || LEFT_OUT.has(resource.resource)) continue
    const { items } = await client.resource(resource).list()
    for (const object of items) if (isMeant(object)) objects.push(objectLine(resource.kind, object, nowMs))
  }
  const { items } = await client.resource<Event>({ group: '', version: 'v1', resource: 'events' }).list()
  const events = items
    .filter(isMeant)
    .toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)))
    .map(eventLine)
  const calls = requests.slice(-MOST_REQUESTS).map(requestLine)
  return [
    ...section('objects that have changed', objects, MOST_OBJECTS),
    ...section('events', events, MOST_EVENTS),
    ...section('last requests', calls, MOST_REQUESTS),
    ...(faults === undefined || faults.faults.length === 0 ? [] : faultSections(faults)),
  ].join('\n')
}

/** What was asked for, with the seed that gives the same again, and what came of it. */
function faultSections({ seed, faults, last }: FaultsStatus): readonly string[] {
  const rules = faults.map(({ fault, met, struck }) => `${fault}: ${struck} of ${met}`)
  return [
    ...section(`faults, seed ${seed}`, rules, MOST_REQUESTS),
    ...section('last faults', last.map(strikeLine), MOST_REQUESTS),
  ]
}

function section(title: string, lines: readonly string[], most: number): readonly string[] {
  const left = lines.length - most
  return [
    `${title}:`,
    ...(lines.length === 0 ? ['  none'] : lines.slice(-most).map((line) => `  ${plainLine(line)}`)),
    ...(left > 0 ? [`  (${left} more)`] : []),
  ]
}

const nameOf = (namespace: string | undefined, name: string | undefined) =>
  namespace === undefined || namespace === '' ? (name ?? '') : `${namespace}/${name}`

function objectLine(kind: string, object: KubeObject, nowMs: number): string {
  const { metadata } = object
  const status = asObject((object as SpecAndStatus).status)
  const told = asList(status['conditions'])
    .map(asObject)
    .filter(({ type, status: value }) => typeof type === 'string' && typeof value === 'string')
    .map(({ type, status: value, reason }) => {
      const why = value !== 'True' && typeof reason === 'string' && reason !== '' ? ` (${reason})` : ''
      return `${type}=${value}${why}`
    })
  return [
    `${kind} ${nameOf(metadata.namespace, metadata.name)}`,
    ...(object.kind === 'Pod' && object.apiVersion === 'v1' ? podState(object as Pod, nowMs) : stateOf(object)),
    ...(metadata.deletionTimestamp === undefined ? [] : [`being deleted since ${metadata.deletionTimestamp}`]),
    ...(metadata.finalizers === undefined ? [] : [`finalizers ${metadata.finalizers.join(', ')}`]),
    ...(told.length === 0 ? [] : [told.join(', ')]),
  ].join('; ')
}

/** As `kubectl get` tells it. */
function podState(pod: Pod, nowMs: number): readonly string[] {
  const [, ready, state, restarts] = printPod(pod, nowMs)
  return [`${state}`, `ready ${ready}${restarts === '0' ? '' : `, restarts ${restarts}`}`]
}

/** Its phase, and of what has replicas, or pods on nodes, how many are ready. */
function stateOf(object: SpecAndStatus): readonly string[] {
  const { phase, ...status } = asObject(object.status)
  const wanted = status['desiredNumberScheduled'] ?? asObject(object.spec)['replicas']
  const told = status['numberReady'] ?? status['readyReplicas']
  // Kubernetes' own leave out a zero; what others leave out they may not know at all.
  const ready = told === undefined && /^(apps\/)?v1$/.test(object.apiVersion) ? 0 : told
  return [
    ...(typeof phase === 'string' ? [phase] : []),
    ...(typeof wanted === 'number' && typeof ready === 'number' ? [`ready ${ready}/${wanted}`] : []),
  ]
}

/** Whole seconds go before their fractions. */
const orderOf = (event: Event): string => timeOf(event).replace(/Z$/, '')

const timeOf = ({ eventTime, lastTimestamp, metadata }: Event): string =>
  lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''

function eventLine(event: Event): string {
  const { type, reason, involvedObject, message, count = 1 } = event
  const about = `${involvedObject.kind} ${nameOf(involvedObject.namespace, involvedObject.name)}`
  return `${timeOf(event)} ${type} ${reason} ${about}: ${message}${count > 1 ? ` (${count} times)` : ''}`
}

const requestLine = ({ time, method, path, status, userAgent }: LastRequest): string =>
  `${time} ${method} ${path} ${status ?? 'not answered'} ${userAgent}`
