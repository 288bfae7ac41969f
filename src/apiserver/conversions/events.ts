/** Event between core/v1 and events.k8s.io/v1: the same fields under other names. */
import type { KubeObject } from '../../api/object.ts'

/** core/v1 name → events.k8s.io/v1 name. */
const NAMES: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
}
const BACK = Object.fromEntries(Object.entries(NAMES).map(([core, other]) => [other, core]))

/** Fields that core/v1 always writes and events.k8s.io/v1 leaves out when they are empty. */
const ALWAYS_IN_CORE: Readonly<Record<string, unknown>> = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
}
const ALWAYS_IN_EVENTS: Readonly<Record<string, unknown>> = {
  eventTime: null,
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
}

export function convertEvent(event: KubeObject, apiVersion: string): KubeObject {
  const toCore = apiVersion === 'v1'
  const names = toCore ? BACK : NAMES
  const { kind, apiVersion: _, metadata, ...fields } = event
  const converted: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    const other = Object.hasOwn(names, name) ? (names[name] as string) : name
    if (!toCore && value === '') continue
    converted[other] = value
  }
  for (const [name, empty] of Object.entries(toCore ? ALWAYS_IN_CORE : ALWAYS_IN_EVENTS))
    if (converted[name] === undefined) converted[name] = empty
  return { kind, apiVersion, metadata, ...converted }
}
