/** Requests and objects of which the sequences about admission are made. */
import type { Step } from '../recording.ts'
import type { Chance } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: parts of objects of several kinds
export type Any = any

export const core = '/api/v1/namespaces/$NS'
export const json = JSON.stringify
export const post = (p: string, body: Any, h?: Step['h']): Step => ({
  m: 'POST',
  p,
  b: json(body),
  ...(h ? { h } : {}),
})
export const put = (p: string, body: Any, h?: Step['h']): Step => ({ m: 'PUT', p, b: json(body), ...(h ? { h } : {}) })
export const get = (p: string): Step => ({ m: 'GET', p })
export const settled = (step: Step): Step => ({ ...step, settle: true })
export const merge = (p: string, body: Any, h: Step['h'] = {}): Step => ({
  m: 'PATCH',
  p,
  b: json(body),
  h: { 'content-type': 'application/merge-patch+json', ...h },
})
export const as = (user: string, ...groups: string[]): Record<string, string> => ({
  'impersonate-user': user,
  ...(groups.length > 0 ? { 'impersonate-group': groups[0]! } : {}),
})
export const node = (name: string) => as(`system:node:${name}`, 'system:nodes')

export const pod = (name: string, spec: Any = {}, meta: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...meta },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
export const claim = (name: string, storage: string, spec: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
})
export const deployment = (name: string, spec: Any, labels: Any = {}): Any => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b', ...labels } }, spec } },
})

export function list(rand: Chance, names: readonly string[], p = 0.6): Any {
  const found = names.flatMap((name) => (rand.float() < p ? [[name, rand.pick(amounts[name]!)]] : []))
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

export function resources(rand: Chance, extended = true): Any {
  const names = ['cpu', 'memory', ...(extended && rand.float() < 0.2 ? ['ephemeral-storage'] : [])]
  const limits = list(rand, names, 0.5)
  const requests = list(rand, names, 0.5)
  // A request is kept at or below its limit, so that validation has nothing to say.
  if (limits && requests) for (const name of Object.keys(requests)) if (limits[name]) requests[name] = limits[name]
  return { limits, requests }
}

export function podOfContainers(rand: Chance, name: string): Any {
  const containers = Array.from({ length: rand.pick([1, 1, 1, 2]) }, (_, i) => ({
    name: `c${i}`,
    image: 'i',
    ...(rand.float() < 0.75 ? { resources: resources(rand) } : {}),
  }))
  const initContainers =
    rand.float() < 0.25
      ? [
          {
            name: 'init',
            image: 'i',
            resources: resources(rand),
            ...(rand.float() < 0.4 ? { restartPolicy: 'Always' } : {}),
          },
        ]
      : undefined
  return pod(name, {
    containers,
    initContainers,
    ...(rand.float() < 0.15 ? { resources: { requests: { cpu: '3' }, limits: { cpu: '3', memory: '3Gi' } } } : {}),
  })
}

export const amounts: Readonly<Record<string, readonly string[]>> = {
  cpu: ['50m', '100m', '250m', '500m', '1', '2', '1.5'],
  memory: ['16Mi', '64Mi', '128Mi', '1Gi', '100M', '64e6'],
  'ephemeral-storage': ['1Gi', '2Gi', '500Mi'],
  'example.com/gpu': ['1', '2'],
}
