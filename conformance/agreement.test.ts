import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { agreementOf, excuses, fallenFigures, isExcused, type SetAgreement } from './agreement.ts'
import { type Asker, askAll, createAsker } from './ask.ts'
import { withDifferences } from './envtest-report.ts'
import { type StartedCluster, startApiServer } from './server.ts'
import { replayCases, serverArguments, sets } from './sets.ts'

const reached: Readonly<Record<string, SetAgreement>> = JSON.parse(
  readFileSync(new URL('agreement.json', import.meta.url), 'utf8'),
)
let server: StartedCluster
let asker: Asker

before(async () => {
  server = await startApiServer()
  asker = createAsker(server.kubeconfig)
})
after(async () => {
  asker?.close()
  await server?.stop()
})

/** Most sets are asked of the same server. */
async function withServerOf<T>(set: string, ask: (asker: Asker) => Promise<T>): Promise<T> {
  const more = serverArguments(set)
  if (more.length === 0) return ask(asker)
  const own = await startApiServer(more)
  const itsAsker = createAsker(own.kubeconfig)
  try {
    return await ask(itsAsker)
  } finally {
    itsAsker.close()
    await own.stop()
  }
}

for (const [number, set] of sets().entries())
  test(`${set}: every answer that agreed with Kubernetes still agrees, and no figure has fallen`, async () => {
    const cases = replayCases(set)
    const { agreement, differences } = agreementOf(
      set,
      cases,
      await withServerOf(set, (its) => askAll(its, cases, { run: `t-${set.slice(0, 4)}${number}` })),
    )
    const lost = differences.filter((difference) => !isExcused(difference))
    assert.deepEqual(
      lost.map(({ name, step }) => `${name}: step ${step}`),
      [],
      `lost agreement; the first difference: ${JSON.stringify(lost[0])}`,
    )
    const before = reached[set]
    assert.ok(before, `agreement.json has no figures of ${set}`)
    assert.deepEqual(fallenFigures(set, before, agreement), [])
  })

test('a figure may be lower by what differs only sometimes, and by no more', () => {
  const sometimes = (excuses['semantics'] ?? []).flatMap((excuse) => (excuse.sometimes ? excuse.steps : []))
  const figures = (body: number): SetAgreement => {
    const shares = { answers: 1500, code: 100, reason: 100, body, managedFields: 100, headers: 100, times: 100 }
    return { all: shares, counted: shares }
  }
  assert.ok(sometimes.length > 0)
  const least = 100 - (100 * sometimes.length) / 1500
  assert.deepEqual(fallenFigures('semantics', figures(100), figures(least)), [])
  assert.equal(fallenFigures('semantics', figures(100), figures(least - 0.05)).length, 2)
  assert.equal(fallenFigures('reads', figures(100), figures(99.99)).length, 2)
})

test('no set has gone, and what is excused is there', () => {
  assert.deepEqual(Object.keys(reached).sort(), sets())
  for (const [set, list] of Object.entries(excuses)) {
    const cases = replayCases(set)
    for (const excuse of list) {
      const named = cases.filter(({ name }) => name === excuse.case)
      assert.ok(named.length > 0, `${set}: no case ${excuse.case}`)
      for (const step of excuse.steps)
        assert.ok(
          named.every(({ steps }) => step < steps.length),
          `${excuse.case}: ${step}`,
        )
    }
  }
})

test('docs/envtest.md tells what differs, as it is now', () => {
  const page = readFileSync(new URL('../docs/envtest.md', import.meta.url), 'utf8')
  assert.equal(page, withDifferences(page, reached), 'npm run conformance makes it')
})
