/** What others wrote reaches no terminal, picture or program raw, in any form of a plan. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Going, Orphaned, Plan, PlannedObject, Staying } from './plan.ts'
import { PLAN_FORMS, planAs } from './report.ts'

/** Escapes, markup, a quote and a line that would end a string of DOT, and a mark that turns text round. */
const HOSTILE = '\u001b[2J\u009b31m<script>alert(1)</script>"];\n}digraph x {\u202eevil\u2028&amp;'
const object: PlannedObject = {
  group: HOSTILE,
  resource: `roles${HOSTILE}`,
  kind: `Role${HOSTILE}`,
  namespace: `n${HOSTILE}`,
  name: `a${HOSTILE}`,
  uid: `u${HOSTILE}`,
}
const span = { least: 0, most: 1000 }
const refused = [{ what: HOSTILE, message: HOSTILE }]
const PLAN: Plan = {
  apiVersion: 'plan.skiff.dev/v1',
  kind: 'Plan',
  deed: `delete ${HOSTILE}`,
  at: HOSTILE,
  goes: [
    { object, order: 0, marked: span, removed: span, by: HOSTILE, why: HOSTILE, certainty: 'goes' },
    {
      object: { ...object, uid: 'v' },
      order: 1,
      marked: undefined,
      removed: span,
      by: HOSTILE,
      why: HOSTILE,
      cause: object.uid,
      certainty: 'either',
    },
  ],
  stays: [
    {
      object: { ...object, uid: 'w' },
      finalizers: [HOSTILE],
      verdict: 'nobody',
      why: HOSTILE,
      responsible: HOSTILE,
      goesIfOthersAct: false,
    },
  ],
  beyond: [object],
  orphaned: [{ object, owners: [HOSTILE], goesIfOthersAct: false }],
  appears: [object],
  refused,
  forbidden: [{ verb: 'delete', group: HOSTILE, resource: HOSTILE, namespace: HOSTILE, names: [HOSTILE] }],
  stages: [
    { what: HOSTILE, ended: undefined, heldBy: [HOSTILE], refused },
    { what: HOSTILE, ended: undefined, heldBy: [], refused },
  ],
  outside: [{ kind: 'finalizer', name: HOSTILE, controller: HOSTILE, ifItActs: HOSTILE, ifNot: HOSTILE }],
  unread: [{ what: HOSTILE, why: HOSTILE }],
  assumed: [HOSTILE],
}

for (const form of PLAN_FORMS)
  test(`as ${form}`, () => {
    const text = planAs(form, PLAN)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/)
    if (form === 'svg') {
      assert.doesNotMatch(text, /<script|<\/script/)
      assert.match(text, /&lt;script&gt;/)
    }
    if (form === 'dot') {
      // Each string of DOT ends on its own line: no quote but those around it is left unescaped.
      for (const line of text.split('\n')) assert.doesNotMatch(line.replace(/"(?:[^"\\]|\\.)*"/g, ''), /"|script|evil/)
    }
    if (form === 'tree' || form === 'table') assert.doesNotMatch(text, /^}digraph/m)
    if (form === 'json') assert.equal(JSON.parse(text).goes.length, 2)
  })

test('the first line tells what is sure from what is not', () => {
  const headlineOf = (plan: Partial<Plan>) => {
    const none = { goes: [], stays: [], orphaned: [], deed: 'delete cm --all' }
    return /^delete cm --all: (.*) \(nothing was done\)\n/.exec(planAs('tree', { ...PLAN, ...none, ...plan }))?.[1]
  }
  const [sure, either] = PLAN.goes as [Going, Going]
  const [stays] = PLAN.stays as [Staying]
  const [orphaned] = PLAN.orphaned as [Orphaned]
  const ifOthersAct: Going = { ...either, certainty: 'if others act' }
  assert.equal(headlineOf({ goes: [sure], stays: [stays] }), '1 object goes, 1 stays marked, 0 are orphaned')
  // What goes or not, by chance, is among what stays too.
  assert.equal(
    headlineOf({ goes: [either], stays: [{ ...stays, object: either.object }] }),
    '0 objects go for sure, 1 perhaps; 0 stay marked for sure, 1 perhaps; 0 are orphaned',
  )
  assert.equal(
    headlineOf({ goes: [sure, either, ifOthersAct], stays: [stays, { ...stays, mayLiveOn: true }] }),
    '1 object goes for sure, 1 perhaps, 1 only if others act; 1 stays marked for sure, 1 perhaps; 0 are orphaned',
  )
  assert.equal(
    headlineOf({ orphaned: [orphaned, { ...orphaned, mayKeepOwners: true }] }),
    '0 objects go; 0 stay marked; 1 is orphaned for sure, 1 perhaps',
  )
})
