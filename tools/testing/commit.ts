/** What results of long runs are kept under. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'

/** Uncommitted changes are a state of their own: what passed with them says nothing of the commit. */
export function currentCommit(): string {
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8', maxBuffer: 1 << 28 })
  const head = git('rev-parse', '--short=12', 'HEAD').trim()
  const changes = git('status', '--porcelain') === '' ? '' : git('status', '--porcelain') + git('diff', 'HEAD')
  return changes === '' ? head : `${head}-changed-${createHash('sha256').update(changes).digest('hex').slice(0, 8)}`
}
