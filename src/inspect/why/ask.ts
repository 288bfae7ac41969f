/** One question and its answer as text: about an object, or about all that is being deleted. */
import type { Clock } from '../../base/clock.ts'
import type { GroupVersionResource } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { createClusterReader } from '../cluster-reader.ts'
import type { QuestionTarget } from '../question.ts'
import { readAuditLog } from '../timeline/audit-log.ts'
import { type Look, NAMESPACES } from './look.ts'
import { exitCodeOf, explanationJson, explanationText, surveyExitCode, surveyJson, surveyText } from './report.ts'
import { type SurveyedPlace, survey } from './survey-of-deletions.ts'
import { type Explanation, explain, startLook } from './why.ts'

export interface WhyOptions {
  readonly clock: Clock
  readonly transport: Transport
  readonly userAgent: string
  /** Whether the removal of finalizers of what is being deleted already is tried, by dry runs. */
  readonly dryRun: boolean
  readonly output: 'json' | 'text'
  /** Where is looked, of a question without a name; default: everywhere, and what may not be listed there in `default`. */
  readonly place?: SurveyedPlace
  /** Lines of an audit log: which users have written the objects. */
  readonly auditLog?: string
}

export interface WhyAnswer {
  readonly text: string
  readonly exitCode: number
  /** What is told by it; two answers alike tell the same. */
  readonly gist: string
  /** What to watch for the next change; absent where there is no object to watch. */
  readonly watched?: {
    readonly gvr: GroupVersionResource
    readonly namespace: string
    readonly name: string
    readonly resourceVersion: string
  }
}

const BUDGET = 200
const REQUEST_MS = 5_000
const TOTAL_MS = 20_000

/** For one question. @throws Error when the cluster cannot be asked what it serves */
export function beginLook({
  clock,
  transport,
  userAgent,
  dryRun,
  auditLog,
}: Omit<WhyOptions, 'output'>): Promise<Look> {
  const limits = { budget: BUDGET, requestMs: REQUEST_MS, totalMs: TOTAL_MS, userAgent }
  const audited = auditLog === undefined ? [] : readAuditLog(auditLog, 'creates too').writes
  return startLook(createClusterReader(clock, transport, limits), clock.now(), dryRun, audited)
}

/** @throws QuestionError; Error when the cluster cannot be asked what it serves */
export async function askWhy(options: WhyOptions, target: QuestionTarget | undefined): Promise<WhyAnswer> {
  const { output } = options
  const look = await beginLook(options)
  const { reader } = look
  if (target === undefined) {
    const found = await survey(look, options.place)
    const missing = found.found.length === 0 ? await missingPlace(look, options.place) : undefined
    if (missing !== undefined) return answerOf(options, look, missing)
    const text = output === 'json' ? surveyJson(found, reader) : surveyText(found, reader)
    return { text, exitCode: surveyExitCode(found), gist: text }
  }
  return answerOf(options, look, await explain(look, target))
}

/** Of a namespace that was asked about and is not there, that. */
async function missingPlace(look: Look, place: SurveyedPlace | undefined): Promise<Explanation | undefined> {
  if (place?.isGiven !== true) return undefined
  const { namespace: name } = place
  if ((await look.reader.get(NAMESPACES, '', name)).state !== 'missing') return undefined
  return explain(look, { kind: 'namespaces', name, namespace: '' })
}

function answerOf({ output }: WhyOptions, { reader }: Look, explanation: Explanation): WhyAnswer {
  const text = output === 'json' ? explanationJson(explanation, reader) : explanationText(explanation, reader)
  const { state, verdict, sentence, object, resourceVersion } = explanation
  const { group, version, resource, namespace, name } = object
  return {
    text,
    exitCode: exitCodeOf(explanation),
    gist: JSON.stringify([state, verdict, sentence]),
    ...(resourceVersion === ''
      ? {}
      : { watched: { gvr: { group, version, resource }, namespace, name, resourceVersion } }),
  }
}
