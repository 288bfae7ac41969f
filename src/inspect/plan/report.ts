/** Plans as text for a terminal: a tree of what leads to what, or a table in the order in which objects go. */
import { plainJson, plainLine } from '../../base/plain-text.ts'
import { identityWords, placeWords, waitWords } from '../timeline/words.ts'
import { countsOf, type HowMany } from './counts.ts'
import { planDot, planSvg } from './picture.ts'
import type { Going, Plan, PlannedObject, TimeSpan } from './plan.ts'
import type { Forbidden } from './rights.ts'

export const PLAN_FORMS = ['tree', 'table', 'json', 'svg', 'dot'] as const
export type PlanForm = (typeof PLAN_FORMS)[number]

const LONG = 300

export function planAs(form: PlanForm, plan: Plan): string {
  switch (form) {
    case 'json':
      return `${plainJson(plan)}\n`
    case 'svg':
      return planSvg(plan)
    case 'dot':
      return planDot(plan)
    case 'tree':
      return text(plan, treeOf(plan))
    case 'table':
      return text(plan, tableOf(plan))
  }
}

export const nameWords = (object: PlannedObject): string => `${identityWords(object)}${placeWords(object)}`

/** `after 2 s`, `after 2 s to 32 s` */
function spanWords({ least, most }: TimeSpan): string {
  const [from, to] = [waitWords(least), waitWords(most)]
  return from === to ? from : `${from} to ${to}`
}

function certaintyWords({ certainty }: Going): string {
  switch (certainty) {
    case 'goes':
      return ''
    case 'either':
      return ' (or not: it depends on how long programs take to end, or on which controller comes first)'
    case 'if others act':
      return ' (only if controllers that skiff does not know act)'
  }
}

const goingWords = (going: Going) =>
  `${nameWords(going.object)}: after ${spanWords(going.removed)}${certaintyWords(going)}${
    going.isOrderOpen === true ? ' (or on the other side of what leads to it)' : ''
  }`

function forbiddenWords({ verb, group, resource, namespace, names }: Forbidden): string {
  const some = names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
  return `  ${verb} ${resource}${group === '' ? '' : `.${group}`} ${some}${namespace === '' ? '' : ` in namespace ${namespace}`}`
}

/** As authorizers by roles say it of a list. */
const MAY_NOT_LIST =
  /^\S+ is forbidden: (User "[^"]*" cannot list) resource "[^"]*" in API group "[^"]*" (at .*|in .*)$/

/** What may not be listed alike is one line. */
function unreadLines(unread: Plan['unread']): readonly string[] {
  const alike = Map.groupBy(unread, ({ why }) => why.replace(MAY_NOT_LIST, '$1 them $2'))
  return [...alike].flatMap(([why, all]) => {
    const [only, ...more] = all
    if (only === undefined) return []
    if (more.length === 0) return [`  ${only.what}: ${only.why}`]
    const names = all.map(({ what }) => what).sort()
    return [`  ${why}: ${names.join(', ')}`]
  })
}

/** Each object under the one by whose end it goes. */
function treeOf({ goes, stays }: Plan): readonly string[] {
  const held = new Set(stays.map(({ object }) => object.uid))
  const known = new Set(goes.map(({ object }) => object.uid))
  const roots = goes.filter(({ cause }) => cause === undefined || !known.has(cause))
  const below = Map.groupBy(goes, ({ cause }) => cause ?? '')
  const lines: string[] = []
  const seen = new Set<string>()
  const add = (going: Going, depth: number) => {
    const { uid } = going.object
    if (seen.has(uid)) return
    seen.add(uid)
    lines.push(`${'  '.repeat(depth + 1)}${goingWords(going)}${held.has(uid) ? ', held until then' : ''}`)
    for (const next of below.get(uid) ?? []) add(next, depth + 1)
  }
  for (const root of roots) add(root, 0)
  for (const rest of goes) add(rest, 0)
  return lines
}

function tableOf({ goes }: Plan): readonly string[] {
  const rows = goes.map((going) => [
    `${going.order + 1}`,
    plainLine(nameWords(going.object), LONG),
    spanWords(going.removed),
    going.by === 'user' ? 'the deed' : going.by,
    going.certainty,
  ])
  const all = [['', 'OBJECT', 'AFTER', 'BY', ''], ...rows]
  const widths = all[0]?.map((_, at) => Math.min(90, Math.max(...all.map((row) => row[at]?.length ?? 0)))) ?? []
  return all.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd())
}

/** What is sure, and what is not: `0 objects go for sure, 2 perhaps; 2 stay marked; 0 are orphaned`. */
function headline(plan: Plan): string {
  const { goes, stays, orphaned } = countsOf(plan)
  const counted = ({ sure, perhaps, ifOthersAct }: HowMany, one: string, many: string) => {
    const open = [
      ...(perhaps === 0 ? [] : [`${perhaps} perhaps`]),
      ...(ifOthersAct === 0 ? [] : [`${ifOthersAct} only if others act`]),
    ]
    return [`${sure} ${sure === 1 ? one : many}${open.length === 0 ? '' : ' for sure'}`, ...open].join(', ')
  }
  const parts = [
    counted(goes, 'object goes', 'objects go'),
    counted(stays, 'stays marked', 'stay marked'),
    counted(orphaned, 'is orphaned', 'are orphaned'),
  ]
  return parts.join(parts.some((part) => part.includes(',')) ? '; ' : ', ')
}

function text(plan: Plan, goes: readonly string[]): string {
  const {
    deed,
    stays,
    beyond,
    orphaned,
    endsInOrder = [],
    appears,
    refused,
    forbidden,
    stages,
    outside,
    unread,
    assumed,
  } = plan
  const part = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', title, ...lines])
  const lines = [
    `${deed}: ${headline(plan)} (nothing was done)`,
    ...part(
      'refused:',
      refused.map(({ what, message }) => `  ${what}: ${message}`),
    ),
    ...part('you may not do it (what follows is as if you might):', forbidden.map(forbiddenWords)),
    ...part(
      'in this order:',
      stages.length < 2
        ? []
        : stages.map(({ what, ended, heldBy, refused }) =>
            ended !== undefined
              ? `  ${what}: has ended after ${spanWords(ended)}`
              : heldBy.length > 0
                ? `  ${what}: never ends; what follows is as if the wait for it were broken off`
                : refused.length > 0
                  ? `  ${what}: is refused, all of it or some`
                  : `  ${what}: its end is not known, for what there is could not all be read`,
          ),
    ),
    ...part(
      'a deadlock:',
      stages.length < 2 && !deed.startsWith('uninstall ')
        ? []
        : stages.flatMap(({ what, heldBy, refused }) => [
            ...heldBy.slice(0, 5).map((held) => `  ${what} waits for ever: ${held}`),
            ...refused.slice(0, 5).map((one) => `  ${what} is refused: ${one.what}: ${one.message}`),
          ]),
    ),
    ...part(
      'none in this order:',
      endsInOrder.map((what) => `  ${what}`),
    ),
    ...part('goes:', goes),
    ...part(
      'goes, if the aggregated API servers that hold it delete it:',
      beyond.map((object) => `  ${nameWords(object)}`),
    ),
    ...part(
      'stays, marked as deleted:',
      stays.flatMap(({ object, finalizers, why, mayLiveOn = false }) => [
        `  ${nameWords(object)}${finalizers.length === 0 ? '' : `, held by ${finalizers.join(', ')}`}${mayLiveOn ? '; it may as well live on, that is chance' : ''}`,
        `    ${why}`,
      ]),
    ),
    ...part(
      'orphaned:',
      orphaned.map(
        ({ object, owners, goesIfOthersAct, mayKeepOwners = false }) =>
          `  ${nameWords(object)}, until now of ${owners.join(', ')}${mayKeepOwners ? '; it may as well stay theirs, that is chance' : ''}${goesIfOthersAct ? '; it goes if others act' : ''}`,
      ),
    ),
    ...part(
      'made meanwhile:',
      appears.map((object) => `  ${nameWords(object)}`),
    ),
    ...part(
      'outside of what skiff knows:',
      outside.flatMap(({ kind, name, controller, ifItActs, ifNot }) => [
        `  ${kind} ${name}${controller === '' ? '' : ` (${controller})`}`,
        `    if it acts: ${ifItActs}`,
        `    if not: ${ifNot}`,
      ]),
    ),
    ...part('could not be read:', unreadLines(unread)),
    ...part(
      'taken for granted:',
      assumed.map((one) => `  ${one}`),
    ),
  ]
  return `${lines.map((line) => plainLine(line)).join('\n')}\n`
}
