/** The page of skiff ui: starts it. */
import { render } from 'preact'
import { openSession } from './api.ts'
import { App } from './app.tsx'
import { problem, scope, session, watchScope } from './store.ts'
import { followTheme } from './theme.ts'

const place = document.getElementById('app')
if (place === null) throw new Error('the page has no place for it')
followTheme()
render(<App />, place)

openSession()
  .then((info) => {
    session.value = info
    scope.value = info.namespace
    watchScope()
  })
  .catch((error: unknown) => {
    problem.value = error instanceof Error ? error.message : String(error)
  })
