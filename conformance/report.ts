/** docs/conformance.md, made from agreement.json. */
import type { SetAgreement, Shares } from './agreement.ts'
import { timingDependent } from './sets.ts'

const row = (name: string, s: Shares) =>
  `| ${name} | ${s.answers} | ${s.code.toFixed(2)} | ${s.reason.toFixed(2)} | ${s.body.toFixed(2)} | ${s.managedFields.toFixed(2)} |`

const table = (agreement: Readonly<Record<string, SetAgreement>>, which: 'all' | 'counted') =>
  [
    '| set | answers | same code | and reason | and body | and managedFields |',
    '|---|---:|---:|---:|---:|---:|',
    ...Object.entries(agreement).map(([name, set]) => row(name, set[which])),
  ].join('\n')

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

## Without what later steps bring

The same without answers about server-side apply (and the walks that contain one), custom resources, pod security, quota,
limit ranges, eviction, ephemeral containers and resize.

${table(agreement, 'counted')}

## Left out of replays

${leftOut.length ? leftOut.join('\n') : 'None.'}

## Recording more

\`npm run conformance -- record --kubeconfig FILE --set mutate-create --seed 7 --count 500 --out conformance/recordings/NAME.jsonl\`
asks the cluster of that kubeconfig. Generators: mutate-create, mutate-update, walk, access, crd-mutate, gadgets; an
existing recording's file asks its questions again.
`
}
