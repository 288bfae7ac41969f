import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { agreementOf, type SetAgreement } from './agreement.ts'
import { type Asker, askAll, createAsker } from './ask.ts'
import { type StartedCluster, startApiServer } from './server.ts'
import { replayCases, sets } from './sets.ts'

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

for (const [number, set] of sets().entries())
  test(`${set}: every case that agreed with Kubernetes still agrees`, async () => {
    const cases = replayCases(set)
    const { agreement, differences } = agreementOf(
      set,
      cases,
      await askAll(asker, cases, { run: `t-${set.slice(0, 4)}${number}` }),
    )
    const known = new Set(reached[set]?.differing ?? [])
    const lost = agreement.differing.filter((name) => !known.has(name))
    const first = differences.find((d) => lost.includes(d.name))
    assert.deepEqual(lost, [], `lost agreement; the first difference: ${JSON.stringify(first)}`)
  })
