/**
 * Who may write roles and bindings: with rights he holds, with `escalate` or `bind` everywhere, in one namespace, by name;
 * aggregated roles as users write and as the controller fills them; what changes no rights.
 */
import type { Case, Step } from '../recording.ts'
import { type Any, apply, get, jsonPatch, merge, post, put, remove } from './definitions.ts'
import { bound, granted, grantedEverywhere, rule, withdrawn } from './identity-parts.ts'

const api = 'rbac.authorization.k8s.io/v1'
const rbac = `/apis/${api}`
const group = 'rbac.authorization.k8s.io'
const roles = `${rbac}/namespaces/$NS/roles`
const bindings = `${rbac}/namespaces/$NS/rolebindings`
const clusterRoles = `${rbac}/clusterroles`
const clusterBindings = `${rbac}/clusterrolebindings`

const asJane = (step: Step): Step => ({ ...step, h: { ...step.h, 'impersonate-user': 'jane-$NS' } })
const settled = (step: Step): Step => ({ ...step, settle: true })

const everything = rule('*', '*', '*')
const secrets = rule('get', 'secrets')
const pods = rule('get,list', 'pods')
const writes = rule('create,get,update,patch,delete', 'roles,rolebindings,clusterroles,clusterrolebindings', group)

const role = (name: string, rules: Any, more: Any = {}): Any => ({
  apiVersion: api,
  kind: 'Role',
  metadata: { name, ...more.metadata },
  rules,
})
const clusterRole = (name: string, rules: Any, more: Any = {}): Any => ({
  apiVersion: api,
  kind: 'ClusterRole',
  ...more,
  metadata: { name, ...more.metadata },
  rules,
})
const ofRole = (kind: string, name: string) => ({ apiGroup: group, kind, name })
const user = (name: string) => ({ apiGroup: group, kind: 'User', name })
const roleBinding = (name: string, kind: string, to: string, who = 'jane-$NS', more: Any = {}): Any => ({
  apiVersion: api,
  kind: 'RoleBinding',
  metadata: { name, ...more },
  roleRef: ofRole(kind, to),
  subjects: [user(who)],
})
const clusterBinding = (name: string, to: string, who = 'jane-$NS', more: Any = {}): Any => ({
  apiVersion: api,
  kind: 'ClusterRoleBinding',
  metadata: { name, ...more },
  roleRef: ofRole('ClusterRole', to),
  subjects: [user(who)],
})

/** What jane tries with roles and bindings of two strengths: what she holds (pods), and what she does not (secrets). */
const tries: readonly Step[] = [
  post(roles, role('weak', [pods])),
  post(roles, role('strong', [secrets])),
  post(clusterRoles, clusterRole('$NS-weak', [pods])),
  post(clusterRoles, clusterRole('$NS-strong', [secrets])),
  post(bindings, roleBinding('to-weak', 'Role', 'made-weak')),
  post(bindings, roleBinding('to-strong', 'Role', 'made-strong')),
  post(bindings, roleBinding('to-cluster-weak', 'ClusterRole', '$NS-made-weak')),
  post(bindings, roleBinding('to-cluster-strong', 'ClusterRole', '$NS-made-strong')),
  post(bindings, roleBinding('to-nothing', 'Role', 'nope')),
  post(bindings, roleBinding('to-no-cluster-role', 'ClusterRole', '$NS-nope')),
  post(clusterBindings, clusterBinding('$NS-to-weak', '$NS-made-weak')),
  post(clusterBindings, clusterBinding('$NS-to-strong', '$NS-made-strong')),
].map(asJane)

const made: readonly Step[] = [
  post(roles, role('made-weak', [pods])),
  post(roles, role('made-strong', [secrets])),
  post(clusterRoles, clusterRole('$NS-made-weak', [pods])),
  post(clusterRoles, clusterRole('$NS-made-strong', [secrets])),
]
const unmade: readonly Step[] = [
  ...['weak', 'strong', 'made-weak', 'made-strong'].map((name) => remove(`${clusterRoles}/$NS-${name}`)),
  ...['to-weak', 'to-strong'].map((name) => remove(`${clusterBindings}/$NS-${name}`)),
]

/** jane has these rights in the namespace, those everywhere, and tries. */
const attempt = (name: string, here: readonly Any[], everywhere: readonly Any[]): Case => ({
  name,
  steps: [
    ...made,
    ...granted('jane', ['jane-$NS'], [writes, ...here]),
    ...grantedEverywhere(['jane-$NS'], everywhere.length === 0 ? [rule('get', 'nothing')] : everywhere),
    ...tries.map((step, index) => (index === 0 ? settled(step) : step)),
    ...unmade,
    ...withdrawn(),
  ],
})

const attempts: readonly Case[] = [
  attempt('no rights but to write, in the namespace', [], []),
  attempt('no rights but to write, everywhere', [], [writes]),
  attempt('holds pods in the namespace', [pods], [writes]),
  attempt('holds pods everywhere', [], [writes, pods]),
  attempt('bind on clusterroles, in the namespace', [rule('bind', 'clusterroles', group)], [writes]),
  attempt('bind on roles, in the namespace', [rule('bind', 'roles', group)], [writes]),
  attempt('bind on roles and clusterroles, everywhere', [], [writes, rule('bind', 'roles,clusterroles', group)]),
  attempt(
    'bind on one cluster role by name, in the namespace',
    [rule('bind', 'clusterroles', group, '$NS-made-strong,$NS-nope')],
    [writes],
  ),
  attempt(
    'bind on one cluster role by name, everywhere',
    [],
    [writes, rule('bind', 'clusterroles', group, '$NS-made-strong,$NS-nope')],
  ),
  attempt('bind in another group', [rule('bind', '*', 'apps')], [writes, rule('bind', '*', 'apps')]),
  attempt('escalate on roles, in the namespace', [rule('escalate', 'roles', group)], [writes]),
  attempt('escalate on clusterroles, in the namespace', [rule('escalate', 'clusterroles', group)], [writes]),
  attempt('escalate on both, everywhere', [], [writes, rule('escalate', 'roles,clusterroles', group)]),
  attempt(
    'escalate on roles by name',
    [rule('escalate', 'roles', group, 'strong')],
    [writes, rule('escalate', 'clusterroles', group, '$NS-strong')],
  ),
  attempt('escalate and bind as verbs of a subresource', [rule('escalate,bind', '*/*', group)], [writes]),
  attempt('everything in the namespace', [everything], [writes]),
  attempt('everything but paths', [], [everything]),
]

/** jane changes what there is: its rights, and what has nothing to do with them. */
const changes = (path: string, name: string, object: Any): readonly Step[] =>
  [
    merge(`${path}/${name}`, { metadata: { labels: { a: 'b' } } }),
    merge(`${path}/${name}`, { metadata: { annotations: { a: 'b' } } }),
    merge(`${path}/${name}`, { metadata: { finalizers: ['example.com/f'] } }),
    merge(`${path}/${name}`, { metadata: { finalizers: null } }),
    merge(`${path}/${name}`, {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '1-2-3' }] },
    }),
    merge(`${path}/${name}`, {}),
    merge(`${path}/${name}`, { rules: [pods] }),
    merge(`${path}/${name}`, { rules: [pods, secrets] }),
    merge(`${path}/${name}`, { rules: null }),
    merge(`${path}/${name}?dryRun=All`, { rules: [everything] }),
    jsonPatch(`${path}/${name}`, [{ op: 'add', path: '/metadata/labels', value: { c: 'd' } }]),
    apply(`${path}/${name}?fieldManager=m&force=true`, { ...object, metadata: { name, labels: { applied: 'x' } } }),
    put(`${path}/${name}`, { ...object, metadata: { name, labels: { put: 'x' } } }),
  ].map(asJane)

const roleChanges: readonly Case[] = [
  ['a role of hers', roles, 'r', role('r', [pods])],
  ['a role beyond her', roles, 'r', role('r', [secrets])],
  ['a cluster role of hers', clusterRoles, '$NS-r', clusterRole('$NS-r', [pods])],
  ['a cluster role beyond her', clusterRoles, '$NS-r', clusterRole('$NS-r', [secrets])],
].map(([what, path, name, object]: Any) => ({
  name: `changing ${what}`,
  steps: [
    ...grantedEverywhere(['jane-$NS'], [writes, pods]),
    post(path, object),
    ...changes(path, name, object).map((step, index) => (index === 0 ? settled(step) : step)),
    ...(path === clusterRoles ? [remove(`${path}/${name}`)] : []),
    ...withdrawn(),
  ],
}))

const bindingChanges: readonly Case[] = (
  [
    ['a binding to a role of hers', bindings, 'b', roleBinding('b', 'Role', 'made-weak', 'joe')],
    ['a binding to a role beyond her', bindings, 'b', roleBinding('b', 'Role', 'made-strong', 'joe')],
    ['a binding to a role that is gone', bindings, 'b', roleBinding('b', 'Role', 'nope', 'joe')],
    ['a cluster binding beyond her', clusterBindings, '$NS-b', clusterBinding('$NS-b', '$NS-made-strong', 'joe')],
  ] as readonly (readonly [string, string, string, Any])[]
).map(([what, path, name, object]) => ({
  name: `changing ${what}`,
  steps: [
    ...made,
    ...grantedEverywhere(['jane-$NS'], [writes, pods]),
    post(path, object),
    ...[
      merge(`${path}/${name}`, { metadata: { labels: { a: 'b' } } }),
      merge(`${path}/${name}`, { metadata: { finalizers: ['example.com/f'] } }),
      merge(`${path}/${name}`, { metadata: { finalizers: null } }),
      merge(`${path}/${name}`, {}),
      merge(`${path}/${name}`, { subjects: [user('jane-$NS')] }),
      merge(`${path}/${name}`, { subjects: null }),
      put(`${path}/${name}`, { ...object, metadata: { name, annotations: { a: 'b' } } }),
      apply(`${path}/${name}?fieldManager=m&force=true`, object),
    ].map((step, index) => (index === 0 ? settled(asJane(step)) : asJane(step))),
    ...(path === clusterBindings ? [remove(`${path}/${name}`)] : []),
    ...unmade,
    ...withdrawn(),
  ],
}))

const aggregating = { clusterRoleSelectors: [{ matchLabels: { 'example.com/to': '$NS' } }] }
const labelled = { metadata: { labels: { 'example.com/to': '$NS' } } }
const agg = (rules: Any, more: Any = {}) => clusterRole('$NS-agg', rules, { aggregationRule: aggregating, ...more })
const at = `${clusterRoles}/$NS-agg`

/** What jane does to an aggregated role that there is, filled with these rules. */
const aggregatedChanges: readonly Step[] = [
  merge(at, { metadata: { labels: { a: 'b' } } }),
  merge(at, { metadata: { finalizers: ['example.com/f'] } }),
  merge(at, { metadata: { finalizers: null } }),
  merge(at, {}),
  merge(at, { rules: [pods] }),
  merge(at, { rules: [secrets] }),
  merge(at, { aggregationRule: { clusterRoleSelectors: [] } }),
  merge(at, { aggregationRule: null }),
  get(at),
  merge(at, { aggregationRule: aggregating }),
].map(asJane)

const aggregated: readonly Case[] = (
  [
    ['with pods alone', [writes, pods]],
    ['with everything but paths', [everything]],
    ['with everything', [everything, { verbs: ['*'], nonResourceURLs: ['*'] }]],
    ['with escalate', [writes, rule('escalate', 'clusterroles', group)]],
    ['with escalate on the role by name', [writes, rule('escalate', 'clusterroles', group, '$NS-agg')]],
  ] as readonly (readonly [string, readonly Any[]])[]
).flatMap(([what, rights]): readonly Case[] => [
  {
    name: `aggregated roles, ${what}: made`,
    steps: [
      ...grantedEverywhere(['jane-$NS'], rights),
      settled(asJane(post(clusterRoles, agg([])))),
      remove(at),
      asJane(post(clusterRoles, agg([pods]))),
      remove(at),
      asJane(post(clusterRoles, agg([secrets]))),
      remove(at),
      asJane(post(clusterRoles, clusterRole('$NS-agg', [], { aggregationRule: { clusterRoleSelectors: [] } }))),
      remove(at),
      asJane(post(clusterRoles, clusterRole('$NS-agg', [], { aggregationRule: {} }))),
      remove(at),
      asJane(apply(`${at}?fieldManager=m`, agg(undefined))),
      remove(at),
      asJane(put(at, agg([pods]))),
      asJane(post(clusterRoles, clusterRole('$NS-agg', [pods], labelled))),
      remove(at),
      asJane(post(clusterRoles, clusterRole('$NS-agg', [secrets], labelled))),
      remove(at),
      ...withdrawn(),
    ],
  },
  {
    name: `aggregated roles, ${what}: changed`,
    steps: [
      ...grantedEverywhere(['jane-$NS'], rights),
      post(clusterRoles, agg([secrets])),
      ...aggregatedChanges.map((step, index) => (index === 0 ? settled(step) : step)),
      remove(at),
      ...withdrawn(),
    ],
  },
])

/** The rights of an aggregated role are those that the controller wrote into it, not those of the roles it selects. */
const filled: readonly Case[] = (
  [
    ['filled', [secrets]],
    ['not filled', []],
    ['filled with what she holds', [pods]],
  ] as readonly (readonly [string, readonly Any[]])[]
).map(([what, rules]) => ({
  name: `binding an aggregated role, ${what}`,
  steps: [
    ...grantedEverywhere(['jane-$NS'], [writes, pods]),
    post(clusterRoles, clusterRole('$NS-part', [secrets], labelled)),
    post(clusterRoles, agg(rules)),
    settled(asJane(post(bindings, roleBinding('b', 'ClusterRole', '$NS-agg')))),
    asJane(post(clusterBindings, clusterBinding('$NS-b', '$NS-agg'))),
    remove(`${clusterBindings}/$NS-b`),
    remove(at),
    remove(`${clusterRoles}/$NS-part`),
    ...withdrawn(),
  ],
}))

/** Other users than an ordinary one, and what no rule covers. */
const others: readonly Case[] = [
  {
    name: 'a member of system:masters, impersonated',
    steps: [
      post(roles, role('x', [everything])),
      merge(`${roles}/x`, { rules: [secrets] }),
      post(clusterRoles, agg([])),
    ]
      .map((step) => ({
        ...step,
        h: { ...step.h, 'impersonate-user': 'jane-$NS', 'impersonate-group': 'system:masters' },
      }))
      .concat(remove(at) as Any),
  },
  {
    name: 'a service account',
    steps: [
      ...granted('robot', ['account:robot'], [writes, pods, rule('bind', 'clusterroles', group, 'view')]),
      ...[
        post(bindings, roleBinding('b', 'ClusterRole', 'view')),
        post(bindings, roleBinding('c', 'ClusterRole', 'edit')),
        post(roles, role('r', [pods])),
        post(roles, role('s', [secrets])),
      ].map((step, index) => ({
        ...step,
        ...(index === 0 ? { settle: true } : {}),
        h: { ...step.h, 'impersonate-user': 'system:serviceaccount:$NS:robot' },
      })),
    ],
  },
  {
    name: 'rules that are partly held',
    steps: [
      ...granted('jane', ['jane-$NS'], [writes, rule('get,list', 'pods,services'), rule('get', 'secrets', '', 'a,b')]),
      ...[
        role('a', [rule('get,list,watch', 'pods')]),
        role('b', [rule('get', 'pods,services,nodes')]),
        role('c', [rule('get', 'secrets', '', 'a')]),
        role('d', [rule('get', 'secrets', '', 'a,c')]),
        role('e', [rule('get', 'secrets')]),
        role('f', [rule('get', 'pods/log')]),
        role('g', [rule('get', 'pods', ',apps')]),
        role('h', [rule('*', 'pods')]),
        role('i', [rule('get', '*')]),
        role('j', []),
        role('k', [{ verbs: ['get'], apiGroups: [], resources: ['pods'] }]),
        role('l', [{ verbs: ['get'], nonResourceURLs: ['/x'] }]),
        role('m', [rule('get', 'pods', '', 'one')]),
      ].map((object, index) => {
        const step = asJane(post(roles, object))
        return index === 0 ? settled(step) : step
      }),
    ],
  },
  {
    name: 'bind on a role of another group version, and bindings without subjects',
    steps: [
      ...made,
      ...granted('jane', ['jane-$NS'], [writes]),
      settled(asJane(post(bindings, { ...roleBinding('a', 'Role', 'made-strong'), subjects: [] }))),
      asJane(
        post(bindings, { ...roleBinding('b', 'Role', 'made-strong'), roleRef: { kind: 'Role', name: 'made-strong' } }),
      ),
      asJane(post(bindings, { ...roleBinding('c', 'Role', 'made-strong'), roleRef: ofRole('Bogus', 'x') })),
      asJane(bound('d', ['joe'], 'Role', 'made-strong')),
      asJane(post(`${bindings}?dryRun=All`, roleBinding('e', 'Role', 'made-strong'))),
      ...unmade,
    ],
  },
]

export const escalationCases = (): readonly Case[] => [
  ...attempts,
  ...roleChanges,
  ...bindingChanges,
  ...aggregated,
  ...filled,
  ...others,
]
