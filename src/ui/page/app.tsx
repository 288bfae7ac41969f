/** The page as a whole: what is chosen above, the tree of objects, the graph, and beside it what is told of one. */
import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { askNamespaces } from './api.ts'
import { Endings } from './endings.tsx'
import { GraphView } from './graph-view.tsx'
import { Legend } from './legend.tsx'
import { ObjectPanel } from './object-panel.tsx'
import { Outline } from './outline.tsx'
import { PlanPanel } from './plan-panel.tsx'
import { createRefresh } from './refresh.ts'
import { ReplayPanel } from './replay-panel.tsx'
import {
  counts,
  isLive,
  isLoaded,
  panel,
  problem,
  replay,
  said,
  scope,
  search,
  select,
  session,
  show,
  showsAlone,
  unseen,
} from './store.ts'
import { Stuck } from './stuck.tsx'
import { chosen, THEMES, type Theme } from './theme.ts'

export function App() {
  return (
    <>
      <Header />
      {problem.value === '' ? (
        <main>
          <nav class="left" aria-label="Objects">
            <Outline />
            <Unseen />
          </nav>
          <section class="middle" aria-label="Graph">
            <GraphView />
            <Legend />
          </section>
          <aside class="side" id="side" tabIndex={-1} aria-label="Details">
            <Side />
          </aside>
        </main>
      ) : (
        <main>
          <p class="problem" role="alert">
            {problem.value}
          </p>
        </main>
      )}
      <p class="hidden" role="status" aria-live="polite">
        {said.value}
      </p>
    </>
  )
}

const namespaces = signal<readonly string[]>([])

/**
 * Those there are now: asked again before one is chosen, for others may have been made. Without the right to list them the one that is chosen
 * stands alone.
 */
const readNamespaces = createRefresh(
  askNamespaces,
  (found) => {
    if (found.join() !== namespaces.value.join()) namespaces.value = found
  },
  { everyMs: 5000 },
)

function Header() {
  const info = session.value
  useEffect(() => {
    if (info !== undefined) readNamespaces()
  }, [info])
  const { all, going, held } = counts.value
  const names = [...new Set([...namespaces.value, scope.value])].filter((name) => name !== '').sort()
  return (
    <header>
      <h1>skiff</h1>
      <span class="cluster" title="The API server that is asked">
        {info?.cluster ?? ''}
      </span>
      <label>
        Namespace
        <select
          value={scope.value}
          onFocus={readNamespaces}
          onPointerEnter={readNamespaces}
          onChange={({ currentTarget }) => {
            select(undefined)
            show({ kind: 'object' })
            showsAlone.value = currentTarget.value !== ''
            scope.value = currentTarget.value
          }}
        >
          <option value="">all</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="find">
        Find
        <input
          type="search"
          value={search.value}
          placeholder="kind or name"
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value
          }}
        />
      </label>
      <label class="check" title="Show objects that own nothing and are owned by nothing">
        <input
          type="checkbox"
          checked={showsAlone.value}
          onChange={({ currentTarget }) => {
            showsAlone.value = currentTarget.checked
          }}
        />
        lone objects
      </label>
      <span class="gap" />
      <span class="counts">
        {all} objects{going > 0 ? `, ${going} going` : ''}
        {held > 0 ? `, ${held} held` : ''}
      </span>
      <span class={isLive.value ? 'live' : 'live off'}>
        {isLive.value ? (isLoaded.value ? 'live' : 'reading') : 'no connection'}
      </span>
      <button type="button" onClick={() => show({ kind: 'stuck' })}>
        What hangs
      </button>
      <button type="button" onClick={() => show({ kind: 'endings' })}>
        Timelines
      </button>
      <label class="theme">
        <span class="hidden">Colours</span>
        <select
          value={chosen.value}
          onChange={({ currentTarget }) => {
            chosen.value = currentTarget.value as Theme
          }}
        >
          {THEMES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </header>
  )
}

function Side() {
  const shown = panel.value
  // What led here, as the button that asked for a plan, may be gone with what was told before: keys go on from where it was.
  const before = useRef(shown)
  useLayoutEffect(() => {
    if (before.current !== shown && document.activeElement === document.body) document.getElementById('side')?.focus()
    before.current = shown
  }, [shown])
  switch (shown.kind) {
    case 'object':
      return <ObjectPanel />
    case 'stuck':
      return <Stuck />
    case 'endings':
      return <Endings />
    case 'plan':
      return <PlanPanel object={shown.object} />
    case 'replay':
      return replay.value === undefined ? null : <ReplayPanel replay={replay.value} />
  }
}

/** What may not be seen is said. */
function Unseen() {
  const hidden = isLoaded.value ? unseen.value : []
  if (hidden.length === 0) return null
  return (
    <details class="unseen">
      <summary>{hidden.length} kinds cannot be seen</summary>
      <ul>
        {hidden.map(({ kind, why }) => (
          <li key={kind}>
            {kind}: {why}
          </li>
        ))}
      </ul>
    </details>
  )
}
