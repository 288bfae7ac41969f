/** Plans as pictures: a bar of time for each object (SVG), and the graph of what leads to what (DOT). */
import { plainLine, plainMarkup } from '../../base/plain-text.ts'
import { identityWords, placeWords, waitWords } from '../timeline/words.ts'
import type { Going, Plan, PlannedObject } from './plan.ts'

const ROW = 22
const TOP = 60
const LABEL = 420
const WIDTH = 520
const MOST_ROWS = 1000
const LONGEST = 64

const words = (object: PlannedObject) => plainLine(`${identityWords(object)}${placeWords(object)}`, LONGEST)

/** A long time is wider than a short one, not a thousand times as wide. */
const scale = (ms: number, most: number) =>
  (Math.log10(1 + ms / 100) / Math.log10(1 + Math.max(most, 1000) / 100)) * WIDTH

export function planSvg({ deed, goes, stays }: Plan): string {
  const late = new Set(goes.map(({ object }) => object.uid))
  const held = stays.filter(({ object }) => !late.has(object.uid))
  const shown = goes.slice(0, MOST_ROWS)
  const most = Math.max(1000, ...shown.map(({ removed }) => removed.most))
  const count = shown.length + held.length
  const [width, height] = [LABEL + WIDTH + 140, TOP + (count + 1) * ROW]
  const title = plainLine(`What comes of ${deed}`, 200)
  const rows = shown.map((going, at) => row(going, TOP + at * ROW, most))
  const left = held.map(({ object }, at) => {
    const y = TOP + (shown.length + at) * ROW
    return `<text x="12" y="${y + 15}">${plainMarkup(words(object))}</text><rect class="stays" x="${LABEL}" y="${y + 4}" width="${WIDTH}" height="14"/><text class="small" x="${LABEL + WIDTH + 8}" y="${y + 15}">stays</text>`
  })
  const cut =
    goes.length > shown.length
      ? [`<text class="small" x="12" y="${height - 8}">and ${goes.length - shown.length} more</text>`]
      : []
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<title>${plainMarkup(title)}</title>`,
    STYLE,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    `<text class="title" x="12" y="26">${plainMarkup(title)}</text>`,
    `<text class="small" x="12" y="46">from when it is marked; a lighter bar: it depends on how long programs take to end</text>`,
    ...rows,
    ...left,
    ...cut,
    '</svg>',
    '',
  ].join('\n')
}

function row({ object, marked, removed, certainty }: Going, y: number, most: number): string {
  const at = (ms: number) => LABEL + scale(ms, most)
  const [from, least, last] = [at(marked?.least ?? 0), at(removed.least), at(removed.most)]
  const kind = certainty === 'goes' ? 'goes' : 'maybe'
  const time =
    removed.least === removed.most
      ? waitWords(removed.least)
      : `${waitWords(removed.least)} to ${waitWords(removed.most)}`
  return [
    `<text x="12" y="${y + 15}">${plainMarkup(words(object))}</text>`,
    `<rect class="${kind}" x="${from.toFixed(1)}" y="${y + 4}" width="${Math.max(2, least - from).toFixed(1)}" height="14"/>`,
    ...(last > least
      ? [`<rect class="range" x="${least.toFixed(1)}" y="${y + 4}" width="${(last - least).toFixed(1)}" height="14"/>`]
      : []),
    `<text class="small" x="${LABEL + WIDTH + 8}" y="${y + 15}">${plainMarkup(time)}${certainty === 'goes' ? '' : ` (${certainty})`}</text>`,
  ].join('')
}

const STYLE = `<style>
.ground { fill: #ffffff } text { fill: #1f2328 } .title { font-size: 15px; font-weight: bold } .small { font-size: 11px; fill: #59636e }
.goes { fill: #cf222e } .range { fill: #cf222e; fill-opacity: 0.35 } .maybe { fill: #bf8700 } .stays { fill: #8250df }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117 } text { fill: #e6edf3 } .small { fill: #9198a1 }
.goes { fill: #f85149 } .range { fill: #f85149 } .maybe { fill: #d29922 } .stays { fill: #ab7df8 }
}
</style>`

/** For Graphviz: an edge from each object to those that go by its step. */
export function planDot({ deed, goes, stays, orphaned }: Plan): string {
  const quoted = (text: string) => `"${plainLine(text, 200).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  const label = (object: PlannedObject, more: string) => quoted(`${words(object)}: ${more}`)
  const late = new Set(goes.map(({ object }) => object.uid))
  const known = new Set([...late, ...stays.map(({ object }) => object.uid)])
  const held = stays.filter(({ object }) => !late.has(object.uid))
  return [
    'digraph plan {',
    `  label=${quoted(deed)}; rankdir=LR; node [shape=box]`,
    ...goes.map(
      ({ object, order, certainty }) =>
        `  ${quoted(object.uid)} [label=${label(object, certainty === 'goes' ? `goes, ${order + 1}` : certainty)}]`,
    ),
    ...held.map(({ object }) => `  ${quoted(object.uid)} [label=${label(object, 'stays')}, style=bold]`),
    ...orphaned.map(({ object }) => `  ${quoted(object.uid)} [label=${label(object, 'orphaned')}, style=dashed]`),
    ...goes.flatMap(({ object, cause }) =>
      cause === undefined || !known.has(cause) ? [] : [`  ${quoted(cause)} -> ${quoted(object.uid)}`],
    ),
    '}',
    '',
  ].join('\n')
}
