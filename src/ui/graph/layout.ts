/**
 * Where each node of an owner graph is drawn: each tree of owners tidily from left to right (d3-hierarchy, in time that grows with the
 * number of nodes alone), many leaves of one owner as a block, trees beside each other in the frame of their namespace. Pure.
 */
import { type HierarchyPointNode, hierarchy, tree } from 'd3-hierarchy'
import type { DrawnNode, Graph, NamespaceFrame } from './model.ts'

export const NODE_WIDTH = 216
export const NODE_HEIGHT = 40
const GAP = 8
const COLUMN = NODE_WIDTH + 48
const ROW = NODE_HEIGHT + GAP
/** More leaves than this stand in a block of several columns. */
const MOST_IN_ROW = 8
/** How much wider than high blocks and frames should be. */
const BLOCK_SHAPE = 1.4
const FRAME_SHAPE = 1.7
const TREE_GAP = 28
const FRAME_PAD = 20
/** Room for the Namespace itself. */
const FRAME_HEAD = 84
const FRAME_GAP = 48

export interface CanvasPoint {
  readonly x: number
  readonly y: number
}

export interface FrameBox extends CanvasPoint {
  readonly namespace: string
  readonly width: number
  readonly height: number
}

export interface Layout {
  /** Left upper corners, by uid. */
  readonly places: ReadonlyMap<string, CanvasPoint>
  readonly frames: readonly FrameBox[]
  readonly width: number
  readonly height: number
}

/** A node, or a block of leaves, or the room that a block takes in the columns to its right. */
interface Piece {
  readonly uids: readonly string[]
  readonly columns: number
  readonly rows: number
  readonly children: readonly Piece[]
}

interface Box {
  readonly width: number
  readonly height: number
  readonly places: readonly (readonly [uid: string, place: CanvasPoint])[]
}

export function layoutOf(graph: Graph): Layout {
  const boxes = graph.frames.map((frame) => ({ frame, box: frameBox(graph, frame) }))
  const packed = shelves(
    boxes.map(({ box }) => box),
    FRAME_GAP,
    FRAME_SHAPE,
  )
  const places = new Map<string, CanvasPoint>()
  const frames: FrameBox[] = []
  for (const [at, { frame, box }] of boxes.entries()) {
    const { x, y } = packed.corners[at] as CanvasPoint
    frames.push({ namespace: frame.namespace, x, y, width: box.width, height: box.height })
    for (const [uid, place] of box.places) places.set(uid, { x: x + place.x, y: y + place.y })
  }
  return { places, frames, width: packed.width, height: packed.height }
}

function frameBox({ nodes }: Graph, { roots, space }: NamespaceFrame): Box {
  const trees: Box[] = []
  const alone: string[] = []
  for (const uid of roots) {
    const node = nodes.get(uid) as DrawnNode
    if (node.children.length === 0) alone.push(uid)
    else trees.push(treeBox(pieceOf(node, nodes)))
  }
  // High ones beside high ones; within a class the order stays what it was, so that little moves when something changes.
  const ordered = trees
    .map((box, at) => ({ box, at, high: Math.ceil(Math.log2(box.height)) }))
    .toSorted((a, b) => b.high - a.high || a.at - b.at)
    .map(({ box }) => box)
  if (alone.length > 0) ordered.push(block(alone))
  const { corners, width, height } = shelves(ordered, TREE_GAP, FRAME_SHAPE)
  const head = space === undefined ? FRAME_PAD : FRAME_HEAD
  const places = ordered.flatMap((box, at) => {
    const corner = corners[at] as CanvasPoint
    return box.places.map(([uid, { x, y }]) => [uid, { x: FRAME_PAD + corner.x + x, y: head + corner.y + y }] as const)
  })
  return {
    width: Math.max(width, NODE_WIDTH) + 2 * FRAME_PAD,
    height: height + head + FRAME_PAD,
    places: space === undefined ? places : [[space, { x: FRAME_PAD, y: (FRAME_HEAD - NODE_HEIGHT) / 3 }], ...places],
  }
}

/** Side by side, as many as fit, the next row below the highest; in the width whose shape is the nearest to the wanted one. */
function shelves(boxes: readonly Pick<Box, 'width' | 'height'>[], gap: number, shape: number) {
  const area = boxes.reduce((sum, { width, height }) => sum + (width + gap) * (height + gap), 0)
  const widest = boxes.reduce((most, { width }) => Math.max(most, width), 0)
  const fair = Math.max(widest, Math.sqrt(area * shape))
  const badness = ({ width, height }: { width: number; height: number }) => Math.abs(Math.log(width / height / shape))
  // A few large boxes may all miss a limit by little and stand in one column: somewhat wider ones are tried, too.
  return WIDTHS.map((factor) => packed(boxes, gap, fair * factor)).reduce((best, next) =>
    badness(next) < badness(best) ? next : best,
  )
}

const WIDTHS = [1, 1.15, 1.35, 1.6]

function packed(boxes: readonly Pick<Box, 'width' | 'height'>[], gap: number, limit: number) {
  const corners: CanvasPoint[] = []
  let [x, y, high, width] = [0, 0, 0, 0]
  for (const box of boxes) {
    if (x > 0 && x + box.width > limit) {
      y += high + gap
      x = 0
      high = 0
    }
    corners.push({ x, y })
    x += box.width + gap
    width = Math.max(width, x - gap)
    high = Math.max(high, box.height)
  }
  return { corners, width, height: y + high }
}

const inBlock = (at: number, columns: number): CanvasPoint => ({
  x: (at % columns) * (NODE_WIDTH + GAP),
  y: Math.floor(at / columns) * ROW,
})

const columnsFor = (count: number) =>
  count <= MOST_IN_ROW ? 1 : Math.max(2, Math.round(Math.sqrt((count * ROW * BLOCK_SHAPE) / (NODE_WIDTH + GAP))))

function block(uids: readonly string[]): Box {
  const columns = Math.min(uids.length, Math.max(columnsFor(uids.length), 2))
  const rows = Math.ceil(uids.length / columns)
  return {
    width: columns * (NODE_WIDTH + GAP) - GAP,
    height: rows * ROW - GAP,
    places: uids.map((uid, at) => [uid, inBlock(at, columns)]),
  }
}

function pieceOf(node: DrawnNode, nodes: ReadonlyMap<string, DrawnNode>): Piece {
  const below = node.children.map((uid) => nodes.get(uid)).filter((child) => child !== undefined)
  const leaves = below.filter(({ children }) => children.length === 0)
  const others = below.filter(({ children }) => children.length > 0).map((child) => pieceOf(child, nodes))
  const one = (child: DrawnNode): Piece => ({ uids: [child.uid], columns: 1, rows: 1, children: [] })
  const own = leaves.length > MOST_IN_ROW ? [blockPiece(leaves.map(({ uid }) => uid))] : leaves.map(one)
  return { uids: [node.uid], columns: 1, rows: 1, children: [...others, ...own] }
}

function blockPiece(uids: readonly string[]): Piece {
  const columns = columnsFor(uids.length)
  const rows = Math.ceil(uids.length / columns)
  // In the columns that it reaches into it keeps others away.
  const reach = Math.ceil((columns * (NODE_WIDTH + GAP)) / COLUMN) - 1
  let children: readonly Piece[] = []
  for (let at = 0; at < reach; at++) children = [{ uids: [], columns: 0, rows, children }]
  return { uids, columns, rows, children }
}

function treeBox(root: Piece): Box {
  const placed = tree<Piece>()
    .nodeSize([1, 1])
    .separation((a, b) => (a.data.rows + b.data.rows) / 2)(hierarchy(root, ({ children }) => children))
  const all = placed.descendants()
  const topOf = ({ x, data }: HierarchyPointNode<Piece>) => (x - data.rows / 2) * ROW
  const top = all.reduce((least, node) => Math.min(least, topOf(node)), Number.POSITIVE_INFINITY)
  let [width, height] = [0, 0]
  const places = all.flatMap((node) => {
    const { uids, columns, rows } = node.data
    if (uids.length === 0) return []
    const corner = { x: node.depth * COLUMN, y: topOf(node) - top }
    width = Math.max(width, corner.x + columns * (NODE_WIDTH + GAP) - GAP)
    height = Math.max(height, corner.y + rows * ROW - GAP)
    return uids.map((uid, at): readonly [string, CanvasPoint] => {
      const { x, y } = inBlock(at, columns)
      return [uid, { x: corner.x + x, y: corner.y + y }]
    })
  })
  return { width, height, places }
}
