/** docs/conformance.md, made from agreement.json and from the figures of Kubernetes' own tests (interop/conformance/figures.json). */
import { readFileSync } from 'node:fs'
import { type Figures, readFigures } from '../interop/conformance/figures.ts'
import { excuses, type SetAgreement, type Shares } from './agreement.ts'
import { readPlanFigures } from './plans/figures.ts'
import { timingDependent } from './sets.ts'
import { storiesReport } from './stories/report.ts'

interface Fresh {
  readonly generator: string
  readonly seed: number
  readonly cases: number
  /** Times were not judged before. */
  readonly shares: Omit<Shares, 'times'> & { readonly times?: number }
}

const fresh: readonly Fresh[] = JSON.parse(readFileSync(new URL('fresh.json', import.meta.url), 'utf8'))

const row = (name: string, s: Fresh['shares']) =>
  `| ${name} | ${s.answers} | ${s.code.toFixed(2)} | ${s.reason.toFixed(2)} | ${s.body.toFixed(2)} | ${s.managedFields.toFixed(2)} | ${s.headers.toFixed(2)} | ${s.times?.toFixed(2) ?? ''} |`

const table = (agreement: Readonly<Record<string, SetAgreement>>, which: 'all' | 'counted') =>
  [
    '| set | answers | same code | and reason | and body | and managedFields | headers | times |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...Object.entries(agreement).map(([name, set]) => row(name, set[which])),
  ].join('\n')

function reasons(): string {
  const lines = Object.entries(excuses).flatMap(([set, list]) =>
    [...Map.groupBy(list, ({ why }) => why)].map(([why, ones]) => {
      const answers = ones.reduce((sum, { steps }) => sum + steps.length, 0)
      return `- ${set}, ${answers} ${answers === 1 ? 'answer' : 'answers'}: ${why}`
    }),
  )
  return lines.length === 0 ? 'Nothing.' : lines.join('\n')
}

const causesOf = ({ failed }: Figures) =>
  [...Map.groupBy(failed, ({ cause }) => cause)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([cause, ones]) => `- ${cause}\n${ones.map(({ name }) => `  - ${name}`).join('\n')}`)
    .join('\n')

function suite(figures: Figures): string {
  const { date, commits, groups, failed, skipped, notRun } = figures
  const sum = (of: 'passed' | 'failed' | 'skipped' | 'notRun') =>
    Object.values(groups).reduce((total, group) => total + group[of], 0)
  const all = sum('passed') + sum('failed') + sum('skipped') + sum('notRun')
  const line = (name: string, [passed, not, left, open]: readonly number[]) =>
    `| ${name} | ${passed} | ${not} | ${left} | ${open} |`
  const at = Object.entries(commits).map(([commit, tests]) => `${commit} (${tests})`)
  return `The suite by which a cluster is certified, run against nodes of real containers ([kubernetes-tests.md](kubernetes-tests.md)):
${all - sum('notRun')} of ${all} tests were run, ${sum('passed')} pass. The last was on ${date}, at commit ${at.join(', ')}.

| group | passed | failed | skipped | not run |
|---|---:|---:|---:|---:|
${Object.entries(groups)
  .map(([name, group]) => line(name, [group.passed, group.failed, group.skipped, group.notRun]))
  .join('\n')}
${line('all', [sum('passed'), sum('failed'), sum('skipped'), sum('notRun')])}

What failed, by cause:

${failed.length === 0 ? 'Nothing.' : causesOf(figures)}${list('Skipped by the tests themselves', skipped)}${list('Not run', notRun)}`
}

function plans(): string {
  const { version, date, graphs, asPlanned, unsteady, withEither, pairs, pods, podsOutOfTime } = readPlanFigures()
  return `Random graphs (owners of all kinds, cycles, finalizers, pods with hooks, budgets, claims, definitions with instances) were made on a Kubernetes
${version} with KWOK's nodes, read through its kubeconfig, deleted there, and planned from what was read (\`conformance/plans\`; to ${date}, on
machines that were busy with much else): seeds 0 to 279 with controllers' clients without limits, 40 of them made twice, the others once; 280 to
999 with the default limits, each made three times at once with the copies of 39 others. Of ${graphs} graphs ${asPlanned} ended as planned: what
goes, what stays marked, what is orphaned, and the order of each object and the one that led to its end (${pairs} pairs); in ${withEither} of them the plan
leaves something open. ${unsteady} of the 720 that were made three times did not end alike three times.

Those that first differed led to rules: seeds 302, 401, 730 and 732 to the one for dependents that a foreground owner does not wait for, 457, 478
and 757 to its part for owner cycles, in which the garbage collector makes references that block no more, 445 to its part for orders, 873 to that for
dependents that stay bound to an owner that is held, 727 to the one for EndpointSlices that their Service does not own, and 567 and 994 to the
rehearsal in which races end the other way. 464 differed since its recording was broken off before the namespace controller came back; its file was made anew.
All of them were judged again with all of these rules on 2026-11-26. Which races a rehearsal sees differs a little from run to run: of other
runs the plan left 46 open.

40 further graphs (seeds 1000 to 1039, each made once, controllers' clients without limits, 2026-11-27) all went as planned, 42 pairs of them in order; one of their 28 pods ended
outside of its time. They are not in the figures above, nor kept. Nor are 50 more (seeds 1040 to 1089, each made three times, clients without limits, judged at what followed 89e6e39f on 2026-11-27): all 50 went as planned, 169 pairs in
order, all of their 144 pods within their times, four plans leave something open. Seeds 1090 to 1139 were made too, but KWOK had not ended their pods when the recording's time was over.

Compared is the order that Kubernetes' own rules make: not that in which a namespace is emptied, nor that of a foreground owner and a
dependent that it does not wait for, nor, of what was made once only, how far apart two ends were. Which races a plan finds is chance as well.

Of ${pods} pods ${podsOutOfTime} ended more than three seconds outside of their planned times. It is KWOK's queue that they waited in: it ends four pods at a time,
and on that machine took 0.4 to 3 seconds for each, where a plan counts up to a second for each turn.

Of the 93 everyday deeds of \`test/plan/everyday.ts\` (deletes, uninstalls, applies, drains) the first four eighths were planned and then done with kubectl on a
v1.37.1 with KWOK's nodes on 2026-11-27, at 804fe69a, each eighth on a cluster of its own (\`PLAN_SHARE=1/8\`): 47 of 48 came as planned, times, orders, survivors and gates. The
one: of two pods that a budget lets go one by one a drain took the other first, which is chance; the plan says so since (it was not asked there again). The last four eighths followed
that day at 30e5902f, each on a cluster of its own: 44 of 45 came as planned. The one, a namespace with instances, told of pods of another story's namespace, as it seems of a rollout
that was under way there: a plan tells of all that goes in the twin, also of what would go without the deed.

\`node conformance/plans/main.ts record --kubeconfig FILE --out DIR --seed 0 --count 1000 --audit-log FILE\` goes on where it was broken off (an audit
log that is rotated meanwhile, at 100 MB by default, tells nothing of that batch's writers, which are inferred then);
\`judge DIR\` plans and compares, as \`npm run check:long\` does with the recordings that are kept.`
}

const list = (title: string, names: readonly string[]): string =>
  names.length === 0 ? '' : `\n\n${title}:\n\n${names.map((name) => `- ${name}`).join('\n')}`

export function writeReport(agreement: Readonly<Record<string, SetAgreement>>): string {
  const leftOut = Object.entries(timingDependent).flatMap(([set, cases]) =>
    Object.entries(cases).map(([name, one]) =>
      typeof one === 'string'
        ? `- ${set}: ${name} (${one})`
        : `- ${set}: ${name}: ${one.steps.length} answers (${one.why})`,
    ),
  )
  return `# Conformance

What a real Kubernetes v1.37.1 answered is recorded in \`conformance/recordings\`, one case a line. \`npm run conformance\`
asks an API server of this checkout the same and counts, in percent of all answers, how many have the same code; and
reason; and whole body; and managedFields in it too; the same warnings and content type; and times that stand in the same
relations. This page is made by that command; \`npm test\` replays everything and fails when an answer differs that
\`conformance/differing.json\` does not name, when a set has fewer answers than before, or when a figure falls by more than differs only sometimes. The
command writes no lower figure unless it is told \`--lower\`. The sets whose names begin with families are asked of servers that were started with those
ranges for Services (\`conformance/sets.ts\`), all others of one with 10.96.0.0/16.

What chance and time decide is replaced by names before answers are compared: uids, versions, ports, times. What holds
between times is judged before that, in every answer (\`conformance/times.ts\`): an object's creation is neither past nor ahead
of its request and stays what it was; its deletionTimestamp is the time of a request plus the grace period; a time in
managedFields that is new is that of the write, and the entries are in the order of operation, time and manager. Cases
asked at a pace (set \`times\`) have each request in a second of its own, and every time in their answers is named by the
request it comes from.

Bodies of JSON are compared as the values that they stand for. As text they are not always alike: Kubernetes writes the fields of an
object in the order of its types, skiff in the order in which they came, those that it adds at the end, and \`resourceVersion\` first or last
in \`metadata\`; in Status bodies and audit annotations Kubernetes writes \`<\`, \`>\` and \`&\` as \`\\u003c\`, \`\\u003e\` and \`\\u0026\`, skiff as they
are. A client that parses JSON sees no difference. Bodies of YAML are compared as text. Where one holds U+007F to U+009F, U+FFFE or U+FFFF, which no recorded
answer does, skiff writes an escape; Kubernetes answers with code 500, or, of U+0085, gives a space in its place.

## Over everything recorded

${table(agreement, 'all')}

## Without custom resources and quotas

The same without answers about custom resources, pod security, quota and limit ranges, and what follows them in their case.

${table(agreement, 'counted')}

## What differs, and why

Each answer is named in \`conformance/differing.json\`.

${reasons()}

## The first time asked

Questions that nobody had seen: recorded from Kubernetes under new seeds after the last rule was written, and asked of skiff
once (\`conformance/fresh.json\`). The recordings themselves are not kept: the seed asks the same again.

| questions | seed | cases | answers | same code | and reason | and body | and managedFields | headers | times |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${fresh.map(({ generator, seed, cases, shares }) => `| ${generator} | ${seed} | ${cases} ${row('', shares).slice(3)}`).join('\n')}

## Controllers at work

${storiesReport()}

## Left out of replays

${leftOut.length ? leftOut.join('\n') : 'None.'}

## Kubernetes' own conformance tests

${suite(readFigures())}

## Plans

${plans()}

## Recording more

\`npm run conformance -- record --kubeconfig FILE --set mutate-create --seed 7 --count 500 --out conformance/recordings/NAME.jsonl\`
asks the cluster of that kubeconfig. Generators: mutate-create, mutate-update (of the objects that the set \`objects\` creates), rich, rich-create, rich-update (of
objects that use every part of their types), field-create, field-update (one field at a time), states, state-mutate, walk, access, crd-mutate, crd-lifecycle, crd-depth, gadgets, admission, webhooks, webhook-failures, policies, identity, patches, choices, corners, edges, hostile, semantics, scales, surface, combinations (of what users write), details, escalation, evictions, missing, claims, ip-families (of a server of both families), ip-family (of one of IPv6 alone), every-field (each field of every type set once; every-kind-field of every kind); an
existing recording's file asks its questions again. The set deletion-times is recorded into
conformance/deletion-times.jsonl, in a form of its own.
`
}
