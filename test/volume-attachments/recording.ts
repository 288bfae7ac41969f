/**
 * What the attach/detach controller wrote, step by step, in a form in which a real cluster's writes and ours compare. The writes on one
 * object keep their order; those on several are in no order.
 */
import { readFileSync } from 'node:fs'
import {
  createNeutral as createNames,
  type Neutral,
  type SeenStep,
  type SeenWrite,
  stepOf as stepOfAll,
} from '../devices/recording.ts'
import { type Scenario, withoutToken } from './scenario.ts'

export { recordingText, type SeenStep, type SeenWrite } from '../devices/recording.ts'

export const WRITER = 'system:serviceaccount:kube-system:attachdetach-controller'

const folder = new URL('./recordings/', import.meta.url)
export const recordingFile = (name: string): URL => new URL(`${name.replaceAll(/[ ,]+/g, '-')}.json`, folder)
export const readRecording = (name: string): readonly SeenStep[] =>
  JSON.parse(readFileSync(recordingFile(name), 'utf8'))

export function createNeutral(namespace: string, scenario: Scenario, token: string): Neutral {
  const names = createNames(namespace)
  const plain = withoutToken(scenario, token)
  return { know: names.know, text: (text) => names.text(plain(text)) }
}

/**
 * Without what changes nothing: a node that has come back is told of nothing once more. A node's list is told as it last was: how many
 * changes of it are written at once is a matter of the moment.
 */
export function stepOf(writes: readonly SeenWrite[], neutral: Neutral, told: Set<string>): SeenStep {
  const telling = writes.filter(({ verb, body }) => verb !== 'patch' || Object.keys(body).length > 0)
  const step = stepOfAll(telling, neutral, told)
  return Object.fromEntries(
    Object.entries(step).map(([on, list]) => [on, on.includes(' nodes/') ? list.slice(-1) : list]),
  )
}
