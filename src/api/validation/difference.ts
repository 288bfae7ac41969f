/**
 * The difference of two values printed one field a line, as immutability errors show it: hunks of a unified diff, found by
 * the matcher of Ratcliff and Obershelp as difflib has it (longest common block first, frequent lines no anchors), since
 * which of several shortest differences is shown depends on it.
 */
import type { Json } from '../object.ts'

const CONTEXT = 3
/** From so many lines on, a line that fills more than a hundredth of them anchors nothing. */
const MANY_LINES = 200
/** Steps of the search after which the rest is shown as wholly different: a bound on the work that a request can ask for. */
const MOST_STEPS = 10_000_000

interface Block {
  readonly left: number
  readonly right: number
  readonly length: number
}

/** Each line ends with a newline; empty when the values are equal. */
export function printedDifference(before: Json, after: Json): string {
  const left = JSON.stringify(before, null, 1).split('\n')
  const right = JSON.stringify(after, null, 1).split('\n')
  return hunksOf(changesOf(matchingBlocks(left, right), left.length, right.length))
    .map((hunk) => printHunk(hunk, left, right))
    .join('')
}

/** A run of lines that are the same on both sides, or that replace each other. */
interface Run {
  readonly same: boolean
  readonly left: readonly [from: number, to: number]
  readonly right: readonly [from: number, to: number]
}

function changesOf(blocks: readonly Block[], leftEnd: number, rightEnd: number): readonly Run[] {
  const runs: Run[] = []
  let left = 0
  let right = 0
  for (const block of [...blocks, { left: leftEnd, right: rightEnd, length: 0 }]) {
    if (left < block.left || right < block.right)
      runs.push({ same: false, left: [left, block.left], right: [right, block.right] })
    left = block.left + block.length
    right = block.right + block.length
    if (block.length > 0) runs.push({ same: true, left: [block.left, left], right: [block.right, right] })
  }
  return runs
}

/** Runs with what lies around them, cut where more than twice the context lies between two changes. */
function hunksOf(runs: readonly Run[]): readonly (readonly Run[])[] {
  if (!runs.some((run) => !run.same)) return []
  const hunks: Run[][] = []
  let hunk: Run[] = []
  for (const [i, run] of runs.entries()) {
    if (!run.same) {
      hunk.push(run)
      continue
    }
    const first = i === 0
    const last = i === runs.length - 1
    const length = run.left[1] - run.left[0]
    if (first || last || length > 2 * CONTEXT) {
      if (!first) hunk.push(part(run, 0, Math.min(CONTEXT, length)))
      if (!last) {
        if (!first) {
          hunks.push(hunk)
          hunk = []
        }
        hunk.push(part(run, Math.max(0, length - CONTEXT), length))
      }
    } else hunk.push(run)
  }
  return [...hunks, hunk]
}

const part = ({ left, right }: Run, from: number, to: number): Run => ({
  same: true,
  left: [left[0] + from, left[0] + to],
  right: [right[0] + from, right[0] + to],
})

function printHunk(hunk: readonly Run[], left: readonly string[], right: readonly string[]): string {
  const range = (side: 'left' | 'right') => {
    const from = hunk[0]![side][0]
    const count = hunk.at(-1)![side][1] - from
    return count === 1 ? `${from + 1}` : `${count === 0 ? from : from + 1},${count}`
  }
  const lines = hunk.flatMap((run) =>
    run.same
      ? left.slice(...run.left).map((line) => ` ${line}\n`)
      : [
          ...left.slice(...run.left).map((line) => `-${line}\n`),
          ...right.slice(...run.right).map((line) => `+${line}\n`),
        ],
  )
  return `@@ -${range('left')} +${range('right')} @@\n${lines.join('')}`
}

function matchingBlocks(left: readonly string[], right: readonly string[]): readonly Block[] {
  const places = anchors(right)
  const budget = { steps: MOST_STEPS }
  const found: Block[] = []
  const open: (readonly [number, number, number, number])[] = [[0, left.length, 0, right.length]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [leftFrom, leftTo, rightFrom, rightTo] = next
    const block = longest(left, right, places, next, budget)
    if (block.length === 0 || budget.steps < 0) continue
    found.push(block)
    open.push([leftFrom, block.left, rightFrom, block.right])
    open.push([block.left + block.length, leftTo, block.right + block.length, rightTo])
  }
  return joined(found.sort((a, b) => a.left - b.left || a.right - b.right))
}

function anchors(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>()
  for (const [i, line] of lines.entries()) {
    const known = places.get(line)
    if (known === undefined) places.set(line, [i])
    else known.push(i)
  }
  if (lines.length < MANY_LINES) return places
  const most = Math.floor(lines.length / 100) + 1
  return new Map([...places].filter(([, at]) => at.length <= most))
}

/** The longest block that both have between these bounds; of equally long ones the first. */
function longest(
  left: readonly string[],
  right: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  [leftFrom, leftTo, rightFrom, rightTo]: readonly [number, number, number, number],
  budget: { steps: number },
): Block {
  let at = { left: leftFrom, right: rightFrom, length: 0 }
  let lengths = new Map<number, number>()
  for (let i = leftFrom; i < leftTo && budget.steps > 0; i++) {
    const now = new Map<number, number>()
    for (const j of places.get(left[i]!) ?? []) {
      budget.steps--
      if (j < rightFrom) continue
      if (j >= rightTo) break
      const length = (lengths.get(j - 1) ?? 0) + 1
      now.set(j, length)
      if (length > at.length) at = { left: i - length + 1, right: j - length + 1, length }
    }
    lengths = now
  }
  // Lines that are no anchors still belong to a block that they touch.
  while (at.left > leftFrom && at.right > rightFrom && left[at.left - 1] === right[at.right - 1])
    at = { left: at.left - 1, right: at.right - 1, length: at.length + 1 }
  while (
    at.left + at.length < leftTo &&
    at.right + at.length < rightTo &&
    left[at.left + at.length] === right[at.right + at.length]
  )
    at = { ...at, length: at.length + 1 }
  return at
}

function joined(blocks: readonly Block[]): readonly Block[] {
  const out: Block[] = []
  for (const block of blocks) {
    const last = out.at(-1)
    if (last && last.left + last.length === block.left && last.right + last.length === block.right)
      out[out.length - 1] = { ...last, length: last.length + block.length }
    else out.push(block)
  }
  return out
}
