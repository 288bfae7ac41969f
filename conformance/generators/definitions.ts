/** Parts of the questions about CustomResourceDefinitions: every case has an API group of its own, named after its namespace. */
import type { Case, Step } from '../recording.ts'

// biome-ignore lint/suspicious/noExplicitAny: definitions and objects of kinds that cases make up
export type Any = any

export const group = '$NS.example.com'
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const named = (plural: string) => `${definitions}/${plural}.${group}`
export const path = (version: string, plural = 'widgets') => `/apis/${group}/${version}/namespaces/$NS/${plural}`

const body = (b: Any) => (typeof b === 'string' ? b : JSON.stringify(b))
export const get = (p: string, h?: Step['h']): Step => ({ m: 'GET', p, ...(h ? { h } : {}) })
export const post = (p: string, b: Any): Step => ({ m: 'POST', p, b: body(b) })
export const put = (p: string, b: Any): Step => ({ m: 'PUT', p, b: body(b) })
export const remove = (p: string, b?: Any): Step => ({ m: 'DELETE', p, ...(b ? { b: body(b) } : {}) })
const patch = (type: string) => (p: string, b: Any) => ({ m: 'PATCH', p, b: body(b), h: { 'content-type': type } })
export const merge = patch('application/merge-patch+json')
export const jsonPatch = patch('application/json-patch+json')
export const apply = patch('application/apply-patch+yaml')
/** The same step, asked again until its answer holds the text. */
export const until = (text: string | readonly string[], step: Step): Step => ({ ...step, until: text })
export const settled = ([first, ...rest]: readonly Step[]): readonly Step[] =>
  first === undefined ? [] : [{ ...first, settle: true }, ...rest]

export const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

export const text = { type: 'string' }
export const integer = { type: 'integer' }
export const object = (properties: Any, more: Any = {}): Any => ({ type: 'object', properties, ...more })
export const list = (items: Any, more: Any = {}): Any => ({ type: 'array', items, ...more })

/** A version whose spec (and perhaps status) have these properties. The first of a definition is stored. */
export const version = (name: string, spec: Any, more: Any = {}, status?: Any): Any => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: object({ spec, ...(status ? { status } : {}) }) },
  ...more,
})

export const definition = (versions: Any[], more: Any = {}, plural = 'widgets', kind = 'Widget'): Any => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}`, ...more.metadata },
  spec: { group, scope: 'Namespaced', names: { plural, kind, ...more.names }, versions, ...more.spec },
})

export const widget = (spec: Any, more: Any = {}, apiVersion = 'v1', kind = 'Widget'): Any => ({
  apiVersion: `${group}/${apiVersion}`,
  kind,
  metadata: { name: 'a', ...more.metadata },
  ...(spec === undefined ? {} : { spec }),
  ...(more.status === undefined ? {} : { status: more.status }),
})

const SERVED = '"reason":"InitialNamesAccepted"'

/** Asks the definition, waits until it is served, and goes on. */
export const installed = (asked: Any, steps: readonly Step[]): readonly Step[] => [
  post(definitions, asked),
  until(SERVED, get(`${definitions}/${asked.metadata.name}`)),
  ...settled(steps),
]

/** The definition's deletion ends the case, so that the next one finds as few as this one. */
export const about = (name: string, asked: Any, steps: readonly Step[], more: Partial<Case> = {}): Case => ({
  name,
  anyOrder: true,
  steps: installed(asked, steps),
  ...more,
})

/** Changes the definition and goes on when that is in force. */
export const changed = (change: Any, steps: readonly Step[], plural = 'widgets'): readonly Step[] => [
  merge(named(plural), change),
  ...settled(steps),
]
