/** Content types and pieces of the hostile bodies. */
import type { Step } from '../recording.ts'
import { configMap, json, repeated } from './hostile-requests.ts'

export const M = 'application/merge-patch+json'
export const J = 'application/json-patch+json'
export const S = 'application/strategic-merge-patch+json'
export const A = 'application/apply-patch+yaml'
export const YAML = 'application/yaml'
export type Cases = readonly (readonly [string, readonly Step[]])[]

export const plain = json(configMap('a', { data: { a: 'b' } }))

export const nested = (depth: number, open: string, close: string, inside = '') =>
  repeated(open, depth) + inside + repeated(close, depth)
export const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n'
