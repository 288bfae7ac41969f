/** Writes to what does not exist, and to its subresources: by PUT, by each kind of patch, with uid and version asked for. */
import type { Case, Step } from '../recording.ts'
import { apply, jsonPatch, merge, put } from './definitions.ts'
import type { CorpusEntry } from './mutations.ts'
import { type Fields, foreign } from './semantic-parts.ts'

/** Subresources that are written, whether a kind has them or not. */
const COMMON = ['status', 'scale']
const OWN: Readonly<Record<string, readonly string[]>> = {
  pods: ['ephemeralcontainers', 'resize', 'binding', 'eviction'],
  namespaces: ['finalize'],
  certificatesigningrequests: ['approval'],
  serviceaccounts: ['token'],
}

const SCALE = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 1 } }

function writes(path: string, object: Fields): readonly Step[] {
  const metadata = object['metadata'] as Fields
  const name = 'missing'
  const at = `${path}/${name}`
  const resource = path.slice(path.lastIndexOf('/') + 1)
  const body = (more: Fields = {}): Fields => ({ ...object, metadata: { ...metadata, name, ...more } })
  const shortBody = (more: Fields = {}): Fields => ({
    apiVersion: object['apiVersion'],
    kind: object['kind'],
    metadata: { name, ...more },
  })
  const query = '?fieldManager=m'
  return [
    merge(at, {}),
    jsonPatch(at, []),
    { ...merge(at, {}), h: { 'content-type': 'application/strategic-merge-patch+json' } },
    merge(at, { metadata: { uid: foreign } }),
    ...[...COMMON, ...(OWN[resource] ?? [])].flatMap((subresource) => {
      const of = subresource === 'scale' ? (more: Fields = {}) => ({ ...SCALE, metadata: { name, ...more } }) : body
      const to = `${at}/${subresource}`
      return [
        apply(`${to}${query}`, of()),
        apply(`${to}${query}&force=true&dryRun=All`, of()),
        apply(`${to}${query}`, of({ uid: foreign })),
        apply(`${to}${query}`, of({ resourceVersion: '1' })),
        ...(subresource === 'status' ? [apply(`${to}${query}`, shortBody())] : []),
        put(to, of()),
        put(to, of({ uid: foreign })),
        put(to, of({ resourceVersion: '1' })),
        merge(to, {}),
        { m: 'GET', p: at },
      ]
    }),
    put(at, body({ uid: foreign })),
    put(at, body({ resourceVersion: '1' })),
    put(at, body({ uid: foreign, resourceVersion: '1' })),
    apply(`${at}${query}`, body({ uid: foreign })),
    apply(`${at}${query}`, body({ resourceVersion: '1' })),
    apply(`${at}${query}&dryRun=All`, body({ resourceVersion: '1' })),
    { m: 'GET', p: at },
    put(`${at}?dryRun=All`, body()),
    put(at, body()),
    apply(`${at}${query}`, body()),
    { m: 'DELETE', p: at },
  ]
}

/** One case a kind of the corpus, and one of a custom resource. */
export function missingCases(corpus: readonly CorpusEntry[], gadget: Fields): readonly Case[] {
  const kinds = new Map<string, CorpusEntry>()
  for (const entry of corpus) if (!kinds.has(entry.path)) kinds.set(entry.path, entry)
  return [
    ...[...kinds.values()].map(({ path, object }) => ({
      name: path,
      serial: !path.includes('$NS'),
      steps: writes(path, object),
    })),
    {
      name: 'a custom resource',
      gadget: true,
      steps: writes('/apis/probe.example.com/v1/namespaces/$NS/gadgets', gadget),
    },
  ]
}
