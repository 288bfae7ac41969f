/** Parts of the questions about definitions with one version, v1, and one object of it, a. */
import { type Any, definition, list, merge, object, path, text, version } from './definitions.ts'

export const v1 = (spec: Any, more: Any = {}, status?: Any) => definition([version('v1', spec, more, status)])
export const schema = (spec: Any, more: Any = {}, status?: Any) => ({
  spec: { versions: [version('v1', spec, more, status)] },
})
export const rule = (text: string, more: Any = {}) => ({ rule: text, ...more })
export const ruled = (schemaOf: Any, ...rules: Any[]) => ({ ...schemaOf, 'x-kubernetes-validations': rules })
export const a = `${path('v1')}/a`
export const spec = (change: Any) => merge(a, { spec: change })
export const label = merge(a, { metadata: { labels: { x: 'y' } } })

/** A list whose items are told apart by their names. */
export const keyed = (items: Any, more: Any = {}) =>
  list(object({ name: text, ...items }, { required: ['name'] }), {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    ...more,
  })
