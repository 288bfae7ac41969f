/** How many graphs of a real cluster ended as planned; docs/conformance.md tells it. */
import { readFileSync } from 'node:fs'

export interface Figures {
  readonly version: string
  readonly date: string
  readonly graphs: number
  readonly asPlanned: number
  /** Graphs that ended differently from one copy to the next. */
  readonly unsteady: number
  /** Graphs of which the plan leaves something open. */
  readonly withEither: number
  /** Pairs of objects whose order was compared. */
  readonly pairs: number
  readonly pods: number
  readonly podsOutOfTime: number
}

export const figuresFile = new URL('figures.json', import.meta.url)
export const readPlanFigures = (): Figures => JSON.parse(readFileSync(figuresFile, 'utf8'))
