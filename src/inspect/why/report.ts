/** Explanations as text for a terminal and as JSON (docs/why.md has the shape). */

import { plainJson, plainLine } from '../../base/plain-text.ts'
import type { ClusterReader } from '../cluster-reader.ts'
import type { Link, Verdict } from './finding.ts'
import type { Survey } from './survey-of-deletions.ts'
import type { Explanation } from './why.ts'
import { objectWords, sentenceOf, VERDICT_WORDS } from './words.ts'

/** The exit codes of the command, by verdict; of what is missing or may not be seen, by that. */
export const EXIT_CODES: Readonly<Record<Verdict | 'missing' | 'not-visible', number>> = {
  'not-stuck': 0,
  missing: 4,
  'not-visible': 5,
  'will-end': 10,
  slow: 11,
  refused: 12,
  nobody: 13,
  'cannot-end': 14,
}

export function exitCodeOf({ state, verdict }: Explanation): number {
  return state === 'missing' || state === 'not-visible' ? EXIT_CODES[state] : EXIT_CODES[verdict]
}

const LONG = 400

export function explanationText(explanation: Explanation, reader: ClusterReader): string {
  const { object, state, sentence, responsible, chain, waysOut } = explanation
  const lines: string[] = []
  const head =
    state === 'missing'
      ? `${objectWords(object)} does not exist`
      : state === 'not-visible'
        ? `${objectWords(object)} may not be seen`
        : `${objectWords(object)}: ${verdictText(explanation)}`
  lines.push(plainLine(head, LONG))
  lines.push(plainLine(`  ${sentence}`))
  if (responsible !== '') lines.push(plainLine(`  responsible: ${responsible}`, LONG))
  if (state === 'deleting' || chain.next.some(({ cause }) => cause.kind !== chain.cause.kind)) {
    lines.push('', 'the chain:')
    for (const line of tree(chain)) lines.push(line)
  }
  if (waysOut.length > 0) {
    lines.push('', 'ways out, safest first (nothing is done here):')
    for (const [index, { what, command, leaves }] of waysOut.entries()) {
      lines.push(plainLine(`  ${index + 1}. ${what}`))
      if (command !== undefined) lines.push(plainLine(`     ${command}`))
      if (leaves !== 'nothing') lines.push(plainLine(`     leaves behind: ${leaves}`))
    }
  }
  lines.push(...unseenLines(reader))
  return `${lines.join('\n')}\n`
}

function verdictText({ verdict, inferred, stuck }: Explanation): string {
  const words = verdict === 'not-stuck' || stuck ? VERDICT_WORDS[verdict] : `not stuck: ${VERDICT_WORDS[verdict]}`
  return `${words}${inferred ? ' (inferred)' : ''}`
}

function tree(link: Link, depth = 1): string[] {
  const mark = 'verdict' in link ? `[${VERDICT_WORDS[link.verdict]}${link.inferred ? ', inferred' : ''}] ` : ''
  const own = plainLine(`${'  '.repeat(depth)}${mark}${sentenceOf(link.cause)}`)
  return [own, ...link.next.flatMap((next) => tree(next, depth + 1))]
}

function unseenLines({ unseen }: ClusterReader): string[] {
  if (unseen.length === 0) return []
  const shown = unseen.slice(0, 8).map(({ what, why }) => plainLine(`  ${what}: ${why}`, LONG))
  const more = unseen.length > 8 ? [`  and ${unseen.length - 8} more`] : []
  return ['', 'could not be seen:', ...shown, ...more]
}

export function surveyText({ found, alike }: Survey, reader: ClusterReader): string {
  const lines =
    found.length === 0
      ? [`nothing ${reader.unseen.length === 0 ? '' : 'that may be seen '}is being deleted, and no drain waits`]
      : found.flatMap((explanation) => [
          plainLine(
            `${objectWords(explanation.object)}: ${verdictText(explanation)}${explanation.since === '' ? '' : `, deleted at ${explanation.since}`}`,
            LONG,
          ),
          plainLine(`  ${explanation.sentence}`, 600),
        ])
  if (alike > 0) lines.push(`and ${alike} more objects like those`)
  return `${[...lines, ...unseenLines(reader)].join('\n')}\n`
}

/** The worst verdict's, of a survey. */
export function surveyExitCode({ found }: Survey): number {
  const [worst] = found
  return worst === undefined ? 0 : exitCodeOf(worst)
}

const VERSION = { apiVersion: 'why.skiff.dev/v1' }

export function explanationJson(explanation: Explanation, reader: ClusterReader): string {
  return `${plainJson({ ...VERSION, kind: 'Explanation', ...shapeOf(explanation), ...asked(reader) })}\n`
}

export function surveyJson({ found, alike }: Survey, reader: ClusterReader): string {
  return `${plainJson({ ...VERSION, kind: 'ExplanationList', items: found.map(shapeOf), alike, ...asked(reader) })}\n`
}

function shapeOf(explanation: Explanation) {
  const { object, state, since, verdict, stuck, inferred, cause, sentence, responsible, chain, waysOut } = explanation
  return {
    object,
    state,
    ...(since === '' ? {} : { since }),
    verdict,
    words: VERDICT_WORDS[verdict],
    stuck,
    inferred,
    cause,
    sentence,
    responsible,
    chain: linkShape(chain),
    waysOut,
  }
}

function linkShape(link: Link): object {
  const { cause, inferred, next } = link
  return {
    cause,
    sentence: sentenceOf(cause),
    ...('verdict' in link ? { verdict: link.verdict, inferred } : {}),
    ...(next.length === 0 ? {} : { next: next.map(linkShape) }),
  }
}

const asked = ({ unseen, requests, dryRuns }: ClusterReader) => ({ unseen, asked: { requests, dryRuns } })
