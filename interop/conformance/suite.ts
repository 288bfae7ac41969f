/** Kubernetes' end-to-end tests as a program (e2e.test): which there are, and runs of some of them. */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { createWriteStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { parse } from 'yaml'
import type { TestResult } from './results.ts'

const REASON_LINES = 6
const REASON_LENGTH = 600

/** Names of the conformance tests. */
export function conformanceTests(program: string): readonly string[] {
  const listed = execFileSync(program, ['--list-conformance-tests'], { encoding: 'utf8', maxBuffer: 1 << 26 })
  return (parse(listed) as readonly { codename: string }[]).map(({ codename }) => codename)
}

/** Names of the images that tests ask for. */
export function imageNames(program: string): readonly string[] {
  const listed = execFileSync(program, ['--list-images'], { encoding: 'utf8', maxBuffer: 1 << 26 })
  return [...new Set(listed.split('\n').filter((line) => /^[a-z0-9.-]+\/\S+:\S+$/.test(line)))]
}

/** Tests that may not run beside others. */
export const isSerial = (name: string): boolean => name.includes('[Serial]')

/** The part of a report of Ginkgo (--ginkgo.json-report) that is read. */
interface Report {
  readonly SpecReports: readonly SpecReport[] | null
}
interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
  readonly LeafNodeType: string
  readonly State: string
  /** Nanoseconds. */
  readonly RunTime: number
  readonly Failure?: { readonly Message?: string }
}

export interface Batch {
  readonly names: readonly string[]
  readonly kubeconfig: string
  readonly kubectl: string
  /** Where the log and the report go. */
  readonly directory: string
  /** Names the files in it. */
  readonly id: string
  readonly start: (args: readonly string[]) => ChildProcess
}

/** Runs some tests by one process, one after the other. One that the program says nothing of has failed. */
export async function runBatch(batch: Batch): Promise<readonly TestResult[]> {
  const report = join(batch.directory, `${batch.id}.json`)
  const child = batch.start([
    '--provider=skeleton',
    `--kubeconfig=${batch.kubeconfig}`,
    `--kubectl-path=${batch.kubectl}`,
    `--ginkgo.focus= (?:${batch.names.map(escaped).join('|')})$`,
    `--ginkgo.json-report=${report}`,
    '--ginkgo.timeout=50m',
    '--ginkgo.no-color',
    '--ginkgo.v',
  ])
  const log = createWriteStream(join(batch.directory, `${batch.id}.log`))
  child.stdout?.pipe(log, { end: false })
  child.stderr?.pipe(log, { end: false })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  log.end()
  await finished(log)
  const told = existsSync(report) ? resultsIn(JSON.parse(readFileSync(report, 'utf8')) as readonly Report[]) : []
  const byName = new Map(told.map((result) => [result.name, result]))
  const suite = told.find(({ name, state }) => name === '' && state === 'failed')?.reason
  const silent = suite ?? `e2e.test ended with ${code} before it told of this test (${batch.id}.log)`
  return batch.names.map((name) => byName.get(name) ?? { name, state: 'failed', seconds: 0, reason: silent })
}

/** Tests of a report that ran; under an empty name what goes before and after all of them. */
export function resultsIn(reports: readonly Report[]): readonly TestResult[] {
  return reports
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .flatMap((spec) => {
      const name =
        spec.LeafNodeType === 'It' ? [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' ') : ''
      const message = spec.Failure?.Message
      // Ginkgo tells of all that was not asked for as skipped, without a word of why.
      if (spec.State === 'skipped' && message === undefined) return []
      const state = spec.State === 'passed' ? 'passed' : spec.State === 'skipped' ? 'skipped' : 'failed'
      const seconds = Math.round(spec.RunTime / 1e8) / 10
      return { name, state, seconds, ...(state === 'passed' ? {} : { reason: shortened(message ?? spec.State) }) }
    })
}

const shortened = (message: string): string =>
  message
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, REASON_LINES)
    .join('\n')
    .slice(0, REASON_LENGTH)

/** As a regular expression of Go that matches nothing else. */
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
