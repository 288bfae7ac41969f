/**
 * npm run conformance: replays every recording against an API server alone of this checkout, writes agreement.json and
 * docs/conformance.md.
 *
 *   npm run conformance -- --kubeconfig FILE [--set NAME] [--show N]   any other cluster; nothing is written
 *   npm run conformance -- --lower                                     writes figures that are lower than before, too
 *   npm run conformance -- --set NAME --show N                         one set (or a recording's file): the first N differences
 *   npm run conformance -- record --kubeconfig FILE --set GENERATOR --seed N --count N --out FILE.jsonl
 *   npm run conformance -- stories record|play|ask|policy …       what controllers do (stories/main.ts)
 *   GENERATOR: one of those in `questions` below, or a recording's file: asked again
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { agreementOf, type Difference, excuses, fallenFigures, isExcused, type SetAgreement } from './agreement.ts'
import { type Asker, askAll, createAsker, INITIALIZING } from './ask.ts'
import { askAllTimes, writeTimes } from './deletion-times.ts'
import { withDifferences } from './envtest-report.ts'
import { accessReviews } from './generators/access.ts'
import { admissionCases } from './generators/admission.ts'
import { choiceCases } from './generators/choices.ts'
import { claimCases } from './generators/claims.ts'
import { combinations } from './generators/combinations.ts'
import { cornerCases } from './generators/corners.ts'
import { conversionCases } from './generators/crd-conversion.ts'
import { depthCases } from './generators/crd-depth.ts'
import { lifecycleCases } from './generators/crd-lifecycle.ts'
import { managerCases } from './generators/crd-managers.ts'
import { refusalCases } from './generators/crd-refusals.ts'
import { schemaCases } from './generators/crd-schemas.ts'
import { timedCases } from './generators/deletion-times.ts'
import { detailCases } from './generators/details.ts'
import { edgeCases } from './generators/edges.ts'
import { escalationCases } from './generators/escalation.ts'
import { everyField, readTypes } from './generators/every-field.ts'
import { evictionCases } from './generators/evictions.ts'
import { fieldCreates, fieldUpdates } from './generators/fields.ts'
import { gadgetCases } from './generators/gadgets.ts'
import { hostile } from './generators/hostile.ts'
import { identityCases } from './generators/identity.ts'
import { familyCases } from './generators/ip-families.ts'
import { missingCases } from './generators/missing.ts'
import { corpusOf, mutatedCreates, mutatedDefinitions, mutatedUpdates, plainCreates } from './generators/mutations.ts'
import { patchCases } from './generators/patches.ts'
import { permissionCases } from './generators/permissions.ts'
import { policyCases } from './generators/policies.ts'
import { chance } from './generators/random.ts'
import { reads } from './generators/reads.ts'
import { richObjects } from './generators/rich/objects.ts'
import { scales } from './generators/scales.ts'
import { semantics } from './generators/semantics.ts'
import { mutatedStates, states } from './generators/states.ts'
import { surfaceCases } from './generators/surface.ts'
import { walks } from './generators/walks.ts'
import { webhookFailureCases } from './generators/webhook-failures.ts'
import { webhookCases } from './generators/webhooks.ts'
import { type Answer, type Case, readRecording, writeRecording } from './recording.ts'
import { writeReport } from './report.ts'
import { startApiServer } from './server.ts'
import { recordingFile, replayCases, serverArguments, sets } from './sets.ts'

const here = (name: string) => new URL(name, import.meta.url)

/** Both values as text from a little before where they part. */
function shortened(d: Difference): readonly [string, string] {
  const [want, got] = [JSON.stringify(d.want) ?? '', JSON.stringify(d.got) ?? '']
  let at = 0
  while (at < want.length && want[at] === got[at]) at++
  const from = at > 100 ? at - 60 : 0
  return [want.slice(from, from + 300), got.slice(from, from + 300)]
}

interface ReplayOptions {
  readonly kubeconfig?: string
  readonly set?: string
  readonly show: number
  readonly lower: boolean
}

/** One for each way in which sets want theirs started, made when it is first asked; or the one that is given, for all. */
function createServers(kubeconfig: string | undefined) {
  const askers = new Map<string, Asker>()
  const stops: (() => Promise<void>)[] = []
  const started = async (set: string) => {
    if (kubeconfig !== undefined) return kubeconfig
    const server = await startApiServer(serverArguments(set))
    stops.push(server.stop)
    return server.kubeconfig
  }
  return {
    async askerOf(set: string): Promise<Asker> {
      const key = kubeconfig ?? serverArguments(set).join(' ')
      const asker = askers.get(key) ?? createAsker(await started(set))
      askers.set(key, asker)
      return asker
    },
    async stop() {
      for (const asker of askers.values()) asker.close()
      for (const stop of stops) await stop()
    },
  }
}

async function replay(options: ReplayOptions): Promise<void> {
  const servers = createServers(options.kubeconfig)
  const result: Record<string, SetAgreement> = {}
  const differences: Difference[] = []
  try {
    for (const set of options.set ? [options.set] : sets()) {
      const cases = replayCases(set)
      const answers = await askAll(await servers.askerOf(set), cases, {
        run: `${process.pid.toString(36)}-${basename(set)
          .replace(/[^a-z]/g, '')
          .slice(0, 5)}${basename(set).length}`,
      })
      const outcome = agreementOf(set, cases, answers)
      result[set] = outcome.agreement
      differences.push(...outcome.differences)
      const { all, counted } = outcome.agreement
      const line = (s: typeof all) =>
        `code ${s.code}% reason ${s.reason}% body ${s.body}% managedFields ${s.managedFields}% headers ${s.headers}% times ${s.times}%`
      console.log(
        `${set.padEnd(18)} ${String(all.answers).padStart(5)} answers: ${line(all)}; counted: ${line(counted)}`,
      )
    }
  } finally {
    await servers.stop()
  }
  for (const d of differences.slice(0, options.show)) {
    const [want, got] = shortened(d)
    console.log(`  ${d.set}: ${d.name} | ${d.step} ${d.request} | ${d.codes.join('→')} ${d.at} want ${want} got ${got}`)
  }
  if (options.kubeconfig === undefined && options.set === undefined) keep(result, differences, options.lower)
}

/** Writes what was reached, unless it is less than before; tells of differences without an excuse, and of excuses not needed. */
function keep(
  result: Readonly<Record<string, SetAgreement>>,
  differences: readonly Difference[],
  lower: boolean,
): void {
  const before: Readonly<Record<string, SetAgreement>> = JSON.parse(readFileSync(here('agreement.json'), 'utf8'))
  for (const difference of differences.filter((one) => !isExcused(one)))
    console.log(`without an excuse in differing.json: ${difference.set}: ${difference.name}: step ${difference.step}`)
  for (const [set, list] of Object.entries(excuses))
    for (const { case: name, steps } of list)
      for (const step of steps)
        if (!differences.some((one) => one.set === set && one.name === name && one.step === step))
          console.log(`agrees, though excused in differing.json: ${set}: ${name}: step ${step}`)
  const fallen = Object.entries(before).flatMap(([set, figures]) =>
    result[set] === undefined ? [`${set} has gone`] : fallenFigures(set, figures, result[set]),
  )
  if (fallen.length > 0 && !lower) {
    console.error(`${fallen.join('\n')}\nNothing is written: figures only rise (--lower writes them all the same).`)
    process.exitCode = 1
    return
  }
  writeFileSync(here('agreement.json'), `${JSON.stringify(result, null, 1)}\n`)
  writeFileSync(here('../docs/conformance.md'), writeReport(result))
  const envtest = here('../docs/envtest.md')
  writeFileSync(envtest, withDifferences(readFileSync(envtest, 'utf8'), result))
}

async function questions(asker: Asker, set: string, seed: number, count: number): Promise<readonly Case[]> {
  if (existsSync(set)) return readRecording(set)
  const rand = chance(seed)
  const corpus = corpusOf(readRecording(recordingFile('objects')))
  const gadget = JSON.parse(readFileSync(here('gadget.json'), 'utf8'))
  switch (set) {
    case 'mutate-create':
      return mutatedCreates(corpus, rand, count)
    case 'mutate-update':
      return mutatedUpdates(corpus, rand, count)
    case 'rich':
      return plainCreates(richObjects)
    case 'rich-create':
      return mutatedCreates(richObjects, rand, count)
    case 'rich-update':
      return mutatedUpdates(richObjects, rand, count)
    case 'field-create':
      return fieldCreates([...corpus, ...richObjects], rand, count)
    case 'field-update':
      return fieldUpdates([...corpus, ...richObjects], rand, count)
    case 'every-field':
      return everyField(await readTypes(asker), [...richObjects, ...corpus])
    case 'every-kind-field':
      return everyField(await readTypes(asker), [...richObjects, ...corpus], true)
    case 'states':
      return states(corpus)
    case 'state-mutate':
      return mutatedStates(corpus, rand, count)
    case 'walk':
      return walks(rand, count)
    case 'access':
      return accessReviews(corpus, rand, count)
    case 'crd-mutate':
      return mutatedDefinitions(gadget.crd, rand, count)
    case 'permissions':
      return permissionCases()
    case 'admission':
      return admissionCases(rand, count)
    case 'policies':
      return policyCases()
    case 'identity':
      return identityCases()
    case 'corners':
      return cornerCases()
    case 'edges':
      return edgeCases()
    case 'choices':
      return choiceCases()
    case 'patches':
      return patchCases()
    case 'webhook-failures':
      return webhookFailureCases()
    case 'webhooks':
      return webhookCases()
    case 'crd-lifecycle':
      return [...lifecycleCases(), ...conversionCases(), ...schemaCases(), ...managerCases(), ...refusalCases()]
    case 'crd-depth':
      return depthCases()
    case 'escalation':
      return escalationCases()
    case 'evictions':
      return evictionCases()
    case 'missing':
      return missingCases(corpus, gadget.objects[0])
    case 'gadgets':
      return gadgetCases(gadget.objects, rand, count)
    case 'hostile':
      return hostile()
    case 'reads':
      return reads()
    case 'surface':
      return surfaceCases()
    case 'semantics':
      return semantics()
    case 'ip-families':
      return familyCases(true)
    case 'ip-family':
      return familyCases(false)
    case 'claims':
      return claimCases()
    case 'combinations':
      return combinations(rand, count)
    case 'details':
      return detailCases()
    case 'scales':
      return scales()
    default:
      throw new Error(`no generator named ${set}, and no such file`)
  }
}

/** A server that is only about to serve a resource says nothing of what it will answer: the case is asked again. */
const MOST_TURNS = 6
const isUnsettled = ({ code, body }: Answer) => code === 429 && JSON.stringify(body).includes(INITIALIZING)

async function record(options: { kubeconfig: string; set: string; seed: number; count: number; out: string }) {
  const asker = createAsker(options.kubeconfig)
  const cases = await questions(asker, options.set, options.seed, options.count)
  const run = `${process.pid.toString(36)}r`
  const answers = [...(await askAll(asker, cases, { run, settleMs: 1500 }))]
  for (let turn = 1; turn <= MOST_TURNS; turn++) {
    const again = cases.flatMap((_, index) => (answers[index]!.some(isUnsettled) ? [index] : []))
    if (again.length === 0) break
    const asked = again.map((index) => cases[index]!)
    const better = await askAll(asker, asked, { run: `${run}${turn}`, settleMs: 1500 })
    for (const [i, index] of again.entries()) answers[index] = better[i]!
  }
  asker.close()
  writeRecording(
    options.out,
    cases.map((c, index) => ({ ...c, want: answers[index]! })),
  )
  console.log(`${cases.length} cases recorded in ${options.out}`)
}

/** Times stand in a form of their own (times.ts). Time passes by itself here: a second is waited for. */
async function recordTimes(kubeconfig: string, out: string) {
  const asker = createAsker(kubeconfig)
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const json = (value: unknown) => JSON.stringify(value)
  const recorded = await askAllTimes(
    {
      call: (step) => asker.call(step),
      async namespace(name) {
        const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
        const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
        await asker.call({ m: 'POST', p: '/api/v1/namespaces', b: json(namespace) })
        await asker.call({ m: 'POST', p: `/api/v1/namespaces/${name}/serviceaccounts`, b: json(account) })
        await pause(1000 - (Date.now() % 1000))
      },
      async second() {
        return Math.floor(Date.now() / 1000)
      },
      pass: (seconds) => pause(seconds * 1000 - (Date.now() % 1000) + 20),
    },
    timedCases(),
    process.pid.toString(36),
    40,
  )
  asker.close()
  writeTimes(recorded, out)
  console.log(`${recorded.length} cases recorded in ${out}`)
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kubeconfig: { type: 'string' },
      set: { type: 'string' },
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '500' },
      out: { type: 'string' },
      show: { type: 'string', default: '0' },
      lower: { type: 'boolean', default: false },
    },
  })
  if (positionals[0] === 'record') {
    const { kubeconfig, set, out } = values
    if (!kubeconfig || !set || !out) {
      console.error('record needs --kubeconfig FILE, --set GENERATOR and --out FILE.jsonl')
      process.exit(2)
    }
    if (set === 'deletion-times') await recordTimes(kubeconfig, out)
    else await record({ kubeconfig, set, out, seed: Number(values.seed), count: Number(values.count) })
  } else {
    await replay({
      ...(values.kubeconfig ? { kubeconfig: values.kubeconfig } : {}),
      ...(values.set ? { set: values.set } : {}),
      show: Number(values.show),
      lower: values.lower,
    })
  }
}

if (process.argv[2] === 'stories') await import('./stories/main.ts')
else await main()
