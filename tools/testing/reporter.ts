/**
 * A reporter for node:test: one JSON line for each test that has ended, for programs that count them and keep their results
 * (`Reported` in run.ts), one for each thing a test says by the way, and one for each file. What failed is told on standard error at once. Suites are no tests and get no line, unless they failed of themselves.
 */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import type { Reported } from './run.ts'

export default async function* results(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type === 'test:summary' && event.data.file !== undefined)
      yield line({ file: relative(process.cwd(), event.data.file), took: event.data.duration_ms / 1000 })
    if (event.type === 'test:diagnostic' && event.data.file !== undefined) yield line({ note: event.data.message })
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { data } = event
    const failed = event.type === 'test:fail'
    const isSuite = data.details.type === 'suite'
    if (isSuite && (!failed || causedByTests(data.details))) continue
    const file = data.file === undefined ? '' : relative(process.cwd(), data.file)
    // Told at once: a run that is cut off shows what went wrong before.
    if (failed) process.stderr.write(`\n✖ ${file}: ${data.name}\n`)
    yield line({
      file,
      name: data.name,
      state: failed ? 'failed' : data.skip === undefined || data.skip === false ? 'passed' : 'skipped',
      seconds: data.details.duration_ms / 1000,
      ...(typeof data.skip === 'string' ? { reason: data.skip } : {}),
    })
  }
}

const line = (reported: Reported): string => `${JSON.stringify(reported)}\n`

/** A suite fails with each of its tests; their own lines say so. */
function causedByTests(details: object): boolean {
  const { error } = details as { error?: { failureType?: string } }
  return error?.failureType === 'subtestsFailed'
}
