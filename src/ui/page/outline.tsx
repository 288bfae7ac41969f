/**
 * The same objects as a tree, for eyes, keyboards and screen readers: namespaces, their objects, what these own. Of thousands of rows only
 * those in view are in the document; each says its place among all.
 */
import { computed, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Appearance, lookOf } from '../graph/looks.ts'
import { reveal } from './graph-view.tsx'
import { graph, isLoaded, overlay, select, selected } from './store.ts'

const ROW = 26
/** So much of a name's end is always seen: pods of one owner differ in it. */
const TAIL = 6
/** Drawn beyond what is in view. */
const SPARE = 8

interface Row {
  readonly id: string
  /** Absent of a namespace that is no object here. */
  readonly uid?: string
  readonly label: string
  readonly kind: string
  readonly look?: Appearance
  readonly level: number
  readonly place: number
  readonly among: number
  /** Absent of what has nothing below it. */
  readonly isOpen?: boolean
}

const closed = signal<ReadonlySet<string>>(new Set())
const scrolled = signal(0)
const height = signal(600)
const focused = signal<string | undefined>(undefined)

const rows = computed<readonly Row[]>(() => {
  const { nodes, frames } = graph.value
  const shown = overlay.value
  const all: Row[] = []
  const shut = closed.value
  const add = (uid: string, level: number, place: number, among: number) => {
    const node = nodes.get(uid)
    if (node === undefined) return
    const isOpen = node.children.length === 0 ? undefined : !shut.has(uid)
    all.push({
      id: uid,
      uid,
      label: node.name,
      kind: node.kind,
      look: lookOf(node, shown),
      level,
      place,
      among,
      ...(isOpen === undefined ? {} : { isOpen }),
    })
    if (isOpen) for (const [at, child] of node.children.entries()) add(child, level + 1, at + 1, node.children.length)
  }
  for (const [at, { namespace, space, roots }] of frames.entries()) {
    const id = `namespace ${namespace}`
    const node = space === undefined ? undefined : nodes.get(space)
    const isOpen = !shut.has(id)
    all.push({
      id,
      ...(space === undefined ? {} : { uid: space }),
      label: namespace === '' ? 'no namespace' : namespace,
      kind: 'Namespace',
      ...(node === undefined ? {} : { look: lookOf(node, shown) }),
      level: 1,
      place: at + 1,
      among: frames.length,
      ...(roots.length === 0 ? {} : { isOpen }),
    })
    if (isOpen) for (const [place, uid] of roots.entries()) add(uid, 2, place + 1, roots.length)
  }
  return all
})

const activeRow = () => {
  const wanted = focused.value
  const chosen = selected.value
  if (wanted === undefined && chosen === undefined) return 0
  return Math.max(
    0,
    rows.value.findIndex(({ id, uid }) => (wanted === undefined ? uid === chosen : id === wanted)),
  )
}

function toggle(row: Row, open?: boolean): void {
  const next = new Set(closed.value)
  if (open ?? next.has(row.id)) next.delete(row.id)
  else next.add(row.id)
  closed.value = next
}

export function Outline() {
  const box = useRef<HTMLDivElement>(null)
  const all = rows.value
  const active = activeRow()

  useEffect(() => {
    const element = box.current
    if (element === null) return
    const resized = new ResizeObserver(() => {
      height.value = element.clientHeight
    })
    resized.observe(element)
    return () => resized.disconnect()
  }, [])

  // What is chosen in the graph comes into view here.
  const chosen = selected.value
  useEffect(() => {
    focused.value = undefined
    const at = rows.value.findIndex(({ uid }) => uid === chosen)
    if (chosen !== undefined && at >= 0) bring(box.current, at)
  }, [chosen])

  const onKeyDown = (event: KeyboardEvent) => {
    const now = activeRow()
    const row = rows.value[now]
    if (row === undefined) return
    let to = now
    const page = Math.max(1, Math.floor(height.value / ROW) - 1)
    switch (event.key) {
      case 'ArrowDown':
        to = now + 1
        break
      case 'ArrowUp':
        to = now - 1
        break
      case 'PageDown':
        to = now + page
        break
      case 'PageUp':
        to = now - page
        break
      case 'Home':
        to = 0
        break
      case 'End':
        to = rows.value.length - 1
        break
      case 'ArrowRight':
        if (row.isOpen === false) toggle(row, true)
        else if (row.isOpen === true) to = now + 1
        break
      case 'ArrowLeft':
        if (row.isOpen === true) toggle(row, false)
        else to = rows.value.findLastIndex(({ level }, at) => at < now && level < row.level)
        break
      case 'Enter':
        if (row.uid !== undefined) {
          select(row.uid)
          reveal(row.uid)
          document.getElementById('side')?.focus()
        }
        break
      case ' ':
        if (row.uid !== undefined) {
          select(row.uid)
          reveal(row.uid)
        }
        break
      default:
        return
    }
    event.preventDefault()
    const next = rows.value[Math.max(0, Math.min(rows.value.length - 1, to < 0 ? 0 : to))]
    if (next !== undefined && to !== now) {
      focused.value = next.id
      bring(box.current, rows.value.indexOf(next))
    }
  }

  const onClick = (event: MouseEvent) => {
    const hit = event.target as Element
    const row = rows.value[Number(hit.closest<HTMLElement>('[data-row]')?.dataset['row'])]
    if (row === undefined) return
    box.current?.focus()
    focused.value = row.id
    if (row.uid === undefined || hit.matches('.twist')) toggle(row)
    else {
      select(row.uid)
      reveal(row.uid)
    }
  }

  const first = Math.max(0, Math.floor(scrolled.value / ROW) - SPARE)
  const last = Math.min(all.length, Math.ceil((scrolled.value + height.value) / ROW) + SPARE)
  // What assistive technology stands on must be in the document.
  const shown = all.slice(first, last)
  const current = all[active]
  if (current !== undefined && !shown.includes(current)) shown.push(current)
  return (
    <div
      ref={box}
      class="outline"
      role="tree"
      id="outline"
      tabIndex={0}
      aria-label="Objects by owner"
      aria-activedescendant={current === undefined ? undefined : `row-${active}`}
      aria-busy={!isLoaded.value}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onScroll={(event) => {
        scrolled.value = event.currentTarget.scrollTop
      }}
    >
      <div class="rows" role="presentation" style={{ height: `${all.length * ROW}px` }}>
        {shown.map((row) => (
          <OutlineRow key={row.id} row={row} at={all.indexOf(row)} isActive={row === current} />
        ))}
      </div>
    </div>
  )
}

function OutlineRow({ row, at, isActive }: { row: Row; at: number; isActive: boolean }) {
  const { uid, label, kind, look, level, place, among, isOpen } = row
  const said = look?.words ?? ''
  const words = look?.badge === undefined ? said : `${look.badge}. ${said}`
  return (
    <div
      id={`row-${at}`}
      role="treeitem"
      tabIndex={-1}
      data-row={at}
      class={`row ${isActive ? 'active' : ''} ${look?.dim ? 'dim' : ''}`}
      // A name that is cut in two for the eye is read as one.
      aria-label={`${kind} ${label} ${words}`.trim()}
      aria-level={level}
      aria-posinset={place}
      aria-setsize={among}
      aria-expanded={isOpen}
      aria-selected={uid !== undefined && uid === selected.value}
      style={{ top: `${at * ROW}px`, paddingInlineStart: `${4 + (level - 1) * 14}px` }}
    >
      <span class="twist" aria-hidden="true">
        {isOpen === undefined ? '' : isOpen ? '▾' : '▸'}
      </span>
      <span class={`dot tone-${look?.tone ?? 'there'}`} aria-hidden="true" />
      <span class={level === 1 ? 'hidden' : 'kind'}>{kind} </span>
      <span class="label">
        <span class="start">{label.slice(0, -TAIL)}</span>
        <span>{label.slice(-TAIL)} </span>
      </span>
      <span class="words">{words}</span>
    </div>
  )
}

function bring(box: HTMLElement | null, at: number): void {
  if (box === null) return
  const top = at * ROW
  if (top < box.scrollTop) box.scrollTop = top
  else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight
}
