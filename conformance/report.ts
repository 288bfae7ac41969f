/** docs/conformance.md, made from agreement.json. */
import { readFileSync } from 'node:fs'
import type { SetAgreement, Shares } from './agreement.ts'
import { timingDependent } from './sets.ts'

interface Fresh {
  readonly generator: string
  readonly seed: number
  readonly cases: number
  readonly shares: Shares
}

/** By set, why what still differs does. */
const differing: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('differing.json', import.meta.url), 'utf8'),
)
const fresh: readonly Fresh[] = JSON.parse(readFileSync(new URL('fresh.json', import.meta.url), 'utf8'))

const row = (name: string, s: Shares) =>
  `| ${name} | ${s.answers} | ${s.code.toFixed(2)} | ${s.reason.toFixed(2)} | ${s.body.toFixed(2)} | ${s.managedFields.toFixed(2)} | ${s.headers.toFixed(2)} |`

const table = (agreement: Readonly<Record<string, SetAgreement>>, which: 'all' | 'counted') =>
  [
    '| set | answers | same code | and reason | and body | and managedFields | headers |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...Object.entries(agreement).map(([name, set]) => row(name, set[which])),
  ].join('\n')

function reasonsOf(agreement: Readonly<Record<string, SetAgreement>>): string {
  const lines = Object.entries(agreement).flatMap(([set, { differing: cases }]) =>
    cases.length === 0 ? [] : [`- ${set}, ${cases.length} cases: ${differing[set] ?? 'not looked into yet'}`],
  )
  return lines.length === 0 ? 'Nothing.' : lines.join('\n')
}

export function writeReport(agreement: Readonly<Record<string, SetAgreement>>): string {
  const leftOut = Object.entries(timingDependent).flatMap(([set, cases]) =>
    Object.entries(cases).map(([name, why]) => `- ${set}: ${name} (${why})`),
  )
  return `# Conformance

What a real Kubernetes v1.37.1 answered is recorded in \`conformance/recordings\`, one case a line. \`npm run conformance\`
asks an API server of this checkout the same and counts, in percent of all answers, how many have the same code; and
reason; and whole body; and managedFields in it too. This page is made by that command; \`npm test\` replays everything
and fails when a case that agreed no longer does (\`conformance/agreement.json\` names those that differ today).

## Over everything recorded

${table(agreement, 'all')}

## Without custom resources and quotas

The same without answers about custom resources, pod security, quota and limit ranges, and what follows them in their case.

${table(agreement, 'counted')}

## What differs, and why

${reasonsOf(agreement)}

## The first time asked

Questions that nobody had seen: recorded from Kubernetes under new seeds after the last rule was written, and asked of skiff
once (\`conformance/fresh.json\`). The recordings themselves are not kept: the seed asks the same again.

| questions | seed | cases | answers | same code | and reason | and body | and managedFields | headers |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
${fresh.map(({ generator, seed, cases, shares }) => `| ${generator} | ${seed} | ${cases} ${row('', shares).slice(3)}`).join('\n')}

## Left out of replays

${leftOut.length ? leftOut.join('\n') : 'None.'}

## Recording more

\`npm run conformance -- record --kubeconfig FILE --set mutate-create --seed 7 --count 500 --out conformance/recordings/NAME.jsonl\`
asks the cluster of that kubeconfig. Generators: mutate-create, mutate-update (of the objects that the set \`objects\` creates), rich, rich-create, rich-update (of
objects that use every part of their types), field-create, field-update (one field at a time), states, state-mutate, walk, access, crd-mutate, crd-lifecycle, gadgets, admission, webhooks, webhook-failures, policies, identity, hostile, semantics, scales, surface; an
existing recording's file asks its questions again.
`
}
