/** Where it is kept what a scheduler did with a file, and the file. */
import { readFileSync } from 'node:fs'
import type { Fields, Json } from '../../src/api/object.ts'
import { type QueueStep, recordingText as queueText } from '../scheduler-queue/recording.ts'

const folder = new URL('./recordings/', import.meta.url)
export const recordingFile = (name: string): URL => new URL(`${name}.json`, folder)
/** `asked`: of its extenders, `name/verb` with what they were told. */
export interface ProfileStep extends QueueStep {
  readonly asked?: readonly Json[]
}

/** Nothing where nothing was asked. */
export const askedIn = (asked: readonly Json[], neutral: (text: string) => string): Pick<ProfileStep, 'asked'> =>
  asked.length === 0 ? {} : { asked: JSON.parse(neutral(JSON.stringify(asked))) as readonly Json[] }

export const recordingText = (steps: readonly ProfileStep[]): string => queueText(steps, ({ asked = [] }) => asked)

export const readRecording = (name: string): readonly ProfileStep[] =>
  JSON.parse(readFileSync(recordingFile(name), 'utf8'))

export const fileOf = (fields: Fields): string =>
  JSON.stringify({ apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration', ...fields })
