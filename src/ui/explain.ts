/** Why an object hangs, and what hangs at all, as the page shows it: each link of the chain with the objects that it speaks of. */
import type { QuestionTarget } from '../inspect/question.ts'
import { beginLook, type WhyOptions } from '../inspect/why/ask.ts'
import type { Cause, Link, ObjectRef } from '../inspect/why/finding.ts'
import { survey } from '../inspect/why/survey-of-deletions.ts'
import { type Explanation, explain } from '../inspect/why/why.ts'
import { sentenceOf, VERDICT_WORDS } from '../inspect/why/words.ts'
import type { ChainLink, ChainObject, SurveyShown, Why } from './protocol.ts'

type Asking = Omit<WhyOptions, 'output'>

/** @throws QuestionError; Error when the cluster cannot be asked what it serves */
export async function whyOf(asking: Asking, target: QuestionTarget): Promise<Why> {
  const look = await beginLook(asking)
  const explanation = await explain(look, target)
  const { chain, waysOut } = explanation
  return { ...summaryOf(explanation), chain: chainLink(chain), waysOut, unseen: look.reader.unseen }
}

/** @throws Error when the cluster cannot be asked what it serves */
export async function surveyOf(asking: Asking): Promise<SurveyShown> {
  const { found, alike } = await survey(await beginLook(asking))
  return { items: found.map(summaryOf), alike }
}

function summaryOf(explanation: Explanation): SurveyShown['items'][number] {
  const { object, state, since, verdict, stuck, inferred, sentence, responsible } = explanation
  return {
    object: chainObject(object),
    state,
    ...(since === '' ? {} : { since }),
    verdict,
    words: VERDICT_WORDS[verdict],
    stuck,
    inferred,
    sentence,
    responsible,
  }
}

const chainObject = ({ group, resource, kind, namespace, name }: ObjectRef): ChainObject => ({
  group,
  resource,
  kind,
  namespace,
  name,
})

function chainLink(link: Link): ChainLink {
  return {
    sentence: sentenceOf(link.cause),
    ...('verdict' in link ? { verdict: link.verdict, inferred: link.inferred } : {}),
    objects: refsIn(link.cause).map(chainObject),
    next: link.next.map(chainLink),
  }
}

/** Causes name objects under many names; what has an object's identity is one. */
function refsIn(value: Cause | unknown): readonly ObjectRef[] {
  if (typeof value !== 'object' || value === null) return []
  return isRef(value) ? [value] : Object.values(value).flatMap(refsIn)
}

const isRef = (value: object): value is ObjectRef =>
  'resource' in value && 'kind' in value && 'name' in value && 'namespace' in value && 'group' in value
