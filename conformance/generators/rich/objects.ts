/** Objects that use every part of their types, where those that the set `objects` creates are thin. Mutations start from them. */
import type { CorpusEntry } from '../mutations.ts'
import { richClusterKinds } from './cluster.ts'
import { richPods } from './pods.ts'
import { richWorkloads } from './workloads.ts'

export const richObjects: readonly CorpusEntry[] = [...richPods, ...richWorkloads, ...richClusterKinds]
