/** The graph as a picture that moves: wheel, pinch and drag by d3-zoom, arrow keys from node to node, drawn when something has changed. */
import { effect } from '@preact/signals'
import { select as d3Select } from 'd3-selection'
import { type D3ZoomEvent, type ZoomBehavior, zoom, zoomIdentity } from 'd3-zoom'
import { useEffect, useRef } from 'preact/hooks'
import { type CanvasPoint, type Layout, layoutOf, NODE_HEIGHT, NODE_WIDTH } from '../graph/layout.ts'
import { type Appearance, lookOf } from '../graph/looks.ts'
import { type Palette, paint, paletteOf, type View } from './paint.ts'
import {
  chain,
  counts,
  fading,
  graph,
  isLoaded,
  loads,
  objects,
  overlay,
  replay,
  search,
  select,
  selected,
} from './store.ts'
import { theme } from './theme.ts'

/** How long a node takes to its new place. */
const MOVE_MS = 260
/** Closest and farthest. */
const SCALES: [number, number] = [0.02, 2.5]

const isCalm = () => matchMedia('(prefers-reduced-motion: reduce)').matches

export function GraphView() {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => (canvas.current === null ? undefined : run(canvas.current)), [])
  const { all, going, held } = counts.value
  return (
    <div class="graph">
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it takes arrow keys of its own, which an application does */}
      <canvas
        ref={canvas}
        id="graph"
        tabIndex={0}
        role="application"
        aria-roledescription="owner graph"
        aria-label={`Owner graph of ${all} objects: ${going} going, ${held} held`}
        aria-describedby="graph-help"
      />
      <p id="graph-help" class="hidden">
        Arrow keys go from an object to its owner, its first dependent and its neighbours. Enter goes to what is told of
        it. Plus and minus zoom, 0 shows all. The tree of objects has the same contents.
      </p>
      <fieldset class="zoom" aria-label="Zoom">
        <button type="button" onClick={() => zoomBy?.(1.4)} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => zoomBy?.(1 / 1.4)} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => fit?.()} aria-label="Show all">
          ⤢
        </button>
      </fieldset>
    </div>
  )
}

let zoomBy: ((factor: number) => void) | undefined
let fit: (() => void) | undefined
/** Brings a node into view. */
export let reveal: (uid: string) => void = () => {}

function run(canvas: HTMLCanvasElement): () => void {
  const context = canvas.getContext('2d', { alpha: false })
  if (context === null) return () => {}
  let view: View = { x: 0, y: 0, k: 1 }
  let size = { width: 1, height: 1, ratio: 1 }
  let layout: Layout = { places: new Map(), frames: [], width: 0, height: 0 }
  let places: Map<string, CanvasPoint> = new Map()
  let looks: ReadonlyMap<string, Appearance> = new Map()
  let related: ReadonlySet<string> = new Set()
  let palette: Palette = {}
  let hovered: string | undefined
  let began: number | undefined
  let from: ReadonlyMap<string, CanvasPoint> = new Map()
  let frame = 0
  let hasFit = false
  let sought = search.peek()
  /** The view is not that of all any more: it was moved by hand, or to an object. */
  let isMoved = false
  let hasFocus = false

  const redraw = () => {
    if (frame === 0) frame = requestAnimationFrame(draw)
  }

  function draw(now: number): void {
    frame = 0
    const moves = step(now)
    const lights = []
    for (const [uid, { object, until }] of fading) {
      const left = (until - performance.now()) / 1500
      const place = lastPlaces.get(object.uid)
      if (left <= 0 || place === undefined) fading.delete(uid)
      else lights.push({ place, left })
    }
    if (context === null) return
    paint(context, size, view, palette, {
      graph: graph.value,
      places,
      frames: layout.frames,
      looks,
      selected: selected.value,
      hovered,
      related,
      chain: chain.value,
      lights: isCalm() ? [] : lights,
      hasFocus,
    })
    canvas.dataset['drawn'] = String(Number(canvas.dataset['drawn'] ?? 0) + 1)
    if (moves || lights.length > 0) redraw()
  }

  /** Whether nodes are on their way. */
  function step(now: number): boolean {
    if (began === undefined) return false
    const done = Math.min(1, (now - began) / MOVE_MS)
    const eased = 1 - (1 - done) ** 3
    for (const [uid, to] of layout.places) {
      const start = from.get(uid)
      const isStill = start === undefined || (start.x === to.x && start.y === to.y) || done === 1
      places.set(uid, isStill ? to : { x: start.x + (to.x - start.x) * eased, y: start.y + (to.y - start.y) * eased })
    }
    if (done < 1) return true
    began = undefined
    return false
  }

  const lastPlaces = new Map<string, CanvasPoint>()

  function arrange(): void {
    layout = layoutOf(graph.value)
    from = places
    for (const [uid, place] of places) if (fading.has(uid)) lastPlaces.set(uid, place)
    for (const uid of [...lastPlaces.keys()]) if (!fading.has(uid)) lastPlaces.delete(uid)
    places = new Map(layout.places)
    if (!isCalm() && from.size > 0) {
      began = performance.now()
      step(began)
    }
    if (!hasFit && layout.places.size > 0 && (isLoaded.value || replay.value !== undefined)) {
      hasFit = true
      fitAll()
    }
    redraw()
  }

  const behaviour: ZoomBehavior<HTMLCanvasElement, unknown> = zoom<HTMLCanvasElement, unknown>()
    .scaleExtent(SCALES)
    .on('zoom', ({ transform }: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
      view = transform
      isMoved = true
      redraw()
    })
  const selection = d3Select(canvas)
  selection.call(behaviour).on('dblclick.zoom', null)

  function lookTo(next: View): void {
    selection.call(behaviour.transform, zoomIdentity.translate(next.x, next.y).scale(next.k))
  }

  function fitAll(): void {
    const { width, height } = layout
    if (width === 0 || height === 0) return
    const pad = 36
    const k = Math.max(SCALES[0], Math.min(1.1, (size.width - 2 * pad) / width, (size.height - 2 * pad) / height))
    lookTo({ k, x: (size.width - width * k) / 2, y: Math.max(pad, (size.height - height * k) / 2) })
    isMoved = false
  }

  function centreOn(uid: string): void {
    const place = layout.places.get(uid)
    if (place === undefined) return
    const k = Math.max(view.k, 0.7)
    const [x, y] = [place.x * view.k + view.x, place.y * view.k + view.y]
    const isSeen = x > 0 && y > 20 && x + NODE_WIDTH * view.k < size.width && y + NODE_HEIGHT * view.k < size.height
    if (isSeen && view.k >= 0.5) {
      redraw()
      return
    }
    lookTo({
      k,
      x: size.width / 2 - (place.x + NODE_WIDTH / 2) * k,
      y: size.height / 2 - (place.y + NODE_HEIGHT / 2) * k,
    })
  }

  function nodeAt(event: MouseEvent): string | undefined {
    const box = canvas.getBoundingClientRect()
    const x = (event.clientX - box.left - view.x) / view.k
    const y = (event.clientY - box.top - view.y) / view.k
    for (const [uid, place] of places)
      if (x >= place.x && y >= place.y && x <= place.x + NODE_WIDTH && y <= place.y + NODE_HEIGHT) return uid
    return undefined
  }

  function onKey(event: KeyboardEvent): void {
    const next = neighbour(event.key, selected.value, layout)
    if (next !== undefined) {
      select(next)
      centreOn(next)
    } else if (event.key === '+' || event.key === '=') selection.call(behaviour.scaleBy, 1.3)
    else if (event.key === '-') selection.call(behaviour.scaleBy, 1 / 1.3)
    else if (event.key === '0') fitAll()
    else if (event.key === 'Enter') document.getElementById('side')?.focus()
    else if (event.key === 'Escape') select(undefined)
    else return
    event.preventDefault()
  }

  const onMove = (event: MouseEvent) => {
    const under = nodeAt(event)
    canvas.style.cursor = under === undefined ? 'grab' : 'pointer'
    if (under === hovered) return
    hovered = under
    redraw()
  }
  const onClick = (event: MouseEvent) => select(nodeAt(event))
  const onFocus = (event: FocusEvent) => {
    hasFocus = event.type === 'focus' && canvas.matches(':focus-visible')
    redraw()
  }
  canvas.addEventListener('mousemove', onMove)
  canvas.addEventListener('click', onClick)
  canvas.addEventListener('keydown', onKey)
  canvas.addEventListener('focus', onFocus)
  canvas.addEventListener('blur', onFocus)

  const resized = new ResizeObserver(() => {
    const { width, height } = canvas.getBoundingClientRect()
    const ratio = devicePixelRatio
    const before = size
    size = { width, height, ratio }
    canvas.width = Math.max(1, Math.round(width * ratio))
    canvas.height = Math.max(1, Math.round(height * ratio))
    if (hasFit && !isMoved) fitAll()
    // What was in the middle stays there.
    else if (hasFit)
      lookTo({ ...view, x: view.x + (width - before.width) / 2, y: view.y + (height - before.height) / 2 })
    redraw()
  })
  resized.observe(canvas)

  const stops = [
    effect(() => {
      loads.value
      replay.value
      hasFit = false
    }),
    effect(() => {
      graph.value
      isLoaded.value
      // What is found may be anywhere in the picture of all.
      if (search.value !== sought) hasFit = false
      sought = search.value
      arrange()
    }),
    effect(() => {
      const shown = overlay.value
      looks = new Map([...graph.value.nodes].map(([uid, node]) => [uid, lookOf(node, shown)]))
      redraw()
    }),
    effect(() => {
      related = relatedTo(selected.value)
      chain.value
      redraw()
    }),
    effect(() => {
      theme.value
      palette = paletteOf(canvas)
      redraw()
    }),
  ]
  zoomBy = (factor) => void selection.call(behaviour.scaleBy, factor)
  fit = fitAll
  reveal = centreOn
  return () => {
    for (const stop of stops) stop()
    resized.disconnect()
    cancelAnimationFrame(frame)
  }
}

/** Of a node of the cluster the pods on it; of a pod its node. */
function relatedTo(uid: string | undefined): ReadonlySet<string> {
  const found = new Set<string>()
  const chosen = uid === undefined ? undefined : objects.value.get(uid)
  if (chosen === undefined) return found
  for (const object of objects.value.values()) {
    if (chosen.resource === 'nodes' && chosen.group === '' && object.node === chosen.name) found.add(object.uid)
    if (chosen.node !== undefined && object.resource === 'nodes' && object.name === chosen.node) found.add(object.uid)
  }
  return found
}

/** Left to the owner, right to the first dependent, up and down to what is drawn there. */
function neighbour(key: string, at: string | undefined, { places }: Layout): string | undefined {
  const { nodes } = graph.value
  if (!['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'].includes(key)) return undefined
  const here = at === undefined ? undefined : places.get(at)
  if (at === undefined || here === undefined) {
    const going = [...nodes.values()].find(({ standing }) => standing === 'held' || standing === 'going')
    return going?.uid ?? places.keys().next().value
  }
  const node = nodes.get(at)
  if (key === 'ArrowLeft' && node?.parent !== undefined && nodes.has(node.parent)) return node.parent
  if (key === 'ArrowRight' && node !== undefined && node.children.length > 0) return node.children[0]
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0]
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const [uid, place] of places) {
    const along = (place.x - here.x) * (dx ?? 0) + (place.y - here.y) * (dy ?? 0)
    if (along <= 0) continue
    const across = Math.abs((place.x - here.x) * (dy ?? 0)) + Math.abs((place.y - here.y) * (dx ?? 0))
    const far = along + across * 3
    if (far < least) {
      least = far
      best = uid
    }
  }
  return best
}
