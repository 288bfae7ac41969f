/** `--watch`: says why, again whenever the answer changes, until the object is gone. */
import type { Client } from '../../client/client.ts'
import type { QuestionTarget } from '../question.ts'
import { askWhy, type WhyOptions } from './ask.ts'
import { EXIT_CODES } from './report.ts'

/** What an object waits for changes elsewhere too, so it is asked anew this often; the budget of each question is its own. */
const EVERY_MS = 5_000

/**
 * Resolves with the exit code: 0 when the object has gone.
 * @throws StatusError when it may not be watched
 */
export async function followTarget(
  options: WhyOptions,
  client: Client,
  target: QuestionTarget,
  write: (text: string) => void,
): Promise<number> {
  let last = ''
  for (let times = 0; ; times++) {
    const { text, exitCode, gist, watched } = await askWhy(options, target)
    if (exitCode === EXIT_CODES.missing && times > 0) {
      write(options.output === 'json' ? text : 'it is gone\n')
      return 0
    }
    if (gist !== last) write(last === '' || options.output === 'json' ? text : `\n${text}`)
    last = gist
    if (exitCode === EXIT_CODES.missing || watched === undefined) return exitCode
    const stop = new AbortController()
    const timer = options.clock.setTimer(EVERY_MS, 'why', () => stop.abort())
    try {
      const { gvr, namespace, name, resourceVersion } = watched
      const fieldSelector = `metadata.name=${name}`
      const events = await client
        .resource(gvr)
        .namespace(namespace)
        .watch({ fieldSelector, resourceVersion }, stop.signal)
      await events.next()
    } catch (error) {
      // The version is too old, or the time came first: it is looked at anew in any case.
      if (!stop.signal.aborted && (error as { code?: unknown }).code !== 410) throw error
    } finally {
      timer.cancel()
      stop.abort()
    }
  }
}
