/** Conversion of custom resources: by changing apiVersion alone, and by a webhook that does it well or badly. */
import type { Case, Step } from '../recording.ts'
import {
  about,
  apply,
  changed,
  definition,
  get,
  group,
  integer,
  jsonPatch,
  list,
  merge,
  named,
  object,
  path,
  post,
  put,
  remove,
  table,
  text,
  version,
  widget,
} from './definitions.ts'

const subresources = (specReplicasPath: string) => ({
  status: {},
  scale: { specReplicasPath, statusReplicasPath: '.status.size', labelSelectorPath: '.status.selector' },
})
const status = object({ size: integer, selector: text, note: text })

const one = version('v1', object({ size: integer, mode: text }), { subresources: subresources('.spec.size') }, status)
const two = version(
  'v2',
  object({ scale: object({ size: integer }), mode: text, added: { type: 'string', default: 'in v2' } }),
  { subresources: subresources('.spec.scale.size') },
  status,
)
const webhook = (way: string, conversionReviewVersions: readonly string[] = ['v1'], clientConfig?: object) => ({
  spec: {
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions,
        clientConfig: clientConfig ?? { url: `$HOOK/convert/${way}`, caBundle: '$CA' },
      },
    },
  },
})

const v1 = widget({ size: 3, mode: 'x' }, { metadata: { labels: { l: '1' }, annotations: { a: '1' } } })
const v2 = (name: string) => widget({ scale: { size: 4 }, mode: 'y' }, { metadata: { name } }, 'v2')

/** What is asked of a definition whose webhook fails. */
const badly = (first: Step): readonly Step[] => [
  post(path('v1'), v1),
  get(`${path('v1')}/a`),
  first,
  get(path('v2')),
  merge(`${path('v2')}/a`, { spec: { mode: 'z' } }),
  post(path('v2'), v2('b')),
  remove(`${path('v2')}/a`),
  get(path('v1')),
]

const FAILING = [
  ...['few', 'many', 'none', 'name', 'namespace', 'uid', 'unlabelled', 'labels', 'finalizers', 'generation'],
  ...['version', 'kind', 'failed', 'failedmute', 'noresult', 'wronguid', 'absent', 'nometadata', 'extra'],
  ...['types', 'null', 'badlabels', 'betareview', 'podkind', 'text', 'blank', '500', '404', '403', 'drop'],
]

const UNREACHABLE: Readonly<Record<string, object>> = {
  'nobody listens': { url: 'https://127.0.0.1:1/convert', caBundle: '$CA' },
  'unknown authority': { url: '$HOOK/convert/well' },
  'no service': { service: { namespace: '$NS', name: 'none', path: '/convert' }, caBundle: '$CA' },
}

const watched = (v: string, step: number, seconds = 3) =>
  get(`${path(v)}?watch=true&timeoutSeconds=${seconds}&resourceVersion={{${step}.metadata.resourceVersion}}`)

const wellDone: readonly Step[] = [
  post(path('v1'), v1),
  get(`${path('v2')}/a`),
  get(path('v2')),
  post(path('v2'), v2('b')),
  get(`${path('v1')}/b`),
  get(path('v1')),
  merge(`${path('v2')}/a`, { spec: { scale: { size: 5 } } }),
  jsonPatch(`${path('v2')}/a`, [{ op: 'replace', path: '/spec/scale/size', value: 6 }]),
  put(`${path('v2')}/b`, { ...v2('b'), spec: { scale: { size: 7 } } }),
  apply(`${path('v2')}/c?fieldManager=me`, { ...v2('c'), spec: { scale: { size: 8 } } }),
  apply(`${path('v1')}/c?fieldManager=you`, { ...widget({ size: 9 }), metadata: { name: 'c' } }),
  apply(`${path('v1')}/c?fieldManager=you&force=true`, { ...widget({ size: 9 }), metadata: { name: 'c' } }),
  get(`${path('v2')}/c`),
  merge(`${path('v2')}/a/status`, { status: { size: 2, selector: 'a=b' } }),
  get(`${path('v2')}/a/status`),
  get(`${path('v1')}/a/scale`),
  get(`${path('v2')}/a/scale`),
  merge(`${path('v2')}/a/scale`, { spec: { replicas: 11 } }),
  get(`${path('v1')}/a`),
  get(`${path('v2')}?limit=1`),
  get(path('v2'), table),
  get(`${path('v2')}?labelSelector=l%3D1`),
  post(`${path('v2')}?dryRun=All`, v2('d')),
  watched('v2', 2),
  watched('v1', 2),
  remove(`${path('v2')}/b`),
  remove(path('v2')),
  get(path('v1')),
]

const storage = (first: boolean) => ({
  spec: {
    versions: [
      { ...one, storage: first },
      { ...two, storage: !first },
    ],
  },
})

export function conversionCases(): readonly Case[] {
  const both = [one, two]
  return [
    about('conversion None', definition(both), wellDone),
    about('conversion by webhook', definition(both, webhook('well')), wellDone),
    about(
      'conversion by webhook, v1beta1 reviews',
      definition(both, webhook('well', ['v1beta1'])),
      badly(get(`${path('v2')}/a`)),
    ),
    about(
      'conversion by webhook, unknown reviews first',
      definition(both, webhook('well', ['v7', 'v1'])),
      badly(get(`${path('v2')}/a`)),
    ),
    about('what a conversion webhook is told', definition(both, webhook('told')), [
      post(path('v1'), v1),
      get(`${path('v2')}/a`),
      get(path('v2')),
    ]),
    ...FAILING.map((way) =>
      about(`conversion webhook: ${way}`, definition(both, webhook(way)), badly(get(`${path('v2')}/a`))),
    ),
    ...Object.entries(UNREACHABLE).map(([name, config]) =>
      about(
        `conversion webhook: ${name}`,
        definition(both, webhook('', ['v1'], config)),
        badly(get(`${path('v2')}/a`)),
      ),
    ),
    about('conversion webhook fails only some', definition(both, webhook('some')), [
      post(path('v1'), v1),
      post(path('v1'), widget({ size: 1, mode: 'fail' }, { metadata: { name: 'b' } })),
      post(path('v1'), widget({ size: 1, mode: 'fail' }, { metadata: { name: 'c' } })),
      get(`${path('v2')}/a`),
      get(`${path('v2')}/b`),
      get(path('v2')),
      get(`${path('v2')}?fieldSelector=metadata.name%3Da`),
      remove(path('v2')),
      get(path('v1')),
    ]),
    about('storage version changes', definition(both), [
      post(path('v1'), v1),
      ...changed(storage(false), [
        get(named('widgets')),
        get(`${path('v2')}/a`),
        merge(`${path('v1')}/a`, { spec: { mode: 'again' } }),
        merge(`${path('v2')}/a`, { spec: { scale: { size: 1 } } }),
        get(`${path('v1')}/a`),
        merge(`${named('widgets')}/status`, { status: { storedVersions: ['v2'] } }),
        merge(named('widgets'), { spec: { versions: [{ ...two, storage: true }] } }),
        { ...get(`${path('v2')}/a`), settle: true },
        get(`${path('v1')}/a`),
        get(`/apis/${group}`),
      ]),
    ]),
    about('storage version changes under a webhook', definition(both, webhook('well')), [
      post(path('v1'), v1),
      ...changed(storage(false), [
        get(`${path('v1')}/a`),
        get(`${path('v2')}/a`),
        merge(`${path('v1')}/a`, { spec: { size: 12 } }),
        get(`${path('v2')}/a`),
        post(path('v1'), widget({ size: 1 }, { metadata: { name: 'n' } })),
        get(`${path('v2')}/n`),
        merge(`${named('widgets')}/status`, { status: { storedVersions: ['v1'] } }),
        merge(named('widgets'), { spec: { versions: [{ ...two, storage: true }] } }),
      ]),
    ]),
    about('a version that is served no longer', definition(both), [
      post(path('v2'), v2('a')),
      apply(`${path('v2')}/a?fieldManager=me`, { ...v2('a'), spec: { mode: 'applied' } }),
      ...changed({ spec: { versions: [one, { ...two, served: false }] } }, [
        get(`${path('v2')}/a`),
        get(`${path('v1')}/a`),
        merge(`${path('v1')}/a`, { spec: { size: 2 } }),
        apply(`${path('v1')}/a?fieldManager=me`, { ...widget({ size: 5 }) }),
        get(`/apis/${group}`),
        get(`/apis/${group}/v2`),
        get(`/apis/${group}/v1`),
      ]),
    ]),
    about(
      'rules of each version judge its own requests',
      definition([
        version('v1', object({ size: { type: 'integer', maximum: 5 }, tags: list(text) })),
        version(
          'v2',
          object({ size: { type: 'integer', maximum: 9 }, tags: list(text, { 'x-kubernetes-list-type': 'set' }) }),
        ),
      ]),
      [
        post(path('v1'), widget({ size: 7 })),
        post(path('v2'), widget({ size: 7, tags: ['a', 'a'] }, {}, 'v2')),
        post(path('v2'), widget({ size: 7, tags: ['a'] }, {}, 'v2')),
        get(`${path('v1')}/a`),
        merge(`${path('v1')}/a`, { spec: { tags: ['b', 'b'] } }),
        merge(`${path('v1')}/a`, { spec: { size: 8 } }),
        merge(`${path('v2')}/a`, { spec: { size: 8 } }),
        merge(`${path('v2')}/a`, { metadata: { labels: { x: 'y' } } }),
      ],
    ),
  ]
}
