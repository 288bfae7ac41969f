/** A timeline as text for a terminal and as JSON. */
import { plainJson, plainLine } from '../../base/plain-text.ts'
import type { Timeline, TimelineStep } from './timeline-types.ts'
import { type TreeNode, treeOrder } from './tree.ts'
import { byWords, changesWords, identityWords, placeWords, requestWords, waitWords } from './words.ts'

const LONG = 400

/** One as itself, several as a list. */
export function timelineJson(told: readonly Timeline[]): string {
  const list = { apiVersion: 'timeline.skiff.dev/v1', kind: 'TimelineList', items: told }
  return `${plainJson(told.length === 1 ? told[0] : list)}\n`
}

export function timelineText(timeline: Timeline): string {
  const lines = [...heading(timeline), '', ...(timeline.cascade ? cascadeLines(timeline) : stepLines(timeline))]
  return `${lines.map((line) => plainLine(line, LONG).trimEnd()).join('\n')}\n`
}

const STATES = { gone: 'gone', deleting: 'still being deleted', there: 'not being deleted' } as const

function heading({ object, state, others, steps, source }: Timeline): string[] {
  const own = steps.filter(({ object: { uid } }) => uid === object.uid)
  const [first] = own
  const last = own.at(-1)
  const took = first === undefined || last === undefined ? 0 : Date.parse(last.time) - Date.parse(first.time)
  return [
    `${identityWords(object)}${placeWords(object)}: ${STATES[state]}${own.length > 1 ? `, ${waitWords(took)} from the first step to the last` : ''}`,
    `  uid ${object.uid}`,
    ...(source === 'recording'
      ? ['  by what was seen from outside: writers are inferred where no audit log names them']
      : []),
    ...(others.length === 0 ? [] : [`  others had this name before: --uid ${others.join(', --uid ')}`]),
  ]
}

/** The object's own steps, each with the chain of those that led to it. */
function stepLines({ object, steps }: Timeline): string[] {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const told = new Set<string>()
  return steps
    .filter(({ object: { uid } }) => uid === object.uid)
    .flatMap((step) => [
      `${step.time}  ${changesWords(step)}`,
      `  by ${byWords(step)}${agentWords(step)}: ${requestWords(step)}${auditWords(step)}`,
      ...chainLines(step, byId, told),
    ])
}

/** What the request named itself as, beyond what the component says. */
function agentWords({ by: { component, user, userAgent } }: TimelineStep): string {
  const told = [component === 'user' ? '' : user, userAgent].filter((text) => text !== '')
  return told.length === 0 ? '' : ` (${told.map((text) => text.slice(0, 80)).join(', ')})`
}

const auditWords = ({ request: { auditId } }: TimelineStep) => (auditId === undefined ? '' : `; audit id ${auditId}`)

function chainLines(step: TimelineStep, byId: ReadonlyMap<string, TimelineStep>, told: Set<string>): string[] {
  const lines: string[] = []
  let depth = 1
  for (let at: TimelineStep | undefined = step; at !== undefined; depth++) {
    const { cause }: TimelineStep = at
    const led: TimelineStep | undefined = cause.step === undefined ? undefined : byId.get(cause.step)
    const indent = '  '.repeat(depth)
    const waited = cause.waitedMs === undefined ? '' : `${waitWords(cause.waitedMs)} after `
    const before: string =
      led === undefined ? '' : `${identityWords(led.object)} ${changesWords(led)} by ${byWords(led)} `
    lines.push(`${indent}${waited}${before}(${cause.certainty}: ${cause.why})`)
    // What led to the object's own earlier steps was said there.
    if (led === undefined || led.object.uid === step.object.uid || told.has(led.id)) break
    told.add(led.id)
    at = led
  }
  return lines
}

const cascadeLines = ({ steps }: Timeline) => treeOrder(steps).map(nodeLine)

/** What is deeper is not indented further: a line that is all margin says nothing. */
const DEEPEST = 40

function nodeLine({ step, depth }: TreeNode): string {
  const words = `${identityWords(step.object)} ${changesWords(step)} by ${byWords(step)}`
  const { waitedMs = 0, certainty, why } = step.cause
  // That its writer asked for it is said already.
  if (depth === 0) return `${step.time}  ${words}${why.endsWith(' asked for it') ? '' : ` (${certainty}: ${why})`}`
  return `${'  '.repeat(Math.min(depth, DEEPEST))}+${waitWords(waitedMs)}  ${words} (${certainty}: ${why})`
}
