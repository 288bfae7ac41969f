/**
 * What stands at the edge of several rules: preconditions in a delete's query, deletes of a collection at a version, what is told first of
 * a list's and a watch's options, warnings at updates, owners of values that become maps, owners in other versions.
 */
import type { Case, Step } from '../recording.ts'
import {
  type Any,
  about,
  apply,
  definition,
  get,
  merge,
  object,
  path,
  post,
  remove,
  text,
  version,
  widget,
} from './definitions.ts'
import { CM, configMap } from './hostile-requests.ts'

const form = (as: string) => ({ accept: `application/json;as=${as};v=v1;g=meta.k8s.io` })
const LIST = form('PartialObjectMetadataList')
const YAML = { accept: 'application/yaml' }
const uid = '{{0.metadata.uid}}'
const first = '{{0.metadata.resourceVersion}}'
const second = '{{1.metadata.resourceVersion}}'
const made = (name: string): Step => post(CM, configMap(name))
const named = (name: string, ...steps: readonly Step[]): Case => ({ name, steps })

function preconditions(): readonly Case[] {
  const queries = ['uid=x', `uid=${uid}`, 'resourceVersion=2', `resourceVersion=${first}`, 'uid=', 'resourceVersion=']
  const bodies: readonly Any[] = [undefined, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } }]
  return [...queries, `uid=${uid}&resourceVersion=2`, 'resourceVersion=abc', 'uid=x&dryRun=All'].flatMap((query) =>
    bodies.flatMap((body) => {
      const asked = `${query}${body === undefined ? '' : ' with a body'}`
      return [
        named(`delete: ${asked}`, made('a'), remove(`${CM}/a?${query}`, body)),
        // At a version that is older than the server a store that forgets cannot list.
        ...(/resourceVersion=2/.test(query)
          ? []
          : [named(`delete all: ${asked}`, made('a'), made('b'), remove(`${CM}?${query}`, body), get(CM, LIST))]),
      ]
    }),
  )
}

function atVersions(): readonly Case[] {
  const changes: Readonly<Record<string, readonly Step[]>> = {
    untouched: [],
    touched: [merge(`${CM}/a`, { data: { k: 'v' } })],
    gone: [remove(`${CM}/a`)],
    'made again': [remove(`${CM}/a`), made('a')],
  }
  const queries = ['', '&resourceVersionMatch=NotOlderThan', '&resourceVersionMatch=Exact', '&limit=1', '&dryRun=All']
  return Object.entries(changes).flatMap(([change, steps]) =>
    [`resourceVersion=0`, ...queries.map((more) => `resourceVersion=${second}${more}`)].map((query) =>
      named(
        `delete all, ${change}: ${query}`,
        ...[
          made('a'),
          made('b'),
          made('c'),
          ...steps,
          { ...remove(`${CM}?${query}`), h: LIST, settle: true },
          get(CM, LIST),
        ],
      ),
    ),
  )
}

/** What is wrong in two ways: which of them is told. */
function toldFirst(): readonly Case[] {
  const labels = 'labelSelector=,'
  const fields = 'fieldSelector=x'
  const unknown = 'fieldSelector=x%3Dy'
  const match = 'resourceVersionMatch=bogus'
  const pairs = [
    ...[`limit=x&${labels}`, `${labels}&limit=x`, `${labels}&${fields}`, `limit=x&${match}`, `${fields}&${match}`],
    ...[`${unknown}&${match}`, `${labels}&${match}`, 'limit=x&timeoutSeconds=y', 'timeoutSeconds=y&limit=x'],
    ...[`${labels}&sendInitialEvents=true`, `continue=x&resourceVersion=%201`, `${labels}&gracePeriodSeconds=x`],
    ...[`${labels}&propagationPolicy=x`, `${unknown}&propagationPolicy=x`, 'resourceVersion=x&propagationPolicy=x'],
  ]
  const tokens = ['x', 'abcde', 'abcdefghi', 'ab', 'abc', 'ab=', 'a b', 'abc*', 'x*']
  const watched = [labels, fields, unknown, match, 'resourceVersion=-1', 'sendInitialEvents=true', 'resourceVersion=0']
  const versions = ['', '0', '00', first, 'abc']
  const watch = `${CM}?watch=1&timeoutSeconds=1`
  const each = (query: string, key: string, values: readonly string[]) =>
    values.map((value) => (value === '' ? query : `${query}&${key}=${value}`))
  return [
    named(
      'told first: lists and deletes of all',
      ...[made('a'), ...pairs.flatMap((pair) => [get(`${CM}?${pair}`), remove(`${CM}?${pair}&dryRun=All`)])],
    ),
    named('told first: watches', made('a'), ...watched.map((query) => get(`${watch}&${query}`, YAML))),
    named('tokens', ...tokens.map((token) => get(`${CM}?continue=${encodeURIComponent(token)}`))),
    named(
      'watches that continue',
      made('a'),
      ...each(`${watch}&continue=x`, 'resourceVersion', versions)
        .flatMap((query) => each(query, 'resourceVersionMatch', ['', 'Exact', 'NotOlderThan']))
        .flatMap((query) => each(query, 'sendInitialEvents', ['', 'true']))
        .map((query) => get(query)),
    ),
    named(
      'watches of lists of metadata',
      made('a'),
      ...['', '&resourceVersion=0', '&resourceVersion=-1', '&labelSelector=none', `&resourceVersion=${first}`].map(
        (query) => get(`${watch}${query}`, LIST),
      ),
    ),
  ]
}

const SPREAD = { topologySpreadConstraints: [{ topologyKey: 'a', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] }
const pod = { containers: [{ name: 'a', image: 'i:1' }] }
const labelled = { metadata: { labels: { app: 'x' } }, spec: pod }
const selected = { selector: { matchLabels: { app: 'x' } }, template: labelled }
const once = { template: { spec: { ...pod, restartPolicy: 'Never' } } }

interface Templated {
  readonly at: string
  readonly kind: string
  readonly spec: Any
  readonly scales?: boolean
}
const templated: readonly Templated[] = [
  { at: '/apis/apps/v1/namespaces/$NS/deployments', kind: 'Deployment', spec: selected, scales: true },
  { at: '/apis/apps/v1/namespaces/$NS/statefulsets', kind: 'StatefulSet', spec: selected, scales: true },
  { at: '/apis/apps/v1/namespaces/$NS/replicasets', kind: 'ReplicaSet', spec: selected, scales: true },
  { at: '/apis/apps/v1/namespaces/$NS/daemonsets', kind: 'DaemonSet', spec: selected },
  {
    at: '/api/v1/namespaces/$NS/replicationcontrollers',
    kind: 'ReplicationController',
    spec: { selector: { app: 'x' }, template: labelled },
    scales: true,
  },
  { at: '/apis/batch/v1/namespaces/$NS/jobs', kind: 'Job', spec: once },
  {
    at: '/apis/batch/v1/namespaces/$NS/cronjobs',
    kind: 'CronJob',
    spec: { schedule: '* * * * *', jobTemplate: { spec: once } },
  },
]

/** Templates that are warned of, and each way to change what holds them. */
function warnings(): readonly Case[] {
  return templated.map(({ at, kind, spec, scales }) => {
    const [, , group, name] = at.split('/')
    const apiVersion = group === 'v1' ? 'v1' : `${group}/${name}`
    const holding = (template: Any) => ({
      spec: kind === 'CronJob' ? { jobTemplate: { spec: { template } } } : { template },
    })
    const spreading = structuredClone(spec)
    Object.assign((kind === 'CronJob' ? spreading.jobTemplate.spec : spreading).template.spec, SPREAD)
    const one = `${at}/x`
    return named(
      `warnings: ${kind}`,
      // A real server that reads from a cache which is behind tells of the template before, too.
      ...[
        post(at, { apiVersion, kind, metadata: { name: 'x' }, spec: spreading }),
        merge(one, { metadata: { labels: { a: 'b' } } }),
        merge(`${one}?fieldValidation=Ignore`, { spec: { replicas: 7, suspend: true, minReadySeconds: 3 } }),
        merge(`${one}?fieldValidation=Ignore`, { status: { replicas: 1, active: 1, currentNumberScheduled: 1 } }),
        merge(one, holding({ spec: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } } })),
        merge(one, holding({ spec: { topologySpreadConstraints: null } })),
        merge(one, holding({ spec: { nodeSelector: null, ...SPREAD } })),
        ...(scales === true ? [merge(`${one}/scale`, { spec: { replicas: 3 } }), get(`${one}/scale`)] : []),
        merge(one, holding({ spec: { topologySpreadConstraints: null } })),
      ].map((step) => ({ ...step, settle: true })),
    )
  })
}

const ANYTHING = { 'x-kubernetes-preserve-unknown-fields': true }

/** A value of any form that becomes one of another, for each of four managers. */
function forms(): Case {
  const values: Readonly<Record<string, Any>> = { text: 's', list: [1], map: { q: 1, z: { y: 1 } }, empty: {} }
  const steps = Object.entries(values).flatMap(([from, before]) =>
    Object.entries(values).flatMap(([to, after]) => {
      const name = `${from}-${to}`
      const at = (manager: string) => `${path('v1')}/${name}?fieldManager=${manager}`
      const holding = (d: Any) => widget(d === undefined ? {} : { d }, { metadata: { name } })
      return [
        apply(at('one'), holding(before)),
        merge(at('two'), holding(after)),
        apply(at('three&force=true'), holding(before)),
        apply(at('one&force=true'), holding(after)),
        apply(at('one&force=true'), holding(undefined)),
      ]
    }),
  )
  return about('owners of values of other forms', definition([version('v1', object({ d: ANYTHING }))]), steps)
}

/** A status is applied in one version, its spec owned in another. */
function statusInVersions(): Case {
  const spec = object({ e: { type: 'integer' }, f: text })
  const status = object({ s: { type: 'integer' } })
  const more = { subresources: { status: {} } }
  const at = (name: string, rest: string) => `${path(name)}/a${rest}`
  const holding = (name: string, e: number) => widget({ e, f: name }, { status: { s: e } }, name)
  return about(
    'owners of a status in two versions',
    definition([version('v1', spec, more, status), version('v2', spec, more, status)]),
    [
      post(`${path('v1')}?fieldManager=maker`, holding('v1', 1)),
      apply(at('v2', '?fieldManager=one&force=true'), widget({}, {}, 'v2')),
      apply(at('v2', '/status?fieldManager=two'), holding('v2', 2)),
      apply(at('v2', '/status?fieldManager=two&force=true'), holding('v2', 3)),
      apply(at('v1', '/status?fieldManager=one'), holding('v1', 4)),
      merge(at('v2', '/status?fieldManager=four'), { spec: { e: 9 }, status: { s: 9 } }),
      apply(at('v1', '?fieldManager=three'), holding('v1', 5)),
      merge(at('v2', '?fieldManager=four'), { spec: { e: 8 }, status: { s: 8 } }),
      get(at('v1', '')),
    ],
  )
}

const ruled = (schema: Any, ...rules: readonly Any[]) => ({ ...schema, 'x-kubernetes-validations': rules })

/** What rules say of each form of value, by each reason; and of defaults that must follow themselves. */
function rules(): readonly Case[] {
  const reasons = ['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate']
  const schemas: Readonly<Record<string, Any>> = {
    text: { type: 'string', maxLength: 9 },
    number: { type: 'integer' },
    flag: { type: 'boolean' },
    list: { type: 'array', maxItems: 3, items: { type: 'integer' } },
    map: object({ a: text }),
    either: { 'x-kubernetes-int-or-string': true },
  }
  const values = { text: 'x', number: 7, flag: true, list: [1], map: { a: 'b' }, either: '5%' }
  const properties = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      ruled(schema, ...reasons.map((reason) => ({ rule: 'self == self && false', reason }))),
    ]),
  )
  const old = { rule: 'oldSelf.orValue(0) <= self', optionalOldSelf: true }
  const asked = (name: string, spec: Any): Case => ({
    name: `rules: ${name}`,
    anyOrder: true,
    steps: [
      post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', definition([version('v1', spec)])),
    ],
  })
  const number = { type: 'integer' }
  return [
    about('rules: by reason', definition([version('v1', object(properties))]), [
      ...Object.entries(values).map(([name, value]) => post(path('v1'), widget({ [name]: value }))),
      post(path('v1'), widget(values)),
    ]),
    asked('oldSelf of items', object({ l: { type: 'array', maxItems: 3, items: ruled(number, old) } })),
    asked('oldSelf of values', object({ m: { type: 'object', additionalProperties: ruled(number, old) } })),
    asked(
      'oldSelf of a list',
      object({ l: ruled({ type: 'array', maxItems: 3, items: number }, { rule: 'self.size() >= oldSelf.size()' }) }),
    ),
    ...['self > oldSelf', 'self >= oldSelf', 'self > 5', 'oldSelf == 4'].map((rule) =>
      asked(`a default by ${rule}`, object({ n: ruled({ ...number, default: 4 }, { rule }) })),
    ),
    asked(
      'a default that is optional',
      object({ n: ruled({ ...number, default: 4 }, { rule: '!oldSelf.hasValue()', optionalOldSelf: true }) }),
    ),
  ]
}

/** Keys that are no scalars, as messages print them. Of a map with two fields the order is chance. */
function keys(): readonly Case[] {
  const values: readonly Any[] = [
    { b: { c: [1, 'x', { d: true }] } },
    {},
    [{ a: 1 }, { b: 'q' }],
    [],
    [1, [null]],
    true,
    1.5,
  ]
  return values.map((value) =>
    named(
      `keys: ${JSON.stringify(value)}`,
      apply(
        `${CM}/x?fieldManager=a`,
        configMap('x', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: value }] }),
      ),
    ),
  )
}

/** What is embedded is judged with the object, changed or not, and never with its status. */
function embedded(): readonly Case[] {
  const inside = { type: 'object', 'x-kubernetes-embedded-resource': true, ...ANYTHING }
  const wrong: readonly Any[] = [
    { kind: 'X' },
    { apiVersion: 'a/b/c', kind: 'X y', metadata: { name: 'Bad_' } },
    { apiVersion: 'v1', kind: 'X', metadata: { labels: { 'a b': 'c' } } },
    { apiVersion: 'v1', kind: 'X' },
  ]
  const one = `${path('v1')}/a`
  const inStatus = (s: Any) => merge(`${one}/status`, { status: { s, n: 1 } })
  const rules = [{ rule: "!has(self.f) || self.f != 'bad'" }]
  return [[], rules].map((some) =>
    about(
      `embedded, with ${some.length} rules`,
      definition([
        version(
          'v1',
          object({ e: inside, f: text }, { 'x-kubernetes-validations': some }),
          { subresources: { status: {} } },
          object({ s: inside, n: { type: 'integer' } }),
        ),
      ]),
      [
        post(path('v1'), widget({ f: 'x' }, { status: { s: wrong[0] } })),
        ...wrong.flatMap((value) => [
          inStatus(null),
          inStatus(value),
          merge(one, { spec: { f: 'y' } }),
          merge(one, { spec: { f: 'bad' } }),
          apply(`${one}?fieldManager=q&force=true`, widget({ f: 'z' })),
          merge(`${one}/status`, { status: { n: 2 } }),
        ]),
        inStatus(null),
        ...wrong.flatMap((value) => [merge(one, { spec: { e: value } }), inStatus(value)]),
      ],
    ),
  )
}

/** Nulls in what a strategic merge patch brings anew, within maps and within lists. */
function nulls(): readonly Case[] {
  const at = '/apis/apps/v1/namespaces/$NS/deployments'
  const policies = '/apis/networking.k8s.io/v1/namespaces/$NS/networkpolicies'
  const strategic = (p: string, b: Any): Step => ({
    m: 'PATCH',
    p,
    b: JSON.stringify(b),
    h: { 'content-type': 'application/strategic-merge-patch+json' },
  })
  const half = { matchLabels: { a: null, c: 'd' } }
  const term = { topologyKey: 'z', labelSelector: half }
  const specs: readonly Any[] = [
    { nodeSelector: { a: null, b: 'c' } },
    { containers: [{ name: 'a', resources: { limits: { cpu: null, memory: '1Gi' } } }] },
    { containers: [{ name: 'b', image: 'j', resources: { limits: { cpu: null } } }] },
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    { topologySpreadConstraints: [{ ...term, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] },
    { volumes: [{ name: 'v', csi: { driver: 'd', volumeAttributes: { a: null, b: 'c' } } }] },
  ]
  const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'x' } }
  const changes: readonly Any[] = [{ podSelector: half }, { ingress: [{ from: [{ podSelector: half }] }] }]
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec: selected }
  return [
    ...specs.map((spec, i) =>
      named(
        `nulls: a pod's spec, ${i + 1}`,
        ...[post(at, deployment), strategic(`${at}/x`, { spec: { template: { spec } } })],
      ),
    ),
    ...changes.map((spec, i) =>
      named(
        `nulls: a policy's, ${i + 1}`,
        ...[post(policies, { ...policy, spec: { podSelector: {} } }), strategic(`${policies}/x`, { spec })],
      ),
    ),
  ]
}

export const cornerCases = (): readonly Case[] => [
  ...preconditions(),
  ...atVersions(),
  ...toldFirst(),
  ...warnings(),
  forms(),
  statusInVersions(),
  ...rules(),
  ...keys(),
  ...embedded(),
  ...nulls(),
]
