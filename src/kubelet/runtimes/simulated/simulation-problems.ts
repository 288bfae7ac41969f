/** What of a pod's annotations for the simulation is not understood: told as Events of the pod, since nothing comes of it. */
import { messageOf } from '../../../base/errors.ts'
import type { ContainerConfig } from '../runtime.ts'
import { readExecAnswers } from './exec-answers.ts'
import { forwardProblem, readForwards } from './forwards.ts'
import { readServed } from './serving.ts'
import type { SimulationResources } from './simulated-answers.ts'
import { annotatedMs, annotationsOfSimulation, withImage } from './simulation-annotations.ts'

/** Says what is wrong with a value; undefined: nothing. */
type Check = (text: string, resources: SimulationResources) => string | undefined | Promise<string | undefined>

const anything: Check = () => undefined
const duration: Check = (text) =>
  annotatedMs(text) === undefined ? 'it must be a time as 500ms, 3s or 1m30s' : undefined
const number: Check = (text) => (/^\d{1,9}$/.test(text) ? undefined : 'it must be a number')
const flag: Check = (text) => (text === 'true' || text === 'false' ? undefined : 'it must be true or false')
const outcome: Check = (text) => {
  const [kind, after, ...rest] = text.split('=')
  if (text === 'success' || text === 'failure') return undefined
  const isTimed = (kind === 'success-after' || kind === 'failure-after') && rest.length === 0
  return isTimed && annotatedMs(after) !== undefined
    ? undefined
    : 'it must be success, failure, success-after=5s or failure-after=5s'
}
const choice =
  (...words: readonly string[]): Check =>
  (text) =>
    words.includes(text) ? undefined : `it must be ${words.join(' or ')}`
const quantity: Check = (text) =>
  /^\d+(\.\d+)?([numkKMGTPE]|[KMGTPE]i)?$/.test(text) ? undefined : 'it must be a quantity as 250m or 64Mi'
const answers: Check = (text) => readExecAnswers(text).then(() => undefined, messageOf)

const forwards: Check = (text, { forward = [] }) => {
  try {
    const problems = [...readForwards(text).values()].map((target) => forwardProblem(target, forward))
    return problems.find((problem) => problem !== undefined)
  } catch (error) {
    return messageOf(error)
  }
}

const served: Check = (text) => {
  try {
    readServed(text)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

const CHECKS = new Map<string, Check>([
  ...['sandbox-delay', 'pull-delay', 'start-delay', 'stop-delay', 'log-every'].map((name) => [name, duration] as const),
  ...['exit-code', 'exit-times', 'sigterm-exit-code'].map((name) => [name, number] as const),
  ...['ignore-sigterm', 'never-ready'].map((name) => [name, flag] as const),
  ...['start-error', 'termination-message', 'log', 'log-file'].map((name) => [name, anything] as const),
  ...['readiness', 'liveness', 'startup', 'pre-stop', 'post-start'].flatMap((name) => [
    [name, outcome] as const,
    [`${name}-duration`, duration] as const,
    [`${name}-output`, anything] as const,
  ]),
  ['cpu', quantity],
  ['memory', quantity],
  ['exit-after', (text) => (text === 'never' ? undefined : duration(text, {}))],
  ['image', choice('absent', 'missing')],
  ['exec', answers],
  ['forward', forwards],
  ['serve', served],
])

/** undefined where there is no such annotation. */
export function simulationProblems(
  {
    annotations,
    metadata,
    image = '',
  }: Pick<ContainerConfig, 'annotations' | 'metadata'> & { readonly image?: string },
  resources: SimulationResources = {},
): Promise<readonly string[]> | undefined {
  const own = annotationsOfSimulation(withImage(annotations, image, metadata.name), metadata.name)
  return own.length === 0 ? undefined : problemsOf(own, resources)
}

async function problemsOf(
  own: ReturnType<typeof annotationsOfSimulation>,
  resources: SimulationResources,
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const { key, name, value } of own) {
    const check = CHECKS.get(name)
    const problem = check === undefined ? 'there is no annotation of this name' : await check(value, resources)
    if (problem !== undefined) problems.push(`annotation ${key}: ${problem}`)
  }
  return problems
}
