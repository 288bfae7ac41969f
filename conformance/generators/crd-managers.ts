/** Server-side apply of custom resources, their field managers across versions, and their status and scale. */
import type { Case } from '../recording.ts'
import {
  about,
  apply,
  changed,
  definition,
  get,
  integer,
  list,
  merge,
  named,
  object,
  path,
  post,
  put,
  text,
  version,
  widget,
} from './definitions.ts'

const a = `${path('v1')}/a`
const by = (manager: string, more = '') => `${a}?fieldManager=${manager}${more}`
const map = (items: object, keys: readonly string[] = ['name']) =>
  list(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys })
const set = list(text, { 'x-kubernetes-list-type': 'set' })

const lists = object({
  parts: map(object({ name: text, size: integer, tags: set }, { required: ['name'] })),
  ports: map(object({ port: integer, protocol: { ...text, default: 'TCP' }, note: text }, { required: ['port'] }), [
    'port',
    'protocol',
  ]),
  tags: set,
  plain: list(text),
  whole: object({ x: integer, y: integer }, { 'x-kubernetes-map-type': 'atomic' }),
  open: { type: 'object', additionalProperties: text },
})

const nullable = object({
  a: text,
  b: { ...text, default: 'db' },
  c: { ...text, nullable: true, default: 'dc' },
  o: object({ a: text }),
  l: list(text),
})

const scale = {
  specReplicasPath: '.spec.size',
  statusReplicasPath: '.status.size',
  labelSelectorPath: '.status.selector',
}
const counted = (more: object = {}) =>
  version(
    'v1',
    object({ size: integer, other: text }),
    { subresources: { status: {}, scale: { ...scale, ...more } } },
    object({ size: integer, selector: text, o: object({ s: text }) }),
  )
const wanted = (replicas: unknown, more: object = {}) => ({
  kind: 'Scale',
  apiVersion: 'autoscaling/v1',
  metadata: { name: 'a', namespace: '$NS', ...more },
  spec: { replicas },
})

const anywhere = object({ size: integer, deep: object({ n: integer }), mode: text })
const scaledAt = (name: string, specReplicasPath?: string) =>
  version(
    name,
    anywhere,
    specReplicasPath === undefined ? {} : { subresources: { scale: { ...scale, specReplicasPath } } },
  )
const inVersion = (name: string, manager: string, more = '') => `${path(name)}/a?fieldManager=${manager}${more}`
const scaled = (name: string, manager: string, more = '') => `${path(name)}/a/scale?fieldManager=${manager}${more}`
const everywhere = (name: string) => widget({ size: 1, deep: { n: 2 } }, {}, name)

/** Versions that keep the replicas at one path, at another, and nowhere. */
const acrossVersions = about(
  'scale: owners in several versions',
  definition([
    scaledAt('v1', '.spec.size'),
    scaledAt('v2', '.spec.deep.n'),
    scaledAt('v3'),
    scaledAt('v4', '.spec.size'),
  ]),
  [
    post(`${path('v1')}?fieldManager=maker`, widget({ size: 1, deep: { n: 2 }, mode: 'x' })),
    ...['v2', 'v3', 'v4'].map((name) => apply(inVersion(name, `applies-${name}`, '&force=true'), everywhere(name))),
    merge(scaled('v2', 'scaler'), { spec: { replicas: 7 } }),
    get(a),
    merge(scaled('v1', 'scaler'), { spec: { replicas: 8 } }),
    get(a),
    put(scaled('v4', 'putter'), wanted(9)),
    get(a),
    merge(inVersion('v3', 'other'), { spec: { size: 10, deep: { n: 11 } } }),
    apply(scaled('v1', 'applier'), wanted(12)),
    apply(scaled('v3', 'applier'), wanted(12)),
    apply(inVersion('v1', 'owner', '&force=true'), widget({ size: 1, deep: { n: 2 } })),
    apply(scaled('v1', 'applier'), wanted(12)),
    apply(scaled('v2', 'applier'), wanted(12)),
    apply(scaled('v1', 'owner'), wanted(12)),
    apply(scaled('v1', 'applier', '&force=true'), wanted(12)),
    apply(scaled('v1', 'applier', '&force=true&dryRun=All'), wanted(12, { labels: { a: 'b' } })),
    apply(scaled('v1', 'applier'), wanted(1, { name: 'other' })),
    apply(scaled('v1', 'applier'), wanted(1, { namespace: 'other' })),
    apply(scaled('v1', 'applier'), wanted(1, { uid: 'other' })),
    apply(scaled('v1', 'applier'), wanted(1, { managedFields: [{ manager: 'm' }] })),
    apply(scaled('v1', 'applier'), wanted('x')),
    apply(scaled('v1', 'applier'), { ...wanted(1), more: 1 }),
    apply(scaled('v1', 'applier'), widget({ size: 1 })),
    apply(`${path('v1')}/none/scale?fieldManager=applier`, wanted(1, { name: 'none' })),
    get(a),
    merge(scaled('v1', 'scaler'), { spec: { replicas: 1 } }),
    merge(scaled('v1', 'scaler'), { spec: { replicas: 3 } }),
    get(a),
    apply(inVersion('v1', 'owner'), widget({ size: 1, deep: { n: 2 } })),
    merge(inVersion('v4', 'last'), { spec: { size: 20, mode: 'y' } }),
    merge(named('widgets'), {
      spec: { versions: [scaledAt('v1', '.spec.size'), scaledAt('v2', '.spec.deep.n'), scaledAt('v3')] },
    }),
    { ...get(`${path('v4')}/a`), until: 'page not found' },
    get(a),
    merge(scaled('v1', 'scaler'), { spec: { replicas: 4 } }),
    get(a),
  ],
)

export function managerCases(): readonly Case[] {
  return [
    about('apply: lists and maps', definition([version('v1', lists)]), [
      apply(
        by('one'),
        widget({
          parts: [{ name: 'p', size: 1, tags: ['a'] }],
          tags: ['a', 'b'],
          plain: ['x'],
          whole: { x: 1 },
          open: { k: '1' },
        }),
      ),
      apply(
        by('two'),
        widget({
          parts: [
            { name: 'q', size: 2 },
            { name: 'p', tags: ['b'] },
          ],
          tags: ['b', 'c'],
          open: { l: '2' },
        }),
      ),
      apply(by('two'), widget({ plain: ['y'] })),
      apply(by('two'), widget({ whole: { y: 2 } })),
      apply(by('two', '&force=true'), widget({ whole: { y: 2 }, plain: ['y'] })),
      apply(by('one'), widget({ parts: [{ name: 'p', size: 3 }], tags: ['a'] })),
      apply(by('one'), widget({})),
      apply(by('three'), widget({ ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] })),
      apply(by('four'), widget({ ports: [{ port: 80, note: 'n' }] })),
      apply(by('four'), widget({ ports: [{ port: 80 }, { port: 80 }] })),
      apply(by('four'), widget({ ports: [{ protocol: 'TCP' }] })),
      apply(by('four'), widget({ tags: ['z', 'z'] })),
      apply(by('four'), widget({ parts: [{ size: 1 }] })),
      apply(by('four'), widget({ bogus: 1 })),
      apply(by('four'), widget({ parts: { name: 'x' } })),
      merge(`${a}?fieldManager=five`, { spec: { parts: [{ name: 'p', size: 9 }] } }),
      get(a),
    ]),
    about('apply: conflicts of several depths', definition([version('v1', lists)]), [
      apply(
        by('one'),
        widget({
          open: { z: '1', a: '1' },
          parts: [{ name: 'p', size: 1 }],
          tags: ['a'],
          plain: ['x'],
          whole: { x: 1 },
        }),
      ),
      apply(
        by('two'),
        widget({ open: { z: '2', a: '2' }, parts: [{ name: 'p', size: 2 }], plain: ['y'], whole: { x: 2 } }),
      ),
      apply(by('two', '&force=true'), widget({ plain: ['y'], parts: [{ name: 'p', size: 2 }] })),
      apply(by('three'), widget({ open: { z: '3' }, parts: [{ name: 'p', size: 3 }], plain: ['z'], whole: { x: 3 } })),
    ]),
    about('apply: nulls', definition([version('v1', nullable)]), [
      apply(by('one'), widget({ a: null })),
      apply(by('one'), widget({ b: null })),
      apply(by('one'), widget({ c: null, a: 'x' })),
      apply(by('one'), widget({ o: { a: null } })),
      apply(by('one'), widget({ l: [null] })),
      apply(by('one'), widget(null)),
      apply(by('one'), widget({ a: 'x', o: null })),
      merge(a, { spec: { a: null } }),
      put(a, {
        ...widget({ a: null, b: null, c: null }),
        metadata: { name: 'a', resourceVersion: '{{4.metadata.resourceVersion}}' },
      }),
      post(path('v1'), {
        ...widget({ a: null, b: null, c: null, o: { a: null }, l: [null] }),
        metadata: { name: 'b' },
      }),
    ]),
    about('apply: in several versions', definition([version('v1', lists), version('v2', lists)]), [
      apply(by('one'), widget({ tags: ['a'], open: { k: '1' } })),
      apply(`${path('v2')}/a?fieldManager=one`, widget({ tags: ['b'] }, {}, 'v2')),
      apply(`${path('v2')}/a?fieldManager=two`, widget({ tags: ['c'], whole: { x: 1 } }, {}, 'v2')),
      apply(by('three'), widget({ whole: { x: 2 } })),
      merge(`${path('v2')}/a?fieldManager=two`, { spec: { plain: ['p'] } }),
      get(a),
      ...changed({ spec: { versions: [version('v1', lists)] } }, [
        get(a),
        apply(by('two'), widget({ tags: ['d'] })),
        apply(by('three'), widget({ whole: { x: 2 } })),
        merge(`${a}?fieldManager=five`, { metadata: { labels: { x: 'y' } } }),
      ]),
    ]),
    about(
      'apply: a schema that changes',
      definition([version('v1', object({ tags: list(text), o: object({ x: text, y: text }) }))]),
      [
        apply(by('one'), widget({ tags: ['a'], o: { x: '1' } })),
        ...changed(
          {
            spec: {
              versions: [
                version(
                  'v1',
                  object({ tags: set, o: object({ x: text, y: text }, { 'x-kubernetes-map-type': 'atomic' }) }),
                ),
              ],
            },
          },
          [
            apply(by('two'), widget({ tags: ['b'] })),
            apply(by('two'), widget({ o: { y: '1' } })),
            apply(by('one'), widget({ tags: ['a', 'b'] })),
            get(a),
          ],
        ),
      ],
    ),
    about('status', definition([counted()]), [
      post(path('v1'), widget({ size: 1 }, { status: { size: 1 } })),
      put(
        `${a}/status`,
        widget(
          { size: 9 },
          {
            status: { size: 2 },
            metadata: { name: 'a', labels: { x: 'y' }, resourceVersion: '{{2.metadata.resourceVersion}}' },
          },
        ),
      ),
      put(`${a}/status`, widget({ size: 9 }, { status: { size: 2 } })),
      merge(`${a}/status`, {
        spec: { size: 9 },
        metadata: { labels: { x: 'y' }, annotations: { q: 'r' } },
        status: { size: 3 },
      }),
      merge(`${a}/status`, { status: { size: 'x' } }),
      merge(`${a}/status`, { status: null }),
      merge(a, { status: { size: 7 } }),
      apply(`${a}/status?fieldManager=one`, widget(undefined, { status: { o: { s: 'x' } } })),
      apply(`${a}/status?fieldManager=two`, widget({ size: 8 }, { status: { o: { s: 'y' } } })),
      apply(by('two'), widget({ other: 'x' }, { status: { o: { s: 'y' } } })),
      get(`${a}/status`),
      merge(`${path('v1')}/none/status`, { status: {} }),
      post(`${a}/status`, widget({})),
      { m: 'DELETE', p: `${a}/status` },
    ]),
    about('scale', definition([counted()]), [
      post(path('v1'), widget({ size: 1 })),
      merge(`${a}/status`, { status: { size: 1, selector: 'x=y' } }),
      get(`${a}/scale`),
      put(`${a}/scale`, wanted(3)),
      put(`${a}/scale`, wanted(4, { resourceVersion: '1' })),
      put(`${a}/scale`, wanted(4, { name: 'other' })),
      put(`${a}/scale`, wanted(-1)),
      put(`${a}/scale`, wanted('x')),
      put(`${a}/scale`, wanted(undefined)),
      put(`${a}/scale`, { ...wanted(5), apiVersion: 'autoscaling/v2' }),
      put(`${a}/scale`, { ...wanted(5), kind: 'Other' }),
      merge(`${a}/scale?fieldManager=s`, { spec: { replicas: 6 } }),
      merge(`${a}/scale`, { status: { replicas: 9 }, metadata: { labels: { x: 'y' } } }),
      apply(`${a}/scale?fieldManager=t`, wanted(7)),
      apply(`${a}/scale?fieldManager=t&force=true`, wanted(7)),
      apply(by('u'), widget({ size: 8 })),
      get(a),
      get(`${path('v1')}/none/scale`),
      merge(a, { spec: { size: null } }),
      get(`${a}/scale`),
      merge(`${a}/scale`, { spec: { replicas: 2 } }),
      put(`${a}/scale?dryRun=All`, wanted(3)),
    ]),
    acrossVersions,
    about('scale: paths that lead nowhere', definition([counted({ labelSelectorPath: '.spec.other' })]), [
      post(path('v1'), widget({ size: -1 })),
      post(path('v1'), widget({ size: 2147483648 })),
      post(path('v1'), widget({ size: 0, other: 'a in (b)' })),
      get(`${a}/scale`),
      merge(`${a}/status`, { status: { size: -3 } }),
      merge(a, { spec: { other: null } }),
      get(`${a}/scale`),
    ]),
    about('no subresources', definition([version('v1', object({ size: integer }), {}, object({ size: integer }))]), [
      post(path('v1'), widget({ size: 1 }, { status: { size: 1 } })),
      get(`${a}/status`),
      get(`${a}/scale`),
      merge(a, { status: { size: 2 } }),
      merge(`${a}/status`, { status: { size: 2 } }),
      get(`${a}/other`),
    ]),
  ]
}
