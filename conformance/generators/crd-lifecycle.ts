/** The life of CustomResourceDefinitions: names and conditions, what may change, and their end. */
import type { Case, Step } from '../recording.ts'
import {
  type Any,
  about,
  changed,
  definition,
  definitions,
  get,
  group,
  installed,
  integer,
  merge,
  named,
  object,
  path,
  post,
  put,
  remove,
  text,
  until,
  version,
  widget,
} from './definitions.ts'

const plain = [version('v1', object({ size: integer, mode: text }))]
const of = (names: Any, plural = 'widgets', kind = 'Widget') => definition(plain, { names }, plural, kind)

/** A second definition of the group, whose names are the first one's in part. */
const conflict = (name: string, first: Any, second: Any, reason: string, then: readonly Step[] = []): Case =>
  about(`names: ${name}`, of(first), [
    post(definitions, of(second, second.plural ?? 'others', second.kind ?? 'Other')),
    until(reason, get(named(second.plural ?? 'others'))),
    get(path('v1', second.plural ?? 'others')),
    get(`/apis/${group}/v1`),
    ...then,
    remove(named(second.plural ?? 'others')),
  ])

const names: readonly Case[] = [
  conflict('the same kind', {}, { kind: 'Widget' }, 'KindConflict', [
    remove(named('widgets')),
    until('"reason":"InitialNamesAccepted"', get(named('others'))),
  ]),
  conflict('the same kind of list', {}, { listKind: 'WidgetList' }, 'ListKindConflict'),
  conflict("a kind is another's list", {}, { kind: 'WidgetList' }, 'KindConflict'),
  conflict('the same singular', {}, { singular: 'widget' }, 'SingularConflict', [
    merge(named('others'), { spec: { names: { singular: 'free' } } }),
    until('"reason":"InitialNamesAccepted"', get(named('others'))),
    get(path('v1', 'others')),
  ]),
  conflict('the same short name', { shortNames: ['wd'] }, { shortNames: ['wd'] }, 'ShortNamesConflict'),
  conflict(
    'several short names',
    { shortNames: ['wd', 'wg'] },
    { shortNames: ['wg', 'free', 'wd'] },
    'ShortNamesConflict',
  ),
  conflict("a short name is another's plural", {}, { shortNames: ['widgets'] }, 'ShortNamesConflict'),
  conflict("a singular is another's short name", { shortNames: ['wd'] }, { singular: 'wd' }, 'SingularConflict'),
  conflict("a plural is another's singular", {}, { plural: 'widget', kind: 'Other' }, 'PluralConflict'),
  conflict(
    'everything',
    { shortNames: ['wd'] },
    { singular: 'widget', kind: 'Widget', shortNames: ['wd'], listKind: 'WidgetList' },
    'Conflict',
  ),
  about('names: an established definition takes a name in use', of({ shortNames: ['wd'] }), [
    ...installed(of({ shortNames: ['ot'] }, 'others', 'Other'), [
      merge(named('others'), { spec: { names: { shortNames: ['wd'], singular: 'widget', categories: ['all'] } } }),
      until('is already in use', get(named('others'))),
      { ...get(`/apis/${group}/v1`), settle: true },
      get(path('v1', 'others')),
      merge(named('others'), { spec: { names: { shortNames: ['new', 'newer'], singular: 'other' } } }),
      until('"reason":"NoConflicts"', get(named('others'))),
      { ...get(`/apis/${group}/v1`), settle: true },
      remove(named('others')),
    ]),
  ]),
  about('names: those of built-in kinds', of({ plural: 'pods', kind: 'Pod', shortNames: ['po'] }, 'pods', 'Pod'), [
    get(path('v1', 'pods')),
    post(path('v1', 'pods'), widget({}, {}, 'v1', 'Pod')),
    get(`${path('v1', 'pods')}/a`),
  ]),
  about(
    'names: short, categories, discovery',
    of({ shortNames: ['wd', 'w'], categories: ['all', 'mine'], singular: 'wi', listKind: 'ManyWidgets' }),
    [
      get(`/apis/${group}`),
      get(`/apis/${group}/v1`),
      get(path('v1')),
      get(named('widgets')),
      get('/apis/$NS.example.com/v2'),
      get(`/apis/${group}/v1/nothing`),
    ],
  ),
]

const approval = (name: string, annotation: string | undefined): Case => ({
  name: `approval: ${name}`,
  anyOrder: true,
  steps: [
    post(definitions, {
      ...definition(plain),
      metadata: {
        name: 'widgets.$NS.k8s.io',
        ...(annotation === undefined ? {} : { annotations: { 'api-approved.kubernetes.io': annotation } }),
      },
      spec: { ...definition(plain).spec, group: '$NS.k8s.io' },
    }),
    ...(annotation?.startsWith('http') || annotation?.startsWith('unapproved')
      ? [
          until(
            ['"KubernetesAPIApprovalPolicyConformant"', '"reason":"InitialNamesAccepted"'],
            get(`${definitions}/widgets.$NS.k8s.io`),
          ),
          merge(`${definitions}/widgets.$NS.k8s.io`, {
            metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved, for now' } },
          }),
          until('unapproved, for now\\', get(`${definitions}/widgets.$NS.k8s.io`)),
          merge(`${definitions}/widgets.$NS.k8s.io`, { metadata: { annotations: null } }),
        ]
      : []),
  ],
})

const status = { subresources: { status: {} } }

const changes: readonly Case[] = [
  about('changes of an established definition', definition(plain), [
    merge(named('widgets'), { spec: { scope: 'Cluster' } }),
    merge(named('widgets'), { spec: { group: 'other.example.com' } }),
    merge(named('widgets'), { spec: { names: { kind: 'Other' } } }),
    merge(named('widgets'), { spec: { names: { plural: 'others' } } }),
    merge(named('widgets'), { spec: { names: { listKind: 'Widgets' } } }),
    until('"listKind":"Widgets"},"storedVersions"', get(named('widgets'))),
    merge(named('widgets'), { spec: { versions: [] } }),
    merge(named('widgets'), { spec: { versions: null } }),
    merge(named('widgets'), { spec: { versions: [{ ...plain[0], storage: false }] } }),
    merge(named('widgets'), { spec: { versions: [{ ...plain[0], name: 'v2' }] } }),
    merge(named('widgets'), { spec: { versions: [plain[0], { ...plain[0], name: 'v2', storage: true }] } }),
    merge(named('widgets'), { spec: { versions: [plain[0], plain[0]] } }),
    merge(named('widgets'), { spec: { preserveUnknownFields: true } }),
    merge(named('widgets'), { metadata: { name: 'other' } }),
    merge(named('widgets'), { spec: { conversion: { strategy: 'Webhook' } } }),
    merge(named('widgets'), { spec: { conversion: { strategy: 'Other' } } }),
    merge(named('widgets'), { spec: { conversion: null } }),
    put(named('widgets'), definition(plain)),
  ]),
  about('status of a definition', definition(plain), [
    merge(`${named('widgets')}/status`, { status: { storedVersions: [] } }),
    merge(`${named('widgets')}/status`, { status: { storedVersions: ['v1', 'v9'] } }),
    merge(`${named('widgets')}/status`, { status: { storedVersions: null } }),
    merge(`${named('widgets')}/status`, { spec: { scope: 'Cluster' }, metadata: { labels: { x: 'y' } } }),
    merge(named('widgets'), { status: { storedVersions: ['v9'] } }),
    get(`${named('widgets')}/status`),
    merge(`${named('widgets')}/status`, {
      status: { conditions: [{ type: 'Mine', status: 'True', reason: 'R', message: 'm' }] },
    }),
    merge(`${named('widgets')}/status`, { status: { conditions: null } }),
    { ...get(named('widgets')), settle: true },
  ]),
  about('versions come and go', definition(plain), [
    post(path('v1'), widget({ size: 1 })),
    ...changed({ spec: { versions: [...plain, version('v2', object({ size: integer }), status)] } }, [
      get(`${path('v2')}/a`),
      merge(`${path('v2')}/a/status`, { status: { x: 1 } }),
      get(`/apis/${group}`),
      get(named('widgets')),
    ]),
    ...changed({ spec: { versions: plain } }, [
      get(`${path('v2')}/a`),
      get(`/apis/${group}/v2`),
      get(`${path('v1')}/a`),
    ]),
  ]),
  about(
    'deprecated versions',
    definition([
      plain[0],
      version('v1beta1', object({}), { deprecated: true }),
      version('v1alpha1', object({}), { deprecated: true, deprecationWarning: 'use "another" one' }),
      version('v2', object({}), { deprecated: true }),
    ]),
    [
      get(path('v1beta1')),
      get(path('v1alpha1')),
      get(path('v2')),
      post(path('v1alpha1'), widget({}, {}, 'v1alpha1')),
      get(`/apis/${group}`),
    ],
  ),
  about('no version is served', definition([{ ...plain[0], served: false }]), [
    get(path('v1')),
    get(`/apis/${group}/v1`),
    get(`/apis/${group}`),
  ]),
  about('scope of the cluster', definition(plain, { spec: { scope: 'Cluster' } }), [
    post(`/apis/${group}/v1/widgets`, widget({ size: 1 })),
    get(`/apis/${group}/v1/widgets/a`),
    get(path('v1')),
    post(path('v1'), widget({ size: 1 })),
    post(`/apis/${group}/v1/widgets`, widget({ size: 1 }, { metadata: { name: 'b', namespace: '$NS' } })),
    get(`/apis/${group}/v1`),
  ]),
]

const held = { metadata: { name: 'a', finalizers: ['x.example.com/f'] } }
const gone = until('"code":404', get(named('widgets')))
const ends: readonly Case[] = [
  about('deletion without instances', definition(plain), [
    remove(named('widgets')),
    gone,
    { ...get(path('v1')), settle: true },
  ]),
  about('deletion with instances', definition(plain), [
    post(path('v1'), widget({ size: 1 })),
    post(path('v1'), widget({ size: 2 }, { metadata: { name: 'b' } })),
    remove(named('widgets')),
    gone,
    { ...get(`${path('v1')}/a`), settle: true },
    get(`/apis/${group}`),
  ]),
  about('deletion waits for finalizers of instances', definition(plain), [
    post(path('v1'), widget({ size: 1 }, held)),
    remove(named('widgets')),
    until('InstanceDeletionInProgress', get(named('widgets'))),
    until('deletionTimestamp', get(`${path('v1')}/a`)),
    post(path('v1'), widget({ size: 1 }, { metadata: { name: 'b' } })),
    merge(`${path('v1')}/a`, { spec: { size: 2 } }),
    remove(named('widgets')),
    merge(named('widgets'), { metadata: { labels: { x: 'y' } } }),
    merge(`${path('v1')}/a`, { metadata: { finalizers: null } }),
    gone,
    { ...get(path('v1')), settle: true },
  ]),
  about('deletion with a finalizer of another', definition(plain, { metadata: { finalizers: ['x.example.com/f'] } }), [
    post(path('v1'), widget({ size: 1 })),
    remove(named('widgets')),
    until(['InstanceDeletionCompleted', '"finalizers":["x.example.com/f"]'], get(named('widgets'))),
    { ...get(path('v1')), settle: true },
    post(path('v1'), widget({ size: 1 })),
    merge(named('widgets'), { metadata: { finalizers: null } }),
    get(named('widgets')),
  ]),
  about('deletion by other ways', definition(plain), [
    remove(`${named('widgets')}?dryRun=All`),
    remove(named('widgets'), { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } }),
    remove(named('widgets'), { propagationPolicy: 'Orphan' }),
    gone,
  ]),
  about('deleted in the foreground', definition(plain), [
    remove(named('widgets'), { propagationPolicy: 'Foreground' }),
    gone,
  ]),
  about('made again with another schema', definition(plain), [
    post(path('v1'), widget({ size: 1 })),
    remove(named('widgets')),
    gone,
    ...installed(definition([version('v1', object({ other: text }))]), [
      get(path('v1')),
      post(path('v1'), widget({ size: 1, other: 'x' })),
      get(`/apis/${group}/v1`),
    ]),
  ]),
  about('made again with another scope', definition(plain), [
    post(path('v1'), widget({ size: 1 })),
    remove(named('widgets')),
    gone,
    ...installed(definition(plain, { spec: { scope: 'Cluster' } }), [
      get(`/apis/${group}/v1/widgets`),
      post(`/apis/${group}/v1/widgets`, widget({ size: 1 })),
      get(path('v1')),
    ]),
  ]),
]

export function lifecycleCases(): readonly Case[] {
  return [
    ...names,
    approval('missing', undefined),
    approval('empty', ''),
    approval('no address', 'because'),
    approval('approved', 'https://github.com/kubernetes/kubernetes/pull/1'),
    approval('unapproved', 'unapproved, experimental'),
    ...changes,
    ...ends,
  ]
}
