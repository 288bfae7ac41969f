/**
 * A timeline as a picture: a row for each object, a mark for each step, an arrow from each step to those it led to. Time goes from left to
 * right; long waits are drawn shorter than they were, and say how long they took. No script, no reference to anything outside.
 */
import { plainMarkup } from '../../base/plain-text.ts'
import type { Timeline, TimelineStep } from './timeline-types.ts'
import { treeOrder } from './tree.ts'
import { byWords, changesWords, identityWords, placeWords, waitWords } from './words.ts'

const ROW = 44
const TOP = 56
const LABEL = 250
const MARGIN = 24
/** Rows of one picture: a browser draws no more in good time. */
const MOST_ROWS = 500
const LONGEST_LABEL = 40
/** About how wide a letter is. */
const LETTER = 5.6

export function timelineSvg(timeline: Timeline): string {
  const uids = [...new Set(treeOrder(timeline.steps).map(({ step }) => step.object.uid))]
  const shown = new Set(uids.slice(0, MOST_ROWS))
  const steps = timeline.steps.filter(({ object: { uid } }) => shown.has(uid))
  const rows = new Map([...shown].map((uid, at) => [uid, TOP + at * ROW + ROW / 2]))
  const columns = columnsOf(steps)
  const width = LABEL + MARGIN * 2 + (columns.at(-1)?.x ?? 0) + 170
  const height = TOP + shown.size * ROW + MARGIN + (uids.length > shown.size ? 20 : 0)
  const at = new Map(
    columns.map(({ step, x }) => [step.id, { x: LABEL + MARGIN + x, y: rows.get(step.object.uid) ?? 0 }]),
  )
  const byId = new Map(steps.map((step) => [step.id, step]))
  const { object } = timeline
  const title = `The end of ${identityWords(object)}${placeWords(object)}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<title>${plainMarkup(title)}</title>`,
    STYLE,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    `<text class="title" x="${MARGIN / 2}" y="24">${plainMarkup(title)}</text>`,
    `<text class="small" x="${MARGIN / 2}" y="42">${plainMarkup(beginning(steps))}</text>`,
    ...[...shown].flatMap((uid) => rowOf(uid, steps, rows.get(uid) ?? 0, at)),
    ...steps.flatMap((step) => arrowTo(step, byId, at)),
    ...steps.map((step) => markOf(step, at)),
    ...(uids.length > shown.size
      ? [`<text class="small" x="${MARGIN / 2}" y="${height - 10}">and ${uids.length - shown.size} more objects</text>`]
      : []),
    '</svg>',
    '',
  ].join('\n')
}

const STYLE = `<style>
.ground { fill: #ffffff } text { fill: #1f2328 } .title { font-size: 15px; font-weight: bold } .small { font-size: 11px; fill: #59636e }
.row { stroke: #d1d9e0; stroke-width: 1 } .life { stroke: #afb8c1; stroke-width: 4 }
.arrow { fill: none; stroke: #59636e; stroke-width: 1.2 } .inferred { stroke-dasharray: 4 3 } .head { fill: #59636e }
.marked { fill: #bf8700 } .removed { fill: #cf222e } .finalizer { fill: #0969da } .owner { fill: #8250df }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117 } text { fill: #e6edf3 } .small { fill: #9198a1 } .row { stroke: #3d444d } .life { stroke: #656c76 }
.arrow { stroke: #9198a1 } .head { fill: #9198a1 } .marked { fill: #d29922 } .removed { fill: #f85149 } .finalizer { fill: #4493f8 } .owner { fill: #ab7df8 }
}
</style>`

interface Point {
  readonly x: number
  readonly y: number
}

/** Half a minute is wider than a moment, not a thousand times as wide; what stands beside a mark has room before the next one of its row. */
function columnsOf(steps: readonly TimelineStep[]): { readonly step: TimelineStep; readonly x: number }[] {
  let x = 0
  let before: TimelineStep | undefined
  const free = new Map<string, number>()
  return steps.map((step) => {
    const { uid } = step.object
    if (before !== undefined) {
      const waited = Math.max(0, Date.parse(step.time) - Date.parse(before.time))
      x += isOneRequest(before, step) ? 16 : 34 + Math.min(160, 30 * Math.log10(1 + waited / 10))
    }
    x = Math.round(Math.max(x, free.get(uid) ?? 0))
    free.set(uid, x + (labelOf(step) === '' ? 0 : 20 + labelOf(step).length * LETTER))
    before = step
    return { step, x }
  })
}

const isOneRequest = (first: TimelineStep, second: TimelineStep) =>
  first.revision === second.revision && first.object.uid === second.object.uid

const beginning = ([first]: readonly TimelineStep[]) => (first === undefined ? '' : `from ${first.time}`)

function rowOf(uid: string, steps: readonly TimelineStep[], y: number, at: ReadonlyMap<string, Point>): string[] {
  const own = steps.filter(({ object }) => object.uid === uid)
  const [first] = own
  const last = own.at(-1)
  const from = at.get(first?.id ?? '')?.x ?? 0
  const to = at.get(last?.id ?? '')?.x ?? 0
  const name = first === undefined ? '' : identityWords(first.object)
  return [
    `<line class="row" x1="${MARGIN / 2}" y1="${y + ROW / 2}" x2="100%" y2="${y + ROW / 2}"/>`,
    `<text x="${MARGIN / 2}" y="${y + 4}">${plainMarkup(name, LONGEST_LABEL - 6)}<title>${plainMarkup(name)}</title></text>`,
    `<line class="life" x1="${from}" y1="${y}" x2="${to}" y2="${y}"/>`,
  ]
}

function arrowTo(
  step: TimelineStep,
  byId: ReadonlyMap<string, TimelineStep>,
  at: ReadonlyMap<string, Point>,
): string[] {
  const { cause } = step
  const led = byId.get(cause.step ?? '')
  const from = at.get(led?.id ?? '')
  const to = at.get(step.id)
  if (led === undefined || from === undefined || to === undefined) return []
  const style = cause.certainty === 'inferred' ? 'arrow inferred' : 'arrow'
  const wait = cause.waitedMs !== undefined && cause.waitedMs >= 1000 ? waitWords(cause.waitedMs) : ''
  const said = `<title>${plainMarkup(`${cause.certainty}: ${cause.why}${wait === '' ? '' : `, after ${wait}`}`)}</title>`
  if (from.y === to.y) {
    if (wait === '') return []
    return [
      `<text class="small" text-anchor="middle" x="${(from.x + to.x) / 2}" y="${from.y - 6}">${plainMarkup(wait)}${said}</text>`,
    ]
  }
  const end = to.y + (to.y > from.y ? -8 : 8)
  const back = to.y > from.y ? -5 : 5
  const path = `M${from.x} ${from.y} C${from.x} ${(from.y + end) / 2} ${to.x} ${(from.y + end) / 2} ${to.x} ${end}`
  return [
    `<path class="${style}" d="${path}">${said}</path>`,
    `<path class="head" d="M${to.x} ${end} l-4 ${back} h8 z"/>`,
  ]
}

function markOf(step: TimelineStep, at: ReadonlyMap<string, Point>): string {
  const { x, y } = at.get(step.id) ?? { x: 0, y: 0 }
  const said = `${step.time}: ${changesWords(step)}, by ${byWords(step)}`
  return [
    `<circle class="${kindOf(step)}" cx="${x}" cy="${y}" r="6"><title>${plainMarkup(said)}</title></circle>`,
    ...(labelOf(step) === ''
      ? []
      : [`<text class="small" x="${x + 9}" y="${y + 16}">${plainMarkup(labelOf(step))}</text>`]),
  ].join('')
}

/** The first of two steps of one request has none: the second says the same. */
function labelOf(step: TimelineStep): string {
  if (step.id !== String(step.revision)) return ''
  const label = `${shortOf(step)}: ${byWords(step)}`
  return label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label
}

/** The change that counts most. */
function kindOf({ changes }: TimelineStep): string {
  const has = (type: string) => changes.some((change) => change.type === type)
  if (has('removed')) return 'removed'
  if (has('marked') || has('grace-shortened')) return 'marked'
  return changes.some(({ type }) => type.startsWith('owner')) ? 'owner' : 'finalizer'
}

const shortOf = (step: TimelineStep): string => {
  const kind = kindOf(step)
  return kind === 'removed' || kind === 'marked' ? kind : changesWords(step)
}
