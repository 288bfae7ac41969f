/**
 * What the attach/detach controller wrote, step by step, in a form in which a real cluster's writes and ours compare. The writes on one
 * object keep their order; those on several are in no order.
 */
import { readFileSync } from 'node:fs'
import type { Json } from '../../src/api/object.ts'
import { type SeenStep, stepOf, recordingText as text } from '../devices/recording.ts'

export const WRITER = 'system:serviceaccount:kube-system:attachdetach-controller'

export { createNeutral, type SeenStep, type SeenWrite } from '../devices/recording.ts'
export { stepOf, text as recordingText }

const folder = new URL('./recordings/', import.meta.url)
export const recordingFile = (name: string): URL => new URL(`${name.replaceAll(/[ ,]+/g, '-')}.json`, folder)
export const readRecording = (name: string): readonly SeenStep[] =>
  JSON.parse(readFileSync(recordingFile(name), 'utf8'))
export type { Json }
