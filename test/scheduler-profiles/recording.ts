/** Where it is kept what a scheduler did with a file, and the file. */
import { readFileSync } from 'node:fs'
import type { Fields } from '../../src/api/object.ts'
import type { QueueStep } from '../scheduler-queue/recording.ts'

const folder = new URL('./recordings/', import.meta.url)
export const recordingFile = (name: string): URL => new URL(`${name}.json`, folder)
export const readRecording = (name: string): readonly QueueStep[] =>
  JSON.parse(readFileSync(recordingFile(name), 'utf8'))

export const fileOf = (fields: Fields): string =>
  JSON.stringify({ apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration', ...fields })
