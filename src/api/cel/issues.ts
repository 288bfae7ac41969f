/** What is wrong with an expression, and where. */

/** A problem at a place of the source (an offset in code points). */
export interface Issue {
  readonly at: number
  readonly message: string
}

export class CelSyntaxError extends Error {
  readonly issue: Issue
  /** What the tokens said before it. */
  before: readonly Issue[] = []
  constructor(at: number, message: string) {
    super(message)
    this.issue = { at, message }
  }
}

/** Issues as cel-go prints them: place, message, the line and a caret under it. */
export function printIssues(source: string, issues: readonly Issue[]): string {
  // An empty text has no line to show.
  if (source === '') return issues.map(({ message }) => `ERROR: <input>:1:0: ${message}`).join('\n')
  const points = [...source]
  return issues
    .map(({ at, message }) => {
      let line = 1
      let start = 0
      for (let i = 0; i < at && i < points.length; i++)
        if (points[i] === '\n') {
          line++
          start = i + 1
        }
      const end = points.indexOf('\n', start)
      const text = points
        .slice(start, end < 0 ? undefined : end)
        .join('')
        .replaceAll('\t', ' ')
      const column = at - start
      return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text}\n | ${'.'.repeat(column)}^`
    })
    .join('\n')
}
