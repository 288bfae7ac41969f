/**
 * Timelines as OpenTelemetry spans, in OTLP's JSON: a span for each step, from the step that led to it until it was written, under that
 * step's span. Ids are made of the steps, so that the same timeline twice is the same trace. One resource for each component.
 */
import { createHash } from 'node:crypto'
import { plainJson } from '../../base/plain-text.ts'
import type { TimelineStep } from './timeline-types.ts'
import { rootsOf } from './tree.ts'
import { byWords, changesWords, identityWords, requestWords } from './words.ts'

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly boolValue: boolean } | { readonly intValue: string }
}

const INTERNAL = 1

export function timelineOtlp(steps: readonly TimelineStep[], version: string): string {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const roots = rootsOf(steps)
  const rootOf = (step: TimelineStep) => byId.get(roots.get(step.id) ?? '') ?? step
  const components = Map.groupBy(steps, ({ by }) => by.component)
  const resourceSpans = [...components].map(([component, own]) => ({
    resource: { attributes: [text('service.name', component === '' ? 'unknown' : component)] },
    scopeSpans: [
      { scope: { name: 'skiff timeline', version }, spans: own.map((step) => spanOf(step, byId, rootOf(step))) },
    ],
  }))
  return `${plainJson({ resourceSpans })}\n`
}

function spanOf(step: TimelineStep, byId: ReadonlyMap<string, TimelineStep>, root: TimelineStep) {
  const led = byId.get(step.cause.step ?? '')
  return {
    traceId: idOf(`trace ${keyOf(root)}`, 32),
    spanId: idOf(`span ${keyOf(step)}`, 16),
    ...(led === undefined ? {} : { parentSpanId: idOf(`span ${keyOf(led)}`, 16) }),
    name: `${identityWords(step.object)} ${changesWords(step)}`,
    kind: INTERNAL,
    startTimeUnixNano: nanoseconds((led ?? step).time),
    endTimeUnixNano: nanoseconds(step.time),
    attributes: attributesOf(step),
  }
}

const keyOf = (step: TimelineStep) => `${step.object.uid} ${step.id} ${step.time}`

const idOf = (text: string, digits: number) => createHash('sha256').update(text).digest('hex').slice(0, digits)

/** Of `2026-01-02T03:04:05.123456Z`, as a string: they are more than a number holds. */
function nanoseconds(time: string): string {
  const [second = '', fraction = ''] = time.replace(/Z$/, '').split('.')
  return `${BigInt(Date.parse(`${second}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9))}`
}

const text = (key: string, value: string): Attribute => ({ key, value: { stringValue: value } })

function attributesOf(step: TimelineStep): Attribute[] {
  const { object, by, request, cause, revision } = step
  return [
    text('k8s.object.kind', object.kind),
    text('k8s.object.resource', object.group === '' ? object.resource : `${object.resource}.${object.group}`),
    ...(object.namespace === '' ? [] : [text('k8s.namespace.name', object.namespace)]),
    text('k8s.object.name', object.name),
    text('k8s.object.uid', object.uid),
    { key: 'skiff.revision', value: { intValue: String(revision) } },
    text('skiff.by', byWords(step)),
    text('skiff.request', requestWords(step)),
    ...(request.auditId === undefined ? [] : [text('k8s.audit.id', request.auditId)]),
    ...(by.user === '' ? [] : [text('user.name', by.user)]),
    ...(by.userAgent === '' ? [] : [text('user_agent.original', by.userAgent)]),
    ...(by.fieldManager === undefined ? [] : [text('skiff.field_manager', by.fieldManager)]),
    text('skiff.cause', cause.why),
    { key: 'skiff.cause.known', value: { boolValue: cause.certainty === 'known' } },
  ]
}
