/** Draws an owner graph on a canvas: what is in view, as much of it as can be read at its size. */

import { type CanvasPoint, type FrameBox, NODE_HEIGHT, NODE_WIDTH } from '../graph/layout.ts'
import type { Appearance, Tone } from '../graph/looks.ts'
import type { DrawnNode, Graph } from '../graph/model.ts'
import type { DrawnChain } from './store.ts'

export interface View {
  readonly x: number
  readonly y: number
  /** Scale. */
  readonly k: number
}

export interface Picture {
  readonly graph: Graph
  readonly places: ReadonlyMap<string, CanvasPoint>
  readonly frames: readonly FrameBox[]
  readonly looks: ReadonlyMap<string, Appearance>
  readonly selected: string | undefined
  readonly hovered: string | undefined
  /** Pods of the node that is selected, and the like. */
  readonly related: ReadonlySet<string>
  readonly chain: DrawnChain
  /** Of what has just gone: where it was, and how much of its light is left. */
  readonly lights: readonly { readonly place: CanvasPoint; readonly left: number }[]
  readonly hasFocus: boolean
}

/** Below these scales there is only the name, then only the colour. */
const ALL_WORDS = 0.62
const NAME_ONLY = 0.3
/** On the screen: a frame that is narrower has no name, which would stand on others. */
const NARROWEST = 48
const FONT = 'system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif'

export type Palette = Readonly<Record<string, string>>

const COLOURS = [
  ...['ground', 'frame', 'line', 'text', 'faint', 'card', 'accent', 'chain'],
  ...['there', 'waiting', 'failing', 'going', 'held', 'holds', 'gone', 'absent', 'goes', 'maybe', 'stays', 'orphaned'],
]

/** As the style sheet has them for light or dark. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element)
  return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]))
}

export function paint(
  canvas: CanvasRenderingContext2D,
  size: { readonly width: number; readonly height: number; readonly ratio: number },
  view: View,
  palette: Palette,
  picture: Picture,
): void {
  const { width, height, ratio } = size
  const colour = (name: string) => palette[name] ?? '#888'
  canvas.setTransform(ratio, 0, 0, ratio, 0, 0)
  canvas.fillStyle = colour('ground')
  canvas.fillRect(0, 0, width, height)
  canvas.setTransform(ratio * view.k, 0, 0, ratio * view.k, ratio * view.x, ratio * view.y)
  const seen = {
    left: -view.x / view.k,
    top: -view.y / view.k,
    right: (width - view.x) / view.k,
    bottom: (height - view.y) / view.k,
  }
  const isSeen = ({ x, y }: CanvasPoint, w = NODE_WIDTH, h = NODE_HEIGHT) =>
    x < seen.right && y < seen.bottom && x + w > seen.left && y + h > seen.top

  const { graph, places, frames, looks } = picture
  for (const frame of frames) if (isSeen(frame, frame.width, frame.height)) paintFrame(canvas, view, frame, colour)
  paintOwners(canvas, view, picture, seen, colour)
  const drawn: [DrawnNode, CanvasPoint, Appearance][] = []
  for (const node of graph.nodes.values()) {
    const place = places.get(node.uid)
    const look = looks.get(node.uid)
    if (place !== undefined && look !== undefined && isSeen(place)) drawn.push([node, place, look])
  }
  if (view.k < NAME_ONLY) paintSmall(canvas, drawn, colour)
  else for (const [node, place, look] of drawn) paintCard(canvas, view, node, place, look, colour)
  paintMarks(canvas, view, picture, drawn, colour)
  for (const { place, left } of picture.lights) {
    canvas.globalAlpha = left * 0.8
    canvas.strokeStyle = colour('goes')
    canvas.lineWidth = 3 / view.k
    const grown = (1 - left) * 14
    canvas.strokeRect(place.x - grown, place.y - grown, NODE_WIDTH + 2 * grown, NODE_HEIGHT + 2 * grown)
    canvas.globalAlpha = 1
  }
}

type Colour = (name: string) => string

function paintFrame(canvas: CanvasRenderingContext2D, { k }: View, frame: FrameBox, colour: Colour): void {
  canvas.beginPath()
  canvas.roundRect(frame.x, frame.y, frame.width, frame.height, 12)
  canvas.fillStyle = colour('frame')
  canvas.fill()
  canvas.strokeStyle = colour('line')
  canvas.lineWidth = 1 / k
  canvas.stroke()
  if (frame.width * k < NARROWEST) return
  // Its name can be read at any size, above it where the inside is small.
  const size = Math.max(15, 12 / k)
  canvas.font = `600 ${size}px ${FONT}`
  canvas.fillStyle = colour('faint')
  canvas.textBaseline = 'alphabetic'
  const name = frame.namespace === '' ? 'no namespace' : frame.namespace
  canvas.fillText(cut(name, lettersIn(canvas, frame.width)), frame.x + 4, frame.y - 6 / k)
}

function paintOwners(
  canvas: CanvasRenderingContext2D,
  { k }: View,
  { graph, places }: Picture,
  seen: { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number },
  colour: Colour,
): void {
  canvas.lineWidth = Math.max(1, 0.8 / k)
  canvas.strokeStyle = colour('line')
  canvas.beginPath()
  for (const node of graph.nodes.values()) {
    const from = places.get(node.uid)
    if (from === undefined || node.children.length === 0) continue
    for (const child of node.children) {
      const to = places.get(child)
      if (to === undefined) continue
      if (Math.max(from.y, to.y) + NODE_HEIGHT < seen.top || Math.min(from.y, to.y) > seen.bottom) continue
      if (to.x < seen.left || from.x > seen.right) continue
      ownerLine(canvas, from, to)
    }
  }
  canvas.stroke()
  canvas.beginPath()
  canvas.setLineDash([5, 4])
  for (const { uid, alsoOwnedBy } of graph.nodes.values()) {
    const to = places.get(uid)
    if (to === undefined || alsoOwnedBy.length === 0) continue
    for (const owner of alsoOwnedBy) {
      const from = places.get(owner)
      if (from !== undefined) curve(canvas, from, to)
    }
  }
  canvas.stroke()
  canvas.setLineDash([])
}

/** Right out of the owner, down its trunk, right into the dependent. */
function ownerLine(canvas: CanvasRenderingContext2D, from: CanvasPoint, to: CanvasPoint): void {
  const [startX, startY] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2]
  const endY = to.y + NODE_HEIGHT / 2
  const trunk = startX + 20
  canvas.moveTo(startX, startY)
  canvas.lineTo(trunk, startY)
  canvas.lineTo(trunk, endY)
  canvas.lineTo(Math.max(to.x, trunk), endY)
}

function curve(canvas: CanvasRenderingContext2D, from: CanvasPoint, to: CanvasPoint): void {
  const [x1, y1] = [from.x + NODE_WIDTH / 2, from.y + (to.y > from.y ? NODE_HEIGHT : 0)]
  const [x2, y2] = [to.x + NODE_WIDTH / 2, to.y + (to.y > from.y ? 0 : NODE_HEIGHT)]
  canvas.moveTo(x1, y1)
  canvas.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2)
}

function paintSmall(
  canvas: CanvasRenderingContext2D,
  drawn: readonly (readonly [DrawnNode, CanvasPoint, Appearance])[],
  colour: Colour,
) {
  const byTone = Map.groupBy(drawn, ([, , { tone, dim }]) => `${tone} ${dim}`)
  for (const group of byTone.values()) {
    const [, , { tone, dim }] = group[0] as readonly [DrawnNode, CanvasPoint, Appearance]
    canvas.globalAlpha = dim ? 0.35 : 1
    canvas.fillStyle = colour(tone)
    canvas.beginPath()
    for (const [, { x, y }] of group) canvas.rect(x, y, NODE_WIDTH, NODE_HEIGHT)
    canvas.fill()
  }
  canvas.globalAlpha = 1
}

const DASHED: ReadonlySet<Tone> = new Set(['absent', 'gone', 'orphaned', 'maybe'])

function paintCard(
  canvas: CanvasRenderingContext2D,
  { k }: View,
  node: DrawnNode,
  { x, y }: CanvasPoint,
  { tone, words, dim }: Appearance,
  colour: Colour,
): void {
  canvas.globalAlpha = dim ? 0.4 : 1
  canvas.beginPath()
  canvas.roundRect(x, y, NODE_WIDTH, NODE_HEIGHT, 6)
  canvas.fillStyle = colour('card')
  canvas.fill()
  const isPlain = tone === 'there'
  canvas.strokeStyle = colour(tone)
  canvas.lineWidth = isPlain ? 1.2 : 2
  if (DASHED.has(tone)) canvas.setLineDash([6, 4])
  canvas.stroke()
  canvas.setLineDash([])
  canvas.beginPath()
  canvas.roundRect(x, y, isPlain ? 5 : 9, NODE_HEIGHT, [6, 0, 0, 6])
  canvas.fillStyle = colour(tone)
  canvas.fill()
  canvas.textBaseline = 'middle'
  canvas.fillStyle = colour('text')
  const left = x + 15
  const room = NODE_WIDTH - 20
  if (k < ALL_WORDS) {
    const short = node.object?.short ?? node.kind
    canvas.font = `15px ${FONT}`
    canvas.fillStyle = colour('faint')
    canvas.fillText(short, left, y + NODE_HEIGHT / 2)
    const taken = canvas.measureText(short).width + 7
    canvas.font = `600 16px ${FONT}`
    canvas.fillStyle = colour('text')
    canvas.fillText(cutName(node.name, lettersIn(canvas, room - taken)), left + taken, y + NODE_HEIGHT / 2)
  } else {
    canvas.font = `600 12px ${FONT}`
    canvas.fillText(cutName(node.name, lettersIn(canvas, room)), left, y + 13)
    canvas.font = `11px ${FONT}`
    canvas.fillStyle = colour('faint')
    canvas.fillText(cut(words === '' ? node.kind : `${node.kind} · ${words}`, lettersIn(canvas, room)), left, y + 28)
  }
  if (tone === 'gone') {
    canvas.strokeStyle = colour('faint')
    canvas.lineWidth = 1
    canvas.beginPath()
    canvas.moveTo(x + 12, y + 13)
    canvas.lineTo(x + NODE_WIDTH - 12, y + 13)
    canvas.stroke()
  }
  canvas.globalAlpha = 1
}

function paintMarks(
  canvas: CanvasRenderingContext2D,
  { k }: View,
  { selected, hovered, related, chain, places, hasFocus }: Picture,
  drawn: readonly (readonly [DrawnNode, CanvasPoint, Appearance])[],
  colour: Colour,
): void {
  const ring = (place: CanvasPoint, width: number, name: string) => {
    canvas.strokeStyle = colour(name)
    canvas.lineWidth = width / Math.min(1, k)
    canvas.beginPath()
    canvas.roundRect(place.x - 4, place.y - 4, NODE_WIDTH + 8, NODE_HEIGHT + 8, 9)
    canvas.stroke()
  }
  for (const [{ uid }, place] of drawn) if (related.has(uid)) ring(place, 1.5, 'accent')
  const at = (uid: string | undefined) => (uid === undefined ? undefined : places.get(uid))
  const under = at(hovered)
  if (under !== undefined && hovered !== selected) ring(under, 1, 'faint')
  const chosen = at(selected)
  if (chosen !== undefined) ring(chosen, hasFocus ? 3.5 : 2.5, 'accent')
  // What is to be read stands above the rings.
  for (const [from, to] of chain.pairs) arrow(canvas, k, places.get(from), places.get(to), colour('chain'))
  for (const [, place, { badge, dim, tone }] of drawn) {
    if (badge === undefined || k < 0.15) continue
    const size = Math.max(12, 9 / k)
    canvas.font = `700 ${size}px ${FONT}`
    const width = canvas.measureText(badge).width + size * 0.9
    canvas.globalAlpha = dim ? 0.55 : 1
    canvas.fillStyle = colour(tone)
    canvas.beginPath()
    canvas.roundRect(place.x + NODE_WIDTH - width + 8, place.y - size * 0.6, width, size * 1.4, size * 0.7)
    canvas.fill()
    canvas.fillStyle = colour('card')
    canvas.textBaseline = 'middle'
    canvas.fillText(badge, place.x + NODE_WIDTH - width + 8 + size * 0.45, place.y + size * 0.14)
    canvas.globalAlpha = 1
  }
  const end = chain.end === undefined ? undefined : places.get(chain.end.uid)
  if (chain.end !== undefined && end !== undefined) paintEnd(canvas, k, end, chain.end.words, colour)
}

/** The verdict, below the object at which the chain ends. */
function paintEnd(
  canvas: CanvasRenderingContext2D,
  k: number,
  { x, y }: CanvasPoint,
  words: string,
  colour: Colour,
): void {
  const size = Math.max(12, 10 / k)
  canvas.font = `700 ${size}px ${FONT}`
  const width = canvas.measureText(words).width + size * 1.4
  canvas.fillStyle = colour('chain')
  canvas.beginPath()
  canvas.roundRect(x + 14, y + NODE_HEIGHT - size * 0.35, width, size * 1.7, size * 0.85)
  canvas.fill()
  canvas.fillStyle = colour('card')
  canvas.textBaseline = 'middle'
  canvas.fillText(words, x + 14 + size * 0.7, y + NODE_HEIGHT + size * 0.52)
}

function arrow(
  canvas: CanvasRenderingContext2D,
  k: number,
  from: CanvasPoint | undefined,
  to: CanvasPoint | undefined,
  colour: string,
) {
  if (from === undefined || to === undefined) return
  const isRight = to.x > from.x + NODE_WIDTH / 2
  const isLeft = from.x > to.x + NODE_WIDTH / 2
  const isDown = to.y > from.y
  const x1 = isRight ? from.x + NODE_WIDTH : isLeft ? from.x : from.x + NODE_WIDTH * 0.7
  const x2 = isRight ? to.x : isLeft ? to.x + NODE_WIDTH : to.x + NODE_WIDTH * 0.7
  const isSide = isRight || isLeft
  const y1 = isSide ? from.y + NODE_HEIGHT / 2 : isDown ? from.y + NODE_HEIGHT : from.y
  const y2 = isSide ? to.y + NODE_HEIGHT / 2 : isDown ? to.y : to.y + NODE_HEIGHT
  const [bendX, bendY] = isSide ? [(x2 - x1) / 2, 0] : [0, (y2 - y1) / 2]
  const size = Math.max(9, 7 / k)
  canvas.strokeStyle = colour
  canvas.fillStyle = colour
  canvas.lineWidth = Math.max(2.5, 2 / k)
  canvas.beginPath()
  canvas.moveTo(x1, y1)
  canvas.bezierCurveTo(x1 + bendX, y1 + bendY, x2 - bendX, y2 - bendY, x2, y2)
  canvas.stroke()
  const angle = isSide ? (x2 > x1 ? 0 : Math.PI) : isDown ? Math.PI / 2 : -Math.PI / 2
  canvas.beginPath()
  canvas.moveTo(x2, y2)
  for (const turn of [2.6, -2.6]) canvas.lineTo(x2 + size * Math.cos(angle + turn), y2 + size * Math.sin(angle + turn))
  canvas.fill()
}

const widths = new Map<string, number>()
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-'

/** How many letters of the canvas' font go into a width, about. */
function lettersIn(canvas: CanvasRenderingContext2D, width: number): number {
  let one = widths.get(canvas.font)
  if (one === undefined) {
    // Some names have more wide letters than others.
    one = (canvas.measureText(LETTERS).width / LETTERS.length) * 1.08
    widths.set(canvas.font, one)
  }
  return Math.floor(width / one)
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text)

/** Names that controllers make differ at their ends. */
function cutName(text: string, most: number): string {
  if (text.length <= most) return text
  const end = Math.min(6, Math.max(1, Math.floor(most / 3)))
  return `${text.slice(0, Math.max(1, most - end - 1))}…${text.slice(-end)}`
}
