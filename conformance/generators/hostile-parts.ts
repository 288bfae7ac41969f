/** What the hostile bodies of many kinds are made of. */
export type Fields = Record<string, unknown>

/** Where a kind is created, what it is, and bodies for it. */
export type Kind = readonly [path: string, apiVersion: string, kind: string, bodies: readonly Fields[]]

export const namespaced = (base: string, resource: string) => `${base}/namespaces/$NS/${resource}`

export const container = (more: Fields = {}): Fields => ({ name: 'c', image: 'i', ...more })
export const podSpec = (more: Fields = {}, inner: Fields = {}): Fields => ({ containers: [container(inner)], ...more })
export const labels = { a: 'b' }
export const template = (spec: Fields = podSpec()): Fields => ({ metadata: { labels }, spec })
